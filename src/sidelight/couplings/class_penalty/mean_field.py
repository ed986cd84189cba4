"""Mean field of components and classes under pairs: its free energy, and two ways to lower it."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray
from sidelight.couplings.class_penalty.pair_sums import IndependentSet, PairSums, RunningSums, independent_sets
from sidelight.kernels.loops import log_shares

# A step is kept if the energy falls by this part of what it would if rows were free; rows that jump back and forth in
# pairs leave it where it was.
_PART_OF_FALL = 0.25
# Far below 1 / (1 + strength × any sum over pairs), where every step is kept.
_SMALLEST_STEP = 2.0**-40
_ROUNDING = 1e-12


class JointPosterior(NamedTuple):
    """Joint posteriors of component and class, ln r and r, (m, components, classes), with their field and energy.

    The field, of the same shape, is the energy that pairs add to each choice of each row; ``energy`` (groups,) is the
    free energy of each group of rows that pairs connect.
    """

    log: FloatArray
    values: FloatArray
    field: FloatArray
    energy: FloatArray


@dataclass(frozen=True, eq=False)
class MeanField:
    """Rows that choose a component k and a class l, and pairs of rows that want the same or different ones.

    The free energy (Zhao and Miller, eqs. 8 and 10) of scores s_ikl = ln α_k β_kl f_k(x_i) is

        F = Σ_i r_i · (ln r_i − s_i) + ½ D Σ_ij C_ij ⟨r_i, J r_j⟩,

    where C are the pairs, D is their strength, and J is one for choices of the same component or the same class; the
    field D Σ_j C_ij J r_j is the gradient of its second term. F is a sum over the groups of rows that pairs connect.
    """

    pairs: PairSums
    strength: float

    def at(self, scores: FloatArray, log_values: FloatArray) -> JointPosterior:
        """Return the joint posteriors in proportion to exp(log_values), their field and their energy."""
        log, values = log_shares(log_values, axes=(1, 2))
        sums = self.pairs(values.reshape(len(values), -1)).reshape(values.shape)
        field = self.strength * same_component_or_class(sums)
        # Where r is zero its logarithm is finite all the same: it was never taken of r.
        by_row = np.einsum("ikl,ikl->i", values, log - scores + 0.5 * field)
        return JointPosterior(log, values, field, self._by_group(by_row))

    def damped_step(
        self, scores: FloatArray, joint: JointPosterior, steps: FloatArray
    ) -> tuple[JointPosterior, FloatArray]:
        """Move all rows at once, r ∝ r_old^(1−η) r_new^η, each group as far as its energy falls as it should.

        The η of each group (groups,) is halved until that holds. For any pairs it does from
        η = 1 / (1 + D × an eigenvalue of C ⊗ J) on. Returned are where the step leads, and the η taken.
        """
        target = scores - joint.field
        target -= target.max(axis=(1, 2), keepdims=True)
        while True:
            step = steps[self.pairs.groups][:, None, None]
            reached = self.at(scores, (1 - step) * joint.log + step * target)
            moved = self._by_group(np.einsum("ikl,ikl->i", joint.values, joint.log - reached.log))
            slack = _ROUNDING * (1 + np.abs(joint.energy))
            too_far = joint.energy - reached.energy < _PART_OF_FALL * moved - slack
            if not (too_far & (steps > _SMALLEST_STEP)).any():
                return reached, steps
            steps = np.where(too_far, steps / 2, steps)

    def sweep(self, scores: FloatArray, joint: JointPosterior) -> JointPosterior:
        """Move the rows one after the other, those without a pair among them at once; the energy never rises."""
        m = len(scores)
        log = joint.log.copy()
        running = RunningSums.of(self.pairs, joint.values.reshape(m, -1))
        # A row that stands for several, or for less than one, is paired with itself: a full step could go too far.
        # Where r sums to one, the eigenvalues of J lie between −1 and the number of components or classes.
        own = (self.pairs.weights - 1) * self.pairs.memberships
        alone = 1 / (1 + self.strength * np.where(own > 0, own, -own * max(scores.shape[1:])))
        for some in self._independent_sets:
            rows = some.rows
            sums = running.sums(some).reshape(len(rows), *scores.shape[1:])
            target = scores[rows] - self.strength * same_component_or_class(sums)
            step = alone[rows][:, None, None]
            log[rows], values = log_shares((1 - step) * log[rows] + step * target, axes=(1, 2))
            running.replace(some, values.reshape(len(rows), -1))
        return self.at(scores, log)

    @cached_property
    def _independent_sets(self) -> list[IndependentSet]:
        return independent_sets(self.pairs)

    def _by_group(self, by_row: FloatArray) -> FloatArray:
        return np.bincount(self.pairs.groups, weights=self.pairs.weights * by_row).astype(float)


def same_component_or_class(values: FloatArray) -> FloatArray:
    """Apply J to (m, components, classes): for each choice the sum over those of its component or its class."""
    return values.sum(axis=2, keepdims=True) + values.sum(axis=1, keepdims=True) - values
