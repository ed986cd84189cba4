"""Columns of counts, Poisson with a Gamma posterior each."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from scipy.special import digamma, gammaln

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray
from sidelight.families.conjugate.family import ConjugateFamily, gamma_divergence, symmetric_gamma_divergence
from sidelight.families.conjugate.margins import Margin, gaussian_evidence, log_evidence, margin_of
from sidelight.families.evaluators.cells import CellwisePredictive, cell_evaluator
from sidelight.families.evaluators.counts import log_factorials
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import CellStatistics
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import range_of_counts
from sidelight.tables.comparison import RATES
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind, is_count, observed_integers
from sidelight.tables.quantiles import weighted_quantiles
from sidelight.tables.survey import Survey

# More columns of counts than this depend on each other in ways that are taken for clusters.
MOST_COUNTS = 20
# Above this mean a Gaussian describes counts as well as a Poisson distribution does.
_LARGEST_MEAN = 20.0


@storable("PoissonParameters")
class PoissonParameters(NamedTuple):
    """Posteriors Gamma(a, rate b) of the rates (components, d): ``shapes`` are a, ``rates`` b."""

    shapes: FloatArray
    rates: FloatArray


@storable("GammaPoisson")
@dataclass(frozen=True, eq=False)
class GammaPoisson(ConjugateFamily[PoissonParameters, CellStatistics]):
    """Independent columns of counts 0, 1, 2, …; a missing cell (NaN) is left out. Densities include 1 / x!.

    ``shapes`` and ``rates`` (d,) are a0 and b0 of every column; the prior's rate of events is a0 / b0.
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

    def evaluator(self, parameters: PoissonParameters, backend: Backend) -> Evaluator[CellStatistics]:
        """Return an evaluator of Σ_j [x (ψ(a) − ln b) − a/b − ln x!] and of the statistics."""
        shapes, rates = parameters
        logs = digamma(shapes) - np.log(rates)
        coefficients = np.concatenate([np.ones((len(shapes), 1)), logs], axis=1)

        def collect(mass: FloatArray, cells: FloatArray, sums: FloatArray) -> CellStatistics:
            return CellStatistics(mass, cells, sums[:, 1:])

        return cell_evaluator(_fill, -shapes / rates, coefficients, collect)

    def predictive(self, parameters: PoissonParameters, backend: Backend) -> CellwisePredictive:
        """Return a scorer of new rows by products of negative binomials: a successes of probability b / (b + 1)."""
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
        return -float(gamma_divergence(*parameters, self.shapes, self.rates).sum())

    def log_evidence(self, statistics: CellStatistics) -> FloatArray:
        """Return Σ_j ln [Γ(a) b0^a0] − ln [Γ(a0) b^a]."""
        shapes, rates = self.update(statistics)
        terms = gammaln(shapes) - gammaln(self.shapes) + self.shapes * np.log(self.rates) - shapes * np.log(rates)
        return terms.sum(axis=1)

    def divergence(self, parameters: PoissonParameters) -> FloatArray:
        """Return Σ_j [(a_k − a_l) (E_k − E_l) ln θ − (b_k − b_l) (a_k/b_k − a_l/b_l)] of all pairs."""
        return symmetric_gamma_divergence(*parameters)

    def sample(self, parameters: PoissonParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component, each with rates of its own."""
        shapes, rates = parameters.shapes[component], parameters.rates[component]
        return random.poisson(random.gamma(shapes, 1.0 / rates, size=(n, len(shapes)))).astype(float)

    def attributes(self, parameters: PoissonParameters) -> dict[str, FloatArray]:
        """Return the expected rates (components, d)."""
        return {"rates_": parameters.shapes / parameters.rates}

    def around(self, means: FloatArray) -> PoissonParameters:
        """Return the prior once for each mean: its mean and its width are one."""
        return PoissonParameters(*(np.repeat(prior[None], len(means), axis=0) for prior in (self.shapes, self.rates)))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return n_components * len(self.shapes)


class Poisson(ColumnKind):
    """Columns of counts.

    Integers are taken for counts only where that is safe. A Gaussian for counts costs a little accuracy; a Poisson
    distribution for a year, whose variance would have to be 2000, takes all meaning from it.
    """

    name, noun, plural, takes = "poisson", "count", "counts", "counts 0, 1, 2, …"
    most_columns = MOST_COUNTS
    comparison = RATES
    summary = staticmethod(range_of_counts)

    def recognises(self, column: RawColumn) -> bool:
        """Say whether integers look like counts, and have more evidence as Poisson counts than as Gaussian numbers."""
        margin = count_margin(column)
        return margin is not None and poisson_evidence(margin) > gaussian_evidence(margin)

    def misfits(self, cells: AnyArray) -> AnyArray:
        """Say of each cell whether it is neither a count nor missing."""
        return ~(np.isnan(cells) | is_count(cells))

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return the columns standardised after a square root."""
        return standardised_roots(cells, weights)

    def family(self, survey: Survey, categories: Categories, settings: object) -> GammaPoisson:
        """Return the family in which a rate has the mean of its column, and as large a standard deviation."""
        return GammaPoisson.scaled(survey.mean, shape=1.0)

    def log_widths(self, cells: Any, weights: FloatArray, survey: Survey, categories: Categories) -> FloatArray:
        """Return the logarithms of how many counts there are from 0 to all but the largest."""
        most = weighted_quantiles(cells, weights, (0.995,))[0]
        return np.log1p(np.nan_to_num(most))


def standardised_roots(cells: FloatArray, weights: FloatArray) -> FloatArray:
    """Return columns of counts standardised after a square root, which gives counts of any size the same noise."""
    roots = np.sqrt(cells)
    observed = np.maximum(weights @ ~np.isnan(roots), np.finfo(float).tiny)
    centred = roots - weights @ np.nan_to_num(roots) / observed
    variances = weights @ np.square(np.nan_to_num(centred)) / observed
    return np.nan_to_num(centred) / np.where(variances > 0, np.sqrt(variances), 1.0)


def count_margin(column: RawColumn) -> Margin | None:
    """Return the margin of integers that look like counts, from 0 beyond 1 with a mean of at most 20; None of others.

    The margin of a column does not tell how it goes with other columns, as coordinates and measurements do. Numbers
    that do not start at 0, and large ones, stay Gaussian for that reason.
    """
    seen = observed_integers(column)
    if not seen.size or seen.min() != 0 or seen.max() <= 1 or seen.mean() > _LARGEST_MEAN:
        return None
    return margin_of(seen)


def poisson_evidence(margin: Margin) -> float:
    """Return ln p(cells) of counts under one Poisson distribution."""
    return log_evidence(GammaPoisson.scaled(margin.mean), margin)


def _fill(cells: FloatArray, out: FloatArray) -> None:
    log_factorials(cells).sum(axis=0, out=out[0])
    np.negative(out[0], out=out[0])
    out[1:] = cells
