"""Rows of a chunklet share a class and choose it together."""

from dataclasses import dataclass

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.class_densities import class_densities
from sidelight.inference.coupled_rows import EStep, JointCoupling
from sidelight.kernels.loops import Chooser, owners


@dataclass(frozen=True, eq=False)
class ChunkletCoupling(JointCoupling[None]):
    """Chunklets of rows with one latent class each (Shental et al. 2004), and a component per row within it.

    With class weights α_c and class densities p_c(x) = Σ_k π_k|c p_k(x), a chunklet's class has the posterior
    q_c ∝ α_c Π_n p_c(x_n): the class is drawn once, so α_c enters once. The components of its rows are independent
    given the class. Choosing outright instead of softly maximises over classes and components (CEM).

    A row of weight w stands for w equal rows of its chunklet, so its density enters to the power w. The weight of a
    chunklet multiplies its whole part of the objective.

    Parameters
    ----------
    rows, starts : (m,), (g,)
        Row numbers, chunklet after chunklet, and where each chunklet starts in them.
    labels : (g,)
        The class of each chunklet, -1 unknown.
    row_weights, chunklet_weights : (m,), (g,)
    classes : (components,)
        The class of each component.
    """

    rows: IntArray
    starts: IntArray
    labels: IntArray
    row_weights: FloatArray
    chunklet_weights: FloatArray
    classes: IntArray
    choose: Chooser
    monotone = True

    def __call__(self, log_likelihood: FloatArray, log_weights: FloatArray, previous: None) -> EStep[None]:
        """Return the E-step of the chunklets' rows from their log densities (rows, components)."""
        densities = class_densities(log_likelihood, log_weights, self.classes, self.choose)
        totals = np.add.reduceat(densities.log_density * self.row_weights[:, None], self.starts, axis=0)
        totals += densities.log_weights
        labelled = np.flatnonzero(self.labels >= 0)
        allowed = np.arange(totals.shape[1]) == self.labels[labelled, None]
        totals[labelled] = np.where(allowed, totals[labelled], -np.inf)

        shares, value = self.choose(totals)
        chunklet = owners(self.starts, len(self.rows))
        posterior = shares[chunklet][:, self.classes] * densities.within
        weights = self.chunklet_weights[chunklet] * self.row_weights
        return EStep(
            responsibilities=posterior * weights[:, None],
            class_counts=self.chunklet_weights @ shares,
            evidence=float(self.chunklet_weights @ value),
            posterior=posterior,
        )
