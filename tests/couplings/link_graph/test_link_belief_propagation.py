"""Belief propagation: exact on trees, measured on loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.link_graphs import enumerate_graph
from sidelight.couplings.link_graph import LinkProblem, infer, most_probable, pair_marginals, plan
from sidelight.couplings.link_graph.belief_propagation import SOFTENING, LoopyGraph, bethe, propagate, sum_product


def problem_of(n, edges, rng, certain):
    """Links with confidences, and a share of certain cannot-links."""
    edges = edges[edges[:, 0] != edges[:, 1]]
    sure = rng.uniform(0.7, 0.99, size=len(edges))
    cannot = rng.random(len(edges)) < certain
    return LinkProblem.of(n, edges, np.where(cannot, -np.inf, np.log(sure)), np.where(cannot, 0.0, np.log1p(-sure)))


def softened(problem):
    least = np.full(len(problem.edges), np.log(SOFTENING))
    return LinkProblem.of(
        problem.n_nodes,
        problem.edges,
        np.where(np.isneginf(problem.log_equal), least, problem.log_equal),
        problem.log_different,
    )


def mean_field(problem, unary, sweeps=50):
    """Marginals by naive mean field, node after node."""
    shares = np.exp(unary - unary.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    bonus = problem.log_equal - problem.log_different
    for _ in range(sweeps):
        for node in range(problem.n_nodes):
            scores = unary[node].copy()
            for (a, b), extra in zip(problem.edges.tolist(), bonus, strict=True):
                if node in (a, b):
                    scores += extra * shares[b if node == a else a]
            shares[node] = np.exp(scores - scores.max())
            shares[node] /= shares[node].sum()
    return shares


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4))
def test_belief_propagation_is_exact_on_trees(seed, n_classes):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    later = np.arange(1, n)
    problem = problem_of(n, np.column_stack([(rng.random(n - 1) * later).astype(int), later]), rng, 0.5)
    unary = rng.normal(size=(n, n_classes)) * 2
    graph = LoopyGraph(
        np.arange(n), problem.edges, np.arange(len(problem.edges)), problem.log_equal, problem.log_different
    )
    found = propagate(graph, unary, None, sum_product)
    assert found.converged
    log_partition, same = bethe(graph, unary, found)
    expected = enumerate_graph(softened(problem), unary)
    np.testing.assert_allclose(np.exp(found.beliefs), expected.marginals, atol=1e-5)
    np.testing.assert_allclose(same, np.einsum("ecc->e", expected.pairs), atol=1e-5)
    # The Bethe free energy is stationary in the messages, so its error is of second order.
    assert log_partition == pytest.approx(expected.log_partition, abs=1e-9)


# Mean and largest error of marginals, belief propagation (mean field), 16 graphs each. The first is close to the point
# where three classes stop being enough, so that the certain links leave few assignments; that is where it is worst.
MEASURED = [
    (3, 12, 20, 1.0, (0.089, 0.837), (0.182, 0.992)),
    (4, 14, 28, 1.0, (0.028, 0.443), (0.149, 0.984)),
    (5, 20, 40, 1.0, (0.008, 0.103), (0.113, 0.946)),
    (4, 14, 28, 0.5, (0.032, 0.387), (0.110, 0.923)),
]


@pytest.mark.parametrize(("n_classes", "n", "n_links", "certain", "measured", "measured_field"), MEASURED)
def test_the_error_on_loops_is_as_measured_and_below_that_of_mean_field(
    n_classes, n, n_links, certain, measured, measured_field
):
    rng = np.random.default_rng(n_classes)
    errors, field_errors = [], []
    while len(errors) < 16:
        problem = problem_of(n, rng.integers(n, size=(n_links, 2)), rng, certain)
        try:
            exact, approximate = plan(problem, n_classes), plan(problem, n_classes, max_entries=0)
        except ValueError:
            continue
        assert exact.exact
        assert not approximate.exact
        unary = rng.normal(size=(n, n_classes)) * 1.5
        truth = infer(exact, unary).marginals
        errors.append(np.abs(infer(approximate, unary).marginals - truth))
        field_errors.append(np.abs(mean_field(softened(problem), unary) - truth))
    found, found_field = ((np.mean(each), np.max(each)) for each in (errors, field_errors))
    assert (np.array(found) < np.array(measured) + 0.01).all()
    np.testing.assert_allclose(found_field, measured_field, atol=0.01)
    assert found[0] < found_field[0] / 2


def test_a_large_single_loop_is_nearly_exact():
    rng = np.random.default_rng(0)
    n = 60
    problem = problem_of(n, np.column_stack([np.arange(n), (np.arange(n) + 1) % n]), rng, 0.3)
    unary = rng.normal(size=(n, 3))
    exact, approximate = plan(problem, 3), plan(problem, 3, max_entries=0)
    assert exact.exact
    assert not approximate.exact
    softly = infer(plan(softened(problem), 3), unary)
    found = infer(approximate, unary)
    np.testing.assert_allclose(found.marginals, softly.marginals, atol=1e-4)
    assert found.log_partition == pytest.approx(softly.log_partition, abs=1e-4)
    np.testing.assert_allclose(found.same, softly.same, atol=1e-4)
    np.testing.assert_allclose(
        pair_marginals(approximate, unary), pair_marginals(plan(softened(problem), 3), unary), atol=1e-4
    )
    np.testing.assert_allclose(found.marginals, infer(exact, unary).marginals, atol=0.02)


def test_messages_are_a_start_for_the_next_time():
    rng = np.random.default_rng(1)
    problem = problem_of(200, rng.integers(200, size=(500, 2)), rng, 0.5)
    planned = plan(problem, 5, max_entries=0)
    unary = rng.normal(size=(200, 5))
    first = infer(planned, unary)
    again = infer(planned, unary, first.messages)
    np.testing.assert_allclose(again.marginals, first.marginals, atol=1e-4)
    scores = rng.normal(size=(len(planned.loopy.nodes), 5))
    cold = propagate(planned.loopy, scores, None, sum_product)
    assert cold.converged
    assert propagate(planned.loopy, scores, cold.messages, sum_product).n_sweeps == 1


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.4, 1.0]))
def test_the_assignment_on_loops_respects_what_is_certain(seed, certain):
    rng = np.random.default_rng(seed)
    problem = problem_of(40, rng.integers(40, size=(80, 2)), rng, certain)
    try:
        planned = plan(problem, 4, max_entries=0)
    except ValueError:
        return
    unary = rng.normal(size=(40, 4)) * 3
    classes, score = most_probable(planned, unary)
    assert np.isfinite(score)
    # No single change improves it.
    for node in range(40):
        for other in range(4):
            changed = classes.copy()
            changed[node] = other
            equal = changed[problem.edges[:, 0]] == changed[problem.edges[:, 1]]
            links = np.where(equal, problem.log_equal, problem.log_different).sum()
            assert unary[np.arange(40), changed].sum() + links <= score + 1e-8
