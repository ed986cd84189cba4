"""Which features make a cluster: how its rows differ from the rest, feature by feature."""

from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.describe.assignment import clusters_of, kept_posterior, names_of
from sidelight.describe.sums import Feature, Sums, features_of, sum_over_rows
from sidelight.describe.table import table_of

# Rates are compared by their ratio, and half a row at the rate of the whole table keeps it finite.
_HALF_A_ROW = 0.5


class Profiles(NamedTuple):
    """How the rows of each cluster differ from the rest, the most telling features first.

    Parameters
    ----------
    clusters : (k,)
        Numbers of the clusters that have rows.
    names : list of str
        Their names.
    features : list of Feature
        Columns, and categories of columns.
    inside, outside : (k, f)
        Mean, share of rows (of a category, or of something that holds or not) or rate: in the cluster, in the rest.
    difference : (k, f)
        Of numbers in standard deviations, of shares as it is, of rates the logarithm of their ratio to base 2.
    strength : (k, f)
        The difference in standard deviations for every kind, so that features can be compared.
    weighted_by : str
        What rows count by: "posterior probabilities", or "clusters" where there are none.
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
        """Return the profiles of some features, given by their places."""
        return self._replace(
            features=[self.features[place] for place in features],
            inside=self.inside[:, features],
            outside=self.outside[:, features],
            difference=self.difference[:, features],
            strength=self.strength[:, features],
        )

    def most_telling(self, most: int) -> "Profiles":
        """Return the profiles of at most so many features: the best of every cluster, then the next best of each."""
        best_first = np.argsort(-np.abs(self.strength), axis=1, kind="stable").T
        _, met = np.unique(best_first, return_index=True)
        chosen = np.argsort(met, kind="stable")[:most]
        return self.only(np.sort(chosen))


def cluster_profiles(estimator: Any, X: Any) -> Profiles:
    """Return how the rows of each cluster differ from the rest, feature by feature.

    Parameters
    ----------
    estimator : fitted estimator
    X : (n, d) array, sparse array or data frame
        The table it was fitted to. Missing cells are left out.

    Returns
    -------
    Profiles
        Rows count for each cluster by their posterior probability; where that was not kept, or there is none, for their
        own cluster only.

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
    table = table_of(estimator, X)
    labels = clusters_of(estimator, table)
    names = names_of(estimator, labels)
    clusters = np.flatnonzero(np.bincount(labels, minlength=len(names)))
    if len(clusters) < 2:
        raise ValueError(
            f"{type(estimator).__name__} found one cluster only, and a profile tells a cluster from the rest; fit with "
            "more clusters to have one."
        )
    posterior = kept_posterior(estimator)
    features = features_of(table)
    sums = sum_over_rows(table, features, labels, posterior, clusters)
    profiles = _compare(sums, features)._replace(
        clusters=clusters,
        names=[names[cluster] for cluster in clusters],
        weighted_by="clusters" if posterior is None else "posterior probabilities",
    )
    return profiles.only(np.argsort(-np.abs(profiles.strength).max(axis=0), kind="stable"))


def _compare(sums: Sums, features: list[Feature]) -> Profiles:
    """Return the profiles of clusters that have no names yet."""
    mass, values = sums.weights.sum(axis=0), sums.values.sum(axis=0)
    overall = _ratio(values, mass, np.zeros_like(values))
    inside = _ratio(sums.values, sums.weights, overall)
    outside = _ratio(values - sums.values, mass - sums.weights, overall)
    variance = _ratio(sums.squares, mass, np.zeros_like(mass)) - np.square(overall)
    # Rounding leaves a constant feature a trace of variance.
    deviation = np.sqrt(np.where(variance > 1e-12 * (1 + np.square(sums.centre)), variance, 0.0))
    strength = _ratio(inside - outside, np.broadcast_to(deviation, inside.shape), np.zeros_like(deviation))
    half = _HALF_A_ROW * overall
    rate = (sums.values + half) / (sums.weights + _HALF_A_ROW)
    rate_outside = (values - sums.values + half) / (mass - sums.weights + _HALF_A_ROW)
    kinds = np.array([feature.kind for feature in features])
    difference = np.where(kinds == "share", inside - outside, strength)
    counts = kinds == "count"
    ratios = _ratio(rate[:, counts], rate_outside[:, counts], np.ones(int(counts.sum())))
    difference[:, counts] = np.log2(np.where(ratios > 0, ratios, 1.0))
    return Profiles(
        np.empty(0, dtype=np.int64), [], features, inside + sums.centre, outside + sums.centre, difference, strength, ""
    )


def _ratio(above: FloatArray, below: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return a ratio, and something else where nothing is below."""
    return np.divide(above, below, out=np.broadcast_to(otherwise, above.shape).copy(), where=below > 1e-9)
