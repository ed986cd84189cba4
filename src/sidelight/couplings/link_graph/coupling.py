"""Mixtures whose rows are bound by must-links and kept apart by cannot-links: chunklets on a graph.

`LinkGraph` is the coupling of one graph. `LinkGraphs` divides links that share no row into several, one after the
other, so that the arrays of each stay in the cache.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.class_densities import class_densities
from sidelight.couplings.link_graph.exact.elimination import MAX_ENTRIES
from sidelight.couplings.link_graph.plan import Plan, infer, most_probable, plan
from sidelight.couplings.link_graph.problem import LinkedRows
from sidelight.inference.mixture import CoupledRows, FixedCoupling, JointCoupling
from sidelight.inference.protocols import Assignment, CoupledExpectation, CouplingState, EStep
from sidelight.kernels.loops import Choice, Chooser, outright, owners, softmax

# Rows of a part, and how many rows may be copied out of the table at once.
_PART_ROWS = 24_576
_COPIED_ROWS = 2 * _PART_ROWS
# E-steps that a fit is expected to take.
_N_PASSES = 10


class NodeShares(NamedTuple):
    """Shares (g, classes) of the classes of each node, the value of this choice, and where the next may start.

    The memory is empty, not None, where there is no memory, so that no posterior is kept in its place.
    """

    shares: FloatArray
    value: float
    memory: Any


class AssignmentRule(NamedTuple):
    """How components of a class, and classes of all nodes of a plan, are chosen: in proportion, or outright.

    Classes are chosen from scores (g, classes); the choice may start from a memory.
    """

    components: Chooser
    classes: Callable[[Plan, FloatArray, Any], NodeShares]


def by_softmax(scores: FloatArray) -> Choice:
    """Choose in proportion to exp(score), by the loop that rows without links use."""
    columns, evidence = scores.T.copy(), np.empty(len(scores))
    softmax(columns, np.zeros(len(columns)), np.ones(len(scores)), evidence)
    return Choice(columns.T, evidence)


def by_marginals(plan: Plan, scores: FloatArray, memory: Any) -> NodeShares:
    """Choose classes by their marginal probabilities; the value is the log partition. The scores may be overwritten."""
    empty = isinstance(memory, tuple) and not memory
    found = infer(plan, scores, None if empty else memory, overwrite=True)
    return NodeShares(found.marginals, found.log_partition, () if found.messages is None else found.messages)


def by_best_assignment(plan: Plan, scores: FloatArray, memory: Any) -> NodeShares:
    """Choose the most probable joint assignment; the value is its score."""
    classes, score = most_probable(plan, scores)
    shares = np.zeros_like(scores)
    shares[np.arange(len(scores)), classes] = 1.0
    return NodeShares(shares, score, ())


SOFT = AssignmentRule(by_softmax, by_marginals)
HARD = AssignmentRule(outright, by_best_assignment)


@dataclass(frozen=True, eq=False)
class LinkGraph(JointCoupling[Any]):
    """Chunklets with one latent class each and links between them (Shental et al. 2004), a component per row.

    With class densities p_c(x) = Σ_k π_k|c p_k(x), a chunklet has the scores Σ_n w_n ln p_c(x_n) + draws · ln α_c: one
    draw where the links are given and its class is drawn once (Shental et al. 2004; Yu et al. 2015), one per row where
    links are stated between rows drawn at random. The posterior of the classes is that of the link graph; components
    are independent given the class. On links that share no rows this is the E-step of Yu et al. (2015, eqs. 12, 14).

    The evidence is the log partition. Links that are given need −ln Z(α) beside it, see `Prior`; it does not depend on
    the posterior, and belongs to the weights.

    Parameters
    ----------
    plan : Plan
        Its nodes are the chunklets.
    rows, starts : (m,), (g,)
        Row numbers, chunklet after chunklet, and where each chunklet starts in them.
    row_weights : (m,)
        A row of weight w stands for w equal rows.
    draws : (g,)
        How many draws of a class a chunklet is.
    classes : (components,)
        The class of each component.
    assignment : AssignmentRule
        SOFT for EM, HARD for classification EM.
    """

    plan: Plan
    rows: IntArray
    starts: IntArray
    row_weights: FloatArray
    draws: FloatArray
    classes: IntArray
    assignment: AssignmentRule = SOFT

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        """Whether every step raises the objective: where the plan is exact."""
        return self.plan.exact

    @cached_property
    def _sums(self) -> "csr_array[Any]":
        """Weighted sums (g, m) over the rows of each node."""
        m = len(self.rows)
        ends = np.append(self.starts, m)
        return csr_array((self.row_weights, np.arange(m), ends), shape=(len(self.starts), m))

    @cached_property
    def _rows_are_nodes(self) -> bool:
        return len(self.starts) == len(self.rows)

    @cached_property
    def _components_are_classes(self) -> bool:
        return np.array_equal(self.classes, np.arange(self.plan.n_classes))

    def __call__(self, log_likelihood: FloatArray, log_weights: FloatArray, previous: Any) -> EStep[Any]:
        """Return the E-step of the rows from their log densities (rows, components)."""
        log_density, within, log_alpha = log_likelihood, None, log_weights
        if not self._components_are_classes:
            log_density, within, log_alpha = class_densities(
                log_likelihood, log_weights, self.classes, self.assignment.components
            )
        found = self.assignment.classes(self.plan, self._scores(log_density, log_alpha), previous)
        posterior = found.shares if self._rows_are_nodes else found.shares[owners(self.starts, len(self.rows))]
        if within is not None:
            posterior = within * posterior[:, self.classes]
        weighted = self.row_weights[:, None] * posterior if self._has_weights else posterior
        return EStep(weighted, self.draws @ found.shares, found.value, posterior, found.memory)

    @cached_property
    def _rows_are_draws(self) -> bool:
        return self._rows_are_nodes and not self._has_weights and bool((self.draws == 1.0).all())

    @cached_property
    def _has_weights(self) -> bool:
        return bool((self.row_weights != 1.0).any())

    def _scores(self, log_density: FloatArray, log_alpha: FloatArray) -> FloatArray:
        """Return the scores (g, classes) of the nodes."""
        if self._rows_are_draws:
            return np.add(log_density, log_alpha)
        scores: FloatArray = np.multiply.outer(self.draws, log_alpha)
        scores += log_density if self._rows_are_nodes and not self._has_weights else self._sums @ log_density
        return scores


@dataclass(frozen=True, eq=False)
class LinkGraphs(FixedCoupling[Any]):
    """Several link graphs as one coupling: its E-step is theirs, and its evidence their sum.

    No row, and no end of a link, is in more than one.
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

    def expect(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[None, Any]
    ) -> CoupledExpectation[None, Any]:
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

    def _each(
        self, rows: CoupledRows, state: CouplingState[None, Any]
    ) -> Iterator[tuple[LinkGraph, CoupledRows, CouplingState[None, Any]]]:
        kept = (CouplingState(),) * len(self.graphs) if state.memory is None else state.memory
        for graph, own in zip(self.graphs, kept, strict=True):
            # Rows of a pair are anywhere in the table: fetched once, for densities and statistics.
            part = rows.fetched(graph.rows) if len(graph.rows) <= _COPIED_ROWS else rows.only(graph.rows)
            yield graph, part, own


def link_graphs(
    linked: LinkedRows,
    classes: IntArray,
    *,
    draws: FloatArray,
    row_weights: FloatArray | None = None,
    assignment: AssignmentRule = SOFT,
    max_entries: int = MAX_ENTRIES,
    part_rows: int = _PART_ROWS,
    n_passes: int = _N_PASSES,
) -> LinkGraphs:
    """Plan the coupling of linked rows.

    Chunklets without links and links that share no chunklet with another are many small graphs, divided into parts;
    everything else is one graph.

    Parameters
    ----------
    classes, draws, row_weights, assignment
        As in `LinkGraph`, in the order of ``linked``; weights are one where absent.
    max_entries : int
        See :func:`~sidelight.couplings.link_graph.plan.plan`.
    part_rows : int
        Rows of a part.
    n_passes : int
        E-steps that the fit is expected to take; many are worth compiled loops.

    Raises
    ------
    InfeasibleError
        If no assignment respects the labels and the certain links.
    """
    order, cuts = _divide(linked, part_rows)
    moved, places = linked.reordered(order)
    weights = np.ones(len(places)) if row_weights is None else row_weights[places]
    row_cuts = np.append(moved.starts, len(places))[cuts]
    edge_cuts = np.searchsorted(moved.problem.edges[:, 0], cuts)
    n_classes = int(classes.max()) + 1
    n_scores = n_passes * linked.problem.n_nodes * n_classes
    graphs = []
    for nodes, rows, edges in zip(*(_ranges(bounds) for bounds in (cuts, row_cuts, edge_cuts)), strict=True):
        part = moved.between(nodes, rows, edges)
        planned = plan(part.problem, n_classes, max_entries=max_entries, n_scores=n_scores)
        graphs.append(
            LinkGraph(planned, part.rows, part.starts, weights[rows], draws[order[nodes]], classes, assignment)
        )
    return LinkGraphs(tuple(graphs))


def _divide(linked: LinkedRows, part_rows: int) -> tuple[IntArray, IntArray]:
    """Return the nodes in an order in which parts are ranges, and where these start and end."""
    edges = linked.problem.edges
    degree = np.bincount(edges.ravel(), minlength=linked.problem.n_nodes)
    alone = (degree[edges] == 1).all(axis=1)
    simple = np.concatenate([edges[alone].ravel(), np.flatnonzero(degree == 0)])
    tangled = degree > 0
    tangled[simple] = False
    # A cut every ``part_rows`` rows, moved to where no pair is divided.
    cuts = np.flatnonzero(np.diff(np.cumsum(linked.sizes[simple]) // part_rows)) + 1
    cuts += (cuts < 2 * alone.sum()) & (cuts % 2 == 1)
    bounds = np.unique(np.concatenate([[0], cuts, [len(simple), linked.problem.n_nodes]]))
    return np.concatenate([simple, np.flatnonzero(tangled)]), bounds


def _ranges(bounds: IntArray) -> list[slice]:
    return [slice(start, stop) for start, stop in pairwise(bounds.tolist())]
