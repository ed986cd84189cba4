"""Fits with every candidate, in parallel processes with the same results for any number of them; and their result."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state

from sidelight._typing import AnyArray, FloatArray
from sidelight.side import SideInformation


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

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sidelight import LabelledMixture
    >>> from sidelight.selection import select_n_components
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> found = select_n_components(LabelledMixture(random_state=0), X, range(1, 5))
    >>> found.best, found.scores.shape, found.best_estimator.n_clusters_
    (3, (4, 1), 3)
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
        return int(np.argmin(self.values) if self.lower_is_better else np.argmax(self.values))

    @property
    def best(self) -> Any:
        """The best candidate."""
        return self.candidates[self.best_index].item()

    def __str__(self) -> str:
        sense = "lowest" if self.lower_is_better else "highest"
        return f"{self.parameter}={self.best} has the {sense} {self.criterion} of {len(self.candidates)} tried"


class Setting(NamedTuple):
    """An estimator, the parameter to choose, and the seed of every fit (None keeps the estimator's own)."""

    estimator: Any
    parameter: str
    seed: int | None

    def fit(self, candidate: Any, X: Any, side: SideInformation) -> Any:
        """Return a clone fitted with one value of the parameter."""
        model = clone(self.estimator).set_params(**{self.parameter: candidate})
        if self.seed is not None and "random_state" in model.get_params():
            model.set_params(random_state=self.seed)
        return model.fit(X) if side.is_empty else model.fit(X, side=side)


def seeds(random_state: Any, estimator: Any) -> tuple[int | None, int]:
    """Return a seed for the fits and one for the folds; without a ``random_state``, both come from the estimator's.

    All fits have the same seed, so that only the candidates differ.
    """
    if random_state is None:
        return None, int(check_random_state(estimator.get_params().get("random_state")).randint(2**31))
    random = check_random_state(random_state)
    return int(random.randint(2**31)), int(random.randint(2**31))


def combined_side(
    n: int, y: Any, must_link: Any, cannot_link: Any, side: SideInformation | None, sample_id: Any
) -> SideInformation:
    """Combine all statements about n rows, as ``fit`` does."""
    stated = SideInformation.build(n, y=y, must_link=must_link, cannot_link=cannot_link, sample_id=sample_id)
    if side is None:
        return stated
    if sample_id is not None:
        return stated.combine(side.align(sample_id))
    if side.n_rows != n:
        raise ValueError(f"side has {side.n_rows} rows, but X has {n}; use side.align or side.restrict.")
    return stated.combine(side)


def select(
    setting: Setting,
    candidates: AnyArray,
    folds: Sequence[Any],
    score: Callable[[Any, Any], float],
    X: Any,
    side: SideInformation,
    *,
    criterion: str,
    lower_is_better: bool,
    n_jobs: int | None,
    verbose: bool,
) -> Selection:
    """Take ``score(candidate, fold)`` of every candidate and fold, and fit the best candidate to the whole table.

    ``n_jobs`` is as in scikit-learn: None is one process, -1 all cores.
    """
    tasks = [(candidate, fold) for candidate in candidates.tolist() for fold in folds]
    scores = np.array(score_all(score, tasks, n_jobs=n_jobs, verbose=verbose)).reshape(len(candidates), len(folds))
    selection = Selection(setting.parameter, candidates, criterion, scores, lower_is_better, None)
    return replace(selection, best_estimator=setting.fit(selection.best, X, side))


def score_all(
    score: Callable[..., float], tasks: Sequence[tuple[Any, ...]], *, n_jobs: int | None, verbose: bool
) -> list[float]:
    """Return ``score(*task)`` of every task, in their order, by parallel processes."""
    results = Parallel(n_jobs=n_jobs, return_as="generator")([delayed(score)(*task) for task in tasks])
    with _progress_bar(len(tasks)) if verbose else nullcontext(list) as shown:
        return list(shown(results))


@contextmanager
def _progress_bar(total: int) -> Iterator[Callable[[Iterable[Any]], Iterator[Any]]]:
    # rich takes a tenth of a second to import, and only a progress bar needs it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield lambda results: iter(bar.track(results, total=total, description="fits"))
