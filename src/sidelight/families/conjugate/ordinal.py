"""Columns of ordered categories: a continuation-ratio model with a Beta posterior for every step.

A cell starts at the lowest category and at each one either stops or goes on to the next (Agresti 2010, section 4.2;
Tutz 1991, who calls it the sequential model). With h_v = P(x = v | x ≥ v),

    ln p(x) = Σ_{v < x} ln(1 − h_v) + ln h_x,

and the last category has h = 1. Every h_v ~ Beta is conjugate: rows that stop at v count for the stop, rows that reach
a higher category count against it. The prior is smooth along the order: h_v of a normal distribution with the mean and
variance of the column's codes, cut into categories.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from scipy.special import betaln, digamma, ndtr

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.families.conjugate.family import (
    ConjugateFamily,
    dirichlet_divergence,
    dirichlet_evidence,
    symmetric_divergence,
)
from sidelight.families.conjugate.gamma_poisson import count_margin, poisson_evidence
from sidelight.families.conjugate.margins import Margin, gaussian_evidence, log_evidence, margin_of
from sidelight.families.conjugate.negative_binomial import negative_binomial_evidence
from sidelight.families.evaluators.codes import code_evaluator
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import CountStatistics
from sidelight.families.gaussian.full import standardised
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import shares_in_order
from sidelight.tables.comparison import SHARES
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind, observed_integers
from sidelight.tables.survey import Survey

# Whole numbers with more different values are not taken for categories.
_MOST_VALUES = 10
_ROWS_LOOKED_AT = 10_000
# No step of the prior is nearly certain.
_LEAST_SHARE = 0.1


@storable("OrdinalParameters")
class OrdinalParameters(NamedTuple):
    """Posteriors Beta(α, β) of stopping at a category that was reached: ``stops`` are α, ``passes`` β.

    Both are (components, Σ (categories − 1)), column after column: at the last category every cell stops.
    """

    stops: FloatArray
    passes: FloatArray


@storable("BetaContinuationRatio")
@dataclass(frozen=True, eq=False)
class BetaContinuationRatio(ConjugateFamily[OrdinalParameters, CountStatistics]):
    """Independent columns of ordered codes 0 … V_j − 1; a missing code (NaN) is left out.

    ``categories`` are V_j, the number of categories of each column; ``stops`` and ``passes`` (Σ (V_j − 1),) are α0 and
    β0 of every step, column after column.
    """

    categories: tuple[int, ...]
    stops: FloatArray
    passes: FloatArray

    @classmethod
    def smooth(cls, categories: tuple[int, ...], mean: FloatArray, variance: FloatArray, *, rows: float = 1.0) -> Self:
        """Return the prior around normal distributions with these moments of the codes (d,).

        Each step counts for ``rows`` rows.
        """
        shares = [_stopping(*column) for column in zip(categories, mean, variance, strict=True)]
        hazards = np.clip(np.concatenate([np.empty(0), *shares]), _LEAST_SHARE, 1.0 - _LEAST_SHARE)
        return cls(tuple(categories), rows * hazards, rows * (1.0 - hazards))

    @cached_property
    def _columns(self) -> list[tuple[slice, slice]]:
        """Where the categories and the steps of each column are."""
        ends = np.cumsum(self.categories).tolist()
        return [
            (slice(end - size, end), slice(end - size - number, end - number - 1))
            for number, (end, size) in enumerate(zip(ends, self.categories, strict=True))
        ]

    def evaluator(self, parameters: OrdinalParameters, backend: Backend) -> Evaluator[CountStatistics]:
        """Return an evaluator of Σ_j [Σ_{v<x} E ln(1 − h_jv) + E ln h_jx] and of the statistics."""
        return code_evaluator(self._along(parameters, digamma), self.categories)

    def predictive(self, parameters: OrdinalParameters, backend: Backend) -> Evaluator[CountStatistics]:
        """Return a scorer of new rows by Π_j Π_{v<x} (1 − E h_jv) E h_jx."""
        return code_evaluator(self._along(parameters, np.log), self.categories)

    def _along(self, parameters: OrdinalParameters, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return Σ_{v<x} [f(β_v) − f(α_v + β_v)] + f(α_x) − f(α_x + β_x) of all categories, column after column."""
        stops, passes = parameters
        of_total = function(stops + passes)
        of_stops, of_passes = function(stops) - of_total, function(passes) - of_total
        logs = np.zeros((len(stops), sum(self.categories)))
        for codes, steps in self._columns:
            column = logs[:, codes]
            np.cumsum(of_passes[:, steps], axis=1, out=column[:, 1:])
            column[:, :-1] += of_stops[:, steps]
        return logs

    def update(self, statistics: CountStatistics) -> OrdinalParameters:
        """Return the posteriors: α_v = α0 + Σ r [x = v] and β_v = β0 + Σ r [x > v]."""
        shape = (len(statistics.counts), len(self.stops))
        stopped, passed = np.empty(shape), np.empty(shape)
        for codes, steps in self._columns:
            counts = statistics.counts[:, codes]
            stopped[:, steps] = counts[:, :-1]
            passed[:, steps] = np.cumsum(counts[:, :0:-1], axis=1)[:, ::-1]
        return OrdinalParameters(self.stops + stopped, self.passes + passed)

    def log_prior(self, parameters: OrdinalParameters) -> float:
        """Return −Σ_k KL(q(h_k) ‖ p(h_k))."""
        prior = np.stack([self.stops, self.passes], axis=-1)
        return -float(dirichlet_divergence(np.stack(parameters, axis=-1), prior).sum())

    def log_evidence(self, statistics: CountStatistics) -> FloatArray:
        """Return Σ_jv ln B(α, β) − ln B(α0, β0)."""
        prior = np.stack([self.stops, self.passes], axis=-1)
        return dirichlet_evidence(np.stack(self.update(statistics), axis=-1), prior).sum(axis=1)

    def divergence(self, parameters: OrdinalParameters) -> FloatArray:
        """Return Σ_jv [(α_k − α_l) (E_k − E_l) ln h + (β_k − β_l) (E_k − E_l) ln(1 − h)] of all pairs."""
        of_total = digamma(parameters.stops + parameters.passes)
        natural = np.concatenate(parameters, axis=1)
        expected = np.concatenate([digamma(part) - of_total for part in parameters], axis=1)
        return symmetric_divergence(natural, expected)

    def sample(self, parameters: OrdinalParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows of codes from the posterior predictive distribution of one component."""
        rows = np.empty((n, len(self.categories)))
        for column, probabilities in enumerate(self.attributes(parameters)["probabilities_"]):
            rows[:, column] = random.choice(probabilities.shape[1], n, p=probabilities[component])
        return rows

    def attributes(self, parameters: OrdinalParameters) -> dict[str, Any]:
        """Return the expected probabilities: a list of arrays (components, categories), one per column."""
        probabilities = np.exp(self._along(parameters, np.log))
        return {"probabilities_": [probabilities[:, codes] for codes, _ in self._columns]}

    def around(self, means: FloatArray) -> OrdinalParameters:
        """Return the prior once for each mean: a step has no place of its own."""
        return OrdinalParameters(*(np.repeat(prior[None], len(means), axis=0) for prior in (self.stops, self.passes)))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return n_components * len(self.stops)


class Ordinal(ColumnKind):
    """Columns of ordered categories, encoded by their place in the order."""

    name, noun, plural = "ordinal", "ordered category", "ordered categories"
    encodes = True
    ordered = True
    comparison = SHARES
    summary = staticmethod(shares_in_order)

    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column has a declared order, or holds few whole numbers with more evidence as ordinal.

        Whole numbers are ordinal if they have 2 to 10 different values, with two rows or more for each on average, and
        more evidence as ordered categories than as Gaussian numbers and, where they look like counts, as counts. Which
        of the numbers between the smallest and the largest are used is part of that evidence. Columns with more values
        stay Gaussian: with enough rows their margin always differs from a Gaussian, but it does not tell how they go
        with other columns.
        """
        if column.levels is not None:
            return True
        seen = observed_integers(column)
        # Most columns of many values are done with after a few rows.
        if len(np.unique(seen[:_ROWS_LOOKED_AT])) > _MOST_VALUES:
            return False
        margin = margin_of(seen)
        if not 1 < len(margin.values) <= min(_MOST_VALUES, len(seen) // 2):
            return False
        others = [gaussian_evidence(margin)]
        if count_margin(column) is not None:
            others += [poisson_evidence(margin), negative_binomial_evidence(margin)]
        return ordinal_evidence(margin) > max(others)

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return the codes standardised."""
        return standardised(cells, survey)

    def family(self, survey: Survey, categories: Categories, settings: object) -> BetaContinuationRatio:
        """Return the family whose prior is smooth along the order, each step worth one row."""
        sizes = tuple(len(values) for values in categories if values is not None)
        return BetaContinuationRatio.smooth(sizes, survey.mean, survey.variance)


def ordinal_evidence(margin: Margin) -> float:
    """Return ln p(cells) of whole numbers as ordered categories.

    The prior of the categories is uniform: V of the R numbers between the smallest and the largest, V from 1 to R, are
    used, any V as likely as any others.
    """
    n_values, codes = len(margin.values), margin.codes
    family = BetaContinuationRatio.smooth((n_values,), codes.mean, codes.variance)
    n_numbers = margin.values[-1] - margin.values[0] + 1.0
    log_choices = -np.log1p(n_numbers) - betaln(n_values + 1.0, n_numbers - n_values + 1.0)
    return log_evidence(family, codes) - float(log_choices) - math.log(n_numbers)


def _stopping(n_categories: int, mean: float, variance: float) -> FloatArray:
    """Return P(x = v | x ≥ v) of a normal distribution cut halfway between the codes, but for the last one."""
    # A column that never changes still has the width of a category.
    deviation = np.sqrt(variance + 1.0 / 12.0)
    above = ndtr((mean - np.arange(n_categories - 1) - 0.5) / deviation)
    reached = np.concatenate([[1.0], above[:-1]])[: n_categories - 1]
    return 1.0 - above / np.maximum(reached, np.finfo(float).tiny)
