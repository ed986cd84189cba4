"""Rows known to share a class choose it together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.inference.coupled_rows import EStep, JointCoupling
from sidelight.kernels.loops import Chooser


@dataclass(frozen=True, eq=False)
class Chunklets(JointCoupling[None]):
    """Chunklets of rows with one latent class each (Shental et al. 2004), and a component per row within it.

    With class weights α_c and class densities p_c(x) = Σ_k π_k|c p_k(x), a chunklet's class has the posterior
    q_c ∝ α_c Π_n p_c(x_n): the class is drawn once, so α_c enters once. The components of its rows are independent
    given the class. Choosing outright instead of softly maximises over classes and components (CEM).

    A row of weight w stands for w equal rows of its chunklet, so its density enters to the power w. The weight of a
    chunklet multiplies its whole part of the objective.

    Parameters
    ----------
    rows : (m,)
        Row numbers, chunklet after chunklet.
    starts : (g,)
        Where each chunklet starts in ``rows``.
    labels : (g,)
        The class of each chunklet, -1 unknown.
    row_weights : (m,)
    chunklet_weights : (g,)
    classes : (components,)
        The class of each component.
    choose : Chooser
    """

    rows: IntArray
    starts: IntArray
    labels: IntArray
    row_weights: FloatArray
    chunklet_weights: FloatArray
    classes: IntArray
    choose: Chooser
    monotone = True

    @cached_property
    def _members(self) -> list[IntArray]:
        return [np.flatnonzero(self.classes == c) for c in range(self.classes.max() + 1)]

    @cached_property
    def _chunklet_of_row(self) -> IntArray:
        sizes = np.diff(np.append(self.starts, len(self.rows)))
        return np.repeat(np.arange(len(self.starts)), sizes)

    def __call__(self, log_likelihood: FloatArray, log_weights: FloatArray, previous: FloatArray | None) -> EStep[None]:
        """Return the E-step of the chunklets' rows from their log densities (rows, components)."""
        n_classes = len(self._members)
        log_density = np.empty((len(self.rows), n_classes))
        within = np.empty_like(log_likelihood)
        log_class_weights = np.empty(n_classes)
        for c, members in enumerate(self._members):
            log_class_weights[c] = np.logaddexp.reduce(log_weights[members])
            scores = log_likelihood[:, members] + (log_weights[members] - log_class_weights[c])
            within[:, members], log_density[:, c] = self.choose(scores)

        totals = np.add.reduceat(log_density * self.row_weights[:, None], self.starts, axis=0)
        totals += log_class_weights
        labelled = np.flatnonzero(self.labels >= 0)
        allowed = np.arange(n_classes) == self.labels[labelled, None]
        totals[labelled] = np.where(allowed, totals[labelled], -np.inf)

        shares, value = self.choose(totals)
        posterior = shares[self._chunklet_of_row][:, self.classes] * within
        weights = self.chunklet_weights[self._chunklet_of_row] * self.row_weights
        return EStep(
            responsibilities=posterior * weights[:, None],
            class_counts=self.chunklet_weights @ shares,
            evidence=float(self.chunklet_weights @ value),
            posterior=posterior,
        )
