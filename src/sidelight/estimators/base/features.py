"""Probabilities of clusters as the features of a further step: ``transform``, with the names of the clusters."""

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import AnyArray, FloatArray
from sidelight.estimators.base.clusterer import SemiSupervisedClusterer


class PosteriorFeatures(TransformerMixin, SemiSupervisedClusterer):
    """A clusterer whose probabilities can be features: it transforms tables, as scikit-learn's transformers do."""

    n_clusters_: int

    @abstractmethod
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each cluster for each row of a table, by the fitted model alone."""

    def transform(self, X: Any) -> FloatArray:
        """Return the probability of each cluster for each row of a table, as features of a further step.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n, n_clusters_) array
            What ``predict_proba`` returns; a data frame with the names of the clusters after
            ``set_output(transform="pandas")``.
        """
        return self.predict_proba(X)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the columns of ``transform``.

        Parameters
        ----------
        input_features : None
            Ignored; it is there for pipelines.

        Returns
        -------
        (n_clusters_,) array of str
            The names of the clusters where labels name them. Else the name of the estimator and a number, as
            scikit-learn has it.
        """
        check_is_fitted(self)
        if self._has_label_names():
            return np.array([str(name) for name in self.cluster_names_], dtype=object)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{number}" for number in range(len(self.cluster_names_))], dtype=object)
