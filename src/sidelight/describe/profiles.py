"""Which features make a cluster: sums over its rows, and how they differ from the rest, in numbers and words."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from sidelight._typing import FloatArray, IntArray
from sidelight._wording import with_minus
from sidelight.describe.assignment import clusters_of, kept_posterior, names_of
from sidelight.describe.table import CHUNK_ROWS, FittedTable, fitted_table
from sidelight.tables.comparison import SHARES, Comparison, Contrast, ratio

_LEAST_STRENGTH = 0.3


class Feature(NamedTuple):
    """A column or a part of it, and how clusters are compared on it.

    Parts are the categories of a column, "column = category"; or its usual value, "column = value", and its other
    cells, "column otherwise".
    """

    name: str
    column: int
    comparison: Comparison


class Profiles(NamedTuple):
    """How the rows of each cluster differ from the rest, the features with the largest differences first.

    Parameters
    ----------
    clusters : (k,)
        Numbers of the clusters that have rows.
    names : list of str
        Their names.
    features : list of Feature
        Columns, and categories of columns.
    inside, outside : (k, f)
        Mean, share of rows (of a category or a yes) or rate: in the cluster, in the rest.
    difference : (k, f)
        For numbers in standard deviations, for shares their difference, for rates the logarithm of their ratio to
        base 2.
    strength : (k, f)
        The difference in standard deviations for every kind of column, so that features can be compared.
    weighted_by : str
        How rows are weighted: by "posterior probabilities", or by "clusters" where the model has none.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import LabelledMixture
    >>> from sidelight.plots import cluster_profiles
    >>> X = np.r_[np.linspace(0, 1, 10), np.linspace(9, 10, 10)][:, None]
    >>> profiles = cluster_profiles(LabelledMixture(2, random_state=0).fit(X), X)
    >>> profiles.names, profiles.strength.shape
    (['cluster 0', 'cluster 1'], (2, 1))
    """

    clusters: IntArray
    names: list[str]
    features: list[Feature]
    inside: FloatArray
    outside: FloatArray
    difference: FloatArray
    strength: FloatArray
    weighted_by: str

    def only(self, features: IntArray) -> "Profiles":
        """Return the profiles of some features, given by their positions.

        Parameters
        ----------
        features : (m,) int
            Positions of the features.

        Returns
        -------
        Profiles
            Of these features, in this order.
        """
        return self._replace(
            features=[self.features[place] for place in features],
            inside=self.inside[:, features],
            outside=self.outside[:, features],
            difference=self.difference[:, features],
            strength=self.strength[:, features],
        )

    def most_telling(self, most: int) -> "Profiles":
        """Return the profiles of at most ``most`` features: the best of every cluster, then the next best of each.

        Parameters
        ----------
        most : int
            How many features at most.

        Returns
        -------
        Profiles
            In the order of the table.
        """
        best_first = np.argsort(-np.abs(self.strength), axis=1, kind="stable").T
        _, met = np.unique(best_first, return_index=True)
        chosen = np.argsort(met, kind="stable")[:most]
        return self.only(np.sort(chosen))


def cluster_profiles(estimator: Any, X: Any, *, chunk_rows: int = CHUNK_ROWS) -> Profiles:
    """Return how the rows of each cluster differ from the rest, feature by feature.

    Parameters
    ----------
    estimator : fitted estimator
        It has been fitted to the table.
    X : (n, d) array, sparse array or data frame
        The table it was fitted to. Missing cells are left out.
    chunk_rows : int, default 20000
        Number of rows to read at a time.

    Returns
    -------
    Profiles
        Rows are weighted by their posterior probabilities; where the model has none, or did not keep them, each row
        counts for its own cluster only.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import LabelledMixture
    >>> X = np.array([[0.0, 5.0], [0.1, 5.1], [0.2, 4.9], [9.0, 5.0], [9.1, 5.2], [9.2, 4.8]])
    >>> model = LabelledMixture(random_state=0).fit(X, ["low", None, None, "up", None, None])
    >>> profiles = cluster_profiles(model, X)
    >>> profiles.features[0].name, profiles.inside[:, 0].round(1).tolist()
    ('feature 0', [0.1, 9.1])
    """
    table = fitted_table(estimator, X, chunk_rows=chunk_rows)
    labels = clusters_of(estimator, table)
    names = names_of(estimator, labels)
    clusters = np.flatnonzero(np.bincount(labels, minlength=len(names)))
    if len(clusters) < 2:
        raise ValueError(
            f"{type(estimator).__name__} found one cluster only, and a profile tells a cluster from the rest; fit with "
            "more clusters to have one."
        )
    posterior = kept_posterior(estimator)
    features = _features_of(table)
    sums = _sum_over_rows(table, features, labels, posterior, clusters)
    contrast = sums.contrast()
    profiles = Profiles(
        clusters=clusters,
        names=[names[cluster] for cluster in clusters],
        features=features,
        inside=contrast.inside + sums.centre,
        outside=contrast.outside + sums.centre,
        difference=_differences(contrast, features),
        strength=contrast.standardised,
        weighted_by="clusters" if posterior is None else "posterior probabilities",
    )
    return profiles.only(np.argsort(-np.abs(profiles.strength).max(axis=0), kind="stable"))


def _differences(contrast: Contrast, features: list[Feature]) -> FloatArray:
    """Return the difference on each feature, computed by the comparison that the feature asks for, (k, f)."""
    differences = np.empty_like(contrast.values)
    for comparison in {feature.comparison for feature in features}:
        compared = np.array([feature.comparison is comparison for feature in features])
        differences[:, compared] = comparison.difference(contrast.only(compared))
    return differences


def profile_words(profiles: Profiles, cluster: int, *, most: int = 4) -> list[str]:
    """Return what tells a cluster from the rest, the strongest first; an empty list where no feature does.

    Parameters
    ----------
    profiles : Profiles
        What `cluster_profiles` returns.
    cluster : int
        Position in ``profiles.clusters``.
    most : int, default 4
        Number of features to name, at most one for each column.

    Returns
    -------
    list of str
        One phrase per feature, the most telling first.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import LabelledMixture
    >>> from sidelight.plots import cluster_profiles
    >>> X = np.array([[0.0, 5.0], [0.1, 5.1], [0.2, 4.9], [9.0, 5.0], [9.1, 5.2], [9.2, 4.8]])
    >>> model = LabelledMixture(random_state=0).fit(X, ["low", None, None, "up", None, None])
    >>> profile_words(cluster_profiles(model, X), 1)
    ['feature 0 higher (+2.0 sd: 9.10 against 0.10)']
    """
    strength = profiles.strength[cluster]
    words: list[str] = []
    named_columns: set[int] = set()
    # Of two categories that are equally strong, one that is more frequent reads better than one that is rarer.
    for place in np.lexsort((strength < 0, -np.abs(strength).round(6))):
        feature = profiles.features[place]
        if len(words) == most or abs(strength[place]) < _LEAST_STRENGTH:
            break
        if feature.column not in named_columns:
            named_columns.add(feature.column)
            values = (float(part[cluster, place]) for part in (profiles.inside, profiles.outside, profiles.difference))
            words.append(f"{feature.name} {feature.comparison.write_sentence(*values)}")
    return words


class _ClusterSums(NamedTuple):
    """Weighted sums over rows.

    Parameters
    ----------
    weights : (k, f)
        Of the rows of each cluster whose cell is observed.
    values : (k, f)
        Of the features, measured from their centre.
    squares : (f,)
        Of their squares, in all clusters together.
    centre : (f,)
    """

    weights: FloatArray
    values: FloatArray
    squares: FloatArray
    centre: FloatArray

    def contrast(self) -> Contrast:
        """Return the sums of each cluster beside those of the rest."""
        mass, values = self.weights.sum(axis=0), self.values.sum(axis=0)
        overall = ratio(values, mass, np.zeros_like(values))
        variance = ratio(self.squares, mass, np.zeros_like(mass)) - np.square(overall)
        # Rounding leaves a constant feature a trace of variance.
        deviation = np.sqrt(np.where(variance > 1e-12 * (1 + np.square(self.centre)), variance, 0.0))
        return Contrast(self.weights, self.values, mass - self.weights, values - self.values, overall, deviation)


def _features_of(table: FittedTable) -> list[Feature]:
    """Return the features of a table: the parts of columns that have any, every other column whole.

    Clusters are compared on a usual value by the share of rows that hold it.
    """
    features = []
    for column, (name, kind) in enumerate(zip(table.names, table.kinds, strict=True)):
        usual = _usual_value(table, column)
        if usual is not None:
            features.append(Feature(f"{name} = {with_minus(f'{usual:g}')}", column, SHARES))
            features.append(Feature(f"{name} otherwise", column, kind.comparison))
            continue
        for category in table.columns.categories[column] or (None,):
            shown = name if category is None else f"{name} = {category}"
            features.append(Feature(shown, column, kind.comparison))
    return features


def _usual_value(table: FittedTable, column: int) -> float | None:
    """Return the usual value of a column, None where it has none."""
    return None if table.columns.usual is None else table.columns.usual[column]


def _sum_over_rows(
    table: FittedTable, features: list[Feature], labels: IntArray, posterior: FloatArray | None, clusters: IntArray
) -> _ClusterSums:
    """Return the sums that means and variances of some clusters (k,) are made of.

    A row has the weights of its posterior, (n, n_clusters); without one, weight one in its own cluster.
    """
    k, f = len(clusters), len(features)
    total = _ClusterSums(np.zeros((k, f)), np.zeros((k, f)), np.zeros(f), _centre(table, features))
    for chunk in table.chunks():
        if posterior is None:
            weights = (labels[chunk, None] == clusters).astype(float)
        else:
            weights = posterior[chunk][:, clusters]
        cells = table.rows(chunk)
        if table.is_compositional:
            cells = _row_shares(cells)
        if table.is_sparse:
            _add_sparse(total, cells, weights)
        else:
            _add_dense(total, cells, weights, table)
    return total


def _centre(table: FittedTable, features: list[Feature]) -> FloatArray:
    """Return the means of the first chunk: sums of squares about zero lose digits where values are far from it."""
    centre = np.zeros(len(features))
    if table.is_sparse:
        return centre
    cells = table.rows(next(table.chunks()))
    for place, feature in enumerate(features):
        if feature.comparison.centred:
            column = cells[:, feature.column]
            # NaN where there is no usual value: no cell equals it.
            usual = np.nan if table.usual is None else table.usual[feature.column]
            observed = column[~np.isnan(column) & (column != usual)]
            centre[place] = observed.mean() if len(observed) else 0.0
    return centre


def _add_sparse(total: _ClusterSums, cells: Any, weights: FloatArray) -> None:
    total.weights[:] += weights.sum(axis=0)[:, None]
    total.values[:] += (cells.T @ weights).T
    total.squares[:] += weights.sum(axis=1) @ cells.power(2)


def _add_dense(total: _ClusterSums, cells: FloatArray, weights: FloatArray, table: FittedTable) -> None:
    """Add the rows of a chunk, columns with categories one category at a time."""
    row_weights = weights.sum(axis=1)
    place = 0
    for column, categories in _parts_of(cells, table):
        observed = ~np.isnan(column)
        values, mass = column[observed], weights[observed]
        width = 1 if categories is None else len(categories)
        here = slice(place, place + max(width, 1))
        total.weights[:, here] += mass.sum(axis=0)[:, None]
        if categories is None:
            values = values - total.centre[place]
            total.values[:, place] += values @ mass
            total.squares[place] += row_weights[observed] @ np.square(values)
        elif width:
            n = len(values)
            one_hot = csr_array((np.ones(n), values.astype(np.int64), np.arange(n + 1)), (n, width))
            sums = (one_hot.T @ mass).T
            total.values[:, here] += sums
            total.squares[here] += sums.sum(axis=0)
        place += max(width, 1)


def _parts_of(cells: FloatArray, table: FittedTable) -> Iterator[tuple[FloatArray, tuple[Any, ...] | None]]:
    """Yield the columns of a chunk with their categories; one with a usual value as two, those of its two features."""
    for number, (column, categories) in enumerate(zip(cells.T, table.columns.categories, strict=True)):
        usual = _usual_value(table, number)
        if usual is None:
            yield column, categories
        else:
            holds = column == usual
            yield np.where(np.isnan(column), np.nan, holds), None
            yield np.where(holds, np.nan, column), None


def _row_shares(counts: Any) -> Any:
    """Return each row of counts as shares of its sum; a row of zeros stays zero."""
    sums = np.asarray(counts.sum(axis=1), dtype=float).ravel()
    scale = (1.0 / np.where(sums > 0, sums, 1.0))[:, None]
    return counts.multiply(scale).tocsr() if issparse(counts) else counts * scale
