"""The E-step of linked rows, against enumeration, Yu et al.'s formulas for pairs, and the objective of whole steps."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.mixtures import assigned, family_for, mixture_of, random_state
from sidelight.couplings.link_graph import (
    HARD,
    SOFT,
    LinkGraph,
    LinkGraphs,
    link_graphs,
    linked_rows,
    plan,
)
from sidelight.side import SideInformation

CLASSES = np.array([0, 0, 1, 2])


def graph_of(linked, classes, draws=None, row_weights=None, assignment=SOFT, **planning):
    draws = np.ones(len(linked.starts)) if draws is None else draws
    weights = np.ones(len(linked.rows)) if row_weights is None else row_weights
    planned = plan(linked.problem, classes.max() + 1, **planning)
    return LinkGraph(planned, linked.rows, linked.starts, weights, draws, classes, assignment)


def problem(seed):
    """Side information on six rows, log densities of four components in three classes, and weights."""
    rng = np.random.default_rng(seed)
    links = [tuple(map(int, rng.choice(6, 2, replace=False))) for _ in range(5)]
    side = SideInformation.build(
        6,
        y=[2 if rng.random() < 0.3 else -1, *[-1] * 5],
        must_link=links[:1],
        cannot_link=[link for link in links[1:3] if set(link) != set(links[0])],
        blocks=[-1, -1, -1, 0, 0, -1] if rng.random() < 0.3 else None,
    )
    soft = SideInformation.build(6, must_link=links[3:4], cannot_link=links[4:], confidence=0.8)
    return side | soft, rng.normal(size=(6, 4)) * 2, np.log(rng.dirichlet(np.ones(4)))


def enumerate_rows(linked, log_likelihood, log_weights, classes, draws, row_weights):
    """Posterior (m, components), class counts and log evidence by summing over the classes of all chunklets."""
    n_classes = classes.max() + 1
    log_alpha = np.array([np.logaddexp.reduce(log_weights[classes == c]) for c in range(n_classes)])
    joint = log_likelihood + log_weights - log_alpha[classes]
    density = np.stack([np.logaddexp.reduce(joint[:, classes == c], axis=1) for c in range(n_classes)], axis=1)
    within = np.exp(joint - density[:, classes])
    node = np.repeat(np.arange(len(linked.starts)), linked.sizes)
    posterior, counts, total = np.zeros_like(log_likelihood), np.zeros(n_classes), 0.0
    links = linked.problem
    for choice in product(range(n_classes), repeat=len(linked.starts)):
        z = np.array(choice)
        if ((links.labels >= 0) & (links.labels != z)).any():
            continue
        equal = z[links.edges[:, 0]] == z[links.edges[:, 1]]
        score = np.where(equal, links.log_equal, links.log_different).sum() + draws @ log_alpha[z]
        score += row_weights @ density[np.arange(len(node)), z[node]]
        chance = np.exp(score)
        total += chance
        posterior += chance * within * (classes == z[node][:, None])
        np.add.at(counts, z, chance * draws)
    return posterior / total, counts / total, np.log(total)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_the_e_step_equals_enumeration(seed, weighted):
    side, log_likelihood, log_weights = problem(seed)
    try:
        linked = linked_rows(side.without_unused_names())
    except ValueError:
        return
    rng = np.random.default_rng(seed)
    row_weights = rng.uniform(0.5, 2, size=len(linked.rows)) if weighted else np.ones(len(linked.rows))
    for draws in (np.ones(len(linked.starts)), linked.sizes.astype(float)):
        densities = log_likelihood[linked.rows]
        found = graph_of(linked, CLASSES, draws, row_weights)(densities, log_weights, None)
        posterior, counts, evidence = enumerate_rows(linked, densities, log_weights, CLASSES, draws, row_weights)
        np.testing.assert_allclose(found.posterior, posterior, atol=1e-10)
        np.testing.assert_allclose(found.responsibilities, row_weights[:, None] * posterior, atol=1e-10)
        np.testing.assert_allclose(found.class_counts, counts, atol=1e-10)
        assert found.evidence == pytest.approx(evidence, abs=1e-10)


def test_disjoint_links_give_the_e_step_of_generative_pairs():
    rng = np.random.default_rng(0)
    must, cannot = [(0, 5), (2, 3)], [(1, 4), (6, 7)]
    linked = linked_rows(SideInformation.build(8, must_link=must, cannot_link=cannot))
    classes = np.arange(3)
    log_likelihood, log_alpha = rng.normal(size=(8, 3)) * 3, np.log(rng.dirichlet(np.ones(3)))
    found = graph_of(linked, classes)(log_likelihood[linked.rows], log_alpha, None)
    posterior = np.empty((8, 3))
    posterior[linked.rows] = found.posterior
    evidence = 0.0
    for i, j in must:
        weights = np.exp(log_alpha + log_likelihood[i] + log_likelihood[j])
        np.testing.assert_allclose(posterior[[i, j]], np.tile(weights / weights.sum(), (2, 1)), atol=1e-13)
        evidence += np.log(weights.sum())
    scores = log_likelihood + log_alpha
    for a, b in cannot:
        for own, other in ((a, b), (b, a)):
            weights = [
                np.exp(scores[own, m]) * sum(np.exp(scores[other, o]) for o in range(3) if o != m) for m in range(3)
            ]
            np.testing.assert_allclose(posterior[own], weights / np.sum(weights), atol=1e-13)
        evidence += np.log(np.sum(weights))
    assert found.evidence == pytest.approx(evidence, rel=1e-13)


def test_hard_assignments_are_the_best_of_all():
    rng = np.random.default_rng(1)
    side = SideInformation.build(6, must_link=[(0, 1)], cannot_link=[(1, 2), (2, 3), (3, 0), (4, 5)])
    linked = linked_rows(side)
    node = np.repeat(np.arange(len(linked.starts)), linked.sizes)
    for _ in range(10):
        log_likelihood, log_weights = rng.normal(size=(6, 4)) * 2, np.log(rng.dirichlet(np.ones(4)))
        densities = log_likelihood[linked.rows]
        found = graph_of(linked, CLASSES, assignment=HARD)(densities, log_weights, None)
        log_alpha = np.array([np.logaddexp.reduce(log_weights[c == CLASSES]) for c in range(3)])
        best = -np.inf
        for choice in product(range(4), repeat=6):
            z = np.full(len(linked.starts), -1)
            z[node] = CLASSES[list(choice)]
            if (z[node] != CLASSES[list(choice)]).any() or (
                z[linked.problem.edges[:, 0]] == z[linked.problem.edges[:, 1]]
            ).any():
                continue
            within = densities + log_weights - log_alpha[CLASSES]
            best = max(best, log_alpha[z].sum() + within[np.arange(6), list(choice)].sum())
        assert found.evidence == pytest.approx(best, rel=1e-12)
        assert set(np.unique(found.posterior)) == {0.0, 1.0}
        np.testing.assert_array_equal(found.posterior.sum(axis=1), 1.0)


def test_a_class_without_weight_is_never_chosen():
    rng = np.random.default_rng(2)
    linked = linked_rows(SideInformation.build(4, cannot_link=[(0, 1), (1, 2)]))
    log_weights = np.array([np.log(0.4), np.log(0.6), -np.inf, -np.inf])
    found = graph_of(linked, np.array([0, 1, 2, 2]))(rng.normal(size=(3, 4)), log_weights, None)
    np.testing.assert_array_equal(found.posterior[:, 2:], 0.0)
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1.0)


def table(rng, n=60):
    X = rng.normal(size=(n, 2)) + rng.choice([-2.0, 0.0, 2.0], size=(n, 1))
    return X, X[:, 0] > 0


@pytest.mark.parametrize("classes", [np.arange(3), CLASSES], ids=["one component", "several"])
@pytest.mark.parametrize("assignment", [SOFT, HARD], ids=["soft", "hard"])
def test_steps_never_lower_the_objective(classes, assignment):
    rng = np.random.default_rng(3)
    for _ in range(4):
        X, _ = table(rng)
        pairs = rng.choice(40, size=(18, 2), replace=True)
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        side = SideInformation.build(60, must_link=pairs[:4], cannot_link=pairs[4:], confidence=0.9)
        linked = linked_rows(side)
        draws = linked.sizes.astype(float)
        family = family_for(X, "full", rows=3.0, fraction=0.05)
        coupling = link_graphs(linked, classes, draws=draws, assignment=assignment)
        assert coupling.monotone
        mixture = mixture_of(X, family, len(classes), classes=classes, couplings=(coupling,))
        state = random_state(rng, X, family, "full", len(classes))
        objectives = []
        for _ in range(15):
            state, objective = mixture.step(state)
            objectives.append(objective)
        assert (np.diff(objectives) >= -1e-9 * np.abs(objectives[:-1])).all()
        assert objectives[-1] > objectives[0]


def test_parts_add_up_to_the_whole():
    rng = np.random.default_rng(4)
    X, _ = table(rng)
    side = SideInformation.build(
        60,
        y=[0, 1, *[-1] * 58],
        must_link=[(2, 3), (4, 5), (5, 6), (30, 31)],
        cannot_link=[(2, 7), (8, 9), (10, 11), (12, 13), (13, 14), (14, 12), (15, 16), (17, 18), (1, 19), (30, 32)],
    )
    linked = linked_rows(side)
    draws, row_weights = linked.sizes.astype(float), rng.uniform(0.5, 2, size=len(linked.rows))
    whole = graph_of(linked, CLASSES, draws, row_weights)
    divided = link_graphs(linked, CLASSES, draws=draws, row_weights=row_weights, part_rows=4)
    assert len(divided.graphs) > 4
    assert sorted(divided.rows.tolist()) == sorted(linked.rows.tolist())
    family = family_for(X, "full", rows=3.0, fraction=0.05)
    state = random_state(rng, X, family, "full", 4)
    found, posteriors = [], []
    for coupling in (whole, divided):
        mixture = mixture_of(X, family, 4, classes=CLASSES, couplings=(coupling,))
        found.append(mixture.expect(state))
        posterior, objective = assigned(mixture, state)
        assert objective == pytest.approx(mixture.objective(state, found[-1]), rel=1e-12)
        posteriors.append(posterior)
        mixture.expect(state._replace(couplings=tuple(part.state for part in found[-1].coupled)))
    np.testing.assert_allclose(found[0].class_mass, found[1].class_mass, rtol=1e-12)
    np.testing.assert_allclose(found[0].statistics.mass, found[1].statistics.mass, rtol=1e-12)
    assert found[0].evidence == pytest.approx(found[1].evidence, rel=1e-12)
    np.testing.assert_allclose(*posteriors, atol=1e-12)


def test_belief_propagation_remembers_its_messages():
    rng = np.random.default_rng(5)
    pairs = rng.choice(40, size=(60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    linked = linked_rows(SideInformation.build(40, cannot_link=pairs, confidence=0.9))
    coupling = graph_of(linked, np.arange(4), max_entries=0)
    assert not coupling.monotone
    log_likelihood, log_weights = rng.normal(size=(len(linked.rows), 4)), np.full(4, -np.log(4))
    first = coupling(log_likelihood, log_weights, None)
    again = coupling(log_likelihood, log_weights, first.memory)
    np.testing.assert_allclose(again.posterior, first.posterior, atol=1e-4)
    assert LinkGraphs((coupling,)).monotone is False
