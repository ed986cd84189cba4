"""Longer steps: the objective never falls, and there are fewer of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.couplings.independent import Hard, Independent
from sidelight.estimators.bayesian.weights import WEIGHTS
from sidelight.families.conjugate import NormalWishart
from sidelight.families.gaussian import CovariancePrior, DiagonalGaussian, FullGaussian, SphericalGaussian, TiedGaussian
from sidelight.inference.acceleration import Overrelaxed, can_overrelax, leap, overrelaxed_step
from sidelight.inference.loop import ascend
from sidelight.inference.mixture import Mixture
from sidelight.inference.starts import component_means, state_given
from sidelight.kernels.loops import NUMPY
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import MaximumLikelihoodWeights

STEPS = 30
LIKELIHOOD_FAMILIES = (FullGaussian, DiagonalGaussian, SphericalGaussian, TiedGaussian)


def overlapping(seed, n=200, d=2, k=3, distance=1.5):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, d)) * distance
    own = rng.integers(k, size=n)
    return centres[own] + rng.normal(size=(n, d)) * rng.uniform(0.3, 2.0, size=(k, d))[own]


def likelihood_mixture(X, family, k, coupling=Independent):
    prior = CovariancePrior.scaled(X.var(axis=0), rows=1.0, fraction=0.02)
    components = np.arange(k)
    weights = MaximumLikelihoodWeights(components)
    return Mixture(Rows(ArrayTable(X)), family(X.mean(axis=0), prior), weights, coupling(components, NUMPY), (), NUMPY)


def variational_mixture(X, k):
    family = NormalWishart.scaled(X.mean(axis=0), X.var(axis=0))
    coupling = Independent(np.arange(k), NUMPY)
    return Mixture(Rows(ArrayTable(X)), family, WEIGHTS["dirichlet_process"](k, None), coupling, (), NUMPY)


def start_of(mixture, X, k, seed):
    responsibilities = np.random.default_rng(seed).dirichlet(np.full(k, 0.3), size=len(X))
    means = component_means(X, np.ones(len(X)), responsibilities)
    return state_given(mixture, means, responsibilities)


def assert_never_falls(mixture, start):
    trace = ascend(overrelaxed_step(mixture), Overrelaxed.begin(start), max_iter=STEPS, tol=-1.0)
    last = trace.state.plain(mixture)
    end = mixture.objective(last, mixture.expect(last))
    objectives = np.array([*trace.objectives, end])
    assert len(objectives) == STEPS + 1
    assert (np.diff(objectives) >= -1e-9 * np.abs(objectives[:-1])).all()


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    family=st.sampled_from(LIKELIHOOD_FAMILIES),
    d=st.integers(1, 4),
    k=st.integers(1, 5),
    distance=st.sampled_from([0.0, 0.5, 1.5, 5.0]),
)
def test_the_likelihood_never_falls(seed, family, d, k, distance):
    X = overlapping(seed, d=d, k=k, distance=distance)
    mixture = likelihood_mixture(X, family, k)
    assert can_overrelax(mixture)
    assert_never_falls(mixture, start_of(mixture, X, k, seed))


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), d=st.integers(1, 3), k=st.integers(1, 6))
def test_the_variational_bound_never_falls(seed, d, k):
    X = overlapping(seed, d=d)
    mixture = variational_mixture(X, k)
    assert can_overrelax(mixture)
    assert_never_falls(mixture, start_of(mixture, X, k, seed))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_half_the_steps_lead_as_high(seed):
    X = overlapping(seed, n=600, k=4, distance=1.0)
    mixture = likelihood_mixture(X, FullGaussian, 4)
    start = start_of(mixture, X, 4, seed)
    plain = ascend(mixture.step, start, max_iter=200, tol=-1.0).objectives
    longer = ascend(overrelaxed_step(mixture), Overrelaxed.begin(start), max_iter=100, tol=-1.0).objectives
    assert longer[-1] >= plain[-1] - 1e-3 * len(X)


def test_it_ends_at_a_maximum():
    X = overlapping(3, n=400)
    mixture = likelihood_mixture(X, FullGaussian, 3)
    trace = leap(mixture, start_of(mixture, X, 3, 3), max_iter=1000, tol=1e-9 * len(X))
    further = ascend(mixture.step, trace.state, max_iter=100, tol=-1.0)
    assert trace.converged
    assert further.objectives[-1] - trace.objectives[-1] < 1e-5 * len(X)


def test_hard_assignments_take_plain_steps():
    X = overlapping(4)
    mixture = likelihood_mixture(X, FullGaussian, 3, coupling=Hard)
    assert not can_overrelax(mixture)
    start = start_of(mixture, X, 3, 4)
    plain = ascend(mixture.step, start, max_iter=5, tol=-1.0)
    assert leap(mixture, start, max_iter=5, tol=-1.0).objectives == plain.objectives


def test_sums_that_no_rows_have_are_not_admitted():
    X = overlapping(5)
    for family in LIKELIHOOD_FAMILIES:
        mixture = likelihood_mixture(X, family, 3)
        statistics = mixture.expect(start_of(mixture, X, 3, 5)).statistics
        assert mixture.family.admits(statistics)
        assert not mixture.family.admits(statistics.scaled(-1.0))
        # Rows away from the centre without squares.
        narrow = type(statistics)(statistics.mass, statistics.first, 0.0 * statistics.second, statistics.origin)
        assert not mixture.family.admits(narrow)
