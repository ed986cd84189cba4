"""The result of a selection: the scores, the best candidate, and the model fitted with it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._typing import AnyArray, FloatArray


@dataclass(frozen=True, eq=False)
class Selection:
    """Scores of every candidate value of a parameter, and the model fitted with the best.

    Attributes
    ----------
    parameter : str
        Name of the parameter.
    candidates : (m,)
        The values tried, in the order given.
    criterion : str
        Name of the criterion.
    scores : (m, folds)
        The criterion of each candidate on each fold; one column where there are no folds.
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
        """The mean of the criterion over folds for each candidate, (m,)."""
        return self.scores.mean(axis=1)

    @property
    def deviations(self) -> FloatArray | None:
        """Standard deviations over folds, (m,); None where there are no folds."""
        return self.scores.std(axis=1, ddof=1) if self.scores.shape[1] > 1 else None

    @property
    def best_index(self) -> int:
        """Index of the best candidate; the first of equals."""
        return best_index(self.scores, lower_is_better=self.lower_is_better)

    @property
    def best(self) -> Any:
        """The best candidate."""
        return self.candidates[self.best_index].item()

    def __str__(self) -> str:
        sense = "lowest" if self.lower_is_better else "highest"
        return f"{self.parameter}={self.best} has the {sense} {self.criterion} of {len(self.candidates)} tried"


def best_index(scores: FloatArray, *, lower_is_better: bool) -> int:
    """Return the index of the best mean of scores (m, folds)."""
    means = scores.mean(axis=1)
    return int(np.argmin(means) if lower_is_better else np.argmax(means))
