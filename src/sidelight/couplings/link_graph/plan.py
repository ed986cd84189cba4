"""Inference under a plan, which divides a link graph into pieces: each has the cheapest inference that is exact for it.

Planning is done once per fit, inference once per E-step.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.couplings.link_graph import belief_propagation as bp
from sidelight.couplings.link_graph.exact import trees
from sidelight.couplings.link_graph.exact.direct import (
    Contraction,
    PairBackend,
    Pairs,
    contract,
    decide_pairs,
    pair_backend_for,
)
from sidelight.couplings.link_graph.exact.elimination import (
    MAX_ENTRIES,
    Batch,
    batch_loops,
    connected_loops,
    decide_batch,
    infer_batch,
)
from sidelight.couplings.link_graph.feasibility import refuse_impossible_links
from sidelight.couplings.link_graph.in_place import InPlace, is_worth_compiling
from sidelight.couplings.link_graph.problem import LabelledNodes, LinkProblem, take_out_labelled
from sidelight.exceptions import InfeasibleError
from sidelight.kernels.loops import log, log_sum, potentials, shares

# How often belief propagation visits a score.
_LOOPY_SWEEPS = 10

AnyPart = TypeVar("AnyPart", Pairs, trees.Forest)


@dataclass(frozen=True, eq=False)
class Plan:
    """How to infer the classes of the nodes of a problem.

    With two classes, nodes that certain links connect are contracted to one, and ``graph`` is what is left. Labelled
    nodes are taken out of it. Of the rest, nodes without links are ``isolated``, links without neighbours are
    ``pairs``; trees, also those that hang on loops, are passed over twice; loops are summed out exactly in ``batches``
    of equal shape where the tables stay small, and left to belief propagation (``loopy``) where they do not. There is
    no ``forest`` where there are only isolated nodes and pairs, which ``backend`` sums over, in NumPy or compiled.
    Where trees and loops are many, ``in_place`` has them for compiled loops.
    """

    problem: LinkProblem
    n_classes: int
    contraction: Contraction | None
    graph: LinkProblem
    labelled: LabelledNodes | None
    isolated: IntArray
    pairs: Pairs
    forest: trees.Forest | None
    batches: tuple[Batch, ...]
    loopy: bp.LoopyGraph | None
    backend: PairBackend
    in_place: InPlace | None

    @property
    def exact(self) -> bool:
        """Whether inference is exact everywhere."""
        return self.loopy is None

    @property
    def is_in_place(self) -> bool:
        """Whether compiled loops take all nodes, so that scores can become marginals where they are."""
        return self.in_place is not None and len(self.in_place.nodes) == self.problem.n_nodes

    def with_potentials(self, problem: LinkProblem) -> "Plan":
        """Return the plan for a problem with the same nodes, edges and labels and other log potentials.

        Neither may have certain links: which nodes they bind together is part of a plan.
        """
        if self.contraction is not None or self.problem.is_certain.any() or problem.is_certain.any():
            raise ValueError("the problem has certain links; make a new plan")
        log_equal, log_different = problem.log_equal, problem.log_different

        def weighed(part: AnyPart) -> AnyPart:
            return part._replace(log_equal=log_equal[part.edges], log_different=log_different[part.edges])

        forest, batches, loopy, in_place = self.forest, self.batches, self.loopy, self.in_place
        if forest is not None:
            forest = weighed(forest)
            equal, different = forest.log_equal, forest.log_different
            batches = tuple(b._replace(log_equal=equal[b.edges], log_different=different[b.edges]) for b in batches)
            if loopy is not None:
                loopy = replace(loopy, log_equal=equal[loopy.edges], log_different=different[loopy.edges])
            if in_place is not None:
                in_place = InPlace.of(forest, batches, loopy)
        return replace(
            self,
            problem=problem,
            graph=problem,
            labelled=take_out_labelled(problem, self.n_classes)[0],
            pairs=weighed(self.pairs),
            forest=forest,
            batches=batches,
            loopy=loopy,
            in_place=in_place,
        )


def plan(
    problem: LinkProblem,
    n_classes: int,
    *,
    max_entries: int = MAX_ENTRIES,
    max_levels: int = trees.MAX_LEVELS,
    n_scores: int | None = None,
) -> Plan:
    """Decide how each piece of a problem is handled.

    Parameters
    ----------
    max_entries : int
        Entries that a table of the exact elimination may have, classes to the power of treewidth + 1.
    max_levels : int
        Depth from which on trees are passed over node by node instead of level by level.
    n_scores : int, optional
        Number of scores in all E-steps, under this plan and others of the same fit; those of its nodes, once, where
        absent.

    Raises
    ------
    InfeasibleError
        If no assignment respects the labels and the certain links.
    """
    n_labels = int(problem.labels.max(initial=-1)) + 1
    if n_labels > n_classes:
        raise ValueError(f"n_classes={n_classes}, but the labels name {n_labels} classes; raise n_classes")
    contraction = None
    if problem.is_certain.any():
        contraction = contract(problem) if n_classes == 2 else None
        if contraction is None:
            refuse_impossible_links(problem, n_classes)
    graph = problem if contraction is None else contraction.graph
    labelled, free = take_out_labelled(graph, n_classes)
    edges = np.flatnonzero(free)
    ends = graph.edges[edges]
    degree = np.bincount(ends.ravel(), minlength=graph.n_nodes)
    alone = (degree[ends] == 1).all(axis=1)
    forest, loopy = None, None
    batches: tuple[Batch, ...] = ()
    if not alone.all():
        forest, batches, loopy = _forest(graph, edges[~alone], n_classes, max_entries, max_levels)
    total = problem.n_nodes * n_classes if n_scores is None else n_scores
    in_place = None
    if forest is not None and is_worth_compiling(total if loopy is None else _LOOPY_SWEEPS * total):
        in_place = InPlace.of(forest, batches, loopy)
    return Plan(
        problem,
        n_classes,
        contraction,
        graph,
        labelled,
        np.flatnonzero((degree == 0) & (graph.labels < 0)),
        Pairs(ends[alone], graph.log_equal[edges[alone]], graph.log_different[edges[alone]], edges[alone]),
        forest,
        batches,
        loopy,
        pair_backend_for(total),
        in_place,
    )


def _forest(
    graph: LinkProblem, edges: IntArray, n_classes: int, max_entries: int, max_levels: int
) -> tuple[trees.Forest, tuple[Batch, ...], bp.LoopyGraph | None]:
    """Return the trees, the loops that are summed out exactly, and those that are left to belief propagation."""
    nodes, ends = np.unique(graph.edges[edges], return_inverse=True)
    ends = ends.reshape(-1, 2)
    peeling = trees.peel(len(nodes), ends, max_levels=max_levels)
    has_parent = np.zeros(len(nodes), dtype=bool)
    for level in (*peeling.levels, peeling.chain):
        has_parent[level.children] = True
    in_loop = np.zeros(len(nodes), dtype=bool)
    in_loop[ends[peeling.loop_edges]] = True
    log_equal, log_different = graph.log_equal[edges], graph.log_different[edges]
    roots = np.flatnonzero(~has_parent & ~in_loop)
    forest = trees.Forest(nodes, peeling.levels, peeling.chain, roots, edges, log_equal, log_different)
    if not peeling.loop_edges.size:
        return forest, (), None
    loops = connected_loops(ends, peeling.loop_edges)
    batches, left = batch_loops(loops, log_equal, log_different, n_classes, max_entries)
    return forest, batches, bp.LoopyGraph.of(left, log_equal, log_different) if left else None


# Of belief propagation in NumPy, or in place.
Messages = bp.Messages | AnyArray


class Inference(NamedTuple):
    """The posterior of the classes of the nodes (g, classes), and the probability (q,) that ends of an edge share one.

    The log partition, of the sum over all assignments, is an estimate where the plan is not exact. The last messages of
    belief propagation are where the next inference may start.
    """

    marginals: FloatArray
    same: FloatArray
    log_partition: float
    messages: Messages | None


class _ForestBeliefs(NamedTuple):
    """Results on the forest and its loops, from which pair marginals are computed.

    ``pairs`` (q, classes, classes) is filled for edges that are summed out, where it was asked for.
    """

    upward: trees.UpwardPass
    log_beliefs: FloatArray
    propagation: bp.Propagation | None
    pairs: FloatArray | None


class _GraphBeliefs(NamedTuple):
    """Results on the plan's graph: as in `Inference`, and what pair marginals are computed from."""

    marginals: FloatArray
    same: FloatArray
    log_partition: float
    scores: FloatArray
    forest: _ForestBeliefs | None
    messages: Messages | None


def infer(plan: Plan, unary: FloatArray, messages: Messages | None = None, *, overwrite: bool = False) -> Inference:
    """Return marginals and log partition for log scores (g, classes) of the nodes; -inf where a class is impossible.

    Labels need not be marked: the plan contains them. Belief propagation may start from the messages of an earlier
    inference under the same plan. With ``overwrite`` the scores of a graph of large loops may become the marginals,
    which saves an array of that size.
    """
    found = _infer(plan, unary, messages, overwrite=overwrite)
    kept = found.messages
    if plan.contraction is None:
        return Inference(found.marginals, found.same, found.log_partition, kept)
    return Inference(
        plan.contraction.spread_shares(found.marginals),
        plan.contraction.spread_same(found.same),
        found.log_partition + plan.contraction.constant,
        kept,
    )


# Where the scores leave no assignment possible, normalising divides zero by zero; that is refused at the end.
@np.errstate(invalid="ignore")
def _infer(
    plan: Plan, unary: FloatArray, messages: Messages | None, *, with_pairs: bool = False, overwrite: bool = False
) -> _GraphBeliefs:
    """Infer on the plan's graph, piece by piece."""
    scores = unary if plan.contraction is None else plan.contraction.gather(unary)
    same = np.empty(len(plan.graph.edges))
    marginals = scores if overwrite and plan.is_in_place else np.empty_like(scores)
    log_partition, labelled, forest = 0.0, plan.labelled, None
    last: Messages | None = None
    if labelled is not None:
        log_partition = labelled.constant + float(scores[labelled.nodes, labelled.classes].sum())
        marginals[labelled.nodes] = np.arange(plan.n_classes) == labelled.classes[:, None]
        scores = labelled.add_evidence(scores)
    if plan.isolated.size:
        log_partition += plan.backend.singles(plan.isolated, scores, marginals)
    if plan.pairs.edges.size:
        totals = plan.backend.pairs(plan.pairs, scores, marginals)
        same[plan.pairs.edges] = totals.same
        log_partition += float(totals.log_partition.sum())
    if plan.in_place is not None and not with_pairs:
        start = None if isinstance(messages, bp.Messages) else messages
        added, last = plan.in_place.infer(scores, start, marginals, same)
        log_partition += added
    elif plan.forest is not None:
        given = messages if isinstance(messages, bp.Messages) else None
        forest, log_partition = _infer_forest(plan, plan.forest, scores, given, same, log_partition, with_pairs)
        marginals[plan.forest.nodes] = np.exp(forest.log_beliefs)
        last = None if forest.propagation is None else forest.propagation.messages
    if labelled is not None:
        first, second = plan.graph.edges[labelled.edges].T
        same[labelled.edges] = np.einsum("ec,ec->e", marginals[first], marginals[second])
    if not np.isfinite(log_partition):
        raise InfeasibleError(
            "cannot_link, the labels and the scores leave no assignment that is possible; raise n_classes, or set "
            "link_confidence below 1"
        )
    return _GraphBeliefs(marginals, same, log_partition, scores, forest, last)


def _infer_forest(
    plan: Plan,
    forest: trees.Forest,
    scores: FloatArray,
    messages: bp.Messages | None,
    same: FloatArray,
    log_partition: float,
    with_pairs: bool,
) -> tuple[_ForestBeliefs, float]:
    """Infer on trees and loops, write ``same`` of their edges; return the beliefs and the log partition so far."""
    upward = trees.pass_upward(forest, scores, trees.summed)
    log_partition += upward.log_scale
    beliefs, inner = np.empty_like(upward.scores), np.empty(len(forest.edges))
    log_totals = log_sum(upward.scores[forest.roots])
    beliefs[forest.roots] = upward.scores[forest.roots] - log_totals[:, None]
    log_partition += float(log_totals.sum())
    pairs = np.empty((len(forest.edges), plan.n_classes, plan.n_classes)) if with_pairs else None
    for batch in plan.batches:
        log_partition += infer_batch(batch, upward.scores, beliefs, inner, pairs)
    propagation = None
    if plan.loopy is not None:
        loopy, own = plan.loopy, upward.scores[plan.loopy.nodes]
        propagation = bp.propagate(loopy, own, messages, bp.sum_product)
        beliefs[loopy.nodes] = propagation.beliefs
        estimate, inner[loopy.edges] = bp.bethe(loopy, own, propagation)
        log_partition += estimate
    trees.pass_downward(forest, upward, beliefs, inner)
    same[forest.edges] = inner
    return _ForestBeliefs(upward, beliefs, propagation, pairs), log_partition


def pair_marginals(plan: Plan, unary: FloatArray, messages: Messages | None = None) -> FloatArray:
    """Return the joint probabilities (q, classes, classes) of the classes of the ends of each edge.

    The arguments are those of :func:`infer`.
    """
    graph, n_classes = plan.graph, plan.n_classes
    found = _infer(plan, unary, messages, with_pairs=True)
    pairs = np.empty((len(graph.edges), n_classes, n_classes))
    links = potentials(graph.log_equal, graph.log_different, n_classes)

    def fill(edges: IntArray, first: FloatArray, second: FloatArray) -> None:
        """Fill in some edges from the log scores of both ends without the link."""
        joint = first[:, :, None] + second[:, None, :] + links[edges]
        flat, _ = shares(joint.reshape(len(edges), n_classes**2))
        pairs[edges] = flat.reshape(joint.shape)

    single = plan.pairs
    fill(single.edges, found.scores[single.ends[:, 0]], found.scores[single.ends[:, 1]])
    if plan.forest is not None and found.forest is not None:
        pairs[plan.forest.edges] = found.forest.pairs
        if plan.forest.levels or plan.forest.chain.children.size:
            fill(*trees.cavities_of_trees(plan.forest, found.forest.upward, found.forest.log_beliefs))
        if plan.loopy is not None and found.forest.propagation is not None:
            edges = plan.forest.edges[plan.loopy.edges]
            links[edges] = potentials(*plan.loopy.softened, n_classes)
            fill(edges, *(log(cavity) for cavity in bp.cavities(plan.loopy, found.forest.propagation, slice(None))))
    if plan.labelled is not None:
        ends = graph.edges[plan.labelled.edges]
        pairs[plan.labelled.edges] = found.marginals[ends[:, 0], :, None] * found.marginals[ends[:, 1], None, :]
    if plan.contraction is None:
        return pairs
    marginals = plan.contraction.spread_shares(found.marginals)
    return plan.contraction.spread_pairs(pairs, marginals, plan.problem.edges)


def most_probable(plan: Plan, unary: FloatArray) -> tuple[IntArray, float]:
    """Return the most probable classes (g,) and the score of this assignment, the log potentials included.

    Where the plan is not exact: a good assignment, which breaks certain links only where repair fails; its score is
    then -inf.
    """
    scores = unary if plan.contraction is None else plan.contraction.gather(unary)
    classes = np.empty(plan.graph.n_nodes, dtype=np.int64)
    if plan.labelled is not None:
        classes[plan.labelled.nodes] = plan.labelled.classes
        scores = plan.labelled.add_evidence(scores)
    classes[plan.isolated] = scores[plan.isolated].argmax(axis=1)
    if plan.pairs.edges.size:
        decide_pairs(plan.pairs, scores, classes)
    if plan.forest is not None:
        upward = trees.pass_upward(plan.forest, scores, trees.maximal)
        inner = np.empty(len(plan.forest.nodes), dtype=np.int64)
        inner[plan.forest.roots] = upward.scores[plan.forest.roots].argmax(axis=1)
        for batch in plan.batches:
            decide_batch(batch, upward.scores, inner)
        if plan.loopy is not None:
            inner[plan.loopy.nodes] = bp.decide(plan.loopy, upward.scores[plan.loopy.nodes])
        trees.decide_downward(plan.forest, upward, inner)
        classes[plan.forest.nodes] = inner
    if plan.contraction is not None:
        classes = plan.contraction.spread_classes(classes)
    equal = classes[plan.problem.edges[:, 0]] == classes[plan.problem.edges[:, 1]]
    links = np.where(equal, plan.problem.log_equal, plan.problem.log_different).sum()
    return classes, float(unary[np.arange(len(classes)), classes].sum() + links)
