"""Trees and loops in place, compiled: the same as in NumPy, and as enumeration where inference is exact."""

import numpy as np
import pytest

pytest.importorskip("numba")

from oracles.link_graphs import enumerate_graph
from sidelight.couplings.link_graph import LinkProblem, infer, plan
from sidelight.couplings.link_graph.in_place import InPlace


def random_problem(n, n_links, rng, certain, least=0.6, most=0.99):
    edges = rng.integers(n, size=(n_links, 2))
    edges = edges[edges[:, 0] != edges[:, 1]]
    sure = rng.uniform(least, most, size=len(edges))
    cannot = rng.random(len(edges)) < certain
    must = rng.random(len(edges)) < 0.5
    right, wrong = np.log(sure), np.log1p(-sure)
    log_equal = np.where(cannot, -np.inf, np.where(must, right, wrong))
    return LinkProblem.of(n, edges, log_equal, np.where(cannot, 0.0, np.where(must, wrong, right)))


def in_place(planned, scores, messages=None):
    marginals, same = np.full(scores.shape, np.nan), np.full(len(planned.graph.edges), np.nan)
    passes = InPlace.of(planned.forest, planned.batches, planned.loopy)
    log_partition, messages = passes.infer(scores, messages, marginals, same)
    return passes, marginals, same, log_partition, messages


@pytest.mark.parametrize("scale", [1.0, 30.0, 900.0])
@pytest.mark.parametrize("seed", range(6))
def test_exact_parts_equal_numpy_at_any_scale_of_scores(seed, scale):
    rng = np.random.default_rng(seed)
    problem = random_problem(60, 50, rng, 0.4)
    planned = plan(problem, 4)
    assert planned.exact
    assert planned.forest is not None
    scores = scale * rng.normal(size=(60, 4))
    passes, marginals, same, log_partition, _ = in_place(planned, scores)
    expected = infer(planned, scores)
    others = np.setdiff1d(np.arange(60), passes.nodes)
    assert np.isnan(marginals[others]).all()
    np.testing.assert_allclose(marginals[passes.nodes], expected.marginals[passes.nodes], atol=1e-9)
    visited = ~np.isnan(same)
    np.testing.assert_allclose(same[visited], expected.same[visited], atol=1e-9)
    by_itself = infer(planned, scores).log_partition
    # What is not a tree or a loop adds the same in both forms.
    alone = plan(LinkProblem.of(60, np.empty((0, 2), dtype=int), np.empty(0), np.empty(0)), 4)
    rest = np.zeros_like(scores)
    rest[others] = scores[others]
    if not planned.pairs.edges.size:
        beside = infer(alone, rest).log_partition - len(passes.nodes) * np.log(4)
        assert log_partition + beside == pytest.approx(by_itself, rel=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_trees_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    later = np.arange(1, 7)
    edges = np.column_stack([(rng.random(6) * later).astype(int), later])
    cannot = rng.random(6) < 0.5
    problem = LinkProblem.of(7, edges, np.where(cannot, -np.inf, np.log(0.9)), np.where(cannot, 0.0, np.log(0.1)))
    planned = plan(problem, 3)
    scores = 3 * rng.normal(size=(7, 3))
    _, marginals, same, log_partition, _ = in_place(planned, scores)
    expected = enumerate_graph(problem, scores)
    np.testing.assert_allclose(marginals, expected.marginals, atol=1e-12)
    np.testing.assert_allclose(same, np.einsum("ecc->e", expected.pairs), atol=1e-12)
    assert log_partition == pytest.approx(expected.log_partition, rel=1e-12)


@pytest.mark.parametrize(("seed", "most"), [(0, 0.9), (1, 0.99), (2, 1 - 1e-9)])
def test_large_loops_converge_to_the_fixed_point_of_numpy(seed, most):
    rng = np.random.default_rng(seed)
    problem = random_problem(400, 480, rng, 0.3, most=most)
    planned = plan(problem, 5, max_entries=1)
    assert planned.loopy is not None
    scores = 2 * rng.normal(size=(400, 5))
    passes, marginals, same, log_partition, messages = in_place(planned, scores)
    expected = infer(planned, scores)
    np.testing.assert_allclose(marginals[passes.nodes], expected.marginals[passes.nodes], atol=1e-4)
    visited = ~np.isnan(same)
    np.testing.assert_allclose(same[visited], expected.same[visited], atol=1e-4)
    again = in_place(planned, scores, messages)
    assert again[3] == pytest.approx(log_partition, abs=1e-6)


@pytest.mark.parametrize("n_scores", [1, 10**9])
def test_a_plan_with_other_potentials_is_the_plan_of_the_other_problem(n_scores):
    rng = np.random.default_rng(0)
    sure = random_problem(80, 90, rng, 0.0)
    problem = LinkProblem.of(80, sure.edges, sure.log_equal, sure.log_different, np.where(np.arange(80) < 6, 1, -1))
    flatter = LinkProblem.of(80, problem.edges, problem.log_equal / 3, problem.log_different / 2, problem.labels)
    scores = rng.normal(size=(80, 3))
    for max_entries in (1, 1000):
        changed = plan(problem, 3, max_entries=max_entries, n_scores=n_scores).with_potentials(flatter)
        found, expected = infer(changed, scores), infer(plan(flatter, 3, max_entries=max_entries), scores)
        np.testing.assert_allclose(found.marginals, expected.marginals, atol=1e-4)
        np.testing.assert_allclose(found.same, expected.same, atol=1e-4)
    with pytest.raises(ValueError, match="certain links"):
        plan(random_problem(80, 90, rng, 0.5), 3).with_potentials(flatter)


def test_marginals_may_be_written_over_the_scores():
    rng = np.random.default_rng(0)
    ring = np.column_stack([np.arange(50), np.roll(np.arange(50), 1)])
    problem = LinkProblem.of(50, ring, np.log(np.full(50, 0.9)), np.log(np.full(50, 0.1)))
    planned = plan(problem, 4, n_scores=10**9)
    scores = rng.normal(size=(50, 4))
    expected = infer(planned, scores)
    found = infer(planned, scores, overwrite=True)
    assert found.marginals is scores
    np.testing.assert_array_equal(found.marginals, expected.marginals)
    assert found.log_partition == expected.log_partition


def test_a_node_with_very_many_links_does_not_underflow():
    rng = np.random.default_rng(0)
    n = 300
    star = np.column_stack([np.zeros(n - 1, dtype=int), np.arange(1, n)])
    ring = np.column_stack([np.arange(1, n), np.roll(np.arange(1, n), 1)])
    edges = np.concatenate([star, ring])
    truth = rng.integers(4, size=n)
    same = truth[edges[:, 0]] == truth[edges[:, 1]]
    equal, different = np.where(same, 0.8, 0.2), np.where(same, 0.2, 0.8)
    problem = LinkProblem.of(n, edges, np.log(equal), np.log(different))
    planned = plan(problem, 4, max_entries=1)
    scores = rng.normal(size=(n, 4)) + 2 * (truth[:, None] == np.arange(4))
    passes, marginals, _, log_partition, _ = in_place(planned, scores)
    assert passes.slots.heavy[0]
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, atol=1e-9)
    assert np.isfinite(log_partition)
    np.testing.assert_allclose(marginals, infer(planned, scores).marginals, atol=1e-3)


def test_plans_of_many_links_take_it():
    rng = np.random.default_rng(0)
    problem = random_problem(2000, 2400, rng, 0.3)
    assert plan(problem, 4).in_place is None
    large = plan(problem, 4, n_scores=10**8)
    assert large.in_place is not None
    scores = rng.normal(size=(2000, 4))
    by_numpy, compiled = infer(plan(problem, 4), scores), infer(large, scores)
    np.testing.assert_allclose(compiled.marginals, by_numpy.marginals, atol=1e-4)
    assert compiled.log_partition == pytest.approx(by_numpy.log_partition, rel=1e-7)
    assert infer(large, scores, compiled.messages).log_partition == pytest.approx(compiled.log_partition, rel=1e-9)
