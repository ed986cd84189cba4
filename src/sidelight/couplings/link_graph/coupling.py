"""Mixtures whose rows are bound by must-links and kept apart by cannot-links: chunklets on a graph."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.link_graph.inference import infer, most_probable
from sidelight.couplings.link_graph.plan import Plan
from sidelight.inference.coupled_rows import EStep, JointCoupling
from sidelight.kernels.logspace import finite
from sidelight.kernels.loops import argmax, softmax

_BLOCK_SCORES = 60_000


class NodeShares(NamedTuple):
    """Shares (g, classes) of the classes of each node, what they are worth, and where the next time may start.

    The memory is empty, not None, where there is nothing to remember, so that no posterior is kept in its place.
    """

    shares: FloatArray
    value: float
    memory: Any


class Assignment(NamedTuple):
    """How classes and components are chosen: in proportion, or outright.

    Parameters
    ----------
    components : callable
        Chooses among scores (components, rows) in place; see :func:`sidelight.kernels.loops.softmax`.
    classes : callable
        Chooses the classes of all nodes of a plan from their scores (g, classes); may start from a memory.
    """

    components: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], None]
    classes: Callable[[Plan, FloatArray, Any], NodeShares]


def marginally(plan: Plan, scores: FloatArray, memory: Any) -> NodeShares:
    """Choose classes by their marginal probabilities; worth the log partition."""
    found = infer(plan, scores, memory or None)
    return NodeShares(found.marginals, found.log_partition, found.messages or ())


def outright(plan: Plan, scores: FloatArray, memory: Any) -> NodeShares:
    """Choose the most probable joint assignment; worth its score."""
    classes, score = most_probable(plan, scores)
    shares = np.zeros_like(scores)
    shares[np.arange(len(scores)), classes] = 1.0
    return NodeShares(shares, score, ())


SOFT = Assignment(softmax, marginally)
HARD = Assignment(argmax, outright)


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
    rows : (m,)
        Row numbers, chunklet after chunklet.
    starts : (g,)
        Where each chunklet starts in ``rows``.
    row_weights : (m,)
        A row of weight w stands for w equal rows.
    draws : (g,)
        How many draws of a class a chunklet is.
    classes : (components,)
        The class of each component.
    assignment : Assignment
        SOFT for EM, HARD for classification EM.
    """

    plan: Plan
    rows: IntArray
    starts: IntArray
    row_weights: FloatArray
    draws: FloatArray
    classes: IntArray
    assignment: Assignment = SOFT

    @property
    def monotone(self) -> bool:  # type: ignore[override]
        """Whether every step raises the objective: where the plan is exact."""
        return self.plan.exact

    @cached_property
    def _members(self) -> list[IntArray]:
        return [np.flatnonzero(self.classes == c) for c in range(self.plan.n_classes)]

    @cached_property
    def _node_of_row(self) -> IntArray:
        sizes = np.diff(np.append(self.starts, len(self.rows)))
        return np.repeat(np.arange(len(self.starts)), sizes)

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
        if self._components_are_classes:
            within, log_density, log_alpha = None, log_likelihood, log_weights
        else:
            within, log_density, log_alpha = self._within(log_likelihood, log_weights)
        found = self.assignment.classes(self.plan, self._scores(log_density, log_alpha), previous)
        posterior = found.shares if self._rows_are_nodes else found.shares[self._node_of_row]
        if within is not None:
            within *= posterior[:, self.classes]
            posterior = within
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
        scores: FloatArray
        if self._rows_are_draws:
            scores = log_density + log_alpha
            return scores
        scores = np.multiply.outer(self.draws, log_alpha)
        scores += log_density if self._rows_are_nodes and not self._has_weights else self._sums @ log_density
        return scores

    def _within(self, log_likelihood: FloatArray, log_weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return shares (m, components) within classes, log densities (m, classes) of these, and ln α."""
        log_alpha = np.array([np.logaddexp.reduce(log_weights[members]) for members in self._members])
        # A class without weight is never chosen, so its components may share it in any way.
        offsets = np.where(np.isneginf(log_alpha)[self.classes], 0.0, log_weights - finite(log_alpha)[self.classes])
        within = np.empty_like(log_likelihood)
        log_density = np.empty((len(self.rows), self.plan.n_classes))
        block_rows = _BLOCK_SCORES // len(self.classes) + 1
        ones = np.ones(block_rows)
        for start in range(0, len(self.rows), block_rows):
            block = slice(start, min(start + block_rows, len(self.rows)))
            size = block.stop - start
            densities, shares = np.empty((self.plan.n_classes, size)), np.empty((len(self.classes), size))
            for c, members in enumerate(self._members):
                scores = log_likelihood[block].T[members]
                self.assignment.components(scores, offsets[members], ones[:size], densities[c])
                shares[members] = scores
            within[block], log_density[block] = shares.T, densities.T
        return within, log_density, log_alpha
