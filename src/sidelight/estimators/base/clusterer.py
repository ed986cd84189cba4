"""The base of every estimator: one ``fit`` that takes side information, and refuses what the model cannot use."""

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._documentation import reference_template
from sidelight._typing import AnyArray, IntArray, LabelArray
from sidelight._wording import NOISE
from sidelight.estimators.base.clusters import class_values, cluster_names
from sidelight.estimators.base.fit_tasks import FitTasks
from sidelight.estimators.base.parameter_names import suggesting_names
from sidelight.estimators.registry import estimators_taking
from sidelight.side import SideInformation

_NOUNS = {
    "labels": "labels (y)",
    "must_link": "must-links",
    "cannot_link": "cannot-links",
    "blocks": "blocks",
    "confidence": "links with a confidence below 1",
    "annotators": "statements of annotators who may err",
}


class SemiSupervisedClusterer(FitTasks, ClusterMixin, BaseEstimator, ABC):
    """A clusterer that takes side information.

    ``takes`` names the kinds of statement it can use, of "labels", "must_link", "cannot_link", "blocks",
    "confidence" (links that may be wrong) and "annotators" (statements of annotators who may err).
    """

    takes: ClassVar[frozenset[str]] = frozenset()

    # With metadata routing on, statements go to every step that can use them; nothing else has these names.
    __metadata_request__fit: ClassVar[dict[str, bool]] = dict.fromkeys(
        ("must_link", "cannot_link", "side", "sample_id"), True
    )

    labels_: LabelArray
    cluster_names_: AnyArray
    # Whether labels have given the clusters their names. Models saved before this was kept have None.
    _named_by_labels: bool | None = None

    _doc_link_module = "sidelight"

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
        """Fit and return ``labels_``, the numbers of the clusters, which use the side information.

        Parameters
        ----------
        X : (n, d) array or data frame
            The table.
        y : (n,) array, optional
            Partial labels; -1, or None or NaN, where a row has none.
        **knowledge
            Further arguments of ``fit``.

        Returns
        -------
        (n,) int
            The cluster of each row, -1 for noise.
        """
        return self.fit(X, y, **knowledge).labels_

    @property
    def classes_(self) -> AnyArray:
        """What ``predict`` answers for each cluster, (n_clusters_,).

        Where ``fit`` had labels, they are the labels themselves, strings or numbers, and "new 1" or a further number
        for a cluster without any. Without labels they are the numbers of the clusters.
        """
        check_is_fitted(self)
        return class_values(self.cluster_names_) if self._has_label_names() else np.arange(len(self.cluster_names_))

    @abstractmethod
    def predict_clusters(self, X: Any) -> LabelArray:
        """Return the number of the cluster of each row of a table, -1 for noise.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n,) int
            Numbers as in ``labels_``, by the fitted model alone.
        """

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row of a table, in the words of ``y``.

        Where ``fit`` had labels, these are labels, so that scikit-learn's scorers can compare them with ``y``. Without
        labels they are the numbers of the clusters, as from `predict_clusters`.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n,) array
            What ``classes_`` has for the cluster of each row, by the fitted model alone; noise is -1, or "noise"
            where classes have names.
        """
        clusters = self.predict_clusters(X)
        classes = self.classes_
        if classes.dtype.kind == "i" and np.array_equal(classes, np.arange(len(classes))):
            return clusters
        return _looked_up(classes, -1 if classes.dtype.kind == "i" else NOISE, clusters)

    def predict_names(self, X: Any) -> AnyArray:
        """Return the name of the cluster of each row of a table, of ``cluster_names_``; "noise" for noise.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n,) array
            Names, by the fitted model alone.
        """
        return _looked_up(self.cluster_names_, NOISE, self.predict_clusters(X))

    def _name_clusters(self, label_names: AnyArray, order: IntArray) -> None:
        """Name the clusters by their labels: cluster k is class ``order[k]``, and the labelled classes come first."""
        self.cluster_names_ = cluster_names(label_names.tolist(), order)
        self._named_by_labels = len(label_names) > 0

    def _has_label_names(self) -> bool:
        if self._named_by_labels is None:
            return self.cluster_names_.tolist() != cluster_names([], np.arange(len(self.cluster_names_))).tolist()
        return self._named_by_labels

    def _refuse(self, statement: str) -> NoReturn:
        """Refuse a kind of statement that this estimator cannot use, and say what to do instead."""
        others = estimators_taking(statement)
        remedy = f"use {' or '.join(others)}" if others else "leave them out"
        if statement == "must_link" and "blocks" in self.takes:
            remedy += ", or turn certain ones into blocks: side=SideInformation.build(…).as_blocks()"
        raise ValueError(f"{type(self).__name__} cannot use {_NOUNS[statement]}: {remedy}.")

    @property
    def _doc_link_template(self) -> str:
        return reference_template()

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"estimator_name": type(self).__name__}


def _looked_up(words: AnyArray, noise: Any, clusters: AnyArray) -> AnyArray:
    """Return the word of each cluster, ``noise`` for -1; of a Dask array, part by part where the parts are."""
    if not isinstance(clusters, np.ndarray):
        return clusters.map_blocks(partial(_looked_up, words, noise), dtype=words.dtype)
    if (clusters >= 0).all():
        return words[clusters]
    return np.array([*words.tolist(), noise], dtype=int if words.dtype.kind == "i" else object)[clusters]
