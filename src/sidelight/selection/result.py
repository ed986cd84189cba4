"""What a selection found: the curve, the choice, and the model fitted with it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._typing import AnyArray, FloatArray


@dataclass(frozen=True, eq=False)
class Selection:
    """A criterion for every candidate of a parameter, and the model of the best.

    Attributes
    ----------
    parameter : str
        What was chosen.
    candidates : (m,)
        The values tried, in the order given.
    criterion : str
        What they were judged by.
    scores : (m, folds)
        The criterion of each candidate on each fold; one column where it needs no folds.
    lower_is_better : bool
    best_estimator : estimator
        Fitted to the whole table with the best candidate.
    """

    parameter: str
    candidates: AnyArray
    criterion: str
    scores: FloatArray
    lower_is_better: bool
    best_estimator: Any

    @property
    def values(self) -> FloatArray:
        """The criterion of each candidate, its mean over folds, (m,)."""
        return self.scores.mean(axis=1)

    @property
    def deviations(self) -> FloatArray | None:
        """Standard deviations over folds, (m,); None where there is one column."""
        return self.scores.std(axis=1, ddof=1) if self.scores.shape[1] > 1 else None

    @property
    def best_index(self) -> int:
        """Place of the best candidate; the first of equals."""
        return best_place(self.scores, lower_is_better=self.lower_is_better)

    @property
    def best(self) -> Any:
        """The best candidate."""
        return self.candidates[self.best_index].item()

    def __str__(self) -> str:
        sense = "lowest" if self.lower_is_better else "highest"
        return f"{self.parameter}={self.best} has the {sense} {self.criterion} of {len(self.candidates)} tried"


def best_place(scores: FloatArray, *, lower_is_better: bool) -> int:
    """Return the place of the best mean of scores (m, folds)."""
    means = scores.mean(axis=1)
    return int(np.argmin(means) if lower_is_better else np.argmax(means))
