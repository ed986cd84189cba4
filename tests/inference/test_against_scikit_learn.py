"""Variational Bayes without side information against scikit-learn's, from the same start under the same prior."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import betaln, digamma
from sklearn.mixture import BayesianGaussianMixture

from oracles.conjugate import collect, scores
from oracles.mixtures import assigned
from sidelight.couplings.independent import Independent
from sidelight.families.conjugate import NormalWishart
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.kernels.loops import NUMPY, compiled
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import DirichletWeights, GivenConcentration, StickBreakingWeights

N, D, K = 400, 3, 5
STEPS = 5
CONCENTRATION = 0.7
BACKENDS = pytest.mark.parametrize("backend", [NUMPY, compiled()], ids=["numpy", "compiled"])


@dataclass(frozen=True, eq=False)
class FreeLastStick:
    """Sticks in the order of the components, the last of them as free as the others: scikit-learn's weights.

    They differ from ours in two ways. What is left behind the last stick belongs to components beyond the truncation,
    which no row can choose, so that the weights do not sum to one; ours have q(β_T = 1) = 1. And the order in which
    components break off is not part of what is optimised.
    """

    n_components: int
    concentration: float

    @property
    def classes(self):
        return np.arange(self.n_components)

    def update(self, component_mass, class_mass, previous):
        beyond = class_mass.sum() - class_mass.cumsum()
        return 1 + class_mass, self.concentration + beyond

    def log(self, parameters):
        first, second = parameters
        log_rest = digamma(second) - digamma(first + second)
        return digamma(first) - digamma(first + second) + np.append(0.0, log_rest[:-1].cumsum())

    def mean(self, parameters):
        first, second = parameters
        rest = second / (first + second)
        return (1 - rest) * np.append(1.0, rest[:-1].cumprod())

    def log_prior(self, parameters):
        first, second = parameters
        total = digamma(first + second)
        towards = (1 - first) * (digamma(first) - total) + (self.concentration - second) * (digamma(second) - total)
        return float((towards + betaln(first, second) - betaln(1.0, self.concentration)).sum())


def problem(seed):
    """Return a table of overlapping groups, a family with a prior of no particular kind, and a start."""
    rng = np.random.default_rng(seed)
    group = rng.integers(K, size=N)
    mixing = rng.normal(size=(K, D, D)) + np.eye(D)
    X = 2 * rng.normal(size=(K, D))[group] + np.einsum("nij,nj->ni", mixing[group], rng.normal(size=(N, D)))
    factor = rng.normal(size=(D, 2 * D))
    family = NormalWishart(X.mean(axis=0), rng.normal(size=D), 0.6, D + 1.5, factor @ factor.T)
    return X, family, rng.dirichlet(np.ones(K), size=N)


def their_steps(X, family, responsibilities, kind):
    """Yield what scikit-learn gives after each step: responsibilities, log weights and its bound after the update."""
    model = BayesianGaussianMixture(
        n_components=K,
        covariance_type="full",
        reg_covar=0.0,
        weight_concentration_prior_type=kind,
        weight_concentration_prior=CONCENTRATION,
        mean_precision_prior=family.mean_precision,
        mean_prior=family.mean,
        degrees_of_freedom_prior=family.degrees,
        covariance_prior=family.scatter,
    )
    # Its fit chooses the start by itself; its steps are private.
    model._check_parameters(X)
    model._initialize(X, responsibilities)
    for _ in range(STEPS):
        log_weights = model._estimate_log_weights()
        evidence, log_responsibilities = model._e_step(X)
        model._m_step(X, log_responsibilities)
        yield np.exp(log_responsibilities), log_weights, model._compute_lower_bound(log_responsibilities, evidence)


def our_steps(X, family, weights, responsibilities, backend=NUMPY):
    """Yield what our mixture gives after each step: responsibilities, the state they were taken at, and the next."""
    mixture = Mixture(Rows(ArrayTable(X)), family, weights, Independent(np.arange(K), backend), (), backend)
    start = family.update(collect(family, family.around(X[:K]), X, responsibilities))
    mass = responsibilities.sum(axis=0)
    state = MixtureState(start, weights.update(mass, mass, None))
    for _ in range(STEPS):
        found, _ = assigned(mixture, state)
        following, _ = mixture.step(state)
        yield found, state, following
        state = following


def bound(X, family, weights, responsibilities, state):
    """Return the variational bound of these responsibilities at a state."""
    joint = scores(family.evaluator(state.parameters, NUMPY), X) + weights.log(state.weights)
    entropy = -np.sum(responsibilities * np.log(np.maximum(responsibilities, 1e-300)))
    priors = family.log_prior(state.parameters) + weights.log_prior(state.weights)
    return np.sum(responsibilities * joint) + entropy + priors


@BACKENDS
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("kind", "weights"),
    [
        ("dirichlet_distribution", DirichletWeights(K, CONCENTRATION)),
        ("dirichlet_process", FreeLastStick(K, CONCENTRATION)),
    ],
)
def test_five_steps_are_scikit_learns(seed, kind, weights, backend):
    X, family, start = problem(seed)
    theirs = their_steps(X, family, start, kind)
    ours = our_steps(X, family, weights, start, backend)
    gaps = []
    for (their_responsibilities, log_weights, their_bound), (found, state, following) in zip(theirs, ours, strict=True):
        np.testing.assert_allclose(found, their_responsibilities, rtol=0, atol=1e-6)
        np.testing.assert_allclose(weights.log(state.weights), log_weights, atol=1e-6)
        gaps.append(bound(X, family, weights, found, following) - their_bound)
    # Its bound leaves out what does not change.
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_our_sticks_differ_from_scikit_learns_in_their_order_and_in_the_last_one(seed):
    X, family, start = problem(seed)
    mass = start.sum(axis=0)
    ours, free = StickBreakingWeights(K, GivenConcentration(CONCENTRATION)), FreeLastStick(K, CONCENTRATION)
    sticks = ours.update(mass, mass, None)
    # Numbered as we break them, largest first, scikit-learn's sticks are ours but for the last.
    order, mass = sticks.order, mass[sticks.order]
    _, theirs, _ = next(their_steps(X, family, start[:, order], "dirichlet_process"))
    free_sticks = free.update(mass, mass, None)
    np.testing.assert_array_equal(order, np.argsort(-start.sum(axis=0)))
    np.testing.assert_allclose(ours.log(sticks)[order[:-1]], theirs[:-1], rtol=1e-10)
    last = digamma(1 + mass[-1] + CONCENTRATION) - digamma(1 + mass[-1])
    np.testing.assert_allclose(ours.log(sticks)[order[-1]], theirs[-1] + last, rtol=1e-10)

    # Ours sum to one. Theirs leave a share to components that are not there, and weights_ are scaled up for it.
    np.testing.assert_allclose(ours.mean(sticks).sum(), 1.0, rtol=1e-12)
    np.testing.assert_allclose(ours.mean(sticks)[order[:-1]], free.mean(free_sticks)[:-1], rtol=1e-10)
    assert free.mean(free_sticks).sum() < 1.0

    # A free last stick costs ln E β^N under its prior, and buys nothing.
    cost = betaln(1.0 + mass[-1], CONCENTRATION) - betaln(1.0, CONCENTRATION)
    ours_are_worth = mass @ ours.log(sticks)[order] + ours.log_prior(sticks)
    theirs_are_worth = mass @ free.log(free_sticks) + free.log_prior(free_sticks)
    np.testing.assert_allclose(theirs_are_worth - ours_are_worth, cost, rtol=1e-9)
    assert cost < 0
