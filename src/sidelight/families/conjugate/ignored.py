"""Columns that take no part: a constant or empty one, or one that the user wants left out."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray
from sidelight.families.conjugate.family import ConjugateFamily
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import CountStatistics, LinearEvaluator
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import only_value_or_range
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind
from sidelight.tables.survey import Survey


@storable("IgnoredParameters")
class IgnoredParameters(NamedTuple):
    """Nothing but the number of components: the values of the columns (components, d)."""

    values: FloatArray


@storable("IgnoredColumns")
@dataclass(frozen=True, eq=False)
class IgnoredColumns(ConjugateFamily[IgnoredParameters, CountStatistics]):
    """Columns whose log densities are zero whatever they hold.

    ``values`` (d,) are what draws hold: the value of a constant column, NaN for any other.
    """

    values: FloatArray

    def evaluator(self, parameters: IgnoredParameters, backend: Backend) -> Evaluator[CountStatistics]:
        """Return an evaluator of zeros; the statistics are the sums of the responsibilities."""
        return LinearEvaluator(_fill, np.zeros((len(parameters.values), 1)), _collect)

    def predictive(self, parameters: IgnoredParameters, backend: Backend) -> Evaluator[CountStatistics]:
        """Return a scorer of zeros."""
        return self.evaluator(parameters, backend)

    def update(self, statistics: CountStatistics) -> IgnoredParameters:
        """Return as many components as there are."""
        return self._repeated(len(statistics.mass))

    def log_prior(self, parameters: IgnoredParameters) -> float:
        """Return zero: nothing is learnt."""
        return 0.0

    def log_evidence(self, statistics: CountStatistics) -> FloatArray:
        """Return zeros."""
        return np.zeros(len(statistics.mass))

    def divergence(self, parameters: IgnoredParameters) -> FloatArray:
        """Return zeros: components do not differ."""
        return np.zeros((len(parameters.values), len(parameters.values)))

    def sample(self, parameters: IgnoredParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Return the value of each column n times."""
        return np.tile(self.values, (n, 1))

    def attributes(self, parameters: IgnoredParameters) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def around(self, means: FloatArray) -> IgnoredParameters:
        """Return as many components as there are means."""
        return self._repeated(len(means))

    def n_parameters(self, n_components: int) -> int:
        """Return zero."""
        return 0

    def _repeated(self, n_components: int) -> IgnoredParameters:
        return IgnoredParameters(np.tile(self.values, (n_components, 1)))


class Ignored(ColumnKind):
    """Columns that take no part; constant and empty ones are left out by themselves."""

    name, noun, plural = "ignored", "left out", "left out"
    ignores = True
    summary = staticmethod(only_value_or_range)

    def recognises(self, column: RawColumn) -> bool:
        """Say no: whether a constant column is left out depends on the other columns of the table."""
        return False

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return no columns."""
        return np.empty((len(cells), 0))

    def family(self, survey: Survey, categories: Categories, settings: object) -> IgnoredColumns:
        """Return the family."""
        return IgnoredColumns(np.where(survey.variance == 0, survey.mean, np.nan))


def _fill(block: AnyArray, out: FloatArray) -> None:
    out[:] = 1.0


def _collect(sums: FloatArray) -> CountStatistics:
    return CountStatistics(sums[:, 0], np.zeros((len(sums), 0)))
