"""Many links: the cost grows with their number, and no step loops over nodes."""

import time

import numpy as np
import pytest

from sidelight.couplings.link_graph import LinkProblem, infer, most_probable, plan


def inferred(n, edges, n_classes, seed):
    """Return the plan, what was inferred, and the CPU seconds of both."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    edges = edges[edges[:, 0] != edges[:, 1]]
    same = truth[edges[:, 0]] == truth[edges[:, 1]]
    log_equal = np.where(same, np.log(0.9), -np.inf)
    log_different = np.where(same, np.log(0.1), 0.0)
    unary = rng.normal(size=(n, n_classes))
    unary[np.arange(n), truth] += 1.5
    start = time.process_time()
    planned = plan(LinkProblem.of(n, edges, log_equal, log_different), n_classes)
    found = infer(planned, unary)
    seconds = time.process_time() - start
    np.testing.assert_allclose(found.marginals.sum(axis=1), 1.0, atol=1e-9)
    assert ((found.same >= 0) & (found.same <= 1 + 1e-12)).all()
    helped = (found.marginals.argmax(axis=1) == truth).mean() - (unary.argmax(axis=1) == truth).mean()
    assert helped > 0.02
    return planned, unary, seconds


def test_forty_thousand_random_links():
    n = 40_000
    edges = np.random.default_rng(0).integers(n, size=(n, 2))
    planned, unary, seconds = inferred(n, edges, 3, 0)
    assert not planned.exact
    assert seconds < 20
    _, score = most_probable(planned, unary)
    assert np.isfinite(score)


def test_disjoint_links_and_trees_cost_in_proportion_to_their_number():
    rng = np.random.default_rng(1)

    def seconds(n, tree):
        later = np.arange(1, n)
        edges = (
            np.column_stack([(rng.random(n - 1) * later).astype(int), later]) if tree else np.arange(n).reshape(-1, 2)
        )
        planned, _, taken = inferred(n, edges, 5, 2)
        assert planned.exact
        return taken

    for tree in (False, True):
        small, large = min(seconds(10_000, tree) for _ in range(2)), seconds(200_000, tree)
        assert large < 60 * small


@pytest.mark.parametrize("n", [3_001])
def test_a_long_chain(n):
    planned, unary, _ = inferred(n, np.column_stack([np.arange(n - 1), np.arange(1, n)]), 3, 3)
    assert planned.exact
    assert planned.forest.chain.children.size
    assert np.isfinite(most_probable(planned, unary)[1])
