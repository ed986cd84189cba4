"""A plane to look at the table in."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from sklearn.decomposition import PCA

from sidelight._typing import AnyArray, FloatArray

# Of more features than this, the discriminants are looked for among as many principal components.
_MOST_DIRECTIONS = 50
_SHRINKAGE = 1e-3


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

    Two features are shown as they are. Of more, each in units of its standard deviation, the two discriminants that
    tell the clusters apart; of two clusters the one discriminant there is, and the principal component of what it
    leaves; of one cluster, the principal components.
    """
    d = X.shape[1]
    if d == 1:
        return Plane(np.zeros(1), np.array([[1.0, 0.0]]), (names[0], ""))
    if d == 2:
        return Plane(np.zeros(2), np.eye(2), (names[0], names[1]))
    mean, deviations = X.mean(axis=0), X.std(axis=0)
    units = np.where(deviations > 0, deviations, 1.0)
    standard = (X - mean) / units
    directions, headings = _directions(standard, labels)
    return Plane(mean, directions / units[:, None], headings)


def _directions(X: FloatArray, labels: AnyArray) -> tuple[FloatArray, tuple[str, str]]:
    """Return two directions (d, 2) among standardised features, and what they are."""
    n_clusters = len(np.unique(labels))
    if n_clusters == 1 or len(X) <= n_clusters or not np.ptp(X, axis=0).any():
        return _principal(X)
    basis = np.eye(X.shape[1])
    if X.shape[1] > _MOST_DIRECTIONS:
        basis = PCA(min(_MOST_DIRECTIONS, len(X)), random_state=0).fit(X).components_.T
    found = basis @ _discriminants(X @ basis, labels, min(n_clusters - 1, 2))
    if n_clusters > 2:
        return found, ("first discriminant", "second discriminant")
    along = X @ found
    left = X - along @ (along.T @ X) / float((along.T @ along).item())
    rest, _ = _principal(left)
    return np.column_stack([found, rest[:, 0]]), ("discriminant of the two clusters", "main direction of the rest")


def _discriminants(X: FloatArray, labels: AnyArray, number: int) -> FloatArray:
    """Return the directions (d, number) along which clusters are farthest apart for their width (Fisher 1936).

    The width is shrunk a little towards that of the table, so that clusters of one row, or all in one place, have one.
    """
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    means = np.zeros((len(sizes), X.shape[1]))
    np.add.at(means, codes, X)
    means /= sizes[:, None]
    apart = (means - X.mean(axis=0)) * np.sqrt(sizes / len(X))[:, None]
    left = X - means[codes]
    width = (1 - _SHRINKAGE) * (left.T @ left) / len(X) + _SHRINKAGE * np.eye(X.shape[1])
    found = np.asarray(eigh(apart.T @ apart, width)[1][:, ::-1][:, :number])
    # A direction and its opposite tell the same; taking one by rule keeps pictures of like tables alike.
    return found * np.sign(found[np.abs(found).argmax(axis=0), np.arange(number)])


def _principal(X: FloatArray) -> tuple[FloatArray, tuple[str, str]]:
    """Return the principal components; rows that are all the same have none."""
    axes, shares = np.zeros((X.shape[1], 2)), np.zeros(2)
    if np.ptp(X, axis=0).any():
        components = PCA(2, random_state=0).fit(X)
        axes, shares = components.components_.T, components.explained_variance_ratio_
    heading = "{} principal component ({:.0%} of the variance)"
    return axes, (heading.format("first", shares[0]), heading.format("second", shares[1]))
