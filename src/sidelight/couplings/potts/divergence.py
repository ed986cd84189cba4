"""The published field: rows of one label are drawn together in proportion to how far apart their components are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.inference.coupled_rows import EStep, TiedExpectation, TiedRows, Write
from sidelight.kernels.loops import softly


@dataclass(frozen=True, eq=False)
class DivergenceField:
    """Labels that attract by a divergence between components (Echraibi et al. 2019, equations 2 and 3).

    A row's score for component k is E ln p_k(x) + E ln π_k − λ Σ_m Σ_l r_ml V(k, l), the first sum over the other rows
    of its label. V moves with the components, so that its normaliser varies, and all rows are updated at once:
    the objective may fall. As in the paper's appendix, labelled rows count for the weights; its section 2.4 leaves them
    out.

    Parameters
    ----------
    rows : (m,)
        Numbers of the labelled rows.
    labels : (m,)
        Their label codes.
    strength : float
        λ.
    divergence : callable
        Gives V (components, components) at the family's parameters.
    """

    rows: IntArray
    labels: IntArray
    strength: float
    divergence: Callable[[Any], FloatArray]
    monotone = False

    def expect(self, tied: TiedRows, log_weights: FloatArray, memory: FloatArray | None) -> TiedExpectation:
        """Take the labelled rows through E-step and statistics."""
        found = self._update(tied, log_weights, memory)
        statistics = tied.statistics(found.responsibilities)
        return TiedExpectation(statistics, found.class_counts, found.evidence, found.posterior)

    def assign(self, tied: TiedRows, log_weights: FloatArray, memory: FloatArray | None, write: Write) -> float:
        """Write the posterior of the labelled rows; return their part of the objective."""
        found = self._update(tied, log_weights, memory)
        write(self.rows, found.posterior, None)
        return found.evidence

    def regrouped(self, memory: FloatArray, groups: IntArray) -> FloatArray:
        """Return the memory with components put together by groups; those of group -1 are forgotten."""
        return memory @ (groups[:, None] == np.arange(groups.max() + 1))

    def _update(self, tied: TiedRows, log_weights: FloatArray, memory: FloatArray | None) -> EStep:
        scores = tied.log_likelihood() + log_weights
        potential = self.strength * self.divergence(tied.parameters)
        pulled = np.zeros_like(scores) if memory is None else (self._sums(memory) - memory) @ potential
        posterior, value = softly(scores - pulled)
        own = float(value.sum() + np.vdot(posterior, pulled))
        energy = 0.5 * float(np.vdot(posterior, (self._sums(posterior) - posterior) @ potential))
        return EStep(posterior, posterior.sum(axis=0), own - energy, posterior)

    def _sums(self, posterior: FloatArray) -> FloatArray:
        """Return, for each row, the posteriors of all rows of its label."""
        sums = np.zeros((self.labels.max() + 1, posterior.shape[1]))
        np.add.at(sums, self.labels, posterior)
        return sums[self.labels]
