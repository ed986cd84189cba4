"""The strength of side information, by held-out statements."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.selection.result import Selection, Setting, combined_side, seeds, select
from sidelight.side import SideInformation

# Any statement may be wrong, at least once in a thousand times, so that one error of a certain model does not
# outweigh all other statements.
_MAX_CONFIDENCE = 0.999


class Fold(NamedTuple):
    """Statements to fit with, and statements to predict."""

    train: SideInformation
    held_out: SideInformation


def split_statements(side: SideInformation, n_folds: int, random: np.random.RandomState) -> list[Fold]:
    """Divide links and labels among folds, each kind evenly; each fold is held out in turn. Blocks stay in all."""
    labelled = np.flatnonzero(side.labels >= 0)
    sizes = (len(side.must_link), len(side.cannot_link), len(labelled))
    if not isinstance(n_folds, int) or n_folds < 2:
        raise ValueError(f"cv={n_folds!r} must be a whole number of at least 2.")
    if sum(sizes) < n_folds:
        raise ValueError(
            f"cv={n_folds} folds need as many links or labels, but there are {sum(sizes)}; use fewer folds."
        )
    # Folds are assigned in turn across the kinds, so that no fold is empty.
    fold_of = np.split(np.arange(sum(sizes)) % n_folds, np.cumsum(sizes)[:-1])
    must, cannot, label = (random.permutation(part) for part in fold_of)
    folds = []
    for fold in range(n_folds):
        train = _part(side, must != fold, cannot != fold, labelled[label != fold])
        held_out = replace(
            _part(side, must == fold, cannot == fold, labelled[label == fold]),
            blocks=np.full(side.n_rows, -1),
            block_names=np.empty(0, dtype=np.int64),
        )
        folds.append(Fold(train, held_out))
    return folds


def _part(side: SideInformation, must: BoolArray, cannot: BoolArray, labelled: IntArray) -> SideInformation:
    labels = np.full(side.n_rows, -1)
    labels[labelled] = side.labels[labelled]
    return replace(
        side,
        labels=labels,
        must_link=side.must_link[must],
        must_link_confidence=side.must_link_confidence[must],
        cannot_link=side.cannot_link[cannot],
        cannot_link_confidence=side.cannot_link_confidence[cannot],
    )


def log_probability(model: Any, side: SideInformation) -> float:
    """Return the mean log probability of statements under the posterior of a fitted model; higher is better."""
    posterior = np.asarray(model.posterior_)
    together, apart = (
        np.einsum("ic,ic->i", posterior[links[:, 0]], posterior[links[:, 1]])
        for links in (side.must_link, side.cannot_link)
    )
    rows = np.flatnonzero(side.labels >= 0)
    # The last column is for labels without a cluster.
    padded = np.column_stack([posterior[rows], np.zeros(len(rows))])
    right = np.concatenate([together, 1 - apart, padded[np.arange(len(rows)), _clusters_of_labels(model, side, rows)]])
    confidence = np.concatenate([side.must_link_confidence, side.cannot_link_confidence, np.ones(len(rows))])
    confidence = np.minimum(confidence, _MAX_CONFIDENCE)
    return float(np.log(confidence * right + (1 - confidence) * (1 - right)).mean())


def violated_fraction(model: Any, side: SideInformation) -> float:
    """Return the fraction of statements that the labels of a fitted model violate; lower is better."""
    labels = np.asarray(model.labels_)
    rows = np.flatnonzero(side.labels >= 0)
    violated: FloatArray = np.concatenate(
        [
            labels[side.must_link[:, 0]] != labels[side.must_link[:, 1]],
            (labels[side.cannot_link[:, 0]] == labels[side.cannot_link[:, 1]]) & (labels[side.cannot_link[:, 0]] >= 0),
            labels[rows] != _clusters_of_labels(model, side, rows),
        ]
    ).astype(float)
    return float(violated.mean())


def _clusters_of_labels(model: Any, side: SideInformation, rows: IntArray) -> IntArray:
    """Return the number of the cluster named after each row's label; one past the last where there is none."""
    names = model.cluster_names_.tolist() if len(rows) else []
    numbers = [names.index(name) if name in names else len(names) for name in side.label_names.tolist()]
    return np.array(numbers, dtype=np.int64)[side.labels[rows]] if len(rows) else rows


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
        The table.
    side : SideInformation, optional
        The side information, as ``fit`` takes it.
    strengths : iterable of float
        The strengths to try.
    criterion : {"log_probability", "violations"}, default "log_probability"
        The mean log probability of held-out statements under ``posterior_``, or the fraction of them that ``labels_``
        violate. The first is more informative; the second also serves estimators without probabilities.
    y, must_link, cannot_link, sample_id : optional
        Further side information, as ``fit`` takes it.
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
        The curve, the choice and the fitted model.

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
    score, lower_is_better = _CRITERIA[criterion]
    combined = combined_side(_num_samples(X), y, must_link, cannot_link, side, sample_id)
    values = np.array(list(strengths), dtype=float)
    if not len(values):
        raise ValueError("strengths is empty; give at least one to try.")
    seed, fold_seed = seeds(random_state, estimator)
    setting = Setting(estimator, parameter, seed)
    folds = split_statements(combined, cv, np.random.RandomState(fold_seed))
    return select(
        setting,
        values,
        folds,
        partial(_score, setting, X, score),
        X,
        combined,
        criterion=criterion,
        lower_is_better=lower_is_better,
        n_jobs=n_jobs,
        verbose=verbose,
    )


def _score(
    setting: Setting, X: Any, score: Callable[[Any, SideInformation], float], strength: float, fold: Fold
) -> float:
    return score(setting.fit(strength, X, fold.train), fold.held_out)
