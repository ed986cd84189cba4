"""The number of processes, by the likelihood of rows that were held out."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from sidelight.kernels.arrays import FloatArray, IntArray
from sidelight.side import SideInformation


class HeldOut(NamedTuple):
    """Log-likelihood of held-out rows for each number of processes.

    Parameters
    ----------
    n_processes : (m,)
        The numbers tried.
    log_likelihoods : (m, folds)
        Mean log-likelihood per held-out row, higher is better.
    """

    n_processes: IntArray
    log_likelihoods: FloatArray

    @property
    def means(self) -> FloatArray:
        """Means over folds, (m,)."""
        return self.log_likelihoods.mean(axis=1)

    @property
    def best(self) -> int:
        """The number of processes with the highest mean."""
        return int(self.n_processes[np.argmax(self.means)])


def held_out_log_likelihoods(
    estimator: Any,
    X: Any,
    *,
    n_processes: Iterable[int],
    side: SideInformation | None = None,
    cv: Any = 5,
    n_draws: int = 1000,
) -> HeldOut:
    """Fit with each number of processes on all folds but one and estimate the likelihood of that one, in turn.

    The choice that Li, Ying and Campbell make in figure 2. All numbers of processes are tried on the same folds. What
    is known of held-out rows is not used.

    Parameters
    ----------
    estimator : LatentProcessDecomposition
        A clone is fitted each time.
    X : (n, d)
    n_processes : iterable of int
        The numbers to try.
    side : SideInformation, optional
        What is known about the rows. Labels set the least number of processes; to try fewer than there are labelled
        classes, pass them as blocks.
    cv : int or scikit-learn splitter, default 5
        An int stands for so many shuffled folds, drawn by the estimator's ``random_state``.
    n_draws : int, default 1000
        Draws of the importance sampling, per row.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from sidelight import LatentProcessDecomposition
    >>> from sidelight.admixture import held_out_log_likelihoods
    >>> X, _ = make_blobs(150, 6, centers=3, random_state=0)
    >>> model = LatentProcessDecomposition(random_state=0)
    >>> held_out_log_likelihoods(model, X, n_processes=[1, 2, 3], cv=3, n_draws=200).best
    3
    """
    n = _num_samples(X)
    candidates = np.array(list(n_processes), dtype=np.int64)
    known = SideInformation.build(n) if side is None else side
    if known.n_rows != n:
        raise ValueError(f"side speaks of {known.n_rows} rows, but X has {n}; use side.align or side.restrict.")
    least = max(len(np.unique(known.labels[known.labels >= 0])), 1)
    if not len(candidates) or candidates.min() < least:
        raise ValueError(
            f"n_processes={candidates.tolist()} must be numbers of at least {least}, "
            "one process per labelled class; to try fewer, pass labels as blocks: "
            "side=SideInformation.build(n, blocks=y)."
        )
    splitter = KFold(cv, shuffle=True, random_state=estimator.random_state) if isinstance(cv, int) else check_cv(cv)
    folds = list(splitter.split(np.zeros(n)))
    log_likelihoods = np.empty((len(candidates), len(folds)))
    for fold, (inside, outside) in enumerate(folds):
        table, rest = _safe_indexing(X, inside), _safe_indexing(X, outside)
        told = known.restrict(inside)
        for number, candidate in enumerate(candidates):
            fitted = clone(estimator).set_params(n_processes=int(candidate)).fit(table, side=told)
            log_likelihoods[number, fold] = fitted.log_likelihood(rest, n_draws=n_draws).total / len(outside)
    return HeldOut(candidates, log_likelihoods)
