"""Questions are spread, never answered already, and teach more than random ones."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from sidelight import BayesianMixture, EquivalenceMixture, SeededKMeans, SideInformation
from sidelight.asking import informative_pairs
from sidelight.asking.consistency import without_disbelieved

IRIS, SPECIES = load_iris(return_X_y=True)


def answered(y, pairs, side=None):
    """Return what is known when the truth has answered."""
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    side = SideInformation.build(len(y)) if side is None else side
    return side | SideInformation.build(len(y), must_link=pairs[same], cannot_link=pairs[~same])


def entailed(side):
    """Return all pairs of rows whose relation follows, as found pair by pair."""
    closure = side.closure()
    apart = {frozenset(pair) for pair in closure.separated().tolist()}
    chunklet = closure.chunklets.tolist()
    return {
        (i, j)
        for i, j in combinations(range(side.n_rows), 2)
        if chunklet[i] == chunklet[j] or frozenset((chunklet[i], chunklet[j])) in apart
    }


def stated(side):
    """Return the pairs of rows that links are about."""
    return {frozenset(pair) for pair in np.concatenate([side.must_link, side.cannot_link]).tolist()}


@st.composite
def situations(draw):
    """Draw a posterior, positions or none, and true statements about the rows."""
    n = draw(st.integers(2, 24))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = random.integers(0, 3, n)
    posterior = random.dirichlet(np.full(draw(st.integers(1, 4)), draw(st.sampled_from([0.02, 1.0]))), size=n)
    X = random.normal(size=(n, 2)) if draw(st.booleans()) else None
    n_links = draw(st.integers(0, n))
    links = np.array([random.choice(n, 2, replace=False) for _ in range(n_links)], dtype=int).reshape(-1, 2)
    labels = np.where(random.random(n) < draw(st.sampled_from([0.0, 0.3])), y, -1)
    side = answered(y, links, SideInformation.build(n, y=labels))
    return posterior, X, side, y


@given(situations(), st.integers(1, 30), st.integers(0, 3))
@settings(max_examples=120)
def test_no_answer_is_known_before_it_is_given(situation, n_pairs, seed):
    posterior, X, side, _ = situation
    questions = informative_pairs(posterior, side, X=X, n_pairs=n_pairs, random_state=seed)
    n = len(posterior)
    pairs = [tuple(pair) for pair in questions.pairs.tolist()]
    assert len(pairs) <= n_pairs
    assert not {frozenset(pair) for pair in pairs} & stated(side)
    # Nothing follows from must-links that the posterior finds wrong.
    side = without_disbelieved(side, posterior)
    assert not set(pairs) & entailed(side)
    assert all(0 <= i < j < n for i, j in pairs)
    chunklets = side.closure().chunklets
    between = {frozenset(chunklets[list(pair)].tolist()) for pair in pairs}
    assert len(between) == len(pairs)
    # No cycle: as many questions as they join chunklets, so that no must-links entail another answer.
    n_chunklets = chunklets.max() + 1
    graph = np.zeros((n_chunklets, n_chunklets))
    graph[tuple(chunklets[questions.pairs.T])] = 1
    assert connected_components(graph, directed=False)[0] == n_chunklets - len(pairs)
    assert np.bincount(questions.pairs.ravel(), minlength=1).max(initial=0) <= 3
    assert ((questions.chance_same >= 0) & (questions.chance_same <= 1 + 1e-12)).all()
    p = np.clip(questions.chance_same, 1e-300, 1 - 1e-16)
    np.testing.assert_allclose(questions.gain, -p * np.log2(p) - (1 - p) * np.log2(1 - p), atol=1e-9)


@given(situations())
@settings(max_examples=40)
def test_asking_on_and_on_ends_when_everything_is_known(situation):
    posterior, X, side, y = situation
    for _ in range(len(y) ** 2):
        questions = informative_pairs(posterior, side, X=X, n_pairs=5, random_state=0)
        if not len(questions.pairs):
            break
        side = answered(y, questions.pairs, side)
    n = len(y)
    assert len(entailed(side)) == n * (n - 1) // 2


def test_the_same_seed_asks_the_same():
    posterior = np.eye(3)[SPECIES]
    first, second, other = (informative_pairs(posterior, random_state=seed) for seed in (1, 1, 2))
    for one, two in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(first.pairs, other.pairs)


def test_large_tables_are_sampled_and_links_with_a_confidence_are_not_asked_again():
    random = np.random.default_rng(0)
    n = 20_000
    y = random.integers(0, 4, n)
    X = y[:, None] * 4 + random.normal(size=(n, 3))
    posterior = np.eye(4)[y]
    links = random.integers(0, n, (2000, 2))
    links = links[links[:, 0] != links[:, 1]]
    same = y[links[:, 0]] == y[links[:, 1]]
    side = SideInformation.build(n, must_link=links[same], cannot_link=links[~same], confidence=0.9)
    questions = informative_pairs(posterior, side, X=X, n_pairs=40, random_state=0)
    assert len(questions.pairs) == 40
    stated = {frozenset(pair) for pair in links.tolist()}
    assert not stated & {frozenset(pair) for pair in questions.pairs.tolist()}


def test_a_batch_is_spread_over_all_heaps():
    random = np.random.default_rng(0)
    heap = np.repeat(np.arange(5), 40)
    X = 20 * random.normal(size=(5, 2))[heap] + random.normal(size=(200, 2))
    posterior = np.ones((200, 1))
    rows = informative_pairs(posterior, X=X, n_pairs=10, random_state=0).pairs.ravel()
    assert set(heap[rows]) == set(range(5))


def test_rows_the_model_is_sure_of_are_asked_about_less_and_later():
    random = np.random.default_rng(0)
    X = random.uniform(-1, 1, size=(400, 2))
    right = 1 / (1 + np.exp(-20 * X[:, 0]))
    unsure_in_the_middle = np.column_stack([1 - right, right])
    unsure_everywhere = np.full((400, 2), 0.5)
    from_the_border, control = (
        np.abs(X[informative_pairs(posterior, X=X, random_state=0).pairs, 0])
        for posterior in (unsure_in_the_middle, unsure_everywhere)
    )
    assert np.median(from_the_border) < np.median(control)
    # The first question introduces the two clusters, by typical rows.
    assert from_the_border[1:4].min(axis=1).max() < np.median(np.abs(X[:, 0]))


def test_two_clusters_of_one_class_are_soon_found_out():
    random = np.random.default_rng(0)
    X = np.array([0.0, 3.0, 30.0])[np.arange(90) % 3, None] + random.normal(size=(90, 1))
    posterior = np.eye(3)[np.arange(90) % 3]
    y = np.array([0, 0, 1])[np.arange(90) % 3]
    side = SideInformation.build(90)
    for seed in range(2):
        side = answered(y, informative_pairs(posterior, side, X=X, random_state=seed).pairs, side)
    closure = side.closure()
    largest = closure.chunklets == np.argmax(closure.sizes)
    assert {0, 1} <= set(np.arange(90)[largest] % 3)


def test_answers_teach_more_than_those_about_random_pairs():
    scores = {"asked": [], "random": []}
    for seed in range(3):
        random = np.random.default_rng(seed)
        for how, found in scores.items():
            side, model = SideInformation.build(150), EquivalenceMixture(3, random_state=seed).fit(IRIS)
            for number in range(4):
                if how == "asked":
                    pairs = informative_pairs(model.posterior_, side, X=IRIS, random_state=number).pairs
                else:
                    pairs = np.array([random.choice(150, 2, replace=False) for _ in range(20)])
                side = answered(SPECIES, pairs, side)
                model.fit(IRIS, side=side)
            found.append(adjusted_rand_score(SPECIES[~side.mentioned], model.labels_[~side.mentioned]))
    assert np.mean(scores["asked"]) > np.mean(scores["random"]) + 0.02


class TestBadInput:
    POSTERIOR = np.full((4, 2), 0.5)

    @pytest.mark.parametrize("n_pairs", [0, -1, 2.0, True, "many"])
    def test_number(self, n_pairs):
        with pytest.raises(ValueError, match="n_pairs must be a whole number of at least 1"):
            informative_pairs(self.POSTERIOR, n_pairs=n_pairs)

    @pytest.mark.parametrize(
        ("posterior", "message"),
        [
            (np.ones(3), "rows and clusters"),
            (np.ones((1, 1)), "a question needs two"),
            ([[0.5, 0.5], [0.7, 0.7]], "row 1 holds no probabilities"),
            ([[0.5, 0.5], [1.5, -0.5]], "row 1 holds no probabilities"),
            ([[np.nan, 0.5], [0.5, 0.5]], "row 0 holds no probabilities"),
        ],
    )
    def test_posterior(self, posterior, message):
        with pytest.raises(ValueError, match=message):
            informative_pairs(posterior)

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            (np.ones((3, 2)), "one row for each of the 4 rows"),
            (np.ones(4), "one row for each"),
            (np.array([["a"]] * 4), "X must hold numbers"),
            ([[1.0], [np.inf], [2.0], [3.0]], "row 1 holds an infinite number"),
        ],
    )
    def test_positions(self, X, message):
        with pytest.raises(ValueError, match=message):
            informative_pairs(self.POSTERIOR, X=X)

    def test_side(self):
        with pytest.raises(ValueError, match="side has 3 rows, but posterior has 4"):
            informative_pairs(self.POSTERIOR, SideInformation.build(3))
        with pytest.raises(TypeError, match="side must be a SideInformation, not list"):
            informative_pairs(self.POSTERIOR, [(0, 1)])

    def test_missing_cells_and_constant_columns_are_taken(self):
        X = np.array([[np.nan, 1.0, np.nan], [0.0, 1.0, np.nan], [5.0, 1.0, np.nan], [np.nan, 1.0, np.nan]])
        assert len(informative_pairs(self.POSTERIOR, X=X, random_state=0).pairs) == 3


class TestOfAModel:
    def test_a_model_and_its_table(self):
        model = EquivalenceMixture(3, random_state=0).fit(IRIS)
        expected = informative_pairs(model.predict_proba(IRIS), X=IRIS, n_pairs=4, random_state=0)
        for found in (
            informative_pairs(model, IRIS, n_pairs=4, random_state=0),
            informative_pairs(model, X=IRIS, n_pairs=4, random_state=0),
        ):
            np.testing.assert_array_equal(found.pairs, expected.pairs)

    def test_a_model_alone_and_with_statements(self):
        model = EquivalenceMixture(3, random_state=0).fit(IRIS)
        alone = informative_pairs(model, n_pairs=4, random_state=0)
        np.testing.assert_array_equal(alone.pairs, informative_pairs(model.posterior_, n_pairs=4, random_state=0).pairs)
        side = SideInformation.build(150, must_link=[alone.pairs[0]])
        told = informative_pairs(model, side, n_pairs=4, random_state=0)
        assert alone.pairs[0].tolist() not in told.pairs.tolist()

    def test_a_table_of_other_kinds_and_noise(self):
        frame = pd.DataFrame(IRIS, columns=list("abcd")).assign(colour=np.where(SPECIES == 0, "red", "blue"))
        model = BayesianMixture(3, noise=True, random_state=0).fit(frame)
        assert informative_pairs(model, frame, n_pairs=3, random_state=0).pairs.shape == (3, 2)

    def test_a_model_without_probabilities_is_refused(self):
        with pytest.raises(ValueError, match="SeededKMeans gives no probabilities"):
            informative_pairs(SeededKMeans(3, random_state=0).fit(IRIS), IRIS)
