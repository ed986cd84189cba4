"""The Potts field against its definition, written out pair by pair."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.mixtures import assigned, family_for, mixture_of, random_state, rows_of
from oracles.statements import field_of, random_side
from sidelight.couplings.potts import atoms_of
from sidelight.inference.executors.threads import Threads
from sidelight.kernels.loops import NUMPY, compiled
from sidelight.side import SideInformation

STRENGTH, REPULSION = 3.0, 0.7


def problem(seed, *, n=14, k=4, backend=NUMPY, weighted=False, repulsion=REPULSION, settings=None, **statements):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * 3
    side = random_side(rng, n, **statements)
    weights = rng.uniform(0.5, 3, size=n) if weighted else None
    field = field_of(side, STRENGTH, repulsion, weights=weights, backend=backend, **settings or {})
    family = family_for(X, "full", rows=1.0, fraction=0.1)
    mixture = mixture_of(X, family, k, backend=backend, couplings=field, weights=weights)
    return mixture, random_state(rng, X, family, "full", k), side


def bound(mixture, state, side, r):
    """Σ r (ln p + ln π) + H(r) − E, pair by pair; rows joined by certain statements have one entropy."""
    X, weights = rows_of(mixture), np.ones(len(r)) if mixture.rows.weights is None else mixture.rows.weights
    evaluator = mixture.family.evaluator(state.parameters, NUMPY)
    evaluator.load(X)
    own = r * (evaluator.log_likelihood().T + state.weights)
    entropies = -np.where(r > 0, r * np.log(np.maximum(r, 1e-300)), 0.0).sum(axis=1)
    plain = SideInformation.build(
        len(r),
        must_link=side.must_link[side.must_link_confidence == 1],
        blocks=side.blocks if (side.blocks >= 0).any() else None,
    )
    chunklets = plain.closure().chunklets
    sizes = np.bincount(chunklets)
    alone = sizes[chunklets] == 1
    total = float((own.sum(axis=1) * weights).sum())
    first = np.unique(chunklets, return_index=True)[1]
    total += float(sum(entropies[i] * (weights[i] if alone[i] else 1.0) for i in first))

    energy = 0.0
    labels = np.array([max(side.labels[chunklets == chunklets[i]]) for i in range(len(r))])
    codes = range(len(side.label_names))
    counts = [weights[labels == c].sum() for c in codes]
    for i in range(len(r)):
        for j in range(len(r)):
            if labels[i] < 0 or labels[j] < 0:
                continue
            pair = weights[i] * weights[j]
            scale = 0.5 * STRENGTH / np.sqrt(counts[labels[i]] * counts[labels[j]])
            if labels[i] == labels[j]:
                energy += pair * scale * (1 - r[i] @ r[j])
            else:
                energy += mixture.couplings[0].repulsion * pair * scale * (r[i] @ r[j])
    atom_weight = np.where(alone, weights, 1.0)
    for links, confidence, sign in (
        (side.must_link, side.must_link_confidence, 1),
        (side.cannot_link, side.cannot_link_confidence, -1),
    ):
        for (i, j), q in zip(links, confidence, strict=True):
            if chunklets[i] == chunklets[j]:
                continue
            w = min(np.log(q / (1 - q)), STRENGTH) if q < 1 else STRENGTH
            together = r[i] @ r[j]
            energy += atom_weight[i] * atom_weight[j] * w * (1 - together if sign > 0 else together)
    return total - energy


@given(
    seed=st.integers(0, 10_000),
    labels=st.booleans(),
    links=st.booleans(),
    blocks=st.booleans(),
    weighted=st.booleans(),
    repulsion=st.sampled_from([0.0, 1.0, 4.0]),
)
def test_the_objective_is_the_bound_and_never_falls(seed, labels, links, blocks, weighted, repulsion):
    mixture, state, side = problem(
        seed, labels=labels, links=links, blocks=blocks, weighted=weighted, repulsion=repulsion
    )
    if not mixture.couplings:
        return
    last = -np.inf
    for _ in range(5):
        expectation = mixture.expect(state)
        # With nothing but a blank memory for the first sweep, the second starts from the first's posterior.
        settled = state._replace(couplings=tuple(part.state for part in expectation.coupled))
        r, value = assigned(mixture, settled)
        prior = mixture.family.log_prior(state.parameters)
        np.testing.assert_allclose(value, bound(mixture, state, side, r) + prior, rtol=1e-10, atol=1e-9)
        objective = mixture.objective(state, expectation)
        assert objective <= value + 1e-9 * abs(value)
        assert objective >= last - 1e-9 * abs(objective)
        last = objective
        state = mixture.maximise(expectation, state)


@pytest.mark.parametrize("weighted", [False, True])
def test_backends_and_threads_give_the_same(weighted):
    results = []
    for backend, n_threads in ((NUMPY, 1), (NUMPY, 3), (compiled(), 1), (compiled(), 3)):
        mixture, state, *_ = problem(3, n=120, k=5, backend=backend, weighted=weighted, settings={"part_atoms": 16})
        mixture = replace(mixture, executor=Threads(n_threads))
        for _ in range(3):
            state, objective = mixture.step(state)
        results.append((objective, state.parameters.means, *state.couplings[0].memory))
    for found in results[1:]:
        for ours, theirs in zip(found, results[0], strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def test_many_linked_rows_are_remembered_in_single_precision():
    exact, state, *_ = problem(4, n=60)
    expected = exact.step(exact.step(state)[0])[1]
    rough, *_ = problem(4, n=60, settings={"single_precision_from": 10})
    following, _ = rough.step(state)
    assert following.couplings[0].memory.posterior.dtype == np.float32
    np.testing.assert_allclose(rough.step(following)[1], expected, rtol=1e-7)


def test_nothing_said_gives_no_atoms():
    assert atoms_of(SideInformation.build(5), certain=1.0) is None
