"""Columns of counts that vary more than Poisson counts, negative binomial with a Beta posterior each.

A cell is x | k ~ Poisson(λ u) with u ~ Gamma(φ, φ), mean one and variance 1/φ: rows of one component differ in their
rates. With u integrated out, x is negative binomial of size φ with success probability p = φ / (φ + λ),

    p(x | φ, p) = Γ(φ + x) / (Γ(φ) x!) p^φ (1 − p)^x,

to which Beta(α, β) is conjugate while φ is known: no factor of u has to be held apart from that of λ, which would
loosen the bound by about ½ ln(1 + λ/φ) for every component and column. As φ grows, Beta(1 + φ b0, a0) becomes the
Gamma(a0, b0) prior of λ, and the family :class:`~sidelight.families.conjugate.gamma_poisson.GammaPoisson`.

The size φ is shared by the components of a column. Given responsibilities, the bound at the best posteriors is

    Σ_k ln B(α0 + φ N_k, β0 + S_k) / B(α0, β0) + Σ_n ln Γ(φ + x_n) / (Γ(φ) x_n!),

with N_k = Σ r and S_k = Σ r x. Its last sum does not depend on the component and is a statistic of the column for each
size of a grid; the update takes the size at which the bound is highest, so that the bound never falls.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from scipy.special import betaln, digamma, gammaln

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.conjugate.family import (
    ConjugateFamily,
    dirichlet_divergence,
    dirichlet_evidence,
    symmetric_divergence,
)
from sidelight.families.conjugate.gamma_poisson import MOST_COUNTS, count_margin, poisson_evidence, standardised_roots
from sidelight.families.conjugate.margins import Margin, gaussian_evidence, log_evidence
from sidelight.families.evaluators.cells import CellwisePredictive, cell_evaluator
from sidelight.families.evaluators.counts import log_factorials
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import CellStatistics
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import range_of_counts
from sidelight.tables.comparison import RATES
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind, is_count
from sidelight.tables.survey import Survey

# From counts most of which are zero to counts that are Poisson; a factor of two is less than a table can tell apart.
SIZES: FloatArray = 2.0 ** np.arange(-3.0, 14.0)
_TABLE_SIZE = 4096


@storable("NegativeBinomialParameters")
class NegativeBinomialParameters(NamedTuple):
    """Posteriors Beta(α, β) of the success probabilities: ``successes`` are α, ``failures`` β, ``sizes`` φ.

    All are (components, d); the sizes of a column are the same in all components.
    """

    successes: FloatArray
    failures: FloatArray
    sizes: FloatArray


@storable("DispersionStatistics")
@dataclass(frozen=True, eq=False)
class DispersionStatistics(CellStatistics):
    """Weighted sums of cells, with ``log_coefficients`` (1, columns, grid).

    These are Σ_n Σ_k r ln Γ(φ + x) / (Γ(φ) x!) over the rows in which the cell is observed, for each size φ of a grid.
    """

    log_coefficients: FloatArray

    def paired(self, first: IntArray, second: IntArray) -> Self:
        """Return the statistics of pairs of components put together; rows that are in several pairs count for each."""
        pairs = super().paired(first, second)
        counted = pairs.cells.sum(axis=0) / np.maximum(self.cells.sum(axis=0), np.finfo(float).tiny)
        return replace(pairs, log_coefficients=self.log_coefficients * counted[:, None])


@storable("BetaNegativeBinomial")
@dataclass(frozen=True, eq=False)
class BetaNegativeBinomial(ConjugateFamily[NegativeBinomialParameters, DispersionStatistics]):
    """Independent columns of counts 0, 1, 2, …; a missing cell (NaN) is left out. Densities include 1 / x!.

    ``shapes`` and ``rates`` (d,) are a0 and b0: the prior of a column is Beta(1 + φ b0, a0), in which λ has the mean
    a0 / b0. ``grid`` (g,) are the sizes φ among which the update chooses; a single one is kept.
    """

    shapes: FloatArray
    rates: FloatArray
    grid: FloatArray

    @classmethod
    def scaled(cls, mean: FloatArray, *, shape: float = 1.0, sizes: Sequence[float] | FloatArray = SIZES) -> Self:
        """Return the prior whose rates have the means (d,) of a table.

        A column of zeros has no mean to scale by; it takes the mean of the others.
        """
        positive = mean[mean > 0]
        level = np.where(mean > 0, mean, positive.mean() if positive.size else 1.0)
        return cls(np.full(len(mean), shape), shape / level, np.asarray(sizes, dtype=float))

    def evaluator(self, parameters: NegativeBinomialParameters, backend: Backend) -> "DispersionEvaluator":
        """Return an evaluator of Σ_j [φ E ln p + x E ln(1 − p) + ln Γ(φ + x) / (Γ(φ) x!)] and of the statistics."""
        sizes = parameters.sizes
        of_success, of_failure = _expected_logs(parameters)
        columns = [(float(size), np.flatnonzero(sizes[0] == size)) for size in np.unique(sizes[0])]

        def fill(cells: FloatArray, out: FloatArray) -> None:
            out[0] = 0.0
            for size, numbers in columns:
                out[0] += log_coefficients(cells[numbers], size).sum(axis=0)
            out[1:] = cells

        def collect(mass: FloatArray, cells: FloatArray, sums: FloatArray) -> CellStatistics:
            return CellStatistics(mass, cells, sums[:, 1:])

        coefficients = np.concatenate([np.ones((len(sizes), 1)), of_failure], axis=1)
        return DispersionEvaluator(cell_evaluator(fill, sizes * of_success, coefficients, collect), self.grid)

    def predictive(self, parameters: NegativeBinomialParameters, backend: Backend) -> CellwisePredictive:
        """Return a scorer of new rows by Π_j Γ(φ + x) / (Γ(φ) x!) B(α + φ, β + x) / B(α, β)."""
        successes, failures, sizes = parameters
        constants = -betaln(successes, failures) - gammaln(sizes)

        def log_density(component: int, cells: FloatArray) -> FloatArray:
            size = sizes[component]
            terms = betaln(successes[component] + size, failures[component] + cells)
            terms += gammaln(size + cells)
            terms -= log_factorials(cells)
            terms += constants[component]
            return terms

        return CellwisePredictive(log_density, *sizes.shape)

    def update(self, statistics: DispersionStatistics) -> NegativeBinomialParameters:
        """Return the posteriors α = 1 + φ b0 + φ Σ r and β = a0 + Σ r x, at the size φ of each column that is best."""
        # (sizes, components, d), all at once: every pass asks for them, and the arrays of one size are small.
        sizes = self.grid[:, None, None]
        gains = betaln(1.0 + sizes * (self.rates + statistics.cells), self.shapes + statistics.sums)
        gains -= betaln(1.0 + sizes * self.rates, self.shapes)
        evidence = statistics.log_coefficients[0] + gains.sum(axis=1).T
        return self._posterior(statistics, self.grid[evidence.argmax(axis=1)])

    def _posterior(self, statistics: CellStatistics, sizes: FloatArray) -> NegativeBinomialParameters:
        """Return the posteriors at these sizes, one for all columns or one for each."""
        successes = 1.0 + sizes * (self.rates + statistics.cells)
        return NegativeBinomialParameters(
            successes, self.shapes + statistics.sums, np.broadcast_to(sizes, successes.shape).copy()
        )

    def log_prior(self, parameters: NegativeBinomialParameters) -> float:
        """Return −Σ_k KL(q(p_k) ‖ p(p_k))."""
        successes, failures, sizes = parameters
        prior = np.stack(np.broadcast_arrays(1.0 + sizes * self.rates, self.shapes), axis=-1)
        return -float(dirichlet_divergence(np.stack([successes, failures], axis=-1), prior).sum())

    def log_evidence(self, statistics: DispersionStatistics) -> FloatArray:
        """Return Σ_j ln B(α, β) − ln B(α0, β0) at the best sizes, and each component's part of the coefficients.

        The sizes may differ from one grouping of the components to another, and the coefficients with them; a component
        takes as much of them as it has of the rows.
        """
        posterior = self.update(statistics)
        sizes = posterior.sizes[0]
        prior = np.stack([1.0 + sizes * self.rates, self.shapes], axis=-1)
        gains = dirichlet_evidence(np.stack([posterior.successes, posterior.failures], axis=-1), prior)
        chosen = np.searchsorted(self.grid, sizes)
        coefficients = statistics.log_coefficients[0][np.arange(len(sizes)), chosen]
        shares = statistics.cells / np.maximum(statistics.cells.sum(axis=0), np.finfo(float).tiny)
        return (gains + shares * coefficients).sum(axis=1)

    def divergence(self, parameters: NegativeBinomialParameters) -> FloatArray:
        """Return Σ_j [(α_k − α_l) (E_k − E_l) ln p + (β_k − β_l) (E_k − E_l) ln(1 − p)] of all pairs."""
        natural = np.concatenate([parameters.successes, parameters.failures], axis=1)
        return symmetric_divergence(natural, np.concatenate(_expected_logs(parameters), axis=1))

    def sample(self, parameters: NegativeBinomialParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component, each with probabilities of its own."""
        successes, failures, sizes = (values[component] for values in parameters)
        probabilities = random.beta(successes, failures, size=(n, len(sizes)))
        # A draw of a probability may round to zero.
        probabilities = np.maximum(probabilities, np.finfo(float).tiny)
        return random.negative_binomial(sizes, probabilities).astype(float)

    def attributes(self, parameters: NegativeBinomialParameters) -> dict[str, FloatArray]:
        """Return the expected rates E λ = φ β / (α − 1) and the sizes φ, both (components, d)."""
        successes, failures, sizes = parameters
        return {"rates_": sizes * failures / (successes - 1.0), "sizes_": sizes}

    def around(self, means: FloatArray) -> NegativeBinomialParameters:
        """Return the prior at the largest size once for each mean: its mean and its width are one."""
        shape = (len(means), len(self.shapes))
        sizes = np.full(shape, self.grid[-1])
        return NegativeBinomialParameters(1.0 + sizes * self.rates, np.broadcast_to(self.shapes, shape).copy(), sizes)

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters: a rate of each component and a size, per column."""
        return (n_components + (len(self.grid) > 1)) * len(self.shapes)


class DispersionEvaluator(Evaluator[DispersionStatistics]):
    """An evaluator of cells, with the sums from which the sizes of the columns are learned."""

    def __init__(self, cells: Evaluator[CellStatistics], grid: FloatArray) -> None:
        self.n_components = cells.n_components
        self.block_rows = cells.block_rows
        self._cells = cells
        self._grid = grid
        self._block: AnyArray = np.empty((0, 0))
        self._sums: FloatArray | None = None

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._cells.load(block)
        self._block = block

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        return self._cells.log_likelihood()

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        self._cells.accumulate(responsibilities)
        sums = summed_coefficients(np.nan_to_num(self._block), responsibilities.sum(axis=0), self._grid)
        self._sums = sums if self._sums is None else self._sums + sums

    def statistics(self) -> DispersionStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        cells = self._cells.statistics()
        sums = np.zeros((cells.cells.shape[1], len(self._grid))) if self._sums is None else self._sums
        self._sums = None
        return DispersionStatistics(cells.mass, cells.cells, cells.sums, sums[None])


@cache
def _table(size: float) -> FloatArray:
    return _log_coefficients(np.arange(float(_TABLE_SIZE)), size)


@cache
def _tables(sizes: tuple[float, ...]) -> FloatArray:
    return np.stack([_table(size) for size in sizes], axis=1)


def _log_coefficients(counts: FloatArray, size: float) -> FloatArray:
    return gammaln(size + counts) - gammaln(size) - log_factorials(counts)


def log_coefficients(counts: AnyArray, size: float) -> FloatArray:
    """Return ln Γ(φ + x) / (Γ(φ) x!) of counts; it is 0 for x = 0."""
    # Looked up, as logarithms of factorials are: they are asked for in every pass.
    if counts.max(initial=0) < _TABLE_SIZE:
        return _table(size)[counts.astype(np.intp)]
    return _log_coefficients(counts, size)


def summed_coefficients(counts: AnyArray, weights: FloatArray, grid: FloatArray) -> FloatArray:
    """Return Σ_n w ln Γ(φ + x) / (Γ(φ) x!) of columns of counts (n, d) for each size of a grid, (d, g)."""
    n_values = int(counts.max(initial=0)) + 1
    if n_values > _TABLE_SIZE:
        return np.stack([weights @ _log_coefficients(counts, size) for size in grid], axis=1)
    # A column holds few different counts: their weights first.
    d = counts.shape[1]
    places = counts.astype(np.intp) + n_values * np.arange(d)
    found = np.bincount(places.ravel(), weights=np.repeat(weights, d), minlength=d * n_values).astype(float)
    return found.reshape(d, n_values) @ _tables(tuple(grid.tolist()))[:n_values]


class NegativeBinomial(ColumnKind):
    """Columns of counts, which may vary more than Poisson counts within a component."""

    name, noun, plural, takes = "negative_binomial", "count", "counts", "counts 0, 1, 2, …"
    most_columns = MOST_COUNTS
    comparison = RATES
    summary = staticmethod(range_of_counts)

    def recognises(self, column: RawColumn) -> bool:
        """Say whether integers look like counts, and have more evidence so than as Poisson counts or as Gaussian."""
        margin = count_margin(column)
        if margin is None:
            return False
        return negative_binomial_evidence(margin) > max(poisson_evidence(margin), gaussian_evidence(margin))

    def misfits(self, cells: AnyArray) -> AnyArray:
        """Say of each cell whether it is neither a count nor missing."""
        return ~(np.isnan(cells) | is_count(cells))

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return the columns standardised after a square root."""
        return standardised_roots(cells, weights)

    def family(self, survey: Survey, categories: Categories, settings: object) -> BetaNegativeBinomial:
        """Return the family in which a rate has the mean of its column."""
        return BetaNegativeBinomial.scaled(survey.mean)


def negative_binomial_evidence(margin: Margin) -> float:
    """Return ln p(cells) of counts under one negative binomial, all sizes of the grid being as likely."""
    # The best size stands for all of them: the evidence of the others hardly adds to it.
    return log_evidence(BetaNegativeBinomial.scaled(margin.mean), margin) - math.log(len(SIZES))


def _expected_logs(parameters: NegativeBinomialParameters) -> tuple[FloatArray, FloatArray]:
    """Return E ln p and E ln(1 − p)."""
    of_total = digamma(parameters.successes + parameters.failures)
    return digamma(parameters.successes) - of_total, digamma(parameters.failures) - of_total
