"""Rows choose one component by themselves: the C-step of classification EM, with labels as a mask."""

from dataclasses import dataclass

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.labels import forbid_other_classes
from sidelight.kernels.loops import Backend


@dataclass(frozen=True, eq=False)
class Hard:
    """The most probable component (Celeux and Govaert 1991); with labels, semi-supervised CEM (Amini, lecture).

    The evidence of a row is max_k ln π_k p_k(x), so that the objective is the classification likelihood.
    """

    classes: IntArray
    backend: Backend
    monotone = True
    soft = False

    def __call__(
        self,
        scores: FloatArray,
        log_weights: FloatArray,
        codes: IntArray | None,
        weights: FloatArray,
        evidence: FloatArray,
    ) -> None:
        """Turn log densities into weighted indicators, in place."""
        forbid_other_classes(scores, codes, self.classes)
        self.backend.argmax(scores, log_weights, weights, evidence)
