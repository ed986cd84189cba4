"""ClassMixture: what it promises beyond what all estimators do."""

import os

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from sidelight import ClassMixture, LabelledMixture, SideInformation
from sidelight.estimators.class_allocation import allocate, unreached
from sidelight.metrics import purity_accuracy_score
from sidelight.side import ContradictionError, draw_labels, draw_links, draw_side
from sidelight.tables.table import CHUNK_ROWS

X, Y = load_iris(return_X_y=True)
PARTIAL = draw_labels(Y, fraction=0.2, random_state=0)
THIRTY_PERCENT = 0.15  # links per row: each takes two rows


def three_in_a_row(seed=0, n=100):
    """Three components of which the outer two are one class, as in figure 1 of Zhao and Miller."""
    table, component = make_blobs([n] * 3, centers=[[-5, 0], [0, 0], [5, 0]], random_state=seed)
    return table, np.array([0, 1, 0])[component]


def eight_in_three(seed):
    random = np.random.RandomState(seed)
    centres = 5.0 * np.array([(i, j) for i in range(3) for j in range(3)])[:8]
    table, component = make_blobs(600, centers=centres, random_state=random)
    return table, random.permutation([0, 0, 0, 1, 1, 1, 2, 2])[component]


def linked(truth, seed):
    return draw_side(truth, links={"n_links": round(THIRTY_PERCENT * len(truth)), "disjoint": True}, random_state=seed)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("n_components", [3, None])
def test_classes_of_several_components_are_found_with_their_number(seed, n_components):
    table, truth = three_in_a_row(seed)
    model = ClassMixture(n_components, random_state=seed).fit(table, side=linked(truth, seed))
    assert (model.n_components_, model.n_classes_, model.n_clusters_) == (3, 2, 2)
    assert sorted(np.bincount(model.classes_of_components_)) == [1, 2]
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    assert model.posterior_.shape == (300, 2)
    np.testing.assert_allclose(model.posterior_.sum(axis=1), 1)
    np.testing.assert_array_equal(model.posterior_.argmax(axis=1), model.labels_)


@pytest.mark.parametrize("seed", range(2))
def test_eight_components_in_three_classes(seed):
    table, truth = eight_in_three(seed)
    model = ClassMixture(8, random_state=seed).fit(table, side=linked(truth, seed))
    assert model.n_classes_ == 3
    assert adjusted_rand_score(truth, model.labels_) > 0.9


def test_one_cluster_per_class_cannot_do_that():
    table, truth = three_in_a_row()
    partial = draw_labels(truth, fraction=0.3, random_state=0)
    free = partial < 0
    several = ClassMixture(3, random_state=0).fit(table, partial)
    one_each = LabelledMixture(random_state=0).fit(table, partial)
    scores = [adjusted_rand_score(truth[free], model.labels_[free]) for model in (several, one_each)]
    assert scores[0] > 0.9
    assert scores[0] > scores[1] + 0.2
    assert several.cluster_names_.tolist() == [0, 1]


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("updates", ["parallel", "sequential"])
def test_the_bound_never_falls(covariance_type, updates):
    table, truth = three_in_a_row(1, n=40)
    side = linked(truth, 1) | SideInformation.build(120, y=draw_labels(truth, fraction=0.2, random_state=2))
    model = ClassMixture(
        4, covariance_type=covariance_type, updates=updates, init_params="k-means++", tol=0, max_iter=15, random_state=0
    )
    with pytest.warns(ConvergenceWarning):
        model.fit(table, side=side)
    assert len(model.lower_bounds_) == 16
    assert np.all(np.diff(model.lower_bounds_) >= -1e-9 * np.abs(model.lower_bounds_[:-1]))


def test_without_statements_it_is_a_plain_mixture():
    model = ClassMixture(3, random_state=0).fit(X)
    plain = LabelledMixture(3, covariance_type="full", random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.lower_bound_ == pytest.approx(plain.lower_bound_, abs=1e-4)
    assert model.n_classes_ == 3


def test_both_ways_of_updating_agree_where_pairs_are_few_and_weak():
    table, truth = three_in_a_row(n=50)
    side = linked(truth, 0)
    common = {"strength": 0.5, "tol": 1e-7, "max_iter": 500, "init_params": "kmeans", "random_state": 0}
    models = [
        ClassMixture(3, updates=updates, **common).fit(table, side=side) for updates in ("parallel", "sequential")
    ]
    assert models[0].lower_bound_ == pytest.approx(models[1].lower_bound_, abs=1e-4)
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)


def test_statements_of_every_kind_say_the_same():
    table, truth = three_in_a_row()
    rows = np.random.RandomState(0).permutation(300)[:60]
    partial = np.full(300, -1)
    partial[rows] = truth[rows]
    pairs = [(i, j) for place, i in enumerate(rows) for j in rows[:place]]
    must = [pair for pair in pairs if truth[pair[0]] == truth[pair[1]]]
    cannot = [pair for pair in pairs if truth[pair[0]] != truth[pair[1]]]
    model = ClassMixture(3, init_params="kmeans", random_state=0)
    by_labels = clone(model).fit(table, partial)
    by_links = clone(model).fit(table, must_link=must, cannot_link=cannot)
    assert by_labels.lower_bound_ == pytest.approx(by_links.lower_bound_, rel=1e-9)
    assert adjusted_rand_score(by_labels.labels_, by_links.labels_) == 1
    blocks = SideInformation.build(300, blocks=partial, cannot_link=cannot)
    by_blocks = clone(model).fit(table, side=blocks)
    assert by_blocks.lower_bound_ == pytest.approx(by_links.lower_bound_, rel=1e-9)


def test_links_of_little_confidence_give_way():
    table, truth = three_in_a_row()
    links = draw_links(truth, n_must=60, n_cannot=60, random_state=0)
    wrong = draw_links(truth, n_must=60, n_cannot=60, wrong=1.0, random_state=1)
    side = SideInformation.build(
        300,
        must_link=np.concatenate([links.must_link, wrong.must_link]),
        cannot_link=np.concatenate([links.cannot_link, wrong.cannot_link]),
        confidence={"must_link": [0.99] * 60 + [0.51] * 60, "cannot_link": [0.99] * 60 + [0.51] * 60},
    )
    model = ClassMixture(3, random_state=0).fit(table, side=side)
    assert model.n_classes_ == 2
    assert adjusted_rand_score(truth, model.labels_) > 0.9


def test_strength_holds_rows_to_their_links():
    table, truth = make_blobs(300, centers=[[0, 0], [2.5, 0]], random_state=0)
    side = linked(truth, 3)
    broken = [
        ClassMixture(2, strength=strength, random_state=0).fit(table, side=side).violations_.total
        for strength in (0.01, 2, 10)
    ]
    assert broken[0] > broken[1] >= broken[2]


class TestComponentsNobodySpeaksOf:
    table, truth = make_blobs([80, 80, 80], centers=[[0, 0], [4, 0], [20, 20]], random_state=0)
    side = draw_side(truth, links={"n_links": 30, "among": truth < 2}, random_state=0)

    def test_join_the_class_they_share_rows_with(self):
        model = ClassMixture(3, random_state=0).fit(self.table, side=self.side)
        assert (model.n_components_, model.n_classes_) == (3, 2)

    def test_or_are_classes_of_their_own(self):
        model = ClassMixture(3, unreached="own", random_state=0).fit(self.table, side=self.side)
        assert model.n_classes_ == 3
        assert adjusted_rand_score(self.truth, model.labels_) > 0.85

    def test_are_never_all_components(self):
        assert unreached(np.array([0.1, 0.4])).tolist() == [True, False]
        model = ClassMixture(3, random_state=0).fit(self.table, must_link=[(0, 1)])
        assert 1 <= model.n_classes_ <= 3


def test_allocation_follows_the_labels_and_carries_rows_to_a_component_of_their_class():
    log_allocation = np.log([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.6, 0.3, 0.1], [0.4, 0.3, 0.3]])
    label_counts = np.array([[0.0, 9.0, 0.0, 0.0], [5.0, 0.0, 5.0, 0.0]])
    alone = np.array([False, False, False, True])
    own = allocate(log_allocation, alone, None, label_counts)
    assert own.classes.tolist() == [1, 0, 1, 2]
    # Choices of class 0 are class 1 here; the second component carries none of it, and the last keeps its own.
    assert own.carriers[:, 0].tolist() == [0, 0, 2, 3]
    assert own.carriers[:, 1].tolist() == [1, 1, 1, 3]
    overlaps = np.array([[1, 0, 0, 0.1], [0, 1, 0, 0.2], [0, 0, 1, 0], [0.1, 0.2, 0, 1]])
    assert allocate(log_allocation, alone, overlaps, label_counts).classes.tolist() == [1, 0, 1, 0]


def test_a_label_may_be_left_without_a_class_and_is_told():
    table, _ = make_blobs(200, centers=[[0, 0], [8, 0]], random_state=0)
    partial = np.full(200, -1)
    partial[:60] = np.arange(60) % 3  # labels that mean nothing
    model = ClassMixture(3, max_classes=2, random_state=0).fit(table, partial)
    assert model.n_classes_ <= 2
    assert model.n_clusters_ == 3
    assert model.violations_.labels.size > 0


def test_max_classes_is_kept_to():
    table, truth = eight_in_three(3)
    for most in (1, 2):
        model = ClassMixture(8, max_classes=most, init_params="kmeans", random_state=0)
        model.fit(table, side=linked(truth, 3))
        assert model.n_classes_ <= most


def test_more_labels_than_components_grow_the_model():
    with pytest.warns(UserWarning, match="n_components=2 is less than the 3 components"):
        assert ClassMixture(2, random_state=0).fit(X, PARTIAL).n_components_ == 3


def test_weights_are_repetitions():
    counts = np.random.default_rng(0).integers(0, 3, size=150)
    weighted = ClassMixture(3, random_state=0).fit(X, PARTIAL, sample_weight=counts)
    repeated = ClassMixture(3, random_state=0).fit(np.repeat(X, counts, axis=0), np.repeat(PARTIAL, counts))
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-6)
    np.testing.assert_allclose(weighted.lower_bound_, repeated.lower_bound_, rtol=1e-6)


def test_threads_change_nothing_and_rows_spoken_of_take_part_in_the_start():
    table, component = make_blobs(2 * CHUNK_ROWS + 100, centers=[[-5, 0], [0, 0], [5, 0]], random_state=0)
    truth = np.array([0, 1, 0])[component]
    side = draw_side(truth, links=60, random_state=0)
    one = ClassMixture(3, random_state=0).fit(table, side=side)
    two = ClassMixture(3, random_state=0, n_jobs=2).fit(table, side=side)
    np.testing.assert_array_equal(one.means_, two.means_)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.n_classes_ == 2
    assert adjusted_rand_score(truth, one.labels_) > 0.9


def test_given_means_are_where_it_starts():
    table, truth = three_in_a_row()
    centres = [[-5, 0], [0, 0], [5, 0]]
    model = ClassMixture(3, means_init=centres, random_state=0).fit(table, side=linked(truth, 0))
    assert model.n_iter_ <= 6
    np.testing.assert_allclose(np.sort(model.means_[:, 0]), [-5, 0, 5], atol=0.5)


def test_draws_and_densities_are_those_of_the_mixture():
    table, truth = three_in_a_row()
    model = ClassMixture(3, random_state=0).fit(table, side=linked(truth, 0))
    rows, clusters = model.sample(2000)
    assert set(clusters) == {0, 1}
    assert np.mean(model.predict(rows) == clusters) > 0.95
    assert model.bic(table) < ClassMixture(1).fit(table).bic(table)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components=0 must be a whole number of at least 1"),
        ({"n_components": 200}, "n_components=200 is more than the n_samples = 150 rows"),
        ({"max_classes": 0}, "max_classes=0 must be a whole number of at least 1"),
        ({"strength": -1}, "strength=-1 must be a number of at least 0"),
        ({"unreached": "drop"}, "unreached='drop' is not known; choose one of 'attach', 'own'"),
        ({"updates": "both"}, "updates='both' is not known"),
        ({"covariance_type": "round"}, "covariance_type='round' is not known"),
        ({"init_params": "labels"}, "init_params='labels' is not known"),
        ({"means_init": np.zeros((2, 4))}, r"means_init has shape \(2, 4\), but this model needs \(3, 4\)"),
        ({"tol": -1}, "tol=-1 must be"),
        ({"n_init": 0}, "n_init=0 must be"),
        ({"max_iter": 0}, "max_iter=0 must be"),
    ],
)
def test_parameters_that_make_no_sense(parameters, message):
    with pytest.raises(ValueError, match=message):
        ClassMixture(**{"n_components": 3} | parameters).fit(X, PARTIAL)


def test_contradictions_are_reported_with_their_chain():
    with pytest.raises(ContradictionError, match="0–4–7 must link, but 0–7 cannot"):
        ClassMixture(2).fit(X, must_link=[(0, 4), (4, 7)], cannot_link=[(0, 7)])


@pytest.mark.skipif("SIDELIGHT_DATA" not in os.environ, reason="SIDELIGHT_DATA does not name the folder of data sets")
def test_the_printed_score_is_reached_on_ecoli():
    from sklearn.decomposition import PCA
    from sklearn.preprocessing import StandardScaler

    from sidelight.datasets import load

    proteins, places, _ = load("ecoli")
    truth = np.where(np.isin(places, ["cp", "pp"]), places, "membrane")
    table = PCA(5, random_state=0).fit_transform(StandardScaler().fit_transform(proteins))
    scores = [
        purity_accuracy_score(truth, ClassMixture(5, random_state=s).fit(table, side=linked(truth, s)).labels_)
        for s in range(4)
    ]
    assert np.mean(scores) > 0.8525 - 0.03
