"""The kinds that a column of a table can be of."""

from dataclasses import dataclass

import numpy as np

from sidelight._typing import AnyArray, BoolArray


@dataclass(frozen=True)
class ColumnKind:
    """What a column of a table can be.

    Parameters
    ----------
    name : str
        What ``family=`` calls it.
    noun, plural : str
        What people call its cells.
    takes : str, optional
        Which cells fit, in words; None where every number does.
    largest : float, optional
        Of the whole numbers from 0 on that fit.
    """

    name: str
    noun: str
    plural: str
    takes: str | None = None
    largest: float | None = None

    def misfits(self, cells: AnyArray) -> BoolArray:
        """Say of each cell whether it does not fit; NaN marks a missing cell, which fits."""
        if self.largest is None:
            return np.zeros(cells.shape, dtype=bool)
        return ~np.isnan(cells) & ((cells < 0) | (cells > self.largest) | (cells != np.floor(cells)))


_KINDS = {
    kind.name: kind
    for kind in (
        ColumnKind("gaussian", "number", "numbers"),
        ColumnKind("poisson", "count", "counts", "counts 0, 1, 2, …", np.inf),
        ColumnKind("bernoulli", "yes or no", "yes or no", "0 and 1", 1.0),
        ColumnKind("categorical", "category", "categories"),
        ColumnKind("multinomial", "count", "counts", "counts 0, 1, 2, …", np.inf),
    )
}


def kind_named(name: str) -> ColumnKind:
    """Return the kind of a name."""
    return _KINDS[name]


def all_kinds() -> dict[str, ColumnKind]:
    """Return the kinds by their names."""
    return dict(_KINDS)
