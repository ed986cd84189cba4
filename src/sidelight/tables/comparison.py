"""How clusters are compared on a column: by means of numbers or dates, by shares of rows, or by rates."""

from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from sidelight._typing import BoolArray, FloatArray
from sidelight._wording import calendar_date, measured, percent, signed

# Half a row at the overall rate keeps the ratio of two rates finite.
_PRIOR_ROWS = 0.5
_LARGEST_RATIO = 1000.0


class Contrast(NamedTuple):
    """Weighted sums over the rows of each cluster and over the rest, for each feature.

    Cells are measured from a centre, which is zero for comparisons that are not ``centred``.

    Parameters
    ----------
    weights, values : (k, f)
        Total weight of the rows of a cluster whose cell is observed, and the weighted sum of these cells.
    rest_weights, rest_values : (k, f)
        The same for the rows of all other clusters.
    overall, deviation : (f,)
        Mean and standard deviation over all rows.
    """

    weights: FloatArray
    values: FloatArray
    rest_weights: FloatArray
    rest_values: FloatArray
    overall: FloatArray
    deviation: FloatArray

    @property
    def inside(self) -> FloatArray:
        """Mean of each cluster, (k, f); the overall mean where a cluster has no observed cell."""
        return ratio(self.values, self.weights, self.overall)

    @property
    def outside(self) -> FloatArray:
        """Mean of the rest, (k, f)."""
        return ratio(self.rest_values, self.rest_weights, self.overall)

    @property
    def standardised(self) -> FloatArray:
        """Difference of the two means in standard deviations, (k, f); zero for a constant feature."""
        difference = self.inside - self.outside
        return ratio(difference, np.broadcast_to(self.deviation, difference.shape), np.zeros_like(self.deviation))

    def only(self, features: BoolArray) -> "Contrast":
        """Return the sums of some features."""
        return Contrast(*(part[..., features] for part in self))


class Comparison(Protocol):
    """How the rows of a cluster differ from the rest on one feature, as a number and in words.

    Attributes
    ----------
    centred : bool
        Whether cells are measured from a centre, because they may lie far from zero.
    unit : str
        What follows a difference in a sentence.
    """

    centred: ClassVar[bool] = False
    unit: ClassVar[str] = ""

    def difference(self, contrast: Contrast) -> FloatArray:
        """Return the difference between each cluster and the rest, (k, f)."""
        ...

    def write_difference(self, difference: float) -> str:
        """Return a difference as short as a cell of a picture needs it."""
        ...

    def write_value(self, value: float, scale: float) -> str:
        """Return the value of one cluster; ``scale`` is the largest value in any cluster."""
        return measured(value, scale)

    def write_sentence(self, inside: float, outside: float, difference: float) -> str:
        """Return what follows the name of the feature: the direction, the difference and both values."""
        direction = "higher" if inside > outside else "lower"
        scale = max(abs(inside), abs(outside))
        values = f"{self.write_value(inside, scale)} against {self.write_value(outside, scale)}"
        return f"{direction} ({self.write_difference(difference)}{self.unit}: {values})"


class _Means(Comparison):
    """Means of numbers; the difference is in standard deviations."""

    centred = True
    unit = " sd"

    def difference(self, contrast: Contrast) -> FloatArray:
        return contrast.standardised

    def write_difference(self, difference: float) -> str:
        return signed(difference, 1)


class _Dates(Comparison):
    """Means of dates; the difference is in days."""

    centred = True

    def difference(self, contrast: Contrast) -> FloatArray:
        return contrast.inside - contrast.outside

    def write_difference(self, difference: float) -> str:
        return f"{signed(difference, _decimals(difference))} d"

    def write_value(self, value: float, scale: float) -> str:
        return calendar_date(value)

    def write_sentence(self, inside: float, outside: float, difference: float) -> str:
        direction = "later" if inside > outside else "earlier"
        days = f"{abs(difference):.{_decimals(difference)}f}"
        return f"{direction} by {days} days ({calendar_date(inside)} against {calendar_date(outside)})"


def _decimals(days: float) -> int:
    return 0 if abs(days) >= 10 else 1


class _Shares(Comparison):
    """Shares of rows; the difference is in percentage points."""

    def difference(self, contrast: Contrast) -> FloatArray:
        return contrast.inside - contrast.outside

    def write_difference(self, difference: float) -> str:
        return f"{signed(100 * difference, 0)} pp"

    def write_value(self, value: float, scale: float) -> str:
        return percent(value)

    def write_sentence(self, inside: float, outside: float, difference: float) -> str:
        often = "more often" if inside > outside else "less often"
        return f"{often} ({100 * inside:.0f} % against {100 * outside:.0f} %)"


class _Rates(Comparison):
    """Rates of counts; the difference is the logarithm of their ratio to base 2."""

    def difference(self, contrast: Contrast) -> FloatArray:
        prior = _PRIOR_ROWS * contrast.overall
        inside = (contrast.values + prior) / (contrast.weights + _PRIOR_ROWS)
        outside = (contrast.rest_values + prior) / (contrast.rest_weights + _PRIOR_ROWS)
        ratios = ratio(inside, outside, np.ones(inside.shape[1]))
        return np.log2(np.where(ratios > 0, ratios, 1.0))

    def write_difference(self, difference: float) -> str:
        factor = 2.0 ** abs(difference)
        written = f"{factor:.2g}" if factor < 100 else f"{min(factor, _LARGEST_RATIO):.0f}"
        return f"{'×' if difference >= 0 else '÷'}{written}"


MEANS, DATES, SHARES, RATES = _Means(), _Dates(), _Shares(), _Rates()


def ratio(above: FloatArray, below: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return a ratio, and ``otherwise`` where the divisor is zero."""
    return np.divide(above, below, out=np.broadcast_to(otherwise, above.shape).copy(), where=below > 1e-9)
