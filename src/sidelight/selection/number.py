"""The number of components, clusters or processes, and the criteria that choose it."""

from collections.abc import Callable, Iterable
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
from scipy.special import entr
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from sidelight._typing import IntArray
from sidelight.selection.result import Selection, Setting, combined_side, seeds, select
from sidelight.side import SideInformation

_OPTIONAL = Parameter("y", Parameter.POSITIONAL_OR_KEYWORD, default=None)
_PARAMETERS = ("n_components", "n_classes", "n_processes", "n_clusters")


def bic(model: Any, X: Any) -> float:
    """Return the Bayesian information criterion (Schwarz 1978); lower is better."""
    return float(model.bic(X))


def icl(model: Any, X: Any) -> float:
    """Return the integrated completed likelihood (Biernacki, Celeux and Govaert 2000); lower is better.

    BIC plus twice the entropy of the assignments, so overlapping clusters count against the model. Side information is
    part of the entropy where the model kept its posterior.
    """
    try:
        posterior = model.posterior_
    except AttributeError:  # not kept, or the model has none
        posterior = model.predict_proba(X)
    if hasattr(model, "noise_weight_"):
        posterior = np.column_stack([posterior, np.maximum(1.0 - posterior.sum(axis=1), 0.0)])
    return bic(model, X) + 2 * float(np.sum(entr(posterior)))


def held_out(model: Any, X: Any) -> float:
    """Return the mean log-likelihood of held-out rows; higher is better."""
    return float(model.score(X))


# Criteria on the rows that were fitted; lower is better.
INFORMATION_CRITERIA: dict[str, Callable[[Any, Any], float]] = {"bic": bic, "icl": icl}


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
        The table.
    candidates : iterable of int
        The numbers to try, at least as many as labelled classes.
    criterion : {"bic", "icl", "held_out"} or callable, default "bic"
        The Bayesian information criterion, the integrated completed likelihood, or the mean log-likelihood of held-out
        rows. A callable takes a fitted model and held-out rows, and returns a score; higher is better.
    y, must_link, cannot_link, side, sample_id : optional
        The side information, as ``fit`` takes it. Statements about held-out rows are not used.
    parameter : str, optional
        Name of the parameter; None takes the first of ``n_components``, ``n_classes``, ``n_processes`` and
        ``n_clusters`` that the estimator has.
    cv : int or scikit-learn splitter, default 5
        The folds, where rows are held out. An int is a number of shuffled folds; all candidates have the same folds.
    n_jobs : int, optional
        Number of parallel fits; the results do not depend on it.
    random_state : int, RandomState or None
        Source of randomness of the fits and the folds; None takes that of the estimator.
    verbose : bool, default False
        Show a progress bar.

    Returns
    -------
    Selection
        The curve, the choice and the fitted model.

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
    combined = combined_side(n, y, must_link, cannot_link, side, sample_id)
    name = parameter_of(estimator) if parameter is None else parameter
    numbers = read_candidates(candidates, name, combined)
    seed, fold_seed = seeds(random_state, estimator)
    setting = Setting(estimator, name, seed)
    if isinstance(criterion, str) and criterion in INFORMATION_CRITERIA:
        folds = [(np.arange(n), np.arange(n))]
        score = INFORMATION_CRITERIA[criterion]
    elif criterion == "held_out" or callable(criterion):
        splitter = KFold(cv, shuffle=True, random_state=fold_seed) if isinstance(cv, int) else check_cv(cv)
        folds = list(splitter.split(np.zeros(n)))
        score = criterion if callable(criterion) else held_out
    else:
        options = ", ".join(repr(option) for option in (*INFORMATION_CRITERIA, "held_out"))
        raise ValueError(f"criterion={criterion!r} is not known; choose one of {options}, or pass a callable.")
    if isinstance(criterion, str):
        _refuse_without(estimator, criterion)
    shown = criterion if isinstance(criterion, str) else getattr(criterion, "__name__", "criterion")
    return select(
        setting,
        numbers,
        folds,
        partial(_score, setting, X, combined, score),
        X,
        combined,
        criterion=shown,
        lower_is_better=score in INFORMATION_CRITERIA.values(),
        n_jobs=n_jobs,
        verbose=verbose,
    )


def _refuse_without(estimator: Any, criterion: str) -> None:
    """Refuse an estimator that lacks what a criterion is computed from, before anything is fitted."""
    method = "bic" if criterion in INFORMATION_CRITERIA else "score"
    found = getattr(estimator, method, None)
    # A score that needs the labels of the held-out rows is an accuracy.
    if found is None or signature(found).parameters.get("y", _OPTIONAL).default is Parameter.empty:
        raise ValueError(
            f"criterion={criterion!r} needs {method}(X), which {type(estimator).__name__} does not have; compare "
            "numbers with BayesianMixture or LabelledMixture, or pass a callable. GuidedMixture(n_clusters=None) finds "
            "the number itself."
        )


def _score(
    setting: Setting,
    X: Any,
    side: SideInformation,
    score: Callable[[Any, Any], float],
    number: int,
    fold: tuple[IntArray, IntArray],
) -> float:
    """Fit to the training rows and score the test rows."""
    train, test = fold
    whole = len(train) == side.n_rows
    model = setting.fit(number, X if whole else _safe_indexing(X, train), side if whole else side.restrict(train))
    return score(model, X if len(test) == side.n_rows else _safe_indexing(X, test))


def parameter_of(estimator: Any) -> str:
    """Return the name of an estimator's parameter for the number of components."""
    present = estimator.get_params()
    for name in _PARAMETERS:
        if name in present:
            return name
    raise ValueError(
        f"{type(estimator).__name__} has none of the parameters {', '.join(_PARAMETERS)}; name one by parameter=…"
    )


def read_candidates(candidates: Iterable[int], name: str, side: SideInformation) -> IntArray:
    """Return the numbers to try; refuse those below the number of labelled classes."""
    numbers = np.array(list(candidates), dtype=np.int64)
    least = max(len(np.unique(side.labels[side.labels >= 0])), 1)
    if not len(numbers) or numbers.min() < least:
        raise ValueError(
            f"candidates={numbers.tolist()} for {name} must be numbers of at least {least}, "
            "one for each labelled class; to try fewer, pass labels as blocks: "
            "side=SideInformation.build(n, blocks=y)."
        )
    return numbers
