"""Posteriors moved as little as possible until linked rows agree with their links on average."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.couplings.class_densities import class_densities
from sidelight.inference.coupled_rows import EStep, JointCoupling
from sidelight.kernels.loops import owners, shares

_MOST_STEPS, _MOST_RESTARTS = 500, 20
# How much a constraint may be exceeded, and the gap between the problem and its dual relative to the evidence: both far
# below what a step of the ascent is asked to gain.
_EXCESS = 1e-8
_GAP = 1e-10


@dataclass(frozen=True, eq=False)
class Projection(JointCoupling[FloatArray]):
    """Posteriors q of linked rows under expectation constraints (Graça, Ganchev and Taskar 2007; Yu et al. on EM-PC).

    Of all distributions over classes with q_a^m + q_b^m ≤ 1 for every cannot-link (a, b) and class m, and q_i = q_j
    for every must-link, the E-step takes the one with the smallest Kullback-Leibler divergence from the posterior. The
    rows of a chunklet share q, so that must-links need no multipliers: their log scores are averaged. What cannot-links
    ask is found in the dual, by a quasi-Newton method with bounds from the multipliers of the E-step before, where
    accelerated gradient steps would take up to a hundred times as many. The evidence is the bound
    E_q[ln p(x, z)] + H(q) at the projection, which every step of the ascent raises.

    Parameters
    ----------
    rows, starts : (m,), (g,)
        Row numbers, chunklet after chunklet, and where each chunklet starts in them.
    allowed : (g, classes)
        Classes that labels leave each chunklet.
    cannot : (q, 2)
        Cannot-linked chunklets.
    row_weights : (m,)
    classes : (components,)
        The class of each component.
    """

    rows: IntArray
    starts: IntArray
    allowed: BoolArray
    cannot: IntArray
    row_weights: FloatArray
    classes: IntArray
    monotone = True

    @cached_property
    def _mass(self) -> FloatArray:
        return np.add.reduceat(self.row_weights, self.starts)

    @cached_property
    def _incidence(self) -> "csr_array[Any]":
        """The cannot-links between chunklets with a weight, (chunklets, links)."""
        return incidence_of(self.cannot[(self._mass[self.cannot] > 0).all(axis=1)], len(self.starts))

    def __call__(
        self, log_likelihood: FloatArray, log_weights: FloatArray, previous: FloatArray | None
    ) -> EStep[FloatArray]:
        """Return the E-step of the linked rows from their log densities (rows, components)."""
        densities = class_densities(log_likelihood, log_weights, self.classes)
        scores = (densities.log_density + densities.log_weights) * self.row_weights[:, None]
        heavy = np.where(self._mass > 0, self._mass, 1.0)
        scores = np.add.reduceat(scores, self.starts, axis=0) / heavy[:, None]
        scores = np.where(self.allowed, scores, -np.inf)
        found = project(scores, self._mass, self._incidence, previous)
        posterior = found.shares[owners(self.starts, len(self.rows))][:, self.classes] * densities.within
        return EStep(
            responsibilities=posterior * self.row_weights[:, None],
            class_counts=self._mass @ found.shares,
            evidence=found.value,
            posterior=posterior,
            memory=found.multipliers,
        )


def incidence_of(pairs: IntArray, n_points: int) -> "csr_array[Any]":
    """Return the incidence (points, pairs) of pairs (q, 2) of points."""
    which = np.tile(np.arange(len(pairs)), 2)
    return csr_array((np.ones(2 * len(pairs)), (pairs.T.ravel(), which)), shape=(n_points, len(pairs)))


class ProjectedPosterior(NamedTuple):
    """The projection (points, classes), its multipliers (pairs, classes), and the bound it attains."""

    shares: FloatArray
    multipliers: FloatArray
    value: float


def project(
    scores: FloatArray, mass: FloatArray, incidence: "csr_array[Any]", multipliers: FloatArray | None
) -> ProjectedPosterior:
    """Maximise Σ mass (E_q score + H(q)) over q with q_a + q_b ≤ 1 for every link and class.

    The dual is Σ mass ln Σ_m exp(score − λ / mass) + Σ λ, with λ summed over the links of a point; it is minimised over
    λ ≥ 0, from ``multipliers`` (pairs, classes) where there are any. Scores are (points, classes), the mass (points,);
    the incidence (points, pairs) is of the pairs of points with q_a + q_b ≤ 1.
    """
    n_pairs, n_classes = incidence.shape[1], scores.shape[1]
    light = 1.0 / np.where(mass > 0, mass, 1.0)[:, None]

    def respond(at: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the dual, the slack 1 − q_a − q_b of the pairs, which is its gradient, and q."""
        chosen, value = shares(scores - (incidence @ at) * light)
        return float(mass @ value + at.sum()), 1.0 - incidence.T @ chosen, chosen

    def cost(flat: FloatArray) -> tuple[float, FloatArray]:
        bound, slack, _ = respond(flat.reshape(n_pairs, n_classes))
        return bound, slack.ravel()

    current = np.zeros((n_pairs, n_classes)) if multipliers is None else multipliers
    previous = np.inf
    for _ in range(_MOST_RESTARTS):
        bound, slack, chosen = respond(current)
        little = _GAP * max(1.0, abs(bound))
        if slack.min(initial=0.0) >= -_EXCESS and abs(float((current * slack).sum())) <= little:
            break
        if previous - bound < little / 10:
            break
        previous = bound
        # A search that ends early, for want of digits along its direction, gets on when it starts anew.
        found = minimize(
            cost,
            current.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * current.size,
            options={"maxiter": _MOST_STEPS, "ftol": 0.0, "gtol": _EXCESS / 10},
        )
        current = found.x.reshape(n_pairs, n_classes)
    bound, _, chosen = respond(current)
    return ProjectedPosterior(chosen, current, bound)
