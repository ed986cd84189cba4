"""Scorers for cross-validation: links that were held back, and labels where only some rows have one."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples

from sidelight._wording import NOISE
from sidelight.metrics import violations
from sidelight.selection.folds import statements_about
from sidelight.side import SideInformation


class LinkScorer(BaseEstimator):
    """How many of the links among rows that were held back the predictions for these rows keep.

    A scorer for ``scoring=`` of scikit-learn's functions; higher is better. It is the mean of two shares, of must-links
    whose rows are predicted to be together and of cannot-links whose rows are predicted to be apart, so that one large
    cluster does not win. Where there are links of one kind only, it is that share alone.

    Parameters
    ----------
    side : SideInformation, optional
        The links. With metadata routing on they can be passed through the function that cross-validates, with
        ``sample_id``. Without it, rows are found by the index of a pandas frame, where it has the ids of ``side``.

    See Also
    --------
    LinkedKFold : Folds that cut no link, so that each test fold has links to score.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sidelight import EquivalenceMixture, SideInformation
    >>> from sidelight.selection import LinkedKFold, LinkScorer
    >>> from sidelight.side import draw_links
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> ids = np.array([f"flower {row}" for row in range(150)])
    >>> links = draw_links(y, n_must=40, n_cannot=40, random_state=0)
    >>> pairs = {"must_link": ids[links.must_link], "cannot_link": ids[links.cannot_link]}
    >>> side = SideInformation.build(150, sample_id=ids, **pairs)
    >>> scores = cross_val_score(
    ...     EquivalenceMixture(3, random_state=0),
    ...     X.set_index(ids),
    ...     cv=LinkedKFold(3, side=side),
    ...     scoring=LinkScorer(side),
    ... )
    >>> bool(scores.mean() > 0.8)
    True
    """

    __metadata_request__score: ClassVar[dict[str, bool]] = {"side": True, "sample_id": True}

    def __init__(self, side: SideInformation | None = None) -> None:
        self.side = side

    def score(
        self, estimator: Any, X: Any, y: Any = None, *, side: SideInformation | None = None, sample_id: Any = None
    ) -> float:
        """Return the score of a fitted estimator on the links among some rows.

        Parameters
        ----------
        estimator : estimator or pipeline
            It has been fitted, to other rows.
        X : (n, d) array or data frame
            The rows.
        y : None
            Ignored; scikit-learn passes it.
        side : SideInformation, optional
            The links; None takes those of the constructor.
        sample_id : (n,) array, optional
            Names of the rows, by which ``side`` is found.

        Returns
        -------
        float
            From 0 to 1.
        """
        stated = statements_about(X, self.side if side is None else side, sample_id)
        if not len(stated.must_link) + len(stated.cannot_link):
            raise ValueError(
                f"none of the links is among these {stated.n_rows} rows, so there is nothing to score; "
                "let LinkedKFold divide the rows, which cuts no link."
            )
        found = np.asarray(estimator.predict(X))
        broken = violations(stated, found, noise=-1 if found.dtype.kind in "iu" else NOISE)
        kinds = ((len(broken.must_link), broken.n_must_link), (len(broken.cannot_link), broken.n_cannot_link))
        return float(np.mean([1 - number / of for number, of in kinds if of]))

    def __call__(self, estimator: Any, X: Any, y: Any = None, **given: Any) -> float:
        """Return `score`; scikit-learn calls a scorer."""
        return self.score(estimator, X, y, **given)


def labelled_accuracy(estimator: Any, X: Any, y: Any) -> float:
    """Return the share of the labelled rows whose predicted class is their label; a scorer for partial labels.

    scikit-learn's ``"accuracy"`` needs a label in every row that it scores: it takes -1 for a class of its own, and
    refuses None. This one leaves out rows without a label.

    Parameters
    ----------
    estimator : estimator or pipeline
        It has been fitted, to other rows.
    X : (n, d) array or data frame
        The rows.
    y : (n,) array
        Partial labels; -1, or None or NaN, where a row has none.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import KFold, cross_val_score
    >>> from sidelight import LabelledMixture
    >>> from sidelight.selection import labelled_accuracy
    >>> iris = load_iris()
    >>> y = np.where(np.arange(150) % 3 == 0, iris.target_names[iris.target], None)
    >>> folds = KFold(3, shuffle=True, random_state=0)
    >>> scores = cross_val_score(LabelledMixture(), iris.data, y, cv=folds, scoring=labelled_accuracy)
    >>> bool(scores.mean() > 0.9)
    True
    """
    known = SideInformation.build(_num_samples(X), y=y)
    rows = np.flatnonzero(known.labels >= 0)
    if not len(rows):
        raise ValueError("y has no labels among these rows, so there is nothing to score; give every fold some.")
    given = known.label_names[known.labels[rows]].tolist()
    found = np.asarray(estimator.predict(X))[rows].tolist()
    return float(np.mean([label == answer for label, answer in zip(given, found, strict=True)]))
