"""Distances between rows as the components of a mixture see them.

Ward's tree joins rows by distances in which all columns count alike and none goes with another. Once a mixture stands,
it is known better: directions in which clusters are narrow say more than those in which they are wide. A tree by these
distances starts the search once more, often from a better place. k-means by Mahalanobis distances does the same
(Maronna and Jacovkis 1974, who warn of distances that each cluster has of its own).
"""

import numpy as np

from sidelight._typing import FloatArray

# Least variance within components, as a fraction of the largest: narrower directions are no wider apart for it.
_LEAST_FRACTION = 1e-4


def by_components(points: FloatArray, weights: FloatArray, posterior: FloatArray) -> FloatArray:
    """Return the points (m, d) in coordinates in which the covariance within components is the identity.

    The covariance is drawn towards its diagonal as if d + 1 further rows had no correlation.

    Parameters
    ----------
    points : (m, d)
        Rows where distances mean something.
    weights : (m,)
    posterior : (m, components)
    """
    values, vectors = np.linalg.eigh(_within(points, weights, posterior))
    if values[-1] <= 0:
        # All rows are alike.
        return points
    return np.asarray(points @ (vectors / np.sqrt(np.maximum(values, _LEAST_FRACTION * values[-1]))))


def _within(points: FloatArray, weights: FloatArray, posterior: FloatArray) -> FloatArray:
    """Return the covariance of points within components (d, d), drawn towards its diagonal."""
    shares = weights[:, None] * posterior
    mass = shares.sum(axis=0)
    means = shares.T @ points / np.maximum(mass, np.finfo(float).tiny)[:, None]
    scatter = (weights[:, None] * points).T @ points - (mass[:, None] * means).T @ means
    d, total = points.shape[1], weights.sum()
    correlated = total / (total + d + 1)
    covariance = scatter / total
    # A column that is constant within components has rounding errors for a variance.
    variances = np.maximum(np.diagonal(covariance), np.finfo(float).eps * np.square(points).mean())
    covariance = correlated * covariance
    np.fill_diagonal(covariance, variances)
    return covariance
