"""Column kinds: what a column of a table can be, and everything that depends on it, in one object per kind.

A kind lives in the file of its family, and registers itself when that file is imported. Validation, encoding, starts,
priors, profiles, the report and the command line ask the kind; none of them keeps a list of kinds.
"""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray
from sidelight.tables.frame import RawColumn

if TYPE_CHECKING:
    from sidelight.tables.survey import Survey

Kind = TypeVar("Kind", bound="type[ColumnKind]")


class Columns(NamedTuple):
    """The columns of one kind in a table.

    Parameters
    ----------
    survey : Survey
        Of these columns.
    n_categories : tuple of int
        How many categories each column has, for a kind that encodes categories; empty for others.
    """

    survey: "Survey"
    n_categories: tuple[int, ...]


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
    whole_rows : bool
        Whether it describes whole rows, so that a table has it in all columns or in none.
    """

    name: ClassVar[str]
    noun: ClassVar[str]
    plural: ClassVar[str]
    takes: ClassVar[str | None] = None
    encodes: ClassVar[bool] = False
    whole_rows: ClassVar[bool] = False

    @abstractmethod
    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column is of this kind where the user has not said; the kind registered last is asked first."""

    def misfits(self, cells: AnyArray) -> BoolArray:
        """Say of each cell whether it does not fit; NaN, a missing cell, fits unless a kind says otherwise."""
        return np.zeros(cells.shape, dtype=bool)

    @abstractmethod
    def embed(self, cells: Any, weights: FloatArray, columns: Columns, random: np.random.RandomState) -> FloatArray:
        """Return columns (m, c) as points (m, c') between which distances mean something: where starts look.

        Every column has variance one, or none, and missing cells lie at its mean.
        """

    @abstractmethod
    def family(self, columns: Columns, settings: Any) -> Any:
        """Return the emission of the columns of this kind, with its prior.

        ``settings`` are those of the estimator (:class:`~sidelight.families.emission.EmissionSettings`).
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
