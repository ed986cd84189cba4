"""Links between chunklets as a Markov network whose potentials depend only on whether two classes are equal.

Nodes with a label leave the network before inference: their links become evidence about their neighbours.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.side import SideInformation


class Names(NamedTuple):
    """The rows by which errors name nodes and edges.

    ``nodes`` (g,) has a row of each node, a labelled one where there is one, ``edges`` (q, 2) the rows of a link behind
    each edge, and ``ids`` (n,) the user's names of the rows.
    """

    nodes: IntArray
    edges: IntArray
    ids: AnyArray | None


@dataclass(frozen=True, eq=False)
class LinkProblem:
    """Nodes that choose one class each, and edges that weigh whether two nodes choose the same.

    The weight of an assignment is Π_nodes exp(unary) Π_edges exp(log_equal or log_different). Make one with `of`,
    which adds up several links between the same nodes.

    Parameters
    ----------
    edges : (q, 2)
        Different nodes, the lower first; each pair stands once.
    log_equal, log_different : (q,)
        Log potentials of equal and of different classes. -inf forbids: a certain cannot-link is (-inf, 0).
    labels : (n_nodes,)
        The class of each labelled node, -1 for the others.
    names : Names, optional
        How errors name nodes and edges; by their numbers where absent.
    """

    n_nodes: int
    edges: IntArray
    log_equal: FloatArray
    log_different: FloatArray
    labels: IntArray
    names: Names | None = None

    @classmethod
    def of(
        cls, n_nodes: int, edges: Any, log_equal: Any, log_different: Any, labels: IntArray | None = None
    ) -> "LinkProblem":
        """Build a problem from edges in any order; those between the same nodes add up, those of one node drop out."""
        ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        merged = merge(n_nodes, ends, np.asarray(log_equal, dtype=float), np.asarray(log_different, dtype=float))
        codes = np.full(n_nodes, -1) if labels is None else np.asarray(labels, dtype=np.int64)
        return cls(n_nodes, merged.edges, merged.log_equal, merged.log_different, codes)

    @property
    def is_certain(self) -> AnyArray:
        """Edges that forbid something, (q,) bool."""
        return np.isneginf(self.log_equal) | np.isneginf(self.log_different)

    def part(self, nodes: IntArray | slice, edges: IntArray | slice, ends: IntArray) -> "LinkProblem":
        """Return some nodes and edges, or all in another order; ``ends`` are those of these edges among these nodes."""
        labels, names = self.labels[nodes], self.names
        own = None if names is None else Names(names.nodes[nodes], names.edges[edges], names.ids)
        return LinkProblem(len(labels), ends, self.log_equal[edges], self.log_different[edges], labels, own)

    def without_labels(self) -> "LinkProblem":
        """Return the same links between nodes without labels."""
        return replace(self, labels=np.full(self.n_nodes, -1))


class MergedEdges(NamedTuple):
    """Distinct edges with the sums of their log potentials, and the edge that each given edge became (-1: none).

    ``first`` is the first of the given edges behind each.
    """

    edges: IntArray
    log_equal: FloatArray
    log_different: FloatArray
    became: IntArray
    first: IntArray


def merge(n_nodes: int, edges: IntArray, log_equal: FloatArray, log_different: FloatArray) -> MergedEdges:
    """Add up edges between the same nodes; an edge of a node with itself is a constant and drops out."""
    low, high = edges.min(axis=1), edges.max(axis=1)
    kept = np.flatnonzero(low < high)
    key, first, inverse = np.unique(low[kept] * n_nodes + high[kept], return_index=True, return_inverse=True)
    became = np.full(len(edges), -1, dtype=np.int64)
    became[kept] = inverse
    return MergedEdges(
        np.column_stack(np.divmod(key, max(n_nodes, 1))).astype(np.int64),
        np.bincount(inverse, weights=log_equal[kept], minlength=len(key)).astype(float),
        np.bincount(inverse, weights=log_different[kept], minlength=len(key)).astype(float),
        became,
        kept[first],
    )


class LinkedRows(NamedTuple):
    """The rows (m,) that side information mentions, chunklet after chunklet, and the links between the chunklets.

    The nodes of the problem are the chunklets; ``starts`` (g,) has where each starts in ``rows``.
    """

    problem: LinkProblem
    rows: IntArray
    starts: IntArray

    @property
    def sizes(self) -> IntArray:
        """Number of rows of each chunklet."""
        return np.diff(np.append(self.starts, len(self.rows)))

    def reordered(self, nodes: IntArray) -> tuple["LinkedRows", IntArray]:
        """Return the same with the nodes in another order (g,), and the places (m,) that the rows had before.

        Edges are in the order of their first ends.
        """
        problem, sizes = self.problem, self.sizes[nodes]
        starts = np.cumsum(sizes) - sizes
        places = np.repeat(self.starts[nodes] - starts, sizes) + np.arange(len(self.rows))
        number = np.empty(problem.n_nodes, dtype=np.int64)
        number[nodes] = np.arange(problem.n_nodes)
        ends = np.sort(number[problem.edges], axis=1)
        order = np.argsort(ends[:, 0], kind="stable")
        return LinkedRows(problem.part(nodes, order, ends[order]), self.rows[places], starts), places

    def between(self, nodes: slice, rows: slice, edges: slice) -> "LinkedRows":
        """Return a range of nodes with their rows and edges; no edge may leave it."""
        part = self.problem.part(nodes, edges, self.problem.edges[edges] - nodes.start)
        return LinkedRows(part, self.rows[rows], self.starts[nodes] - rows.start)


def linked_rows(side: SideInformation, *, link_confidence: float | None = None) -> LinkedRows:
    """Divide the rows that are mentioned into chunklets, with the links between these as edges.

    A link of confidence c has the potentials c where it is respected and 1 − c where it is not: a must-link
    (ln c, ln(1 − c)) for (equal, different) classes, a cannot-link the reverse. Certain cannot-links are (-inf, 0);
    certain must-links bind rows into chunklets. Links within a chunklet are constants, and left out.

    The class of a label is its code. ``link_confidence``, in (0.5, 1], is that of links that are stated as certain.
    Below 1, must-links do not bind rows together: every link is an edge, and only labels and blocks are certain.

    Raises
    ------
    ContradictionError
        If certain statements contradict each other.
    """
    confidence = 1.0 if link_confidence is None else float(link_confidence)
    if not 0.5 < confidence <= 1.0:
        raise ValueError(f"link_confidence is {link_confidence!r}; it must be above 0.5 and at most 1 (certain)")
    closure = (side if confidence == 1.0 else _without_links(side)).closure()
    mentioned = np.flatnonzero(side.mentioned)
    chunklets, node_of_row = np.unique(closure.chunklets[mentioned], return_inverse=True)
    order = np.argsort(node_of_row, kind="stable")
    node = np.full(side.n_rows, -1, dtype=np.int64)
    node[mentioned] = node_of_row

    links = np.concatenate([side.must_link, side.cannot_link])
    sure = np.concatenate([side.must_link_confidence, side.cannot_link_confidence])
    must = np.arange(len(links)) < len(side.must_link)
    # Certain cannot-links come first, so that they name the edges they are behind.
    named_first = np.argsort(must | (sure < 1.0), kind="stable")
    links, must = links[named_first], must[named_first]
    sure = np.where(sure == 1.0, confidence, sure)[named_first]
    with np.errstate(divide="ignore"):
        respected, broken = np.log(sure), np.log1p(-sure)
    merged = merge(len(chunklets), node[links], np.where(must, respected, broken), np.where(must, broken, respected))

    rows, labels = mentioned[order], closure.labels[chunklets]
    starts = np.searchsorted(node_of_row[order], np.arange(len(chunklets)))
    named = _representatives(rows, node_of_row[order], side.labels, len(chunklets))
    names = Names(named, links[merged.first], side.ids)
    problem = LinkProblem(
        len(chunklets), merged.edges, merged.log_equal, merged.log_different, labels.astype(np.int64), names
    )
    return LinkedRows(problem, rows, starts.astype(np.int64))


def _without_links(side: SideInformation) -> SideInformation:
    none, never = np.empty((0, 2), dtype=np.int64), np.empty(0)
    return replace(side, must_link=none, cannot_link=none, must_link_confidence=never, cannot_link_confidence=never)


def _representatives(rows: IntArray, node_of_row: IntArray, labels: IntArray, n_nodes: int) -> IntArray:
    """Return a row of each node, a labelled one where there is one."""
    named = np.empty(n_nodes, dtype=np.int64)
    named[node_of_row[::-1]] = rows[::-1]
    labelled = np.flatnonzero(labels[rows] >= 0)[::-1]
    named[node_of_row[labelled]] = rows[labelled]
    return named


class LabelledNodes(NamedTuple):
    """Nodes with a label, and the evidence of their links about their neighbours.

    A label may be linked to by many, and would be in the way of exact inference if it stayed in the graph.

    Parameters
    ----------
    nodes, classes : (k,)
    neighbours, offsets : (h,), (h, classes)
        Unlabelled nodes linked to labelled ones, and what these links add to their scores.
    edges : (e,)
        Edges with a labelled end.
    constant : float
        Log potential of the edges between labelled nodes.
    """

    nodes: IntArray
    classes: IntArray
    neighbours: IntArray
    offsets: FloatArray
    edges: IntArray
    constant: float

    def add_evidence(self, scores: FloatArray) -> FloatArray:
        """Return the scores of all nodes with the evidence added; the array itself where there is none."""
        if not self.neighbours.size:
            return scores
        with_evidence = scores.copy()
        with_evidence[self.neighbours] += self.offsets
        return with_evidence


def take_out_labelled(graph: LinkProblem, n_classes: int) -> tuple[LabelledNodes | None, BoolArray]:
    """Return the labelled nodes, None where there are none, and which edges are left between the others."""
    nodes = np.flatnonzero(graph.labels >= 0)
    if not nodes.size:
        return None, np.ones(len(graph.edges), dtype=bool)
    labels = graph.labels[graph.edges]
    labelled_ends = (labels >= 0).sum(axis=1)
    both = np.flatnonzero(labelled_ends == 2)
    equal = labels[both, 0] == labels[both, 1]
    constant = np.where(equal, graph.log_equal[both], graph.log_different[both]).sum()

    one = np.flatnonzero(labelled_ends == 1)
    neighbours, place = np.unique(np.where(labels[one] < 0, graph.edges[one], -1).max(axis=1), return_inverse=True)
    classes = labels[one].max(axis=1)
    offsets = np.empty((len(neighbours), n_classes))
    for c in range(n_classes):
        terms = np.where(classes == c, graph.log_equal[one], graph.log_different[one])
        offsets[:, c] = np.bincount(place, terms, len(neighbours))
    edges = np.flatnonzero(labelled_ends)
    found = LabelledNodes(nodes, graph.labels[nodes], neighbours, offsets, edges, float(constant))
    return found, labelled_ends == 0
