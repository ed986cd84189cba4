"""Merging from many components to few: the number found, labels kept apart, stages that never fall."""

import numpy as np
import pytest

import sidelight.inference.agglomeration as agglomeration
from sidelight import BayesianMixture
from sidelight.inference.agglomeration import Stage, highest, worth_its_components
from sidelight.inference.mixture import Mixture
from sidelight.weights import MaximumLikelihoodWeights


def heaps(seed, k, d=3, n=60, distance=8.0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, d))
    centres *= distance / np.linalg.norm(centres[:, None] - centres, axis=2)[~np.eye(k, dtype=bool)].min()
    y = np.repeat(np.arange(k), n)
    return centres[y] + rng.normal(size=(k * n, d)) @ np.diag(np.linspace(0.5, 1.5, d)), y


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_it_finds_the_number_of_heaps(k):
    if k == 1:
        X, y = np.random.default_rng(0).normal(size=(200, 3)), np.zeros(200)
    else:
        X, y = heaps(k, k)
    model = BayesianMixture(random_state=0).fit(X)
    assert model.n_clusters_ == k
    assert len(set(zip(model.labels_.tolist(), y.tolist(), strict=True))) == k


def test_objectives_rise_within_every_stage(monkeypatch):
    stages = []
    ascended = agglomeration.ascend

    def watched(*arguments, **options):
        trace = ascended(*arguments, **options)
        stages.append(trace.objectives)
        return trace

    monkeypatch.setattr(agglomeration, "ascend", watched)
    X, y = heaps(1, 4)
    BayesianMixture(random_state=0).fit(X, np.where(np.arange(len(y)) % 20 == 0, y, -1))
    assert len(stages) > 20
    for objectives in stages:
        assert np.all(np.diff(objectives) >= -1e-9 * np.abs(objectives[:-1]))


def test_labels_that_split_one_heap_keep_components_of_their_own():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 2))
    y = np.full(150, -1)
    y[:10] = X[:10, 0] > 0
    model = BayesianMixture(random_state=0).fit(X, y)
    assert model.n_clusters_ >= 2
    assert {0, 1} <= set(model.cluster_names_.tolist())
    assert len(model.violations_.labels) == 0


def test_columns_that_go_together_have_full_covariances():
    X, _ = heaps(0, 3, distance=12.0)
    together = np.column_stack([X, X[:, 0] + 0.2 * np.random.default_rng(0).normal(size=len(X))])
    assert BayesianMixture(random_state=0).fit(together).covariance_type_ == "full"


def test_columns_with_spreads_of_their_own_in_every_heap_have_diagonal_covariances():
    """Free covariances are tried first, and others only where these are not ahead before the first merge."""
    rng = np.random.default_rng(1)
    own = np.repeat(np.arange(3), 80)
    X = rng.normal(size=(3, 3))[own] * 20 + rng.normal(size=(240, 3)) * np.exp(rng.normal(0, 1.5, (3, 3)))[own]
    assert BayesianMixture(random_state=0).fit(X).covariance_type_ == "diag"


def stages_of(objectives):
    """Return stages with 1, 2, 3 … components, those with most first; nothing but their number is looked at."""
    found = []
    for k, objective in enumerate(objectives, start=1):
        mixture = object.__new__(Mixture)
        object.__setattr__(mixture, "weights", MaximumLikelihoodWeights(np.arange(k)))
        found.append(Stage(mixture, None, None, objective))
    return found[::-1]


@pytest.mark.parametrize(
    ("objectives", "parsimony", "number"),
    [
        ([0.0, 90.0, 95.0, 100.0], 0.0, 4),
        # From two to four components the gain is a tenth of all, and ln 2 = 0.69.
        ([0.0, 90.0, 95.0, 100.0], 0.14, 4),
        ([0.0, 90.0, 95.0, 100.0], 0.15, 2),
        ([-900.0, -810.0, -805.0, -800.0], 0.15, 2),
        # One component that nothing is gained over stays alone, whatever further ones cost.
        ([9.0, 5.0, 3.0], 0.0, 1),
        ([9.0, 5.0, 3.0], 0.5, 1),
        # Unless it is hardly better than two.
        ([7.0, 5.0, 3.0], 0.0, 2),
    ],
)
def test_components_are_kept_that_are_worth_their_price(objectives, parsimony, number):
    stages = stages_of(objectives)
    assert highest(stages).objective == max(objectives)
    assert len(worth_its_components(stages, parsimony).mixture.weights.classes) == number


def bent_heaps(seed, n=400):
    """Return two far heaps, each bent like a banana, and which row is of which."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    turn = rng.uniform(-0.5, 0.5, 2 * n)
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) + 0.1 * rng.normal(size=(2 * n, 2))
    return ring + np.column_stack([8.0 * y, 3.0 * y]), y


def test_a_bent_heap_is_not_split_because_it_is_not_normal():
    X, y = bent_heaps(0)
    by_bound = BayesianMixture(parsimony=0.0, random_state=0).fit(X)
    assert by_bound.n_clusters_ > 2
    found = BayesianMixture(random_state=0).fit(X)
    assert found.n_clusters_ == 2
    assert len(set(zip(found.labels_.tolist(), y.tolist(), strict=True))) == 2


def test_labels_are_heard_whatever_components_cost():
    X, y = bent_heaps(1, n=100)
    labels = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    free, dear = (BayesianMixture(parsimony=price, random_state=0).fit(X, labels) for price in (0.0, 5.0))
    assert np.array_equal(free.labels_, dear.labels_)
