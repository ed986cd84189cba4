"""How each part of a link graph is handled, settled once per fit."""

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight._typing import IntArray
from sidelight.couplings.link_graph.belief_propagation import Loops
from sidelight.couplings.link_graph.evidence import Known, take_out
from sidelight.couplings.link_graph.exact.elimination import Batch, Shape, shape_of
from sidelight.couplings.link_graph.exact.pairs import Pairs, SimpleLoops, simple_loops_for
from sidelight.couplings.link_graph.exact.peeling import peel
from sidelight.couplings.link_graph.exact.trees import Forest
from sidelight.couplings.link_graph.exact.two_classes import Parity, contract
from sidelight.couplings.link_graph.feasibility import refuse_impossible_links
from sidelight.couplings.link_graph.problem import LinkProblem

# Entries of one table of the elimination: 8 MB.
GUARD = 1_000_000
# Entries of all tables, and nodes of one loop, that an exact E-step may take; a few seconds.
_ALL_ENTRIES = 32 * GUARD
_MOST_NODES = 5_000


@dataclass(frozen=True, eq=False)
class Plan:
    """How to infer the classes of the nodes of a problem.

    Two classes: what certain links connect is one choice (``parity``), and ``graph`` is what is left. Known nodes are
    taken out of it. Of the rest, nodes without links are ``isolated``, links without neighbours are ``pairs``; trees,
    also those that hang on loops, are passed over twice; loops are summed out exactly in ``batches`` of equal shape
    where the tables stay small, and left to belief propagation (``loops``) where they do not.

    Parameters
    ----------
    problem : LinkProblem
    n_classes : int
    parity : Parity, optional
    graph : LinkProblem
        The problem itself, or what parity made of it.
    known : Known
    isolated : (i,)
    pairs : Pairs
    forest : Forest
    batches : tuple of Batch
    loops : Loops, optional
    simple : SimpleLoops
        How ``isolated`` and ``pairs`` are summed over: in NumPy or compiled.
    """

    problem: LinkProblem
    n_classes: int
    parity: Parity | None
    graph: LinkProblem
    known: Known
    isolated: IntArray
    pairs: Pairs
    forest: Forest
    batches: tuple[Batch, ...]
    loops: Loops | None
    simple: SimpleLoops

    @property
    def exact(self) -> bool:
        """Whether nothing is approximated."""
        return self.loops is None


def plan(problem: LinkProblem, n_classes: int, *, guard: int = GUARD, n_scores: int | None = None) -> Plan:
    """Settle how each part of a problem is handled.

    Parameters
    ----------
    problem : LinkProblem
    n_classes : int
    guard : int
        Entries that a table of the exact elimination may have, classes to the power of treewidth + 1.
    n_scores : int, optional
        How many scores will be inferred from in all, under this plan and others of the same fit; those of its nodes,
        once, where absent.

    Raises
    ------
    InfeasibleError
        If no assignment respects what is certain.
    """
    refuse_impossible_links(problem, n_classes)
    parity = contract(problem) if n_classes == 2 and problem.is_certain.any() else None
    graph = problem if parity is None else parity.graph
    known, free = take_out(graph, n_classes)
    edges = np.flatnonzero(free)
    ends = graph.edges[edges]
    degree = np.bincount(ends.ravel(), minlength=graph.n_nodes)
    alone = (degree[ends] == 1).all(axis=1)
    forest, loops = _forest(graph, edges[~alone])
    exact, left = _divide(forest, loops, n_classes, guard)
    return Plan(
        problem,
        n_classes,
        parity,
        graph,
        known,
        np.flatnonzero((degree == 0) & (graph.labels < 0)),
        Pairs(ends[alone], graph.log_equal[edges[alone]], graph.log_different[edges[alone]], edges[alone]),
        forest,
        exact,
        left,
        simple_loops_for(problem.n_nodes * n_classes if n_scores is None else n_scores),
    )


class _Loop(NamedTuple):
    """A connected graph without leaves: its nodes and edges, as places in the forest, and the ends among its nodes."""

    nodes: IntArray
    edges: IntArray
    ends: IntArray


def _forest(graph: LinkProblem, edges: IntArray) -> tuple[Forest, list[_Loop]]:
    """Peel the trees off; return them and the loops that are left."""
    nodes, ends = np.unique(graph.edges[edges], return_inverse=True)
    ends = ends.reshape(-1, 2)
    peeling = peel(len(nodes), ends)
    settled = np.zeros(len(nodes), dtype=bool)
    for level in (*peeling.levels, peeling.chain):
        settled[level.children] = True
    settled[ends[peeling.loop_edges]] = True
    forest = Forest(
        nodes,
        peeling.levels,
        peeling.chain,
        np.flatnonzero(~settled),
        edges,
        graph.log_equal[edges],
        graph.log_different[edges],
    )
    return forest, _connected_loops(ends, peeling.loop_edges)


def _connected_loops(ends: IntArray, edges: IntArray) -> list[_Loop]:
    nodes, inner = np.unique(ends[edges], return_inverse=True)
    inner = inner.reshape(-1, 2).astype(np.int32)
    graph = coo_array((np.ones(len(inner)), (inner[:, 0], inner[:, 1])), shape=(len(nodes), len(nodes)))
    n_loops, part = connected_components(graph, directed=False)
    by_node, by_edge = np.argsort(part, kind="stable"), np.argsort(part[inner[:, 0]], kind="stable")
    node_bounds = np.searchsorted(part[by_node], np.arange(n_loops + 1)).tolist()
    edge_bounds = np.searchsorted(part[inner[by_edge, 0]], np.arange(n_loops + 1)).tolist()
    place = np.empty(len(nodes), dtype=np.int64)
    place[by_node] = np.arange(len(nodes))
    loops = []
    for (a, b), (c, d) in zip(pairwise(node_bounds), pairwise(edge_bounds), strict=True):
        own = by_edge[c:d]
        loops.append(_Loop(nodes[by_node[a:b]], edges[own], place[inner[own]] - a))
    return loops


def _divide(forest: Forest, loops: list[_Loop], n_classes: int, guard: int) -> tuple[tuple[Batch, ...], Loops | None]:
    """Divide loops into those that are summed out exactly, in batches of one shape, and the others."""
    most_neighbours = int(np.log(max(guard, 1)) / np.log(max(n_classes, 2)) + 1e-9) - 1
    shapes: dict[bytes, Shape | None] = {}
    members: dict[bytes, list[_Loop]] = {}
    for loop in loops:
        key = loop.ends.tobytes()
        if key not in shapes:
            small = len(loop.nodes) <= _MOST_NODES
            pairs = [(a, b) for a, b in loop.ends.tolist()]
            shapes[key] = shape_of(len(loop.nodes), pairs, most_neighbours) if small else None
        members.setdefault(key, []).append(loop)

    def cost(key: bytes) -> float:
        shape = shapes[key]
        return np.inf if shape is None else shape.n_entries(n_classes)

    batches: list[Batch] = []
    left: list[_Loop] = []
    budget = _ALL_ENTRIES * (guard / GUARD)
    for key in sorted(members, key=cost):
        shape = shapes[key]
        budget -= cost(key) * len(members[key])
        if shape is None or budget < 0:
            left += members[key]
        else:
            batches.append(_batch(forest, shape, members[key]))
    return tuple(batches), _joined(forest, left) if left else None


def _batch(forest: Forest, shape: Shape, loops: list[_Loop]) -> Batch:
    nodes = np.stack([loop.nodes for loop in loops])[:, shape.order]
    edges = np.stack([loop.edges for loop in loops])
    return Batch(shape, nodes, edges, forest.log_equal[edges], forest.log_different[edges])


def _joined(forest: Forest, loops: list[_Loop]) -> Loops:
    """Return several loops as one graph."""
    before = np.cumsum([0] + [len(loop.nodes) for loop in loops])
    edges = np.concatenate([loop.edges for loop in loops])
    ends = np.concatenate([loop.ends + start for loop, start in zip(loops, before[:-1].tolist(), strict=True)])
    nodes = np.concatenate([loop.nodes for loop in loops])
    return Loops(nodes, ends, edges, forest.log_equal[edges], forest.log_different[edges])
