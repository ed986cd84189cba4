"""The base of every estimator: one ``fit`` that takes side information, and refuses what the model cannot use."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from sidelight._typing import AnyArray, LabelArray
from sidelight._wording import NOISE
from sidelight.estimators.base.parameter_names import suggesting_names
from sidelight.estimators.registry import estimators_taking
from sidelight.side import SideInformation

_NOUNS = {
    "labels": "labels (y)",
    "must_link": "must-links",
    "cannot_link": "cannot-links",
    "blocks": "blocks",
    "confidence": "links with a confidence below 1",
}


class SemiSupervisedClusterer(ClusterMixin, BaseEstimator, ABC):
    """A clusterer that takes side information.

    ``takes`` names the kinds of statement it can use, of "labels", "must_link", "cannot_link", "blocks" and
    "confidence" (links that may be wrong).
    """

    takes: ClassVar[frozenset[str]] = frozenset()

    labels_: LabelArray
    cluster_names_: AnyArray

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = suggesting_names(cls.__init__)  # type: ignore[method-assign]

    @abstractmethod
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        side: SideInformation | None = None,
        sample_id: Any = None,
    ) -> Self:
        """Fit to a table and to side information about its rows."""

    def fit_predict(self, X: Any, y: Any = None, **knowledge: Any) -> LabelArray:
        """Fit and return ``labels_``, which use the side information."""
        return self.fit(X, y, **knowledge).labels_

    @abstractmethod
    def predict(self, X: Any) -> LabelArray:
        """Return the cluster of each row of a table, -1 for noise."""

    def predict_names(self, X: Any) -> AnyArray:
        """Return the name of the cluster of each row of a table, of ``cluster_names_``; "noise" for noise."""
        clusters = self.predict(X)
        names = self.cluster_names_[clusters]
        if (clusters < 0).any():
            names = np.where(clusters < 0, NOISE, names.astype(object))
        return names

    def _refuse(self, statement: str) -> NoReturn:
        """Refuse a kind of statement that this estimator cannot use, and say what to do instead."""
        others = estimators_taking(statement)
        remedy = f"use {' or '.join(others)}" if others else "leave them out"
        if statement == "must_link" and "blocks" in self.takes:
            remedy += ", or turn certain ones into blocks: side=SideInformation.build(…).as_blocks()"
        raise ValueError(f"{type(self).__name__} cannot use {_NOUNS[statement]}: {remedy}.")
