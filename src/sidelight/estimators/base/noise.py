"""Estimators with a component for rows that belong nowhere."""

from numbers import Real
from typing import Any, cast

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.estimators.starts.sample import StartRows
from sidelight.families.noise import Clusters, NoiseFamily
from sidelight.inference.protocols import AnyFamily
from sidelight.tables.kinds import kind_named
from sidelight.tables.schema import Schema
from sidelight.tables.survey import Survey
from sidelight.weights import Beta, ClusterWeights, GivenShare, LearnedShare, NoiseWeights

# The prior of a share that is learned: a few percent, and no more certain of it than twenty rows would make it.
_EXPECTED_SHARE = Beta(1.0, 19.0)


class NoiseComponent:
    """Gives an estimator ``noise``: None or False, True for a share that is learned, or the share itself."""

    noise: bool | float | None
    _schema: Schema

    def _check_noise(self) -> None:
        wanted = self.noise
        if wanted is None or isinstance(wanted, bool | np.bool_):
            return
        if not isinstance(wanted, Real) or not 0 < float(wanted) < 1:
            raise ValueError(f"noise={wanted!r} must be None, True, or a share of the rows between 0 and 1.")

    def _outlier_columns(self) -> IntArray:
        """Return the columns whose outliers must not shape priors and starts."""
        columns = self._schema.of_kind("student_t")
        return np.union1d(columns, self._schema.of_kind("gaussian")) if self.noise else columns

    def _noisy_family(self, family: AnyFamily, survey: Survey, few: StartRows) -> AnyFamily:
        """Return the family with noise where it is asked for."""
        if not self.noise:
            return family
        return NoiseFamily(cast("Clusters", family), column_log_widths(self._schema, survey, few))

    def _noisy_weights(self, weights: ClusterWeights, family: AnyFamily) -> ClusterWeights | NoiseWeights:
        """Return the weights with a share of noise where the family has noise."""
        if not isinstance(family, NoiseFamily):
            return weights
        if self.noise is None or isinstance(self.noise, bool | np.bool_):
            return NoiseWeights(weights, LearnedShare(_EXPECTED_SHARE))
        return NoiseWeights(weights, GivenShare(float(self.noise)))


def column_log_widths(schema: Schema, survey: Survey, few: StartRows) -> FloatArray:
    """Return the logarithms of the widths of all columns (d,), each as its kind measures it."""
    widths, weights = np.empty(len(schema.kinds)), few.problem.row_weights()
    for name in dict.fromkeys(schema.kinds):
        numbers = schema.of_kind(name)
        categories = tuple(schema.categories[number] for number in numbers)
        cells: Any = few.values[:, numbers]
        widths[numbers] = kind_named(name).log_widths(cells, weights, survey.only(numbers), categories)
    return widths
