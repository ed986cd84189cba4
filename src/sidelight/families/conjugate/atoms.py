"""Columns of numbers in which one value is frequent: whether a cell holds it, and what it holds otherwise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import RandomState

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.conjugate.beta_bernoulli import BetaBernoulli
from sidelight.families.conjugate.normal_gamma import NormalGamma
from sidelight.families.conjugate.product import ProductEvaluator, ProductFamily, ProductPredictive
from sidelight.families.evaluators.evaluator import Evaluator, Scorer
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import usual_value_and_range
from sidelight.tables.comparison import MEANS
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind
from sidelight.tables.survey import Survey
from sidelight.tables.usual_values import has_usual_value, is_usual, most_frequent

# The prior of the other cells: a variance that counts for one row, and a mean that counts for a hundredth.
_ROWS = 1.0
_MEAN_PRECISION = 0.01


@storable("AtomGaussian")
@dataclass(frozen=True, eq=False)
class AtomGaussian(ProductFamily):
    """Independent columns of numbers, each with a usual value (an atom); a missing cell (NaN) is left out.

    Whether a cell holds the usual value is Bernoulli with a Beta posterior; a cell that does not is Gaussian with a
    Normal-Gamma posterior. The bound is that of a product: a column of 0 and 1, and a Gaussian column whose cells are
    missing where the usual value stands. Log densities mix probabilities of the usual value with densities of the
    others; between components, and between fits of the same column, they can be compared.

    ``parts`` are a :class:`BetaBernoulli` of all d columns and, where there are any, a :class:`NormalGamma` of those
    whose other cells differ. Where all other cells are equal, a Gaussian would become ever narrower there, and rows
    would flock together for that alone; such a column is Bernoulli only. ``usual`` (d,) are the usual values and
    ``others`` (d,) the means of the other cells.
    """

    usual: FloatArray
    others: FloatArray

    @classmethod
    def scaled(cls, usual: FloatArray, mean: FloatArray, variance: FloatArray) -> Self:
        """Return the family with priors in the units of a table: Jeffreys' for the usual value, weak for the others.

        Parameters
        ----------
        usual : (d,)
        mean, variance : (d,)
            Of the cells that do not hold the usual value; NaN where there are none.
        """
        d = len(usual)
        varying = np.flatnonzero(variance > 0)
        parts: list[tuple[Any, IntArray]] = [(BetaBernoulli.symmetric(d, concentration=0.5), np.arange(d))]
        if len(varying):
            # A Gamma is a Wishart of a single column: with these degrees the expected variance is b0 / (½ rows).
            degrees = _ROWS + 2
            gaussian = NormalGamma.scaled(
                mean[varying],
                variance[varying],
                degrees=degrees,
                fraction=_ROWS / degrees,
                mean_precision=_MEAN_PRECISION,
            )
            parts.append((gaussian, d + varying))
        return cls(tuple(parts), usual, np.where(np.isnan(mean), usual, mean))

    def evaluator(self, parameters: tuple[Any, ...], backend: Backend) -> ProductEvaluator:
        """Return an evaluator of the expected log densities of both parts and of their statistics."""
        evaluators = [family.evaluator(part, backend) for family, _, part in self._with(parameters)]
        return _AtomEvaluator(evaluators, self._columns(), self.usual)

    def predictive(self, parameters: tuple[Any, ...], backend: Backend) -> ProductPredictive:
        """Return a scorer of new rows: the probability of the usual value, or that of another one times its density."""
        scorers = [family.predictive(part, backend) for family, _, part in self._with(parameters)]
        return _AtomPredictive(scorers, self._columns(), self.usual)

    def sample(self, parameters: tuple[Any, ...], component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from the posterior predictive distribution of one component."""
        drawn = super().sample(parameters, component, n, random)
        d = len(self.usual)
        rows = np.tile(self.others, (n, 1))
        if len(self.parts) > 1:
            varying = self.parts[1][1]
            rows[:, varying - d] = drawn[:, varying]
        return np.where(drawn[:, :d] == 1, self.usual, rows)

    def attributes(self, parameters: tuple[Any, ...]) -> dict[str, FloatArray]:
        """Return the usual values (d,), their probabilities, and means and variances of the other cells.

        The latter are (components, d), the variances zero in columns whose other cells are all equal.
        """
        shares, *gaussian = (family.attributes(part) for family, _, part in self._with(parameters))
        probabilities = shares["probabilities_"]
        means, variances = np.tile(self.others, (len(probabilities), 1)), np.zeros(probabilities.shape)
        for found in gaussian:
            varying = self.parts[1][1] - len(self.usual)
            means[:, varying], variances[:, varying] = found["means_"], found["covariances_"]
        return {
            "usual_values_": self.usual,
            "usual_probabilities_": probabilities,
            "other_means_": means,
            "other_variances_": variances,
        }

    def around(self, means: FloatArray) -> tuple[Any, ...]:
        """Return the prior once for each mean; the mean of a column says little of where its other cells lie."""
        return super().around(np.full((len(means), 2 * len(self.usual)), np.nan))


class Atom(ColumnKind):
    """Columns of numbers with a usual value, such as zeros or a detection limit."""

    name, noun, plural = "atom", "number with a usual value", "numbers with a usual value"
    comparison = MEANS
    summary = staticmethod(usual_value_and_range)
    most_columns = 100
    in_arrays = True

    def recognises(self, column: RawColumn) -> bool:
        """Say whether one value is more frequent than a smooth density through its neighbours would make it.

        See :mod:`sidelight.tables.usual_values` for the rule.
        """
        return column.holds in ("numbers", "integers") and has_usual_value(_observed(column))

    def usual_value(self, column: RawColumn) -> float:
        """Return the most frequent value."""
        return most_frequent(_observed(column))

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return two columns for each: whether the value is the usual one, and where it lies otherwise."""
        indicators, others = np.split(separated(cells, _usual_of(survey)), 2, axis=1)
        observed = np.maximum(weights @ ~np.isnan(indicators), np.finfo(float).tiny)
        shares = weights @ np.nan_to_num(indicators) / observed
        deviations = np.sqrt(shares * (1 - shares))
        points = np.nan_to_num((indicators - shares) / np.where(deviations > 0, deviations, 1.0))
        return np.concatenate([points, np.nan_to_num((others - survey.mean) / survey.scale)], axis=1)

    def family(self, survey: Survey, categories: Categories, settings: object) -> AtomGaussian:
        """Return the family with priors scaled on the cells that do not hold the usual value."""
        return AtomGaussian.scaled(_usual_of(survey), survey.mean, survey.variance)


def separated(block: AnyArray, usual: FloatArray) -> FloatArray:
    """Return rows (m, d) as (m, 2d): 1 where a cell holds the usual value (d,), else 0; and the other cells.

    NaN are missing cells, on the right also those that hold the usual value.
    """
    d = len(usual)
    # Columns lie together, since features of a block are written column by column.
    columns = np.empty((2 * d, len(block)))
    holds = is_usual(block, usual).T
    columns[:d] = np.where(np.isnan(block.T), np.nan, holds)
    columns[d:] = np.where(holds, np.nan, block.T)
    return columns.T


class _AtomPredictive(ProductPredictive):
    """Log densities of rows that are separated into indicators and other cells."""

    def __init__(self, scorers: Sequence[Scorer], columns: list[slice | IntArray], usual: FloatArray) -> None:
        super().__init__(scorers, columns)
        self._usual = usual

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        super().load(separated(block, self._usual))


class _AtomEvaluator(ProductEvaluator):
    """The same with statistics."""

    def __init__(
        self, evaluators: Sequence[Evaluator[Any]], columns: list[slice | IntArray], usual: FloatArray
    ) -> None:
        super().__init__(evaluators, columns)
        self._usual = usual

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        super().load(separated(block, self._usual))


def _observed(column: RawColumn) -> FloatArray:
    return column.values[~np.isnan(column.values)]


def _usual_of(survey: Survey) -> FloatArray:
    assert survey.usual is not None  # the survey of columns of this kind has them
    return survey.usual
