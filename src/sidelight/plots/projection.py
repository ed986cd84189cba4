"""A plane to look at the table in."""

from typing import NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sidelight.kernels.arrays import AnyArray, FloatArray


class Plane(NamedTuple):
    """A linear view: a row x is seen at (x − origin) @ axes, (d, 2); with the names of the two directions."""

    origin: FloatArray
    axes: FloatArray
    names: tuple[str, str]

    def points(self, X: AnyArray) -> FloatArray:
        """Return where rows are seen."""
        return (np.asarray(X, dtype=float) - self.origin) @ self.axes

    def covariances(self, covariances: FloatArray) -> FloatArray:
        """Return covariances (k, d, d) as seen in the plane, (k, 2, 2)."""
        return np.asarray(self.axes.T @ covariances @ self.axes)


def plane_of(X: AnyArray, labels: AnyArray, names: list[str]) -> Plane:
    """Return the plane that shows the clusters best.

    Two features are shown as they are. Of more, the two discriminants that tell the clusters apart; with too few
    clusters for that, the principal components.
    """
    d = X.shape[1]
    if d == 1:
        return Plane(np.zeros(1), np.array([[1.0, 0.0]]), (names[0], ""))
    if d == 2:
        return Plane(np.zeros(2), np.eye(2), (names[0], names[1]))
    if len(np.unique(labels)) > 2:
        discriminants = LinearDiscriminantAnalysis(n_components=2, solver="eigen", shrinkage=1e-3).fit(X, labels)
        axes = np.asarray(discriminants.scalings_[:, :2])
        return Plane(X.mean(axis=0), axes, ("first discriminant", "second discriminant"))
    components = PCA(2).fit(X)
    return Plane(components.mean_, components.components_.T, ("first principal component", "second"))
