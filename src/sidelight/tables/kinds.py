"""Column kinds: what a column of a table can be, and everything that depends on it."""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray
from sidelight.tables.column_summary import ColumnFigures, range_of_numbers
from sidelight.tables.comparison import MEANS, Comparison
from sidelight.tables.frame import RawColumn
from sidelight.tables.quantiles import weighted_quantiles

if TYPE_CHECKING:
    from sidelight.tables.survey import Survey

Kind = TypeVar("Kind", bound="type[ColumnKind]")

# The categories of each column, in the order of their codes; None for columns that have none.
Categories = tuple[tuple[Any, ...] | None, ...]

# The quantiles between which the width of a column of numbers is measured.
_WITHIN_WIDTH = (0.005, 0.995)


class ColumnKind(ABC):
    """What a column of a table can be.

    Attributes
    ----------
    name : str
        What ``family=`` calls it.
    noun, plural : str
        What people call its cells.
    takes : str or None
        Which cells fit, in words; None where every number does.
    encodes : bool
        Whether cells are categories of any type, which become codes 0, 1, 2, …
    dates : bool
        Whether cells are dates, which become days since 1970-01-01; dates are of no other kind.
    joins : str, optional
        The name of the kind whose family describes these columns together with its own; None for a family of their own.
    ordered : bool
        Whether the categories have an order.
    compositional : bool
        Whether it describes whole rows, so that a table has it in all columns or in none, and a cell counts as its
        share of the sum of its row.
    in_arrays : bool
        Whether it is looked for in arrays of numbers too, which do not say what their columns mean.
    ignores : bool
        Whether columns of this kind take no part, so that they may hold anything.
    most_columns : int, optional
        In how many columns of a table it is recognised at most, those of other kinds with the same limit counted too.
        Such columns are independent of each other given the component. That is seldom so of many, and what they share
        would be taken for clusters; Gaussian columns can be dependent.
    comparison : Comparison
        How clusters are compared on such a column, or on each of its categories.
    summary : staticmethod
        How a report summarises such a column.
    """

    name: ClassVar[str]
    noun: ClassVar[str]
    plural: ClassVar[str]
    takes: ClassVar[str | None] = None
    encodes: ClassVar[bool] = False
    ordered: ClassVar[bool] = False
    dates: ClassVar[bool] = False
    joins: ClassVar[str | None] = None
    compositional: ClassVar[bool] = False
    in_arrays: ClassVar[bool] = False
    ignores: ClassVar[bool] = False
    most_columns: ClassVar[int | None] = None
    comparison: ClassVar[Comparison] = MEANS
    summary: ClassVar["staticmethod[[ColumnFigures], str]"] = staticmethod(range_of_numbers)

    @abstractmethod
    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column is of this kind where the user has not said; the kind registered last is asked first."""

    def usual_value(self, column: RawColumn) -> float | None:
        """Return the usual value of a column of this kind; None for kinds without one."""
        return None

    def misfits(self, cells: AnyArray) -> BoolArray:
        """Say of each cell whether it does not fit; NaN, a missing cell, fits unless a kind says otherwise."""
        return np.zeros(cells.shape, dtype=bool)

    @abstractmethod
    def embed(self, cells: Any, weights: FloatArray, survey: "Survey", random: np.random.RandomState) -> FloatArray:
        """Return encoded columns (m, c) as points (m, c') between which distances mean something: where starts look.

        Every column has variance one, or none, and missing cells lie at its mean.
        """

    @abstractmethod
    def family(self, survey: "Survey", categories: Categories, settings: Any) -> Any:
        """Return the emission of all columns of this kind, with a prior in the units of the table.

        Parameters
        ----------
        survey : Survey
            Of these columns.
        categories : tuple
            The categories of each column, None for columns that have none.
        settings : EmissionSettings
            What the estimator decides about emissions (:mod:`sidelight.estimators.base.emission`).
        """

    def log_widths(self, cells: Any, weights: FloatArray, survey: "Survey", categories: Categories) -> FloatArray:
        """Return the logarithm of the width of each column: rows that belong nowhere have the density one over it.

        The width of numbers is the range of all but the outer cells, half a percent at either end, so that a single
        cell does not decide it. A kind of whole numbers or categories returns the logarithm of how many there are.

        Parameters
        ----------
        cells : (m, c)
            Encoded columns.
        weights : (m,)
        survey, categories
            As in :meth:`family`.
        """
        low, high = weighted_quantiles(cells, weights, _WITHIN_WIDTH)
        with np.errstate(invalid="ignore"):
            ranged = high > low
        # A uniform distribution as wide as this has the column's standard deviation.
        return np.log(np.where(ranged, high - low, np.sqrt(12.0) * survey.scale))


_KINDS: dict[str, ColumnKind] = {}


def register_kind(cls: Kind) -> Kind:
    """Add a kind; used as a decorator."""
    _KINDS[cls.name] = cls()
    return cls


def all_kinds() -> dict[str, ColumnKind]:
    """Return the kinds by their names, in the order they were registered."""
    # The kinds of sidelight are one room above, next to their families; whoever asks here first has them registered.
    import_module("sidelight.families")
    return dict(_KINDS)


def kind_named(name: str) -> ColumnKind:
    """Return the kind of a name."""
    return all_kinds()[name]


def observed_integers(column: RawColumn) -> FloatArray:
    """Return the observed cells of a column of integers; none of a column that holds anything else."""
    if column.holds != "integers":
        return np.empty(0)
    return column.values[~np.isnan(column.values)]


def is_count(cells: AnyArray) -> AnyArray:
    """Say of each cell whether it is a count: 0, 1, 2 and so on."""
    return (cells >= 0) & (cells == np.floor(cells)) & (cells < np.inf)
