"""Link graphs with no link between them, one after the other: what a part needs stays in the cache."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.link_graph.coupling import SOFT, LinkGraph
from sidelight.couplings.link_graph.coupling import Assignment as Choosing
from sidelight.couplings.link_graph.plan import GUARD, plan
from sidelight.couplings.link_graph.problem import LinkedRows
from sidelight.inference.coupled_rows import Assignment, CoupledExpectation, CoupledRows, CouplingState

_PART_ROWS = 24_576
_PASSES_EXPECTED = 10


@dataclass(frozen=True, eq=False)
class LinkGraphs:
    """Several link graphs as one coupling: its E-step is theirs, and its evidence their sum.

    Parameters
    ----------
    graphs : tuple of LinkGraph
        No row, and no end of a link, in more than one.
    """

    graphs: tuple[LinkGraph, ...]

    @cached_property
    def rows(self) -> IntArray:
        """Numbers of the rows it couples."""
        return np.concatenate([graph.rows for graph in self.graphs])

    @cached_property
    def monotone(self) -> bool:
        """Whether every step raises the objective."""
        return all(graph.monotone for graph in self.graphs)

    takes_rows = True

    def expect(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[None, Any]
    ) -> CoupledExpectation[Any, None, Any]:
        """Take the rows through E-step and statistics, graph after graph."""
        found = [graph.expect(part, log_weights, kept) for graph, part, kept in self._each(rows, state)]
        return CoupledExpectation(
            reduce(add, [part.statistics for part in found]),
            np.sum([part.class_counts for part in found], axis=0),
            sum(part.evidence for part in found),
            CouplingState(None, tuple(part.state for part in found)),
        )

    def assign(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[None, Any]
    ) -> Iterator[Assignment]:
        """Yield how the rows are assigned, graph after graph."""
        for graph, part, kept in self._each(rows, state):
            yield from graph.assign(part, log_weights, kept)

    def update(self, counts: None) -> None:
        """Return None: there are no parameters."""

    def log_prior(self, parameters: None) -> float:
        """Return 0: there are no parameters."""
        return 0.0

    def regrouped(self, state: CouplingState[None, Any], groups: IntArray) -> CouplingState[None, Any]:
        """Return an empty state: the next E-step starts anew."""
        return CouplingState()

    def _each(
        self, rows: CoupledRows, state: CouplingState[None, Any]
    ) -> Iterator[tuple[LinkGraph, CoupledRows, CouplingState[None, Any]]]:
        kept = (CouplingState(),) * len(self.graphs) if state.memory is None else state.memory
        for graph, own in zip(self.graphs, kept, strict=True):
            # Rows of a pair are anywhere in the table: fetched once, for densities and statistics.
            part = rows.fetched(graph.rows) if len(graph.rows) <= 2 * _PART_ROWS else rows.only(graph.rows)
            yield graph, part, own


def link_graphs(
    linked: LinkedRows,
    classes: IntArray,
    *,
    draws: FloatArray,
    row_weights: FloatArray | None = None,
    assignment: Choosing = SOFT,
    guard: int = GUARD,
) -> LinkGraphs:
    """Plan the coupling of linked rows.

    Chunklets without links and links that share no chunklet with another are many small graphs, divided into parts of
    some thousand rows; everything else is one graph.

    Parameters
    ----------
    linked : LinkedRows
    classes : (components,)
        The class of each component.
    draws : (g,)
        How many draws of a class each chunklet is.
    row_weights : (m,), optional
        All one where absent.
    assignment : Assignment
    guard : int
        See :func:`~sidelight.couplings.link_graph.plan.plan`.

    Raises
    ------
    InfeasibleError
        If no assignment respects what is certain.
    """
    order, cuts = _divide(linked)
    moved, places = linked.reordered(order)
    weights = np.ones(len(places)) if row_weights is None else row_weights[places]
    row_cuts = np.append(moved.starts, len(places))[cuts]
    edge_cuts = np.searchsorted(moved.problem.edges[:, 0], cuts)
    n_classes = int(classes.max()) + 1
    n_scores = _PASSES_EXPECTED * linked.problem.n_nodes * n_classes
    graphs = []
    for nodes, rows, edges in zip(*(_ranges(bounds) for bounds in (cuts, row_cuts, edge_cuts)), strict=True):
        part = moved.between(nodes, rows, edges)
        planned = plan(part.problem, n_classes, guard=guard, n_scores=n_scores)
        graphs.append(
            LinkGraph(planned, part.rows, part.starts, weights[rows], draws[order[nodes]], classes, assignment)
        )
    return LinkGraphs(tuple(graphs))


def _divide(linked: LinkedRows) -> tuple[IntArray, IntArray]:
    """Return the nodes in an order in which parts are ranges, and where these start and end."""
    edges = linked.problem.edges
    degree = np.bincount(edges.ravel(), minlength=linked.problem.n_nodes)
    alone = (degree[edges] == 1).all(axis=1)
    simple = np.concatenate([edges[alone].ravel(), np.flatnonzero(degree == 0)])
    tangled = degree > 0
    tangled[simple] = False
    # A cut every so many rows, moved to where no pair is divided.
    cuts = np.flatnonzero(np.diff(np.cumsum(linked.sizes[simple]) // _PART_ROWS)) + 1
    cuts += (cuts < 2 * alone.sum()) & (cuts % 2 == 1)
    bounds = np.unique(np.concatenate([[0], cuts, [len(simple), linked.problem.n_nodes]]))
    return np.concatenate([simple, np.flatnonzero(tangled)]), bounds


def _ranges(bounds: IntArray) -> list[slice]:
    return [slice(start, stop) for start, stop in pairwise(bounds.tolist())]
