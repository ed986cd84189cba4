"""Link graphs by enumeration of all assignments, and by tensor contraction."""

from itertools import product
from typing import NamedTuple

import numpy as np
import opt_einsum
from hypothesis import strategies as st

from sidelight.couplings.link_graph import LinkProblem


class Enumerated(NamedTuple):
    """Marginals (g, classes), pair marginals (q, classes, classes), log partition, best assignment and its score."""

    marginals: np.ndarray
    pairs: np.ndarray
    log_partition: float
    best: np.ndarray
    score: float


def assignments(problem, n_classes):
    """All assignments that agree with the labels, (a, g)."""
    options = [range(n_classes) if label < 0 else [label] for label in problem.labels.tolist()]
    every = list(product(*options))
    return np.array(every, dtype=np.int64).reshape(len(every), problem.n_nodes)


def scores_of(problem, unary, every):
    """The log score of each assignment (a, g)."""
    total = unary[np.arange(problem.n_nodes), every].sum(axis=1)
    for (a, b), equal, different in zip(problem.edges, problem.log_equal, problem.log_different, strict=True):
        total = total + np.where(every[:, a] == every[:, b], equal, different)
    return total


def is_possible(problem, n_classes):
    """Whether some assignment respects everything that is certain."""
    every = assignments(problem, n_classes)
    return bool(np.isfinite(scores_of(problem, np.zeros((problem.n_nodes, n_classes)), every)).any())


def enumerate_graph(problem, unary):
    """Sum over all assignments."""
    n_classes = unary.shape[1]
    every = assignments(problem, n_classes)
    scores = scores_of(problem, unary, every)
    largest = scores.max()
    weights = np.exp(scores - largest)
    total = weights.sum()
    weights /= total
    indicators = every[:, :, None] == np.arange(n_classes)
    marginals = np.einsum("a,agc->gc", weights, indicators)
    pairs = np.array(
        [np.einsum("a,ac,ad->cd", weights, indicators[:, a], indicators[:, b]) for a, b in problem.edges.tolist()]
    ).reshape(-1, n_classes, n_classes)
    return Enumerated(marginals, pairs, largest + np.log(total), every[scores.argmax()], largest)


def contract_graph(problem, unary):
    """Marginals (g, classes) and log partition by opt_einsum; labels as unary evidence."""
    n, k = unary.shape
    known = problem.labels[:, None]
    factors = [
        (np.where((known < 0) | (known == np.arange(k)), np.exp(unary), 0.0)[node], (node,)) for node in range(n)
    ]
    for edge, equal, different in zip(problem.edges.tolist(), problem.log_equal, problem.log_different, strict=True):
        factors.append((np.where(np.eye(k, dtype=bool), np.exp(equal), np.exp(different)), tuple(edge)))
    operands = [part for factor in factors for part in factor]
    total = float(opt_einsum.contract(*operands, ()))
    return np.array([opt_einsum.contract(*operands, (node,)) for node in range(n)]) / total, np.log(total)


@st.composite
def problems(draw, most_nodes=7, most_edges=9, n_classes=None):
    """Small problems with links of every kind, some nodes of known class, and scores; often with loops.

    Nodes times classes are few enough to enumerate. Some are impossible.
    """
    n_classes = draw(st.integers(2, 4)) if n_classes is None else n_classes
    n = draw(st.integers(1, most_nodes if n_classes < 4 else min(most_nodes, 6)))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=most_edges))
    kinds = draw(st.lists(st.sampled_from(["cannot", "soft cannot", "soft must"]), min_size=len(edges)))[: len(edges)]
    sure = draw(st.lists(st.floats(0.55, 0.999), min_size=len(edges)))[: len(edges)]
    potentials = [
        (-np.inf, 0.0)
        if kind == "cannot"
        else (np.log(c), np.log(1 - c))
        if kind == "soft must"
        else (np.log(1 - c), np.log(c))
        for kind, c in zip(kinds, sure, strict=True)
    ]
    log_equal, log_different = np.array(potentials).reshape(-1, 2).T
    labels = draw(st.lists(st.sampled_from([-1, -1, -1, *range(n_classes)]), min_size=n, max_size=n))
    problem = LinkProblem.of(n, edges, log_equal, log_different, np.array(labels))
    scale = draw(st.sampled_from([1.0, 10.0, 1000.0]))
    unary = np.random.default_rng(draw(st.integers(0, 10**6))).normal(size=(n, n_classes)) * scale
    return problem, unary
