"""Linked rows in pairs, each pair with latent classes of its own."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.class_densities import class_densities
from sidelight.inference.mixture import JointCoupling
from sidelight.inference.protocols import EStep
from sidelight.kernels.loops import log_sum_of_others, softly


@dataclass(frozen=True, eq=False)
class PairCoupling(JointCoupling[None]):
    """Pairs of rows that share a class, and pairs that do not (Yu et al., eqs. 12, 14, 28, 31).

    A row in several links has several copies, each with a latent class of its own, and counts as many times. Of a
    must-link the class is drawn once: softmax(ln α + ln p(x_i) + ln p(x_j)). Of a cannot-link the classes are drawn
    independently and differ: with L = ln α + ln p(x), row a has class m in proportion to
    exp(L_a^m) Σ_{m' ≠ m} exp(L_b^m'). What the difference costs, −ln(1 − Σα²) a pair, belongs to the weights and is
    counted there.

    Yu et al. print a probability that is zero whenever neither row is in class m (eq. 7), a product over classes that
    raises the normaliser to the power of their number (eq. 9), and class weights inside the product over components
    (eqs. 20, 22, 25). Here each enters once.

    The posterior shown is the mean over a row's copies. A row of weight w stands for w equal rows of its pair, so its
    density enters to the power w.

    Parameters
    ----------
    rows : (m,)
        Row numbers.
    must, cannot : (p, 2), (q, 2)
        Pairs, as places in ``rows``.
    labels : (m,)
        The class of each row, -1 unknown.
    row_weights : (m,)
    classes : (components,)
        The class of each component.
    takes_rows : bool
        Whether linked rows do not count by themselves as well.
    """

    rows: IntArray
    must: IntArray
    cannot: IntArray
    labels: IntArray
    row_weights: FloatArray
    classes: IntArray
    takes_rows: bool = True
    monotone = True

    @cached_property
    def _copies(self) -> "csr_array[Any]":
        """Which copies, both ends of every pair, are whose: (rows, copies)."""
        owner = np.concatenate([self.must.T.ravel(), self.cannot.T.ravel()])
        ones = np.ones(len(owner))
        return csr_array((ones, (owner, np.arange(len(owner)))), shape=(len(self.rows), len(owner)))

    def __call__(self, log_likelihood: FloatArray, log_weights: FloatArray, previous: Any) -> EStep[None]:
        """Return the E-step of the linked rows from their log densities (rows, components)."""
        densities = class_densities(log_likelihood, log_weights, self.classes)
        evidence_of_row = densities.log_density * self.row_weights[:, None]
        labelled = np.flatnonzero(self.labels >= 0)
        other = np.arange(evidence_of_row.shape[1]) != self.labels[labelled, None]
        evidence_of_row[labelled] = np.where(other, -np.inf, evidence_of_row[labelled])

        together = evidence_of_row[self.must].sum(axis=1) + densities.log_weights
        shared, value_together = softly(together)
        first, second = (evidence_of_row[self.cannot[:, end]] + densities.log_weights for end in (0, 1))
        of_first, value_apart = softly(first + log_sum_of_others(second))
        of_second, _ = softly(second + log_sum_of_others(first))

        copies = np.concatenate([shared, shared, of_first, of_second])
        by_class = (self._copies @ copies)[:, self.classes] * densities.within
        return EStep(
            responsibilities=by_class * self.row_weights[:, None],
            class_counts=shared.sum(axis=0) + of_first.sum(axis=0) + of_second.sum(axis=0),
            evidence=float(value_together.sum() + value_apart.sum()),
            posterior=by_class / self._copies.sum(axis=1)[:, None],
        )
