"""Components of Gaussian mixtures as ellipses."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sidelight._typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Gaussians(NamedTuple):
    """Means (k, d) and covariances (k, d, d)."""

    means: FloatArray
    covariances: FloatArray


def gaussians_of(estimator: Any, d: int) -> Gaussians:
    """Return the components of a Gaussian mixture on d columns; empty arrays for any other model.

    Components are ellipses in the units of the table only where no column was transformed.
    """
    means, covariances = getattr(estimator, "means_", None), getattr(estimator, "covariances_", None)
    if means is None or covariances is None or np.shape(means)[1] != d or getattr(estimator, "column_powers_", {}):
        return Gaussians(np.empty((0, d)), np.empty((0, d, d)))
    structure = getattr(estimator, "covariance_type_", getattr(estimator, "covariance_type", "full"))
    return Gaussians(means, full_covariances(covariances, len(means), d, structure))


def full_covariances(covariances: FloatArray, k: int, d: int, covariance_type: str) -> FloatArray:
    """Return covariances as matrices (k, d, d), from any of scikit-learn's layouts."""
    if covariance_type in ("tied", "EEE"):
        return np.broadcast_to(covariances, (k, d, d))
    if covariances.ndim == 3:
        return covariances
    if covariances.ndim == 1:
        return covariances[:, None, None] * np.eye(d)
    return covariances[:, :, None] * np.eye(d)


def add_ellipse(
    ax: "Axes", mean: FloatArray, covariance: FloatArray, colour: FloatArray, *, fill: float, edge: float
) -> None:
    """Draw the ellipse of two standard deviations of a Gaussian in the plane; ``fill`` and ``edge`` are opacities."""
    from matplotlib.patches import Ellipse

    values, vectors = np.linalg.eigh(covariance)
    height, width = 4 * np.sqrt(np.maximum(values, 0.0))
    angle = float(np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1])))
    style = {"facecolor": (*colour, fill), "edgecolor": (*colour, edge)}
    ax.add_patch(Ellipse(tuple(mean), float(width), float(height), angle=angle, **style))
