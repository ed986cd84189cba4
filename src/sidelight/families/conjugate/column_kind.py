"""Kinds of columns: what a column of a table can be, and the family of the columns of a kind."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.random import RandomState

from sidelight._typing import AnyArray, FloatArray
from sidelight.families.conjugate.family import ConjugateFamily

Categories = tuple[tuple[Any, ...] | None, ...]


class RawColumn(Protocol):
    """A column before it is encoded."""

    @property
    def values(self) -> AnyArray:
        """Floats, NaN where missing, or objects, None where missing."""

    @property
    def holds(self) -> str:
        """One of "numbers", "integers", "booleans", "text", "objects"."""


class Survey(Protocol):
    """A first look at some columns of a table."""

    @property
    def mean(self) -> FloatArray:
        """Weighted means (columns,)."""

    @property
    def variance(self) -> FloatArray:
        """Weighted variances (columns,)."""

    @property
    def total(self) -> float:
        """The total weight of the rows."""


class ColumnKind(ABC):
    """What a column of a table can be.

    Parameters
    ----------
    name : str
        Its name in ``family=``.
    noun, plural : str
        The words for its cells.
    takes : str
        The cells that fit, in words.
    """

    name: ClassVar[str]
    noun: ClassVar[str]
    plural: ClassVar[str]
    takes: ClassVar[str]

    @abstractmethod
    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column of a frame looks like one of this kind."""

    @abstractmethod
    def misfits(self, cells: AnyArray) -> AnyArray:
        """Say of each cell whether it does not fit; a missing one does unless the kind cannot do without."""

    @abstractmethod
    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return encoded cells (m, columns) as points (m, directions) between which distances mean something."""

    @abstractmethod
    def family(self, survey: Survey, categories: Categories, settings: Any) -> ConjugateFamily[Any, Any]:
        """Return the family of all columns of this kind, with a prior in the units of the table.

        Parameters
        ----------
        survey : Survey
            Of these columns.
        categories : tuple
            The categories of each column, None for columns that have none.
        settings : object
            The user's choices for the prior: :class:`sidelight.families.conjugate.GaussianPrior`.
        """


def observed_integers(column: RawColumn) -> FloatArray:
    """Return the observed cells of a column of integers; none of a column that holds anything else."""
    if column.holds != "integers":
        return np.empty(0)
    return column.values[~np.isnan(column.values)]


def is_count(cells: AnyArray) -> AnyArray:
    """Say of each cell whether it is a count: 0, 1, 2 and so on."""
    return (cells >= 0) & (cells == np.floor(cells)) & (cells < np.inf)
