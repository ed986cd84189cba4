"""Columns of counts, Poisson with a Gamma posterior each."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from scipy.special import digamma, gammaln

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.conjugate import divergences
from sidelight.families.conjugate.cells import CellwisePredictive, cell_evaluator
from sidelight.families.conjugate.factorials import log_factorials
from sidelight.families.conjugate.family import ConjugateFamily, is_no_count, refuse_cells
from sidelight.families.conjugate.statistics import CellStatistics
from sidelight.families.linear import LinearEvaluator
from sidelight.kernels.loops import Backend


@storable("PoissonParameters")
class PoissonParameters(NamedTuple):
    """Posteriors Gamma(a, rate b) of the rates (components, d): ``shapes`` are a, ``rates`` b."""

    shapes: FloatArray
    rates: FloatArray


@storable("GammaPoisson")
@dataclass(frozen=True, eq=False)
class GammaPoisson(ConjugateFamily):
    """Independent columns of counts 0, 1, 2, …; a missing cell (NaN) is left out. Densities include 1 / x!.

    Parameters
    ----------
    shapes, rates : (d,)
        a0 and b0 of every column; the prior's rate of events is a0 / b0.
    """

    shapes: FloatArray
    rates: FloatArray

    @classmethod
    def scaled(cls, mean: FloatArray, *, shape: float = 1.0) -> Self:
        """Return the prior whose rates have the means (d,) of a table and the relative variance 1 / ``shape``.

        A column of zeros has no mean to scale by; it takes the mean of the others.
        """
        positive = mean[mean > 0]
        level = np.where(mean > 0, mean, positive.mean() if positive.size else 1.0)
        return cls(np.full(len(mean), shape), shape / level)

    def evaluator(self, parameters: PoissonParameters, backend: Backend) -> LinearEvaluator[CellStatistics]:
        """Return an evaluator of Σ_j [x (ψ(a) − ln b) − a/b − ln x!] and of the statistics."""
        shapes, rates = parameters
        logs = digamma(shapes) - np.log(rates)
        coefficients = np.concatenate([np.ones((len(shapes), 1)), logs], axis=1)
        return cell_evaluator(_fill, -shapes / rates, coefficients, _collect)

    def predictive(self, parameters: PoissonParameters, backend: Backend) -> CellwisePredictive:
        """Return what scores new rows by products of negative binomials: a successes of probability b / (b + 1)."""
        shapes, rates = parameters
        logs = np.log1p(rates)
        constants = shapes * (np.log(rates) - logs) - gammaln(shapes)

        def log_density(component: int, cells: FloatArray) -> FloatArray:
            terms = gammaln(shapes[component] + cells)
            terms -= log_factorials(cells)
            terms -= cells * logs[component]
            terms += constants[component]
            return terms

        return CellwisePredictive(log_density, *shapes.shape)

    def update(self, statistics: CellStatistics) -> PoissonParameters:
        """Return the posteriors: a = a0 + Σ r x and b = b0 + Σ r, over observed cells."""
        return PoissonParameters(self.shapes + statistics.sums, self.rates + statistics.cells)

    def log_prior(self, parameters: PoissonParameters) -> float:
        """Return −Σ_k KL(q(θ_k) ‖ p(θ_k))."""
        return -float(divergences.gamma(*parameters, self.shapes, self.rates).sum())

    def divergence(self, parameters: PoissonParameters) -> FloatArray:
        """Return Σ_j [(a_k − a_l) (E_k − E_l) ln θ − (b_k − b_l) (a_k/b_k − a_l/b_l)] of all pairs."""
        return divergences.symmetric_gamma(*parameters)

    def sample(
        self, parameters: PoissonParameters, component: int, n: int, random: np.random.RandomState
    ) -> FloatArray:
        """Draw n rows from one component, each with rates of its own."""
        shapes, rates = parameters.shapes[component], parameters.rates[component]
        return random.poisson(random.gamma(shapes, 1.0 / rates, size=(n, len(shapes)))).astype(float)

    def attributes(self, parameters: PoissonParameters) -> dict[str, FloatArray]:
        """Return the expected rates (components, d)."""
        return {"rates_": parameters.shapes / parameters.rates}

    def around(self, means: FloatArray) -> PoissonParameters:
        """Return the prior as often as there are means: its mean and its width are one."""
        return PoissonParameters(
            np.repeat(self.shapes[None], len(means), axis=0), np.repeat(self.rates[None], len(means), axis=0)
        )

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return n_components * len(self.shapes)

    def check(self, block: AnyArray, start: int = 0, columns: IntArray | None = None) -> None:
        """Raise a ValueError that names the first cell that is neither a count nor missing."""
        refuse_cells(is_no_count(block), block, start, columns, "counts 0, 1, 2, …, or NaN where one is missing")


def _fill(cells: FloatArray, out: FloatArray) -> None:
    log_factorials(cells).sum(axis=0, out=out[0])
    np.negative(out[0], out=out[0])
    out[1:] = cells


def _collect(mass: FloatArray, cells: FloatArray, sums: FloatArray) -> CellStatistics:
    return CellStatistics(mass, cells, sums[:, 1:])
