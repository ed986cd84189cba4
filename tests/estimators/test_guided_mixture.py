"""GuidedMixture: what it finds with labels, links, both and neither, and what it says about itself."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

import sidelight
from sidelight import GuidedMixture, SideInformation
from sidelight.estimators.guided.core import CORE_ROWS, core_of
from sidelight.estimators.guided.granularity import divided_like_classes
from sidelight.estimators.guided.new_classes import added_by_clusters, separation, unlabelled_groups
from sidelight.estimators.guided.rounds import doubts_of
from sidelight.estimators.starts.partitions import Links, contingency, in_learned_metric, joined, predictiveness
from sidelight.experts.dendrograms import ward_tree
from sidelight.side import draw_labels, draw_links

X, Y = load_iris(return_X_y=True)
SOME = draw_labels(Y, fraction=0.1, stratify=True, random_state=0)


def heaps(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of three heaps, and their heaps."""
    y = np.arange(n_rows) % 3
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0]])
    return centres[y] + np.random.default_rng(seed).normal(size=(n_rows, 2)), y


def with_links(y: np.ndarray, number: int, wrong: float = 0.0, seed: int = 0) -> dict[str, np.ndarray]:
    """Return random links with their true relation, some of them turned around."""
    links = draw_links(y, number, random_state=seed)
    pairs = np.concatenate([links.must_link, links.cannot_link])
    same = np.arange(len(pairs)) < len(links.must_link)
    turned = np.random.default_rng(seed).permutation(len(pairs))[: round(wrong * len(pairs))]
    same[turned] = ~same[turned]
    return {"must_link": pairs[same], "cannot_link": pairs[~same]}


# --- labels -----------------------------------------------------------------------------------------------------------


def test_labels_are_respected_and_probabilities_are_probabilities():
    model = GuidedMixture(random_state=0).fit(X, SOME)
    known = SOME >= 0
    np.testing.assert_array_equal(model.labels_[known], SOME[known])
    assert not model.violations_
    np.testing.assert_allclose(model.posterior_.sum(axis=1), 1)
    np.testing.assert_array_equal(model.posterior_.argmax(axis=1), model.labels_)
    assert np.mean(model.labels_[~known] == Y[~known]) > 0.9
    assert set(model.expert_weights_) == {
        "linear",
        "forest",
        "neighbours",
        "dendrograms",
        "cluster tree",
        "labelled Gaussians",
        "Gaussians",
        "tied Gaussians",
        "mixture",
        "linear pupil",
        "forest pupil",
        "Gaussian pupil",
    }


def test_thirty_labels_name_as_many_rows_right_as_logistic_regression():
    table, truth = load_breast_cancer(return_X_y=True)
    rows = np.random.RandomState(0).permutation(len(truth))[:30]
    partial = np.full(len(truth), -1)
    partial[rows] = truth[rows]
    free = partial < 0
    model = GuidedMixture(random_state=0).fit(table, partial)
    Z = StandardScaler().fit_transform(table)
    reference = LogisticRegression(max_iter=1000).fit(Z[rows], truth[rows]).score(Z[free], truth[free])
    assert np.mean(model.labels_[free] == truth[free]) > reference - 0.02


def test_text_labels_missing_cells_and_categories():
    table, y = heaps(90)
    frame = pd.DataFrame(table, columns=["a", "b"])
    frame["colour"] = np.array(["red", "green", "blue"])[y]
    frame.loc[::7, "a"] = np.nan
    frame.loc[::11, "colour"] = None
    names = np.array(["x", "y", "z"], dtype=object)[y]
    model = GuidedMixture(random_state=0).fit(frame, np.where(np.arange(90) < 12, names, None))
    assert np.mean(model.predict_names(frame) == names) > 0.95
    assert model.score(frame, names) == np.mean(model.predict_names(frame) == names)
    assert cross_val_score(clone(model), frame, names, cv=3).mean() > 0.9


def test_score_needs_labels():
    model = GuidedMixture(random_state=0).fit(X, SOME)
    with pytest.raises(ValueError, match="y has no labels"):
        model.score(X, np.full(150, -1))


# --- links ------------------------------------------------------------------------------------------------------------


def test_links_find_classes_and_their_number():
    table, y = heaps(150)
    model = GuidedMixture(random_state=0).fit(table, **with_links(y, 60))
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert model.link_error_ < 0.05


def test_the_number_of_clusters_can_be_given():
    table, y = heaps(150)
    assert GuidedMixture(4, random_state=0).fit(table, **with_links(y, 60)).n_clusters_ == 4
    assert GuidedMixture(4, random_state=0).fit(table).n_clusters_ == 4


def test_another_number_of_clusters_than_was_asked_for_is_said():
    table, truth = heaps(150)
    y = np.where(np.arange(150) % 10 == 0, truth, -1)
    with pytest.warns(UserWarning, match=r"n_clusters=5, but 3 clusters were found: .* needs evidence"):
        assert GuidedMixture(5, random_state=0).fit(table, y).n_clusters_ == 3
    with pytest.warns(UserWarning, match=r"n_clusters=2, but the labels name 3 classes"):
        assert GuidedMixture(2, random_state=0).fit(table, y).n_clusters_ == 3
    assert GuidedMixture(3, random_state=0).fit(table, y).n_clusters_ == 3


def test_more_clusters_than_rows_are_refused():
    for given in ({}, {"cannot_link": [(0, 1)]}, {"y": ["a", "b", None, None]}):
        with pytest.raises(ValueError, match=r"n_clusters=5 is more than the n_samples = 4 rows that count"):
            GuidedMixture(5).fit(np.arange(4.0)[:, None], **given)


def test_rows_that_are_all_alike_can_be_linked():
    model = GuidedMixture(3, random_state=0).fit(np.zeros((6, 2)), must_link=[(0, 1)], cannot_link=[(2, 3)])
    assert model.n_clusters_ == 3
    # Two rows that are alike may each be most probably of one class, though they are probably of two.
    assert len(model.violations_.suspicions.doubtful) == 0


def test_wrong_links_are_found_and_outvoted():
    table, y = heaps(300)
    given = with_links(y, 200, wrong=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = GuidedMixture(random_state=0).fit(table, **given)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert 0.05 < model.link_error_ <= 0.15
    pairs = np.concatenate([given["must_link"], given["cannot_link"]])
    must = np.arange(len(pairs)) < len(given["must_link"])
    # The side information sorts links; the marks go by its order.
    side = SideInformation.build(300, **given)
    sorted_pairs = np.concatenate([side.must_link, side.cannot_link])
    stated = np.arange(len(sorted_pairs)) < len(side.must_link)
    wrong = (y[sorted_pairs[:, 0]] == y[sorted_pairs[:, 1]]) != stated
    assert np.mean(model.held_out_.doubtful_links == wrong) > 0.95
    assert must.sum() == len(given["must_link"])


def test_many_doubtful_links_are_told():
    table, y = heaps(300)
    with pytest.warns(UserWarning, match="links are probably wrong"):
        GuidedMixture(random_state=0).fit(table, **with_links(y, 200, wrong=0.1))


def test_contradictory_links_are_evidence_and_no_error():
    table, y = heaps(60)
    given = with_links(y, 40)
    a, b = given["must_link"][0]
    given["cannot_link"] = np.concatenate([given["cannot_link"], [[a, b]]])
    model = GuidedMixture(random_state=0).fit(table, **given)
    assert model.violations_.total >= 1
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_a_class_may_be_several_heaps():
    random = np.random.default_rng(0)
    heap = np.arange(240) % 4
    table = np.array([[0.0, 0.0], [8.0, 8.0], [0.0, 8.0], [8.0, 0.0]])[heap] + random.normal(size=(240, 2))
    y = heap // 2  # crosswise: each class has two heaps that lie opposite each other
    model = GuidedMixture(random_state=0).fit(table, **with_links(y, 120))
    assert model.n_clusters_ == 2
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_blocks_share_a_class():
    table, y = heaps(90)
    side = SideInformation.build(90, y=np.where(np.arange(90) < 9, y, -1), blocks=[[12, 15, 18]])
    model = GuidedMixture(random_state=0).fit(table, side=side)
    assert len(set(model.labels_[[12, 15, 18]])) == 1


@pytest.mark.parametrize("known", ["must-links", "cannot-links", "blocks"])
def test_statements_of_one_kind_leave_the_number_of_classes_to_the_table(known):
    table, y = heaps(120)
    links = with_links(y, 60)
    given = {
        "must-links": {"must_link": links["must_link"]},
        "cannot-links": {"cannot_link": links["cannot_link"]},
        "blocks": {"side": SideInformation.build(120, blocks=[[0, 3, 6], [1, 4], [2, 5, 8]])},
    }[known]
    model = GuidedMixture(random_state=0).fit(table, **given)
    assert model.n_clusters_ == 3
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert not model.violations_


def test_links_add_to_labels():
    table, y = heaps(150, seed=3)
    partial = np.where(np.arange(150) < 6, y, -1)
    model = GuidedMixture(random_state=0).fit(table, partial, **with_links(y, 40))
    assert model.cluster_names_.tolist() == [0, 1, 2]
    assert np.mean(model.labels_ == y) > 0.95


NO_LINKS = Links(np.empty((0, 2), dtype=int), np.empty(0, dtype=bool), np.empty(0))


# --- classes without labels -------------------------------------------------------------------------------------------


def test_a_class_without_labels_is_new():
    table, y = heaps(150)
    partial = np.where((np.arange(150) % 10 < 2) & (y < 2), y, -1)
    model = GuidedMixture(random_state=0).fit(table, partial)
    assert model.cluster_names_.tolist() == [0, 1, "new 1"]
    assert np.mean(model.labels_ == y) > 0.95
    only = GuidedMixture(new_classes=False, random_state=0).fit(table, partial)
    assert only.cluster_names_.tolist() == [0, 1]


def test_nothing_is_new_where_every_class_has_labels():
    for seed in range(3):
        table, y = heaps(150, seed)
        partial = np.where(np.arange(150) % 10 < 2, y, -1)
        assert GuidedMixture(random_state=seed).fit(table, partial).n_clusters_ == 3


def test_half_of_a_heap_is_not_a_group():
    points = np.random.default_rng(0).normal(size=(200, 2))
    assert separation(points[points[:, 0] > 0], points[points[:, 0] <= 0]) < 3
    codes = np.where(np.arange(200) % 5 == 0, 0, -1)
    assert not unlabelled_groups(points, np.ones((200, 1)), np.ones(200), codes, NO_LINKS, np.zeros(200, dtype=int))
    apart = np.concatenate([points, points[:60] + np.array([30.0, 0.0])])
    codes = np.append(codes, np.full(60, -1))
    for clusters in (np.zeros(260, dtype=int), (np.arange(260) >= 200).astype(int)):
        (group,) = unlabelled_groups(apart, np.ones((260, 1)), np.ones(260), codes, NO_LINKS, clusters)
        np.testing.assert_array_equal(group, np.arange(200, 260))


def test_where_experts_disagree_fewer_missing_labels_are_needed():
    random = np.random.default_rng(0)
    points = np.concatenate([random.normal(size=(200, 2)), random.normal(size=(24, 2)) + np.array([12.0, 0.0])])
    codes = np.where((np.arange(224) % 10 == 0) & (np.arange(224) < 200), 0, -1)
    shares, clusters = np.ones((224, 1)), np.zeros(224, dtype=int)
    # Two or three labels are missing among the 24 rows.
    assert not unlabelled_groups(points, shares, np.full(224, 0.3), codes, NO_LINKS, clusters)
    doubts = np.where(np.arange(224) < 200, 0.3, 0.9)
    (group,) = unlabelled_groups(points, shares, doubts, codes, NO_LINKS, clusters)
    np.testing.assert_array_equal(group, np.arange(200, 224))
    # Who says that two rows of the group are not of the class says the same; who joins them, the opposite.
    apart = Links(np.array([[201, 0], [220, 10]]), np.array([False, False]), np.ones(2))
    (group,) = unlabelled_groups(points, shares, np.full(224, 0.3), codes, apart, clusters)
    np.testing.assert_array_equal(group, np.arange(200, 224))
    joined_to_it = Links(np.column_stack([np.arange(200, 224), np.arange(24)]), np.ones(24, dtype=bool), np.ones(24))
    assert not unlabelled_groups(points, shares, doubts, codes, joined_to_it, clusters)


def test_where_classes_are_several_clusters_more_labels_must_be_missing():
    random = np.random.default_rng(0)
    points = np.concatenate([random.normal(size=(200, 2)), random.normal(size=(40, 2)) + np.array([12.0, 0.0])])
    codes = np.where((np.arange(240) % 10 == 0) & (np.arange(240) < 200), 0, -1)
    shares, doubts = np.ones((240, 1)), np.full(240, 0.3)
    (group,) = unlabelled_groups(points, shares, doubts, codes, NO_LINKS, np.zeros(240, dtype=int))
    np.testing.assert_array_equal(group, np.arange(200, 240))
    of_several_clusters = np.minimum(np.arange(240) // 20, 10)
    assert not unlabelled_groups(points, shares, doubts, codes, NO_LINKS, of_several_clusters)


def test_where_the_table_has_many_more_clusters_than_labelled_classes_more_labels_must_be_missing():
    labelled = np.array([0, 0, 1, 1])
    assert added_by_clusters(labelled, 3, 2) == 0
    # One nat more for every factor of e beyond three clusters for two classes.
    np.testing.assert_allclose(added_by_clusters(labelled, 12, 2), np.log(4))
    np.testing.assert_allclose(added_by_clusters(np.arange(6), 6, 2), 2 * np.log(2))


def test_where_experts_agree_better_than_about_labelled_rows_more_labels_must_be_missing():
    random = np.random.default_rng(0)
    points = np.concatenate([random.normal(size=(200, 2)), random.normal(size=(40, 2)) + np.array([12.0, 0.0])])
    codes = np.where((np.arange(240) % 10 == 0) & (np.arange(240) < 200), 0, -1)
    doubts = np.where(np.arange(240) < 200, 0.3, 0.1)
    clusters = np.zeros(240, dtype=int)
    assert not unlabelled_groups(points, np.ones((240, 1)), doubts, codes, NO_LINKS, clusters)


def test_a_class_without_labels_is_found_beside_classes_of_two_labels():
    random = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [20.0, 20.0]])
    y = np.repeat(np.arange(4), (30, 30, 30, 60))
    points = middles[y] + random.normal(size=(150, 2))
    codes = np.full(150, -1)
    codes[[0, 1, 30, 31, 60, 61]] = [0, 0, 1, 1, 2, 2]
    # Experts take its rows for the classes that are near to them, and do not agree which.
    shares = np.where(y[:, None] == np.arange(3), 0.98, 0.01)
    shares[y == 3] = [0.1, 0.45, 0.45]
    doubts = np.where(y == 3, 0.9, 0.1)
    (group,) = unlabelled_groups(points, shares, doubts, codes, NO_LINKS, y)
    np.testing.assert_array_equal(group, np.flatnonzero(y == 3))
    # With five labels in all it may be chance.
    codes[0] = -1
    assert not unlabelled_groups(points, shares, doubts, codes, NO_LINKS, y)


def test_a_label_may_stray_into_a_group():
    random = np.random.default_rng(0)
    points = np.concatenate([random.normal(size=(200, 2)), random.normal(size=(80, 2)) + np.array([12.0, 0.0])])
    codes = np.where((np.arange(280) % 10 == 0) & (np.arange(280) < 210), 0, -1)
    clusters = (np.arange(280) >= 200).astype(int)
    (group,) = unlabelled_groups(points, np.ones((280, 1)), np.full(280, 0.3), codes, NO_LINKS, clusters)
    np.testing.assert_array_equal(group, np.arange(200, 280))


# --- starts from links ------------------------------------------------------------------------------------------------


def test_groups_are_joined_by_links_first():
    points = np.array([[0.0], [0.1], [5.0], [5.1], [10.0], [10.1]])
    groups = np.array([0, 0, 1, 1, 2, 2])
    links = Links(np.array([[0, 4], [1, 5], [0, 5], [1, 2]]), np.array([True, True, True, False]), np.ones(4))
    steps = list(joined(groups, points, links))
    assert [int(step.max()) + 1 for step in steps] == [3, 2, 1]
    assert steps[1][0] == steps[1][4] != steps[1][2]


def test_the_metric_learns_which_column_matters():
    random = np.random.default_rng(0)
    y = np.arange(100) % 2
    points = np.column_stack([3.0 * y + random.normal(size=100), 5 * random.normal(size=100)])
    pairs = random.integers(100, size=(80, 2))
    links = Links(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], np.ones(80))
    found = in_learned_metric(points, links)
    assert found[:, 0].std() > 2 * found[:, 1].std()
    # As many links again that say the opposite, and next to nothing, change next to nothing.
    both = Links(np.tile(pairs, (2, 1)), np.concatenate([links.same, ~links.same]), np.repeat([1.0, 1e-9], 80))
    np.testing.assert_allclose(in_learned_metric(points, both).std(axis=0), found.std(axis=0), rtol=0.02)


def test_partitions_are_judged_by_links():
    links = Links(np.array([[0, 1], [0, 2], [1, 2], [2, 3]]), np.array([True, False, False, True]), np.ones(4))
    assert predictiveness(contingency(np.array([0, 0, 1, 1]), links)) == 1
    assert predictiveness(contingency(np.array([0, 0, 0, 0]), links)) == 0.5


# --- large tables, saving, parameters ---------------------------------------------------------------------------------


def test_of_a_large_table_experts_see_a_part():
    table, y = heaps(CORE_ROWS + 500)
    partial = np.where(np.arange(len(y)) < 30, y, -1)
    core = core_of(SideInformation.build(len(y), y=partial), None, np.random.RandomState(0))
    assert len(core.rows) == CORE_ROWS
    assert set(range(30)) <= set(core.rows.tolist())
    model = GuidedMixture(random_state=0).fit(table, partial)
    assert model.labels_.shape == (len(y),)
    assert np.mean(model.labels_ == y) > 0.98


@pytest.mark.parametrize("known", ["labels", "links", "nothing"])
def test_a_saved_model_answers_the_same(tmp_path, known):
    table, y = heaps(60)
    given = {"labels": {"y": np.where(np.arange(60) < 9, y, -1)}, "links": with_links(y, 30), "nothing": {}}[known]
    model = GuidedMixture(random_state=0).fit(table, **given)
    sidelight.save(model, tmp_path / "model")
    again = sidelight.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    np.testing.assert_array_equal(again.posterior_, model.posterior_)


def test_without_side_information_it_is_a_bayesian_mixture():
    model = GuidedMixture(random_state=0).fit(X)
    reference = sidelight.BayesianMixture(random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, reference.labels_)
    np.testing.assert_array_equal(model.predict_proba(X), reference.predict_proba(X))
    assert model.held_out_ is None


def test_callbacks_hear_of_every_round():
    table, y = heaps(60)
    heard = []
    model = GuidedMixture(random_state=0, callbacks=[heard.append]).fit(table, **with_links(y, 30))
    assert [progress.iteration for progress in heard] == list(range(1, model.n_iter_ + 1))
    assert [-progress.objective for progress in heard] == model.objectives_
    assert min(model.objectives_) >= 0


def test_columns_that_say_nothing_about_the_labels_are_told():
    random = np.random.default_rng(0)
    y = np.where(random.random(200) < 0.7, 0, 1)
    with pytest.warns(UserWarning, match="always naming the largest class"):
        model = GuidedMixture(random_state=0).fit(random.normal(size=(200, 3)), np.where(np.arange(200) < 60, y, -1))
    assert model.held_out_.information <= 0
    assert model.held_out_.largest_class == pytest.approx(0.7, abs=0.15)
    assert model.held_out_.n_labels == 60


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters"),
        ({"link_confidence": 1.0}, "below 1; None learns it"),
        ({"link_confidence": 0.4}, "link_confidence"),
        ({"new_classes": "many"}, "choose 'auto', False or a number"),
        ({"new_classes": -1}, "new_classes"),
    ],
)
def test_parameters_without_a_meaning_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        GuidedMixture(**parameters).fit(X, SOME)


def test_new_groups_are_as_fine_as_labelled_classes() -> None:
    """Two heaps without labels are two groups where heaps are classes, and one where classes have two heaps."""
    random = np.random.RandomState(0)
    # Six columns of two heaps each; the last one has no labels.
    heaps = np.repeat(np.arange(12), 30)
    centres = np.column_stack([40.0 * (heaps // 2), np.where(heaps < 10, 10.0, 14.0) * (heaps % 2)])
    points = centres + random.normal(size=(360, 2))
    tree, unlabelled = ward_tree(points), np.flatnonzero(heaps >= 10)
    labelled = np.flatnonzero((heaps < 10) & (np.arange(360) % 30 < 12))
    by_heap, by_two = np.full(360, -1), np.full(360, -1)
    by_heap[labelled], by_two[labelled] = heaps[labelled], heaps[labelled] // 2
    assert [len(rows) for rows in divided_like_classes(tree, by_heap, [unlabelled], 5)] == [30, 30]
    assert [len(rows) for rows in divided_like_classes(tree, by_two, [unlabelled], 5)] == [60]
    assert np.array_equal(np.unique(tree.cut(12), return_counts=True)[1], np.full(12, 30))


def test_experts_doubt_by_their_prior_weights():
    """Two experts and two rows, of which the first is given to the first class by both together."""
    opinions = np.log([[[0.5, 0.5], [0.2, 0.8]], [[0.9, 0.1], [0.4, 0.6]]])
    together = np.log([[0.7, 0.3], [0.3, 0.7]])
    found = doubts_of(opinions, together, np.array([3.0, 1.0]))
    expected = [-(3 * np.log(0.5) + np.log(0.9)) / 4, -(3 * np.log(0.8) + np.log(0.6)) / 4]
    np.testing.assert_allclose(found, expected)
