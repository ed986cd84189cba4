"""Rows choose softly and by themselves: the E-step of EM, with labels as a mask."""

from dataclasses import dataclass

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.labels import forbid_other_classes
from sidelight.kernels.loops import Backend


@dataclass(frozen=True, eq=False)
class Independent:
    """Posterior probabilities (Dempster et al. 1977); a labelled row's are zero outside its class.

    The evidence of a row is ln Σ_k π_k p_k(x), the sum over the components its label allows.
    """

    classes: IntArray
    backend: Backend
    monotone = True
    soft = True

    def __call__(
        self,
        scores: FloatArray,
        log_weights: FloatArray,
        codes: IntArray | None,
        weights: FloatArray,
        evidence: FloatArray,
    ) -> None:
        """Turn log densities into weighted posterior probabilities, in place."""
        forbid_other_classes(scores, codes, self.classes)
        self.backend.softmax(scores, log_weights, weights, evidence)
