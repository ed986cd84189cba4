"""The strength of side information, by held-out statements."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from sidelight.selection.fits import Setting, combined_side, run_all, seeds
from sidelight.selection.held_out_links import Fold, log_probability, split_statements, violated_fraction
from sidelight.selection.result import Selection, best_index
from sidelight.side import SideInformation

_CRITERIA = {"log_probability": (log_probability, False), "violations": (violated_fraction, True)}


def select_strength(
    estimator: Any,
    X: Any,
    side: SideInformation | None = None,
    *,
    strengths: Iterable[float] = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
    criterion: str = "log_probability",
    y: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
    sample_id: Any = None,
    parameter: str = "strength",
    cv: int = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> Selection:
    """Fit an estimator with each strength, and choose the one that best predicts held-out statements.

    Links and labels are divided into folds, each kind evenly. Each fold is held out in turn; all rows are fitted.
    Blocks are never held out.

    Parameters
    ----------
    estimator : estimator
        A clone is fitted each time.
    X : (n, d) array or data frame
    side, y, must_link, cannot_link, sample_id : optional
        The side information, as ``fit`` takes it.
    strengths : iterable of float
        The strengths to try.
    criterion : {"log_probability", "violations"}, default "log_probability"
        The mean log probability of held-out statements under ``posterior_``, or the fraction of them that ``labels_``
        violate. The first is more informative; the second also serves estimators without probabilities.
    parameter : str, default "strength"
        Name of the parameter.
    cv : int, default 5
        Number of folds.
    n_jobs : int, optional
        Number of parallel fits; the results do not depend on it.
    random_state : int, RandomState or None
        Source of randomness of the fits and the folds; None takes that of the estimator.
    verbose : bool, default False
        Show a progress bar.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sidelight import ClassMixture
    >>> from sidelight.side import draw_side
    >>> X, y = make_blobs(120, centers=[[0, 0], [3, 0]], random_state=0)
    >>> side = draw_side(y, links=40, random_state=0)
    >>> found = select_strength(ClassMixture(2, random_state=0), X, side, strengths=[0.5, 2.0], cv=4)
    >>> found.scores.shape, found.best in (0.5, 2.0)
    ((2, 4), True)
    """
    if criterion not in _CRITERIA:
        options = ", ".join(repr(option) for option in _CRITERIA)
        raise ValueError(f"criterion={criterion!r} is not known; choose one of {options}.")
    combined = combined_side(_num_samples(X), y, must_link, cannot_link, side, sample_id)
    values = np.array(list(strengths), dtype=float)
    if not len(values):
        raise ValueError("strengths is empty; give at least one to try.")
    seed, fold_seed = seeds(random_state, estimator)
    setting = Setting(estimator, parameter, seed)
    folds = split_statements(combined, cv, np.random.RandomState(fold_seed))
    tasks = [partial(_score, setting, value, X, fold, criterion) for value in values.tolist() for fold in folds]
    scores = np.array(run_all(tasks, n_jobs=n_jobs, verbose=verbose)).reshape(len(values), len(folds))
    lower_is_better = _CRITERIA[criterion][1]
    best = values[best_index(scores, lower_is_better=lower_is_better)].item()
    return Selection(parameter, values, criterion, scores, lower_is_better, setting.fit(best, X, combined))


def _score(setting: Setting, strength: float, X: Any, fold: Fold, criterion: str) -> float:
    return _CRITERIA[criterion][0](setting.fit(strength, X, fold.train), fold.held_out)
