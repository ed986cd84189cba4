"""Student t densities: what a Gaussian with a conjugate posterior predicts for a new row."""

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.evaluators.evaluator import Scorer


def student_score(
    distances: FloatArray, log_scales: FloatArray, n_columns: IntArray, *, freedom: FloatArray, precision: FloatArray
) -> FloatArray:
    """Return the log densities of Student t distributions with f degrees of freedom and shape Ψ (κ + 1) / (κ f).

    Parameters
    ----------
    distances : (components, rows)
        (x − m)ᵀ Ψ⁻¹ (x − m).
    log_scales : (components, rows) or (components, 1)
        ½ ln|Ψ⁻¹|.
    n_columns : (rows,) or (1,)
        The number of columns of Ψ.
    freedom : (components,)
        f.
    precision : (components,)
        κ.
    """
    shrinkage, halves = (precision / (precision + 1.0))[:, None], 0.5 * freedom[:, None]
    exponents = halves + 0.5 * n_columns
    constants = gammaln(exponents) - gammaln(halves) + 0.5 * n_columns * np.log(shrinkage / np.pi) + log_scales
    scores = np.log1p(shrinkage * distances)
    scores *= -exponents
    scores += constants
    return scores


class StudentPredictive(Scorer):
    """Student t log densities of complete rows.

    Parameters
    ----------
    quadratic : Scorer
        Of (x − m)ᵀ Ψ⁻¹ (x − m), but for a factor.
    factors : (components,)
        Factors from its values to the distances.
    score : callable
        Log densities from distances (components, rows).
    """

    def __init__(self, quadratic: Scorer, factors: FloatArray, score: Callable[[FloatArray], FloatArray]) -> None:
        self.n_components = quadratic.n_components
        self.block_rows = quadratic.block_rows
        self._quadratic = quadratic
        self._factors = factors
        self._score = score

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._quadratic.load(block)

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block."""
        return self._score(self._factors[:, None] * self._quadratic.log_likelihood())
