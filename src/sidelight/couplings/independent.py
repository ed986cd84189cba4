"""Rows that choose their components independently, with labels as a mask: the E-step of EM, the C-step of CEM."""

from dataclasses import dataclass

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.kernels.loops import Backend


@dataclass(frozen=True, eq=False)
class Independent:
    """Posterior probabilities (Dempster et al. 1977); a labelled row's are zero outside its class.

    The evidence of a row is ln Σ_k π_k p_k(x), the sum over the components its label allows; ``classes`` (components,)
    has the class of each.
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
        """Turn log densities (components, rows) into weighted posterior probabilities, in place.

        ``codes`` (rows,) has the class of each labelled row, -1 for the others; None where no row has a label.
        """
        if codes is not None:
            labelled = np.flatnonzero(codes >= 0)
            if labelled.size:
                forbidden = self.classes[:, None] != codes[labelled]
                scores[:, labelled] = np.where(forbidden, -np.inf, scores[:, labelled])
        choose = self.backend.softmax if self.soft else self.backend.argmax
        choose(scores, log_weights, weights, evidence)


@dataclass(frozen=True, eq=False)
class Hard(Independent):
    """The most probable component (Celeux and Govaert 1991); with labels, semi-supervised CEM (Amini, lecture).

    The evidence of a row is max_k ln π_k p_k(x), so that the objective is the classification likelihood.
    """

    soft = False
