"""Marginals, log partition and the most probable assignment under a plan."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.link_graph.belief_propagation import (
    Messages,
    Propagation,
    bethe,
    cavities,
    decide_loops,
    probable,
    propagate,
)
from sidelight.couplings.link_graph.evidence import add_evidence
from sidelight.couplings.link_graph.exact import two_classes
from sidelight.couplings.link_graph.exact.elimination import decide_batch, infer_batch
from sidelight.couplings.link_graph.exact.messages import maximal, summed
from sidelight.couplings.link_graph.exact.pairs import decide_pairs
from sidelight.couplings.link_graph.exact.trees import (
    Upward,
    cavities_of_trees,
    decide_downward,
    pass_downward,
    pass_upward,
)
from sidelight.couplings.link_graph.plan import Plan
from sidelight.exceptions import InfeasibleError
from sidelight.kernels.logspace import log, log_sum, potentials, shares


class Inference(NamedTuple):
    """What is known of the classes of the nodes.

    Parameters
    ----------
    marginals : (g, classes)
    same : (q,)
        Probability that both ends of an edge share a class.
    log_partition : float
        Logarithm of the sum over all assignments; an estimate where the plan is not exact.
    messages : Messages, optional
        Where belief propagation ended, for the next time.
    """

    marginals: FloatArray
    same: FloatArray
    log_partition: float
    messages: Messages | None


class _Beliefs(NamedTuple):
    """What inference found on the plan's graph, with what pair marginals need beyond it."""

    marginals: FloatArray
    same: FloatArray
    log_partition: float
    scores: FloatArray
    upward: Upward
    log_beliefs: FloatArray
    propagation: Propagation | None


def infer(plan: Plan, unary: FloatArray, messages: Messages | None = None) -> Inference:
    """Return marginals and log partition for log scores of the nodes.

    Parameters
    ----------
    plan : Plan
    unary : (g, classes)
        Log scores; -inf where a class is impossible. Labels need not be marked: the plan knows them.
    messages : Messages, optional
        Those of an earlier inference under the same plan, where belief propagation may start.
    """
    found = _infer(plan, unary, messages)
    kept = None if found.propagation is None else found.propagation.messages
    if plan.parity is None:
        return Inference(found.marginals, found.same, found.log_partition, kept)
    return Inference(
        two_classes.spread_shares(plan.parity, found.marginals),
        two_classes.spread_same(plan.parity, found.same),
        found.log_partition + plan.parity.constant,
        kept,
    )


# Where scores leave nothing possible, normalising divides nothing by nothing; that is said at the end.
@np.errstate(invalid="ignore")
def _infer(plan: Plan, unary: FloatArray, messages: Messages | None, pairs: FloatArray | None = None) -> _Beliefs:
    """Infer on the plan's graph; fill ``pairs``, the pair marginals of its edges, for what is summed out."""
    scores = unary if plan.parity is None else two_classes.gather(plan.parity, unary)
    known = plan.known
    marginals, same = np.empty_like(scores), np.empty(len(plan.graph.edges))
    log_partition = known.constant + float(scores[known.nodes, known.classes].sum())
    marginals[known.nodes] = np.arange(plan.n_classes) == known.classes[:, None]
    scores = add_evidence(known, scores)

    log_partition += plan.simple.singles(plan.isolated, scores, marginals)
    sums = plan.simple.pairs(plan.pairs, scores, marginals)
    same[plan.pairs.edges] = sums.same
    log_partition += float(sums.log_partition.sum())

    forest = plan.forest
    upward = pass_upward(forest, scores, summed)
    log_partition += upward.log_scale
    beliefs = np.empty_like(upward.scores)
    log_totals = log_sum(upward.scores[forest.roots])
    beliefs[forest.roots] = upward.scores[forest.roots] - log_totals[:, None]
    log_partition += float(log_totals.sum())
    inner = np.empty(len(forest.edges))
    by_forest = None if pairs is None else np.empty((len(forest.edges), plan.n_classes, plan.n_classes))
    for batch in plan.batches:
        log_partition += infer_batch(batch, upward.scores, beliefs, inner, by_forest)
    propagation = None
    if plan.loops is not None:
        loops = plan.loops
        propagation = propagate(loops, upward.scores[loops.nodes], messages, probable)
        beliefs[loops.nodes] = propagation.beliefs
        estimate, inner[loops.edges] = bethe(loops, upward.scores[loops.nodes], propagation)
        log_partition += estimate
    pass_downward(forest, upward, beliefs, inner)
    same[forest.edges] = inner
    marginals[forest.nodes] = np.exp(beliefs)
    _fill_same(plan, marginals, same)
    if not np.isfinite(log_partition):
        raise InfeasibleError(
            "cannot_link, the labels and the scores leave no assignment that is possible; raise n_classes, or set "
            "link_confidence below 1"
        )
    if pairs is not None and by_forest is not None:
        pairs[forest.edges] = by_forest
    return _Beliefs(marginals, same, log_partition, scores, upward, beliefs, propagation)


def _fill_same(plan: Plan, marginals: FloatArray, same: FloatArray) -> None:
    """Fill in the edges with a known end, whose own marginals are certain."""
    first, second = plan.graph.edges[plan.known.edges].T
    same[plan.known.edges] = np.einsum("ec,ec->e", marginals[first], marginals[second])


def pair_marginals(plan: Plan, unary: FloatArray, messages: Messages | None = None) -> FloatArray:
    """Return the joint probabilities (q, classes, classes) of the classes of the ends of each edge.

    The arguments are those of :func:`infer`.
    """
    graph, n_classes = plan.graph, plan.n_classes
    pairs = np.empty((len(graph.edges), n_classes, n_classes))
    found = _infer(plan, unary, messages, pairs)

    links = potentials(graph.log_equal, graph.log_different, n_classes)

    def fill(edges: IntArray, first: FloatArray, second: FloatArray) -> None:
        """Fill in some edges from the log scores of both ends without the link."""
        joint = first[:, :, None] + second[:, None, :] + links[edges]
        flat, _ = shares(joint.reshape(len(edges), n_classes**2))
        pairs[edges] = flat.reshape(joint.shape)

    single = plan.pairs
    fill(single.edges, found.scores[single.ends[:, 0]], found.scores[single.ends[:, 1]])
    if plan.forest.levels or plan.forest.chain.children.size:
        fill(*cavities_of_trees(plan.forest, found.upward, found.log_beliefs))
    if plan.loops is not None and found.propagation is not None:
        edges = plan.forest.edges[plan.loops.edges]
        links[edges] = potentials(*plan.loops.softened, n_classes)
        fill(edges, *(log(cavity) for cavity in cavities(plan.loops, found.propagation, slice(None))))
    ends = graph.edges[plan.known.edges]
    pairs[plan.known.edges] = found.marginals[ends[:, 0], :, None] * found.marginals[ends[:, 1], None, :]
    if plan.parity is None:
        return pairs
    marginals = two_classes.spread_shares(plan.parity, found.marginals)
    return two_classes.spread_pairs(plan.parity, pairs, marginals, plan.problem.edges)


def most_probable(plan: Plan, unary: FloatArray) -> tuple[IntArray, float]:
    """Return the most probable classes (g,) and the score of this assignment, the log potentials included.

    Where the plan is not exact: a good assignment, which breaks what is certain only where repair finds no way out;
    its score is then -inf.
    """
    scores = unary if plan.parity is None else two_classes.gather(plan.parity, unary)
    known, forest = plan.known, plan.forest
    classes = np.empty(plan.graph.n_nodes, dtype=np.int64)
    classes[known.nodes] = known.classes
    scores = add_evidence(known, scores)
    classes[plan.isolated] = scores[plan.isolated].argmax(axis=1)
    decide_pairs(plan.pairs, scores, classes)
    upward = pass_upward(forest, scores, maximal)
    inner = np.empty(len(forest.nodes), dtype=np.int64)
    inner[forest.roots] = upward.scores[forest.roots].argmax(axis=1)
    for batch in plan.batches:
        decide_batch(batch, upward.scores, inner)
    if plan.loops is not None:
        inner[plan.loops.nodes] = decide_loops(plan.loops, upward.scores[plan.loops.nodes])
    decide_downward(forest, upward, inner)
    classes[forest.nodes] = inner
    if plan.parity is not None:
        classes = two_classes.spread_classes(plan.parity, classes)
    return classes, score_of(plan, unary, classes)


def score_of(plan: Plan, unary: FloatArray, classes: IntArray) -> float:
    """Return the log score of an assignment (g,)."""
    problem = plan.problem
    equal = classes[problem.edges[:, 0]] == classes[problem.edges[:, 1]]
    links = np.where(equal, problem.log_equal, problem.log_different).sum()
    return float(unary[np.arange(len(classes)), classes].sum() + links)
