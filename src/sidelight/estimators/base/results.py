"""What a pass says about the rows: clusters, probabilities, densities."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import FloatArray, IntArray, LabelArray
from sidelight.inference.coupled_rows import Assignment
from sidelight.tables.table import row_ranges

_PART_ROWS = 1_000_000
LARGEST_KEPT = 64_000_000  # bytes


@dataclass(frozen=True, eq=False)
class Results:
    """Arrays that are filled chunk by chunk.

    Parameters
    ----------
    classes : (components,)
        The class of each component; probabilities of a class's components add up.
    labels : (n,)
        The most probable class of each row.
    log_density : (n,), optional
        Log density of the mixture at each row; NaN for coupled rows, which have none of their own.
    posterior : (n, classes), optional
        Probability of each class.
    """

    classes: IntArray
    n_classes: int
    labels: LabelArray
    log_density: FloatArray | None
    posterior: FloatArray | None

    @classmethod
    def empty(cls, n_rows: int, classes: IntArray, n_classes: int, *, keep_density: bool, keep_posterior: bool) -> Self:
        """Return arrays to be filled."""
        return cls(
            classes,
            n_classes,
            np.empty(n_rows, dtype=np.int32),
            np.full(n_rows, np.nan) if keep_density else None,
            np.empty((n_rows, n_classes)) if keep_posterior else None,
        )

    def write(self, found: Assignment) -> None:
        """Fill in some rows."""
        by_class = found.posterior
        if not np.array_equal(self.classes, np.arange(self.n_classes)):
            by_class = by_class @ (self.classes[:, None] == np.arange(self.n_classes)).astype(float)
        self.labels[found.numbers] = by_class.argmax(axis=1)
        if self.posterior is not None:
            self.posterior[found.numbers] = by_class
        if self.log_density is not None and found.log_density is not None:
            self.log_density[found.numbers] = found.log_density

    def sizes(self) -> IntArray:
        """Return the number of rows of each class."""
        counts = np.zeros(self.n_classes, dtype=np.int64)
        for part in self._parts():
            counts += np.bincount(self.labels[part], minlength=self.n_classes)
        return counts

    def renumbered(self, numbers: IntArray) -> LabelArray:
        """Give every class its new number, in place, and return the labels."""
        for part in self._parts():
            self.labels[part] = numbers[self.labels[part]]
        return self.labels

    def _parts(self) -> list[slice]:
        # NumPy turns whole arrays of indices into larger ones; a part at a time takes no room.
        return row_ranges(len(self.labels), _PART_ROWS)


class KeptPosterior:
    """Gives an estimator ``posterior_``; ``keep_posterior`` says whether it is kept, None up to 64 MB."""

    keep_posterior: bool | None
    _posterior: FloatArray | None

    @property
    def posterior_(self) -> FloatArray:
        """Probability of each cluster for each row of the fitted table, given labels and links."""
        check_is_fitted(self)
        if self._posterior is None:
            raise AttributeError(
                f"posterior_ was not kept; by default it is up to {LARGEST_KEPT // 1_000_000} MB only. "
                "Fit with keep_posterior=True to have it all the same, or use predict_proba on some of the rows."
            )
        return self._posterior

    def _keeps_posterior(self, n_rows: int, n_clusters: int) -> bool:
        if self.keep_posterior is None:
            return 8 * n_rows * n_clusters <= LARGEST_KEPT
        return self.keep_posterior
