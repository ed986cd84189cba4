"""Single links and nodes without: both forms of the loops give the same, and the right one runs."""

import pickle
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.link_graphs import enumerate_graph
from sidelight.couplings.link_graph import LinkGraph, LinkProblem, infer, link_graphs, linked_rows, plan
from sidelight.couplings.link_graph.exact.direct import COMPILED, NUMPY, pair_backend_for
from sidelight.exceptions import InfeasibleError
from sidelight.side import SideInformation

FORMS = pytest.mark.parametrize("form", [NUMPY, COMPILED], ids=["numpy", "compiled"])


def pairs_problem(rng, n_pairs, labels=None, alone=0):
    """Return disjoint links between shuffled nodes: certain cannot-links, soft must-links and soft cannot-links."""
    kind, sure = rng.integers(3, size=n_pairs), rng.uniform(0.55, 0.999, size=n_pairs)
    log_equal = np.select([kind == 0, kind == 1], [-np.inf, np.log(sure)], np.log1p(-sure))
    log_different = np.select([kind == 0, kind == 1], [0.0, np.log1p(-sure)], np.log(sure))
    n_nodes = 2 * n_pairs + alone
    ends = rng.permutation(n_nodes)[: 2 * n_pairs].reshape(-1, 2)
    return LinkProblem.of(n_nodes, ends, log_equal, log_different, labels)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(3, 23),
    st.integers(1, 200),
    st.sampled_from([0.1, 5.0, 100.0, 3000.0]),
    st.integers(0, 150),
    st.booleans(),
)
def test_compiled_equals_numpy_to_twelve_digits(seed, n_classes, n_pairs, spread, alone, ruled_out):
    rng = np.random.default_rng(seed)
    planned = plan(pairs_problem(rng, n_pairs, alone=alone), n_classes)
    scores = rng.normal(size=(2 * n_pairs + alone, n_classes)) * spread
    if ruled_out:
        # Two classes stay possible for every node, so that every link can be respected.
        scores[:, 2:][rng.random((len(scores), n_classes - 2)) < 0.4] = -np.inf
    first, second = (infer(replace(planned, backend=form), scores) for form in (NUMPY, COMPILED))
    np.testing.assert_allclose(first.marginals, second.marginals, rtol=0, atol=1e-12)
    np.testing.assert_allclose(first.same, second.same, rtol=0, atol=1e-12)
    assert first.log_partition == pytest.approx(second.log_partition, rel=1e-12, abs=1e-12)


@FORMS
@pytest.mark.parametrize("spread", [1.0, 30.0, 3000.0])
def test_pairs_equal_enumeration(form, spread):
    rng = np.random.default_rng(int(spread))
    for _ in range(5):
        labels = np.where(rng.random(7) < 0.2, rng.integers(3, size=7), -1)
        try:
            planned = plan(pairs_problem(rng, 3, labels, alone=1), 3)
        except InfeasibleError:
            continue
        unary = rng.normal(size=(7, 3)) * spread
        unary[:, 1] += 2 * spread
        expected = enumerate_graph(planned.problem, unary)
        found = infer(replace(planned, backend=form), unary)
        np.testing.assert_allclose(found.marginals, expected.marginals, rtol=0, atol=1e-10)
        np.testing.assert_allclose(found.same, np.einsum("ecc->e", expected.pairs), rtol=0, atol=1e-10)
        assert found.log_partition == pytest.approx(expected.log_partition, rel=1e-10, abs=1e-10)


@FORMS
def test_any_layout_of_the_scores_will_do(form):
    rng = np.random.default_rng(0)
    planned = replace(plan(pairs_problem(rng, 10, alone=3), 4), backend=form)
    scores = rng.normal(size=(23, 4))
    expected = infer(planned, scores).marginals
    frozen = scores.copy()
    frozen.flags.writeable = False
    for same_scores in (np.asfortranarray(scores), frozen, np.repeat(scores, 2, axis=1)[:, ::2]):
        np.testing.assert_allclose(infer(planned, same_scores).marginals, expected, rtol=1e-13)


@FORMS
@pytest.mark.parametrize("possible", [[0], []], ids=["the same class only", "no class"])
def test_scores_that_leave_nothing_possible_are_refused(form, possible):
    unary = np.full((3, 3), -np.inf)
    unary[:2, possible] = 0.0
    for n in (2, 3):
        planned = plan(LinkProblem.of(n, [(0, 1)], [-np.inf], [0.0]), 3)
        with pytest.raises(InfeasibleError, match="leave no assignment that is possible"):
            infer(replace(planned, backend=form), unary[:n])
    unary[:2] = 0.0
    with pytest.raises(InfeasibleError, match="leave no assignment that is possible"):
        infer(replace(planned, backend=form), unary)


def test_few_pairs_are_not_worth_compiling_for():
    assert pair_backend_for(1000) is NUMPY
    assert pair_backend_for(10**9) is COMPILED
    problem = pairs_problem(np.random.default_rng(0), 4)
    assert plan(problem, 3).backend is NUMPY
    planned = plan(problem, 3, n_scores=10**9)
    assert planned.backend is COMPILED
    assert pickle.loads(pickle.dumps(planned)).backend == COMPILED


def test_without_numba_pairs_run_in_numpy():
    program = """
import sys
sys.modules["numba"] = None
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "numba" else find_spec(name, *rest)
from sidelight.couplings.link_graph.exact.direct import NUMPY, pair_backend_for
assert pair_backend_for(10**12) is NUMPY
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_parts_are_compiled_if_all_of_them_together_are_worth_it():
    linked = linked_rows(SideInformation.build(40, cannot_link=np.arange(40).reshape(-1, 2)))
    for n_passes, expected in ((10, NUMPY), (10**6, COMPILED)):
        graphs = link_graphs(linked, np.arange(3), draws=np.ones(40), part_rows=8, n_passes=n_passes).graphs
        assert [len(graph.rows) for graph in graphs] == [8] * 5
        assert {graph.plan.backend for graph in graphs} == {expected}
    # One of the parts by itself would not be.
    assert pair_backend_for(10**6 * 8 * 3) is NUMPY


@FORMS
def test_single_rows_that_draw_once_need_no_sums(form):
    rng = np.random.default_rng(1)
    linked = linked_rows(SideInformation.build(12, cannot_link=np.arange(12).reshape(-1, 2)))
    log_likelihood, log_alpha = rng.normal(size=(12, 4)) * 3, np.log([0.1, 0.2, 0.3, 0.4])
    log_alpha[0] = -np.inf
    planned = replace(plan(linked.problem, 4), backend=form)

    def coupling(draws):
        return LinkGraph(planned, linked.rows, linked.starts, np.ones(12), draws, np.arange(4))

    untouched = log_likelihood.copy()
    quick = coupling(np.ones(12))(log_likelihood, log_alpha, None)
    np.testing.assert_array_equal(log_likelihood, untouched)
    # A chunklet that draws a class twice has twice the log weights.
    twice = coupling(np.full(12, 2.0))(log_likelihood, log_alpha / 2, None)
    np.testing.assert_allclose(quick.posterior, twice.posterior, atol=1e-14)
    np.testing.assert_allclose(2 * quick.class_counts, twice.class_counts, rtol=1e-14)
    assert quick.evidence == pytest.approx(twice.evidence, rel=1e-14)
