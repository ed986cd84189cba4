"""Exact inference on the link graph, against enumeration of all assignments and tensor contraction."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from oracles.link_graphs import contract_graph, enumerate_graph, is_possible, problems, scores_of
from sidelight.couplings.link_graph import LinkProblem, infer, most_probable, pair_marginals, plan
from sidelight.exceptions import InfeasibleError


def cannot_links(n, edges, labels=None):
    edges = np.array(edges).reshape(-1, 2)
    return LinkProblem.of(n, edges, np.full(len(edges), -np.inf), np.zeros(len(edges)), labels)


def soft_links(n, edges, rng):
    sure = rng.uniform(0.6, 0.95, size=len(edges))
    must = rng.random(len(edges)) < 0.5
    respected, broken = np.log(sure), np.log1p(-sure)
    return LinkProblem.of(n, edges, np.where(must, respected, broken), np.where(must, broken, respected))


def assert_equals_enumeration(problem, unary, planned):
    assert planned.exact
    expected = enumerate_graph(problem, unary)
    size = max(abs(expected.log_partition), 1.0)
    found = infer(planned, unary)
    assert found.log_partition == pytest.approx(expected.log_partition, abs=1e-10 * size)
    np.testing.assert_allclose(found.marginals, expected.marginals, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.same, np.einsum("ecc->e", expected.pairs), rtol=0, atol=1e-10)
    np.testing.assert_allclose(pair_marginals(planned, unary), expected.pairs, rtol=0, atol=1e-10)
    classes, score = most_probable(planned, unary)
    assert score == pytest.approx(expected.score, abs=1e-10 * size)
    assert scores_of(problem, unary, classes[None])[0] == pytest.approx(score, abs=1e-10 * size)


@settings(max_examples=150, deadline=None)
@given(problems())
def test_everything_equals_enumeration(drawn):
    problem, unary = drawn
    assume(is_possible(problem, unary.shape[1]))
    assert_equals_enumeration(problem, unary, plan(problem, unary.shape[1]))


@settings(max_examples=60, deadline=None)
@given(problems(most_nodes=12, most_edges=16, n_classes=2))
def test_two_classes_of_up_to_twelve_nodes(drawn):
    problem, unary = drawn
    assume(is_possible(problem, 2))
    assert_equals_enumeration(problem, unary, plan(problem, 2))


@settings(max_examples=40, deadline=None)
@given(problems(most_nodes=12, most_edges=18, n_classes=3))
def test_marginals_equal_those_of_tensor_contraction(drawn):
    problem, unary = drawn
    unary = np.clip(unary, -20, 20)
    try:
        planned = plan(problem, 3)
    except InfeasibleError:
        return
    marginals, log_partition = contract_graph(problem, unary)
    found = infer(planned, unary)
    np.testing.assert_allclose(found.marginals, marginals, rtol=0, atol=1e-10)
    assert found.log_partition == pytest.approx(log_partition, abs=1e-10 * max(abs(log_partition), 1.0))


@settings(max_examples=100, deadline=None)
@given(problems())
def test_a_problem_is_refused_exactly_where_enumeration_finds_nothing(drawn):
    problem, unary = drawn
    if is_possible(problem, unary.shape[1]):
        plan(problem, unary.shape[1])
    else:
        with pytest.raises(InfeasibleError, match="cannot_link asks for more than n_classes"):
            plan(problem, unary.shape[1])


# Each way of inference, where it must be the one that is used.


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_single_links_are_pairs(n_classes):
    rng = np.random.default_rng(n_classes)
    problem = soft_links(7, [(0, 4), (1, 2), (5, 6)], rng)
    planned = plan(problem, n_classes)
    assert len(planned.pairs.ends) == 3
    assert planned.isolated.tolist() == [3]
    assert planned.forest is None
    assert_equals_enumeration(problem, rng.normal(size=(7, n_classes)), planned)


@pytest.mark.parametrize("scale", [1.0, 30.0, 3000.0])
def test_pairs_whose_ends_want_the_same_class(scale):
    # All but one class underflows at both ends, so that the second best decides.
    rng = np.random.default_rng(0)
    unary = rng.normal(size=(8, 4)) * scale
    unary[:, 2] += 3 * scale
    problem = cannot_links(8, [(0, 1), (2, 3), (4, 5), (6, 7)])
    assert_equals_enumeration(problem, unary, plan(problem, 4))


def test_two_classes_and_certain_links_are_contracted():
    rng = np.random.default_rng(1)
    cycle = [(row, (row + 1) % 6) for row in range(6)]
    problem = cannot_links(10, [*cycle, (6, 7), (7, 8)])
    planned = plan(problem, 2)
    assert planned.contraction is not None
    assert planned.graph.n_nodes == 3
    assert len(planned.isolated) == 3
    assert_equals_enumeration(problem, rng.normal(size=(10, 2)), planned)


def test_uncertain_links_join_contracted_nodes():
    rng = np.random.default_rng(2)
    soft = soft_links(9, [(0, 3), (3, 6), (6, 0), (1, 4), (2, 0)], rng)
    certain = np.array([(0, 1), (1, 2), (3, 4), (6, 7), (7, 8)])
    problem = LinkProblem.of(
        9,
        np.concatenate([soft.edges, certain]),
        np.concatenate([soft.log_equal, np.full(5, -np.inf)]),
        np.concatenate([soft.log_different, np.zeros(5)]),
    )
    planned = plan(problem, 2)
    assert planned.contraction is not None
    assert len(planned.batches) == 1
    assert_equals_enumeration(problem, rng.normal(size=(9, 2)), planned)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_are_passed_over_level_by_level(n_classes):
    rng = np.random.default_rng(n_classes)
    edges = [(0, 1), (0, 2), (0, 3), (3, 4), (3, 5), (5, 6), (7, 8), (8, 9)]
    problem = soft_links(10, edges, rng)
    planned = plan(problem, n_classes)
    assert len(planned.forest.levels) == 2
    assert len(planned.forest.roots) == 2
    assert not planned.batches
    assert_equals_enumeration(problem, rng.normal(size=(10, n_classes)) * 3, planned)


def test_deep_trees_are_passed_over_node_by_node():
    rng = np.random.default_rng(3)
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (2, 6), (6, 7), (7, 8)]
    for problem in (soft_links(9, edges, rng), cannot_links(9, edges)):
        by_level = plan(problem, 3)
        assert not by_level.forest.chain.children.size
        for max_levels in (0, 1):
            planned = plan(problem, 3, max_levels=max_levels)
            assert len(planned.forest.levels) == max_levels
            assert planned.forest.chain.children.size
            for scale in (1.0, 1000.0):
                unary = rng.normal(size=(9, 3)) * scale
                assert_equals_enumeration(problem, unary, planned)
                np.testing.assert_allclose(
                    infer(planned, unary).marginals, infer(by_level, unary).marginals, atol=1e-12
                )


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_small_loops_are_summed_out_with_their_trees(n_classes):
    rng = np.random.default_rng(n_classes)
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (3, 4), (4, 5)]
    problem = soft_links(6, edges, rng)
    planned = plan(problem, n_classes)
    assert [max(len(bucket.scope) for bucket in batch.shape.buckets) for batch in planned.batches] == [3]
    assert len(planned.forest.levels) == 2
    assert_equals_enumeration(problem, rng.normal(size=(6, n_classes)) * 2, planned)


def test_loops_of_one_shape_are_one_batch():
    rng = np.random.default_rng(5)
    corners = [(3 * t + a, 3 * t + b) for t in range(3) for a, b in combinations(range(3), 2)]
    problem = cannot_links(9, corners)
    planned = plan(problem, 3)
    assert [len(batch.nodes) for batch in planned.batches] == [3]
    assert_equals_enumeration(problem, rng.normal(size=(9, 3)) * 2, planned)


def test_labels_open_loops():
    rng = np.random.default_rng(6)
    edges = [(0, node) for node in range(1, 7)] + [(node, node + 1) for node in range(1, 6)]
    labels = np.array([1, -1, -1, -1, -1, -1, -1])
    problem = cannot_links(7, edges, labels)
    planned = plan(problem, 3)
    assert not planned.batches
    assert len(planned.forest.levels) == 3
    assert_equals_enumeration(problem, rng.normal(size=(7, 3)), planned)


def test_the_size_of_tables_decides_between_elimination_and_belief_propagation():
    problem = cannot_links(5, list(combinations(range(5), 2)))
    assert plan(problem, 5).exact
    assert plan(problem, 5, max_entries=5**5).exact
    assert not plan(problem, 5, max_entries=5**5 - 1).exact


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("edges", [[(0, 1)], [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 3), (3, 0)]])
def test_scores_that_leave_nothing_possible_are_refused(n_classes, edges):
    unary = np.full((4, n_classes), -np.inf)
    unary[:, 0] = 0.0
    with pytest.raises(InfeasibleError, match="leave no assignment that is possible"):
        infer(plan(cannot_links(4, edges), n_classes), unary)


def test_links_between_the_same_nodes_add_up():
    problem = LinkProblem.of(3, [(0, 1), (1, 0), (2, 2)], [-1.0, -2.0, -3.0], [-0.1, -0.2, -0.3])
    assert problem.edges.tolist() == [[0, 1]]
    np.testing.assert_allclose(problem.log_equal, [-3.0])
    np.testing.assert_allclose(problem.log_different, [-0.3])


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(0, 10**6))
def test_the_numbering_of_nodes_does_not_matter(drawn, seed):
    problem, unary = drawn
    n_classes = unary.shape[1]
    assume(is_possible(problem, n_classes))
    order = np.random.default_rng(seed).permutation(problem.n_nodes)
    labels = np.empty_like(problem.labels)
    labels[order] = problem.labels
    moved = LinkProblem.of(problem.n_nodes, order[problem.edges], problem.log_equal, problem.log_different, labels)
    turned = np.empty_like(unary)
    turned[order] = unary
    found = infer(plan(moved, n_classes), turned)
    np.testing.assert_allclose(found.marginals[order], infer(plan(problem, n_classes), unary).marginals, atol=1e-10)
