"""Many links: the work grows with their number, and no step loops over nodes in Python."""

import sys

import numpy as np

import sidelight.couplings
import sidelight.graphs
from sidelight.couplings.link_graph import LinkProblem, infer, most_probable, plan
from sidelight.couplings.link_graph.belief_propagation import propagate, sum_product
from sidelight.couplings.link_graph.exact.trees import MAX_LEVELS

FOLDERS = (*sidelight.couplings.__path__, *sidelight.graphs.__path__)


def lines_run(work):
    """Return what the work returns, and how many lines of couplings and graphs it ran: loops count every round."""
    count = 0

    def in_package(frame, event, _):
        nonlocal count
        count += event == "line"
        return in_package

    def watch(frame, event, _):
        return in_package if frame.f_code.co_filename.startswith(FOLDERS) else None

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        result = work()
    finally:
        sys.settrace(before)
    return result, count


def inferred(n, edges, n_classes, seed):
    """Return the plan, the scores, and the number of lines that planning and inference ran."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    edges = edges[edges[:, 0] != edges[:, 1]]
    same = truth[edges[:, 0]] == truth[edges[:, 1]]
    log_equal = np.where(same, np.log(0.9), -np.inf)
    log_different = np.where(same, np.log(0.1), 0.0)
    unary = rng.normal(size=(n, n_classes))
    unary[np.arange(n), truth] += 1.5
    problem = LinkProblem.of(n, edges, log_equal, log_different)
    (planned, found), n_lines = lines_run(lambda: (made := plan(problem, n_classes), infer(made, unary)))
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1.0, atol=1e-9)
    assert ((found.same >= 0) & (found.same <= 1 + 1e-12)).all()
    helped = (found.marginals.argmax(axis=1) == truth).mean() - (unary.argmax(axis=1) == truth).mean()
    assert helped > 0.02
    return planned, unary, n_lines


def random_tree(n, rng):
    later = np.arange(1, n)
    return np.column_stack([(rng.random(n - 1) * later).astype(int), later])


def test_forty_thousand_random_links():
    n = 40_000
    edges = np.random.default_rng(0).integers(n, size=(n, 2))
    planned, unary, n_lines = inferred(n, edges, 3, 0)
    assert not planned.exact
    assert n_lines < n
    loopy = planned.loopy
    found = propagate(loopy, unary[planned.forest.nodes[loopy.nodes]], None, sum_product)
    assert found.converged
    assert found.n_sweeps < 50
    _, score = most_probable(planned, unary)
    assert np.isfinite(score)


def test_disjoint_links_take_one_block_after_the_other():
    small, large = ((n, *inferred(n, np.arange(n).reshape(-1, 2), 5, 2)) for n in (10_000, 200_000))
    for n, planned, _, n_lines in (small, large):
        assert planned.exact
        assert planned.forest is None
        assert n_lines < n / 50
    assert large[-1] < 20 * small[-1]


def test_trees_visit_every_node_once_level_after_level():
    rng = np.random.default_rng(1)
    small, large = ((n, *inferred(n, random_tree(n, rng), 5, 2)) for n in (10_000, 200_000))
    for n, planned, _, n_lines in (small, large):
        assert planned.exact
        forest = planned.forest
        visited = np.concatenate([forest.roots, *(level.children for level in forest.levels)])
        np.testing.assert_array_equal(np.sort(visited), np.arange(len(forest.nodes)))
        # A random tree of n nodes has a depth in proportion to ln n.
        assert len(forest.levels) < 4 * np.log(n)
        assert n_lines < n / 5
    assert large[-1] < 20 * small[-1]


def test_a_long_chain_has_a_limited_number_of_levels():
    for n in (3_001, 30_001):
        edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
        planned, unary, n_lines = inferred(n, edges, 3, 3)
        assert planned.exact
        assert len(planned.forest.levels) == MAX_LEVELS
        assert planned.forest.chain.children.size == n - 1 - 2 * MAX_LEVELS
        # Beyond the levels, compiled loops take the rest in one call.
        assert n_lines < 100 * MAX_LEVELS
        assert np.isfinite(most_probable(planned, unary)[1])
