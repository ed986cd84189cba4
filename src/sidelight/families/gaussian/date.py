"""Columns of dates: numbers of days, Gaussian together with the other numbers of a table."""

from typing import Any

from numpy.random import RandomState

from sidelight._typing import FloatArray
from sidelight.families.gaussian.full import Gaussian, standardised
from sidelight.tables.column_summary import range_of_dates
from sidelight.tables.comparison import DATES
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind
from sidelight.tables.survey import Survey


class Date(ColumnKind):
    """Columns of dates, with or without the time of day, as days since 1970-01-01.

    Gaussians do not depend on the day from which others are counted, so that no origin has to be remembered.
    """

    name, noun, plural = "date", "date", "dates"
    dates = True
    joins = Gaussian.name
    comparison = DATES
    summary = staticmethod(range_of_dates)

    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column holds dates."""
        return column.holds == "dates"

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return the columns standardised."""
        return standardised(cells, survey)

    def family(self, survey: Survey, categories: Categories, settings: Any) -> Any:
        """Return one family of all Gaussian columns, as the estimator has it."""
        return settings.gaussian(survey)
