"""The variational bound never falls: every conjugate family, all Bayesian weights, all kinds of statements."""

from dataclasses import replace
from operator import attrgetter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.conjugate import COMPONENTS, INCOMPLETE, NAMES, STUDENT, collect, table
from oracles.statements import field_of, random_side
from sidelight.couplings.independent import Independent
from sidelight.estimators.bayesian.components import label_sums
from sidelight.inference.loop import ascend
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.pruning import Fit, prune
from sidelight.kernels.loops import NUMPY
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import DirichletWeights, Gamma, GivenConcentration, LearnedConcentration, StickBreakingWeights

WEIGHTS = {
    "dirichlet": lambda k: DirichletWeights(k, 0.3),
    "learned dirichlet": lambda k: DirichletWeights(k, Gamma(1.0, 1.0)),
    "sticks": lambda k: StickBreakingWeights(k, GivenConcentration(0.8)),
    "learned sticks": lambda k: StickBreakingWeights(k, LearnedConcentration(Gamma(1.0, 1.0))),
}
STEPS = 6

cases = {
    "name": st.sampled_from(
        [(name, 0.0) for name in (*NAMES, *STUDENT)] + [(name, 0.2) for name in (*INCOMPLETE, *STUDENT)]
    ),
    "kind": st.sampled_from(list(WEIGHTS)),
    "seed": st.integers(0, 10_000),
    "labels": st.booleans(),
    "links": st.booleans(),
    "blocks": st.booleans(),
    "weighted": st.booleans(),
}


def problem(name, kind, seed, *, weighted, n=30, k=5, **statements):
    """Return a mixture under random statements, and the state after random responsibilities."""
    name, missing = name
    k = COMPONENTS if name == "own_means" else k
    rng = np.random.default_rng(seed)
    family, X = table(name, rng, n)
    X[rng.random(X.shape) < missing] = np.nan
    row_weights = rng.uniform(0.5, 3, size=n) if weighted else None
    strength, repulsion = rng.choice([0.5, 5.0, 100.0]), rng.choice([0.0, 1.0])
    field = field_of(random_side(rng, n, **statements), strength, repulsion, weights=row_weights)
    weights = WEIGHTS[kind](k)
    rows = Rows(ArrayTable(X), row_weights)
    mixture = Mixture(rows, family, weights, Independent(np.arange(k), NUMPY), field, NUMPY)
    responsibilities = rng.dirichlet(np.full(k, 0.3), size=n)
    statistics = collect(family, family.around(X[:k]), X, responsibilities)
    return mixture, MixtureState(family.update(statistics), weights.update(statistics.mass, statistics.mass, None))


def shrunk(mixture, components):
    """Return the mixture of some of its components."""
    return replace(
        mixture,
        family=mixture.family.narrowed(components),
        weights=replace(mixture.weights, n_components=len(components)),
        coupling=replace(mixture.coupling, classes=np.arange(len(components))),
    )


def assert_rising(objectives):
    rises = np.diff(objectives)
    assert (rises >= -1e-9 * np.abs(objectives[1:])).all(), rises


@given(**cases)
def test_every_step_raises_the_bound(name, kind, seed, labels, links, blocks, weighted):
    mixture, state = problem(name, kind, seed, labels=labels, links=links, blocks=blocks, weighted=weighted)
    objectives = []
    for _ in range(STEPS):
        state, objective = mixture.step(state)
        objectives.append(objective)
    assert_rising(objectives)


@settings(max_examples=25)
@given(**cases)
def test_pruning_raises_the_bound(name, kind, seed, labels, links, blocks, weighted):
    mixture, state = problem(name, kind, seed, labels=labels, links=links, blocks=blocks, weighted=weighted)
    fit = Fit(mixture, ascend(mixture.step, state, max_iter=STEPS, tol=1e-6))
    pruned = prune(fit, shrunk, mixture.family.divergence, attrgetter("step"), label_sums, max_iter=STEPS, tol=1e-6)
    _, last = pruned.mixture.step(pruned.trace.state)
    assert_rising([*pruned.trace.objectives, last])
    np.testing.assert_allclose(pruned.mixture.weights.mean(pruned.trace.state.weights).sum(), 1.0)
