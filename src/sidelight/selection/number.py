"""The number of components, clusters or processes."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from sidelight._typing import IntArray
from sidelight.selection.criteria import INFORMATION, held_out
from sidelight.selection.fits import Setting, pooled, run_all, seeds
from sidelight.selection.result import Selection, best_place
from sidelight.side import SideInformation

_NUMBERS = ("n_components", "n_classes", "n_processes", "n_clusters")


def select_n_components(
    estimator: Any,
    X: Any,
    candidates: Iterable[int],
    *,
    criterion: str | Callable[[Any, Any], float] = "bic",
    y: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
    side: SideInformation | None = None,
    sample_id: Any = None,
    parameter: str | None = None,
    cv: Any = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> Selection:
    """Fit an estimator with each number of components and choose one.

    Parameters
    ----------
    estimator : estimator
        A clone is fitted each time.
    X : (n, d) array or data frame
    candidates : iterable of int
        The numbers to try, at least as many as labelled classes.
    criterion : {"bic", "icl", "held_out"} or callable, default "bic"
        The Bayesian information criterion, the integrated completed likelihood, or the mean log-likelihood of rows that
        were held out. A callable takes a fitted model and rows held out, and returns what should be high.
    y, must_link, cannot_link, side, sample_id : optional
        What is known about the rows, as ``fit`` takes it. What is known of rows held out is not used.
    parameter : str, optional
        Name of the number; None takes the first of ``n_components``, ``n_classes``, ``n_processes`` and ``n_clusters``
        that the estimator has.
    cv : int or scikit-learn splitter, default 5
        The folds, where rows are held out. An int stands for so many shuffled ones; all candidates see the same.
    n_jobs : int, optional
        Fits at a time; the results do not depend on it.
    random_state : int, RandomState or None
        Of the fits and the folds; None takes that of the estimator.
    verbose : bool, default False
        Show a progress bar.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sidelight import LabelledMixture
    >>> X, _ = make_blobs(150, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> found = select_n_components(LabelledMixture(random_state=0), X, range(1, 6))
    >>> found.best, found.best_estimator.n_clusters_
    (3, 3)
    """
    n = _num_samples(X)
    known = pooled(n, y, must_link, cannot_link, side, sample_id)
    name = _number_of(estimator) if parameter is None else parameter
    numbers = _read(candidates, name, known)
    seed, fold_seed = seeds(random_state, estimator)
    setting = Setting(estimator, name, seed)
    if isinstance(criterion, str) and criterion in INFORMATION:
        folds = [(np.arange(n), np.arange(n))]
        judge = INFORMATION[criterion]
    elif criterion == "held_out" or callable(criterion):
        splitter = KFold(cv, shuffle=True, random_state=fold_seed) if isinstance(cv, int) else check_cv(cv)
        folds = list(splitter.split(np.zeros(n)))
        judge = criterion if callable(criterion) else held_out
    else:
        options = ", ".join(repr(option) for option in (*INFORMATION, "held_out"))
        raise ValueError(f"criterion={criterion!r} is not known; choose one of {options}, or pass a callable.")
    tasks = [partial(_judged, setting, number, X, known, *fold, judge) for number in numbers.tolist() for fold in folds]
    scores = np.array(run_all(tasks, n_jobs=n_jobs, verbose=verbose)).reshape(len(numbers), len(folds))
    lower_is_better = judge in INFORMATION.values()
    best = numbers[best_place(scores, lower_is_better=lower_is_better)].item()
    spoken = criterion if isinstance(criterion, str) else getattr(criterion, "__name__", "criterion")
    return Selection(name, numbers, spoken, scores, lower_is_better, setting.fit(best, X, known))


def _judged(
    setting: Setting,
    number: int,
    X: Any,
    known: SideInformation,
    inside: IntArray,
    outside: IntArray,
    judge: Callable[[Any, Any], float],
) -> float:
    """Fit to the rows inside and judge by those outside."""
    whole = len(inside) == known.n_rows
    model = setting.fit(number, X if whole else _safe_indexing(X, inside), known if whole else known.restrict(inside))
    return judge(model, X if len(outside) == known.n_rows else _safe_indexing(X, outside))


def _number_of(estimator: Any) -> str:
    present = estimator.get_params()
    for name in _NUMBERS:
        if name in present:
            return name
    raise ValueError(
        f"{type(estimator).__name__} has none of the parameters {', '.join(_NUMBERS)}; name the number by parameter=…"
    )


def _read(candidates: Iterable[int], name: str, known: SideInformation) -> IntArray:
    numbers = np.array(list(candidates), dtype=np.int64)
    least = max(len(np.unique(known.labels[known.labels >= 0])), 1)
    if not len(numbers) or numbers.min() < least:
        raise ValueError(
            f"candidates={numbers.tolist()} for {name} must be numbers of at least {least}, "
            "one for each labelled class; to try fewer, pass labels as blocks: "
            "side=SideInformation.build(n, blocks=y)."
        )
    return numbers
