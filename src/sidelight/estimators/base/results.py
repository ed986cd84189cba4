"""Where rows end up: clusters, probabilities, densities."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from sidelight._typing import FloatArray, IntArray, LabelArray

_PART = 1_000_000


@dataclass(frozen=True, eq=False)
class Placement:
    """Arrays that a pass over the rows fills.

    Parameters
    ----------
    labels : (n,)
        The most probable class of each row.
    log_density : (n,)
        Log density of the mixture at each row; NaN for rows that have none of their own because they are tied to
        others.
    posterior : (n, classes), optional
        Probability of each class.
    """

    labels: LabelArray
    log_density: FloatArray | None
    posterior: FloatArray | None

    @classmethod
    def empty(cls, n_rows: int, n_classes: int, *, keep_density: bool, keep_posterior: bool) -> Self:
        """Return arrays to be filled."""
        return cls(
            np.empty(n_rows, dtype=np.int32),
            np.full(n_rows, np.nan) if keep_density else None,
            np.empty((n_rows, n_classes)) if keep_posterior else None,
        )

    def sizes(self, n_classes: int) -> IntArray:
        """Return the number of rows of each class."""
        counts = np.zeros(n_classes, dtype=np.int64)
        for part in self._parts():
            counts += np.bincount(self.labels[part], minlength=n_classes)
        return counts

    def renumbered(self, numbers: IntArray) -> LabelArray:
        """Give every class its new number, in place, and return the labels."""
        for part in self._parts():
            self.labels[part] = numbers[self.labels[part]]
        return self.labels

    def _parts(self) -> list[slice]:
        # NumPy turns whole arrays of indices into larger ones; a part at a time takes no room.
        return [slice(start, start + _PART) for start in range(0, len(self.labels), _PART)]

    def writer(
        self, classes: IntArray, n_classes: int
    ) -> Callable[[slice | IntArray, FloatArray, FloatArray | None], None]:
        """Return what a pass calls with row numbers, posteriors (rows, components) and log densities (rows,).

        ``classes`` (components,) is the class of each component; probabilities of a class's components add up.
        """
        one_each = np.array_equal(classes, np.arange(n_classes))
        membership = (classes[:, None] == np.arange(n_classes)).astype(float)

        def write(rows: slice | IntArray, posterior: FloatArray, log_density: FloatArray | None) -> None:
            by_class = posterior if one_each else posterior @ membership
            self.labels[rows] = by_class.argmax(axis=1)
            if self.posterior is not None:
                self.posterior[rows] = by_class
            if self.log_density is not None and log_density is not None:
                self.log_density[rows] = log_density

        return write
