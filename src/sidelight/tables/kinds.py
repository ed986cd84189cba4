"""Column kinds: what a column of a table can be, and everything that depends on it, in one object per kind.

A kind lives in the file of its family, and registers itself when that file is imported. Validation, encoding, starts,
priors, profiles, the report and the command line ask the kind; none of them keeps a list of kinds.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray
from sidelight.tables.column_summary import ColumnFigures, range_of_numbers
from sidelight.tables.comparison import MEANS, Comparison
from sidelight.tables.frame import RawColumn

if TYPE_CHECKING:
    from sidelight.tables.survey import Survey

Kind = TypeVar("Kind", bound="type[ColumnKind]")

Categories = tuple[tuple[Any, ...] | None, ...]


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
    compositional : bool
        Whether it describes whole rows, so that a table has it in all columns or in none, and a cell counts as its
        share of the sum of its row.
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
    compositional: ClassVar[bool] = False
    comparison: ClassVar[Comparison] = MEANS
    summary: ClassVar["staticmethod[[ColumnFigures], str]"] = staticmethod(range_of_numbers)

    @abstractmethod
    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column is of this kind where the user has not said; the kind registered last is asked first."""

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
