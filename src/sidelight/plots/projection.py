"""Where the rows of a table are seen: as numeric features first, then in the plane that shows the clusters best."""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import issparse
from sklearn.decomposition import PCA, TruncatedSVD

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.describe.table import FittedTable

_MOST_CATEGORIES = 20
_SPARSE_DIRECTIONS = 20
# With more features than this, the discriminants are found among as many principal components.
_MOST_DIRECTIONS = 50
_SHRINKAGE = 1e-3


class NumericRows(NamedTuple):
    """Rows as points (m, f) of a space, for pictures only; components can be drawn where it has the table's columns."""

    values: FloatArray
    names: list[str]
    are_columns: bool


def numeric_rows(table: FittedTable, rows: IntArray) -> NumericRows:
    """Return rows as numbers: means for missing cells, one column per category, leading directions of sparse counts."""
    cells = table.rows(rows)
    if issparse(cells):
        return _condensed(cells)
    if not table.has_categories:
        return NumericRows(_filled(cells), table.names, are_columns=True)
    values: list[FloatArray] = []
    names: list[list[str]] = []
    for column, categories in zip(cells.T, table.columns.categories, strict=True):
        name = table.names[len(values)]
        if categories is None:
            values.append(_filled(column[:, None]))
            names.append([name])
        else:
            shown = _most_frequent(column, len(categories))
            values.append(_one_hot(column, shown))
            names.append([f"{name} = {categories[code]}" for code in shown])
    return NumericRows(np.hstack(values), [name for group in names for name in group], are_columns=False)


def _filled(cells: FloatArray) -> FloatArray:
    """Return cells with missing ones replaced by the mean of their column, or by zero if all are missing."""
    missing = np.isnan(cells)
    if not missing.any():
        return cells
    observed = np.maximum((~missing).sum(axis=0), 1)
    means = np.where(missing, 0.0, cells).sum(axis=0) / observed
    return np.where(missing, means, cells)


def _most_frequent(codes: FloatArray, n_categories: int) -> IntArray:
    """Return the codes to show, in order; of two categories, one is enough."""
    counts = np.bincount(codes[~np.isnan(codes)].astype(np.int64), minlength=n_categories)
    if n_categories == 2:
        return np.array([1])
    return np.sort(np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES])


def _one_hot(codes: FloatArray, shown: IntArray) -> FloatArray:
    """Return a column of ones and zeros for each category shown; a missing cell gets the mean of the column."""
    indicators = (codes[:, None] == shown).astype(float)
    indicators[np.isnan(codes)] = np.nan
    return _filled(indicators)


def _condensed(counts: Any) -> NumericRows:
    """Return the leading directions of sparse rows, scaled to length one after taking the square root.

    Long and short rows of the same composition are then seen in the same place.
    """
    rooted = counts.astype(float)
    rooted.data = np.sqrt(np.abs(rooted.data))
    lengths = np.sqrt(np.asarray(rooted.power(2).sum(axis=1))).ravel()
    rooted = rooted.multiply(1.0 / np.where(lengths > 0, lengths, 1.0)[:, None]).tocsr()
    n_directions = min(_SPARSE_DIRECTIONS, counts.shape[1] - 1, counts.shape[0] - 1)
    if n_directions < 2:
        names = [f"count {number}" for number in range(counts.shape[1])]
        return NumericRows(np.asarray(counts.toarray(), dtype=float), names, are_columns=False)
    values = TruncatedSVD(n_directions, random_state=0).fit_transform(rooted)
    return NumericRows(values, [f"direction {number}" for number in range(1, n_directions + 1)], are_columns=False)


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

    Two features are shown as they are. More features are standardised, and the plane is spanned by the first two
    discriminants; for two clusters by their one discriminant and the first principal component of the residuals; for
    one cluster by the first two principal components.
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
    """Return two directions (d, 2) among standardised features, and their names."""
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
    residuals = X - along @ (along.T @ X) / float((along.T @ along).item())
    rest, _ = _principal(residuals)
    return np.column_stack([found, rest[:, 0]]), ("discriminant of the two clusters", "main direction of the rest")


def _discriminants(X: FloatArray, labels: AnyArray, number: int) -> FloatArray:
    """Return the directions (d, number) with the largest ratio of variance between to variance within (Fisher 1936).

    The covariance within clusters is shrunk a little towards the identity, so that clusters of one row, or of equal
    rows, have a regular one.
    """
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    means = np.zeros((len(sizes), X.shape[1]))
    np.add.at(means, codes, X)
    means /= sizes[:, None]
    between = (means - X.mean(axis=0)) * np.sqrt(sizes / len(X))[:, None]
    residuals = X - means[codes]
    within = (1 - _SHRINKAGE) * (residuals.T @ residuals) / len(X) + _SHRINKAGE * np.eye(X.shape[1])
    found = np.asarray(eigh(between.T @ between, within)[1][:, ::-1][:, :number])
    # A direction and its opposite are equivalent; a fixed sign keeps pictures of similar tables similar.
    return found * np.sign(found[np.abs(found).argmax(axis=0), np.arange(number)])


def _principal(X: FloatArray) -> tuple[FloatArray, tuple[str, str]]:
    """Return the first two principal components; zeros where all rows are equal."""
    axes, shares = np.zeros((X.shape[1], 2)), np.zeros(2)
    if np.ptp(X, axis=0).any():
        components = PCA(2, random_state=0).fit(X)
        axes, shares = components.components_.T, components.explained_variance_ratio_
    heading = "{} principal component ({:.0%} of the variance)"
    return axes, (heading.format("first", shares[0]), heading.format("second", shares[1]))
