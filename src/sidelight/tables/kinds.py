"""The kinds that a column of a table can be of."""

from typing import Any, Protocol

import numpy as np

from sidelight._typing import AnyArray, FloatArray
from sidelight.families.conjugate import Bernoulli, Categorical, ConjugateFamily, Gaussian, Multinomial, Poisson
from sidelight.families.conjugate.column_kind import Categories, RawColumn, Survey


class ColumnKind(Protocol):
    """What a column of a table can be.

    Parameters
    ----------
    name : str
        What ``family=`` calls it.
    noun, plural : str
        What people call its cells.
    takes : str
        The cells that fit, in words.
    """

    name: str
    noun: str
    plural: str
    takes: str

    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column of a frame looks like one of this kind."""

    def misfits(self, cells: AnyArray) -> AnyArray:
        """Say of each cell whether it does not fit."""

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: np.random.RandomState) -> FloatArray:
        """Return encoded cells (m, columns) as points (m, directions) between which distances mean something."""

    def family(self, survey: Survey, categories: Categories, settings: Any) -> ConjugateFamily[Any, Any]:
        """Return the family of the columns of this kind, with a prior in the units of the table."""


_KINDS: dict[str, ColumnKind] = {
    kind.name: kind for kind in (Gaussian(), Poisson(), Bernoulli(), Categorical(), Multinomial())
}


def kind_named(name: str) -> ColumnKind:
    """Return the kind of a name."""
    return _KINDS[name]


def all_kinds() -> dict[str, ColumnKind]:
    """Return the kinds by their names."""
    return dict(_KINDS)
