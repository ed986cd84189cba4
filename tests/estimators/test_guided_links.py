"""Links in GuidedMixture: judged together, by several starts, and from fit to fit."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from oracles.link_graphs import enumerate_graph
from sidelight import GuidedMixture, SideInformation
from sidelight.couplings.link_graph import LinkProblem
from sidelight.estimators.guided.link_beliefs import LinkReader, believe_links, learned_link_error
from sidelight.estimators.guided.numbering import in_earlier_order
from sidelight.estimators.guided.rounds import Round, Statements, better_for_links, typical_rows
from sidelight.estimators.starts.partitions import (
    Links,
    joined_where_linked,
    likely_partitions,
    links_of,
    obedient_partition,
)
from sidelight.metrics import Suspicions
from sidelight.side import draw_links


@pytest.mark.parametrize("seed", range(5))
def test_what_is_believed_of_links_equals_enumeration(seed):
    random = np.random.default_rng(seed)
    n, error = 6, 0.1
    pairs = np.array([(a, b) for a in range(n) for b in range(a + 1, n)])[random.permutation(15)[:8]]
    side = SideInformation.build(n, must_link=pairs[:4], cannot_link=pairs[4:])
    log_shares = np.log(random.dirichlet(np.ones(3), size=n))
    found = believe_links(log_shares, side, error)
    stated = np.concatenate([side.must_link, side.cannot_link])
    must = np.arange(8) < 4
    problem = LinkProblem.of(
        n, stated, np.log(np.where(must, 1 - error, error)), np.log(np.where(must, error, 1 - error))
    )
    expected = enumerate_graph(problem, log_shares)
    keys = {tuple(sorted(edge)): same for edge, same in zip(problem.edges.tolist(), expected.pairs, strict=True)}
    same = np.array([np.trace(keys[tuple(sorted(pair))]) for pair in stated.tolist()])
    np.testing.assert_allclose(found.wrong, np.where(must, 1 - same, same), atol=1e-6)
    assert found.evidence == pytest.approx(expected.log_partition, abs=1e-6)
    np.testing.assert_allclose(found.shares, expected.marginals[found.rows], atol=1e-6)


def test_links_that_agree_with_each_other_are_right_whatever_the_opinions():
    random = np.random.default_rng(0)
    truth = random.integers(2, size=40)
    links = draw_links(truth, 300, random_state=0)
    side = SideInformation.build(40, must_link=links.must_link, cannot_link=links.cannot_link)
    no_opinion = np.log(np.clip(np.column_stack([0.5 + 1e-3 * random.normal(size=40)] * 2), 1e-3, 1))
    no_opinion[:, 1] = np.log1p(-np.exp(no_opinion[:, 0]))
    assert learned_link_error(no_opinion, LinkReader(side), 0.1, n_steps=6) < 0.01


def test_a_few_links_against_sure_opinions_are_enough_to_doubt_links_and_right_ones_to_trust_them():
    sure = np.full((40, 2), 1e-6)
    sure[:20, 0] = sure[20:, 1] = 1 - 1e-6
    within = np.array([(row, row + 1) for row in range(0, 20, 2)])
    doubted = SideInformation.build(40, must_link=within[:8], cannot_link=within[8:])
    assert learned_link_error(np.log(sure), LinkReader(doubted), 0.05, n_steps=2) > 0.1
    right = SideInformation.build(40, must_link=np.concatenate([within, within + 20]))
    assert learned_link_error(np.log(sure), LinkReader(right), 0.05, n_steps=2) < 0.02


def test_the_obedient_partition_breaks_no_link_and_has_as_few_classes_as_that_takes():
    random = np.random.default_rng(1)
    truth = np.repeat(np.arange(4), 15)
    points = random.normal(size=(60, 2))
    links = draw_links(truth, 500, random_state=1)
    given = links_of(SideInformation.build(60, must_link=links.must_link, cannot_link=links.cannot_link))
    found = obedient_partition(points, given, None)
    assert adjusted_rand_score(truth, found) == 1.0
    assert obedient_partition(points, given.take(np.zeros(len(given.same), dtype=bool)), None) is None


def test_groups_are_joined_where_more_links_speak_for_it_than_against():
    groups = np.repeat(np.arange(4), 10)
    points = 5.0 * groups[:, None] + np.random.default_rng(0).normal(size=(40, 1))
    must, cannot = [(0, 10), (1, 11), (2, 12), (20, 30)], [(3, 13), (21, 31), (0, 20)]
    links = Links(np.array(must + cannot), np.arange(7) < 4, np.ones(7))
    assert joined_where_linked(groups, points, links).tolist() == np.repeat([0, 0, 1, 2], 10).tolist()
    assert joined_where_linked(groups, points, links.take(~links.same)) is groups
    # Two links that say little do not outweigh one that is certain.
    doubted = links._replace(weights=np.where(np.arange(7) < 2, 0.2, 1.0))
    two = np.array([0, 1, 4])
    assert joined_where_linked(groups, points, doubted.take(two)) is groups
    assert joined_where_linked(groups, points, links.take(two)) is not groups


def test_pupils_are_left_out_where_they_make_links_less_probable():
    side = SideInformation.build(4, must_link=[(0, 1)], cannot_link=[(0, 2), (1, 3)])
    statements = Statements.of(side)
    right = np.log([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    teachers = Round((), np.array([0.5, 0.5]), right, 0.0, 0.05, np.full(2, np.nan), np.zeros(4))
    for shares, expected in ((right[:, ::-1], True), (right * 0 + np.log(0.5), False)):
        joined = teachers._replace(weights=np.array([0.3, 0.3, 0.4]), log_shares=shares)
        found = better_for_links(teachers, joined, statements)
        assert (found is joined) == expected
        assert len(found.weights) == 3
        if not expected:
            assert found.weights.tolist() == [0.5, 0.5, 0.0]
            assert found.log_shares is teachers.log_shares


def test_candidates_have_different_numbers_of_classes():
    random = np.random.RandomState(0)
    X, y = load_wine(return_X_y=True)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    links = draw_links(y, 60, random_state=0)
    given = links_of(SideInformation.build(len(y), must_link=links.must_link, cannot_link=links.cannot_link))
    found = likely_partitions(Z, y, given, None, random)
    numbers = [int(classes.max()) + 1 for classes in found[:-1]]
    assert len(set(numbers)) == len(numbers) > 1
    assert {int(classes.max()) + 1 for classes in likely_partitions(Z, y, given, 5, random)} == {5}


def test_typical_rows_are_near_the_means_of_clusters_and_not_mentioned():
    random = np.random.default_rng(0)
    clusters = np.repeat([0, 1], [30, 50])
    points = random.normal(size=(80, 3)) + 9 * clusters[:, None]
    side = SideInformation.build(80, cannot_link=[(0, 79)])
    found = typical_rows(points, np.eye(2)[clusters], side)
    assert np.bincount(clusters[found]).tolist() == [5, 5]
    assert not side.mentioned[found].any()
    for cluster in (0, 1):
        own = np.flatnonzero((clusters == cluster) & ~side.mentioned)
        apart = np.square(points - points[clusters == cluster].mean(axis=0)).sum(axis=1)
        assert set(found) & set(own) == set(own[np.argsort(apart[own])[:5]])


def test_a_few_answers_about_clusters_join_clusters_and_leave_the_others():
    # Five clusters, two classes; one answer joins two clusters, two keep others apart.
    random = np.random.default_rng(0)
    clusters = np.repeat(np.arange(5), 40)
    X = random.normal(size=(200, 4)) + 12 * np.eye(5)[clusters][:, :4]
    model = GuidedMixture(random_state=0).fit(X, must_link=[(0, 40)], cannot_link=[(80, 120), (0, 160)])
    expected = np.where(clusters == 1, 0, clusters)
    assert adjusted_rand_score(expected, model.labels_) > 0.95


def test_clusters_keep_their_numbers_as_far_as_possible():
    earlier = np.array([2, 2, 2, 0, 0, 1])
    labels = np.array([0, 0, 0, 1, 1, 2])
    order = in_earlier_order(labels, earlier, np.array([0, 1, 2]))
    number = np.empty(3, dtype=int)
    number[order] = np.arange(3)
    assert number[labels].tolist() == earlier.tolist()
    # The class that was cluster 2 needs another number where there are only two.
    assert sorted(in_earlier_order(np.array([0, 0, 0, 1, 1, 1]), earlier, np.array([0, 1])).tolist()) == [0, 1]


def test_a_warm_start_refines_and_keeps_numbers():
    X, y = load_wine(return_X_y=True)
    links = draw_links(y, 60, random_state=3)
    model = GuidedMixture(random_state=0, warm_start=True).fit(X)
    before = model.labels_
    model.fit(X, must_link=links.must_link[:10], cannot_link=links.cannot_link[:20])
    assert np.mean(model.labels_ == before) > 0.9
    model.fit(X, must_link=links.must_link, cannot_link=links.cannot_link)
    assert np.mean(model.labels_ == before) > 0.9
    assert adjusted_rand_score(y, model.labels_) > 0.9
    suspicions = model.violations_.suspicions
    assert isinstance(suspicions, Suspicions)
    assert len(suspicions.wrong) == 60
    assert (np.diff(suspicions.wrong) <= 0).all()


def test_three_wrong_answers_of_twenty_leave_the_clusters_of_the_fit_before():
    X, y = load_iris(return_X_y=True)
    links = draw_links(y, 20, wrong=0.15, random_state=0)
    model = GuidedMixture(random_state=0, warm_start=True).fit(X)
    before = model.labels_
    with pytest.warns(UserWarning, match="of 20 links are probably wrong"):
        model.fit(X, must_link=links.must_link, cannot_link=links.cannot_link)
    assert adjusted_rand_score(before, model.labels_) > 0.9
    assert adjusted_rand_score(y, model.labels_) > 0.85
    found = model.violations_.suspicions
    wrong = (y[found.pairs[:, 0]] == y[found.pairs[:, 1]]) != found.must_link
    assert wrong.sum() == 3
    assert wrong[:4].sum() == 3


def test_doubtful_links_are_named_by_ids():
    X, y = load_iris(return_X_y=True)
    links = draw_links(y, n_must=40, n_cannot=40, wrong=0.1, random_state=0)
    ids = np.array([f"plant-{number}" for number in range(1, 151)])
    with pytest.warns(UserWarning, match="links are probably wrong") as caught:
        model = GuidedMixture(random_state=0).fit(
            X, must_link=ids[links.must_link], cannot_link=ids[links.cannot_link], sample_id=ids
        )
    found = model.violations_.suspicions
    assert found.doubtful_ids.tolist() == ids[found.doubtful].tolist()
    first = "; ".join(f"{a} and {b}" for a, b in ids[found.doubtful[:3]].tolist())
    assert f"Check these pairs again: {first}; …; violations_.suspicions lists them." in str(caught[0].message)
    broken = model.violations_
    assert broken.named(broken.must_link).tolist() == ids[broken.must_link].tolist()


def test_wrong_links_are_the_most_suspicious():
    X, y = load_wine(return_X_y=True)
    links = draw_links(y, 178, wrong=0.2, random_state=5)
    with pytest.warns(UserWarning, match="links are probably wrong"):
        model = GuidedMixture(random_state=0).fit(X, must_link=links.must_link, cannot_link=links.cannot_link)
    found = model.violations_.suspicions
    wrong = (y[found.pairs[:, 0]] == y[found.pairs[:, 1]]) != found.must_link
    assert wrong[: len(found.doubtful)].mean() > 0.9
    assert np.isin(np.flatnonzero(wrong), np.arange(2 * wrong.sum())).mean() > 0.9
    assert found.odds[0] > 1 > found.odds[-1]
