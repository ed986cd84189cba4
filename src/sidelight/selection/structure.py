"""Structure of the covariances and number of components together: the table of BIC, as mclust shows it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from sidelight._typing import FloatArray, IntArray
from sidelight.estimators.base.likelihood_gaussians import COVARIANCE_TYPES, STRUCTURES
from sidelight.exceptions import SingularCovarianceError
from sidelight.selection.number import bic, parameter_of, read_candidates
from sidelight.selection.result import Setting, combined_side, score_all, seeds
from sidelight.side import SideInformation
from sidelight.tables.validation import check_choice


@dataclass(frozen=True, eq=False)
class StructureSelection:
    """BIC of every structure with every number of components, and the model fitted with the best.

    Attributes
    ----------
    parameter : str
        Name of the parameter for the number.
    structures : tuple of str
        Rows of the table.
    numbers : (m,)
        Columns of the table, in the order given.
    values : (structures, m)
        BIC, lower is better (mclust has the opposite sign); NaN where a covariance became singular.
    best_estimator : estimator or None
        Fitted to the whole table with the best structure and number; None where every fit is singular.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import LabelledMixture
    >>> from sidelight.selection import select_structure
    >>> model = LabelledMixture(init_params="kmeans", random_state=0)
    >>> table = select_structure(model, load_iris().data, [1, 2], structures=["diag", "full"])
    >>> table.values.shape
    (2, 2)
    """

    parameter: str
    structures: tuple[str, ...]
    numbers: IntArray
    values: FloatArray
    best_estimator: Any

    @property
    def best_index(self) -> tuple[int, int] | None:
        """Row and column of the lowest value, the first of equals; None where every fit is singular."""
        if np.isnan(self.values).all():
            return None
        row, column = np.unravel_index(np.nanargmin(self.values), self.values.shape)
        return int(row), int(column)

    @property
    def best(self) -> tuple[str, int] | None:
        """The best structure and number; None where every fit is singular."""
        if self.best_index is None:
            return None
        row, column = self.best_index
        return self.structures[row], int(self.numbers[column])

    def __str__(self) -> str:
        if self.best is None:
            return f"every one of {self.values.size} fits is singular"
        structure, number = self.best
        return (
            f"covariance_type={structure!r}, {self.parameter}={number} has the lowest bic of {self.values.size} tried"
        )


def select_structure(
    estimator: Any,
    X: Any,
    candidates: Iterable[int] = range(1, 10),
    *,
    structures: Iterable[str] = tuple(STRUCTURES),
    y: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
    side: SideInformation | None = None,
    sample_id: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> StructureSelection:
    """Fit a mixture with each covariance structure and number of components, and choose by BIC.

    This is the table of mclust (Fraley and Raftery 2002). ``LabelledMixture(covariance_type="auto")`` chooses in the
    same way in a fraction of the time, because it does not follow what cannot win.

    Parameters
    ----------
    estimator : estimator
        One with ``covariance_type``; a clone is fitted each time. With ``init_params="kmeans"`` all structures of a
        number start from the same partition, which is quick; "short_runs" looks for the best start of each.
    X : (n, d) array or data frame
        The table.
    candidates : iterable of int, default 1 to 9
        The numbers of components to try, at least as many as labelled classes.
    structures : iterable of str, default all fourteen
        Names of mclust, or of scikit-learn.
    y, must_link, cannot_link, side, sample_id : optional
        The side information, as ``fit`` takes it.
    n_jobs : int, optional
        Number of parallel fits; the results do not depend on it.
    random_state : int, RandomState or None
        Source of randomness of the fits; None takes that of the estimator.
    verbose : bool, default False
        Show a progress bar.

    Returns
    -------
    StructureSelection
        The table, the choice and the fitted model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import LabelledMixture
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = LabelledMixture(init_params="kmeans", max_iter=300, random_state=0)
    >>> found = select_structure(model, X, range(1, 4), structures=["EEE", "VEV", "VVV"])
    >>> found.values.shape, found.best
    ((3, 3), ('VEV', 2))
    """
    names = tuple(structures)
    for name in names:
        check_choice("structures", name, COVARIANCE_TYPES)
    if not names:
        raise ValueError("structures is empty; name at least one to try.")
    if "covariance_type" not in estimator.get_params():
        raise ValueError(f"{type(estimator).__name__} has no covariance_type; use LabelledMixture.")
    combined = combined_side(_num_samples(X), y, must_link, cannot_link, side, sample_id)
    parameter = parameter_of(estimator)
    numbers = read_candidates(candidates, parameter, combined)
    seed, _ = seeds(random_state, estimator)
    settings = {name: Setting(clone(estimator).set_params(covariance_type=name), parameter, seed) for name in names}
    tasks = [(settings[name], number) for name in names for number in numbers.tolist()]
    scores = score_all(partial(_bic, X, combined), tasks, n_jobs=n_jobs, verbose=verbose)
    values = np.array(scores).reshape(len(names), len(numbers))
    found = StructureSelection(parameter, names, numbers, values, None)
    if found.best is None:
        return found
    structure, number = found.best
    return StructureSelection(parameter, names, numbers, values, settings[structure].fit(number, X, combined))


def _bic(X: Any, side: SideInformation, setting: Setting, number: int) -> float:
    """Return the BIC of a fit; NaN where a covariance becomes singular."""
    try:
        return bic(setting.fit(number, X, side), X)
    except SingularCovarianceError:
        return float("nan")
