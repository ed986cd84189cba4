"""How much the class of one row says about that of another."""

import numpy as np

from sidelight._typing import FloatArray
from sidelight.asking.belief import Heard

# How much of what the model says about two rows is not believed, since the model itself may be wrong.
_DISTRUST = 0.3
# Without positions, two rows of one cluster for certain say this much about each other.
_WITHIN_CLUSTER = 0.5
# A question is to cover this fraction of the rows that there are for each question.
_COVERED = 0.5
# Of the mean squared distance.
_LEAST_BANDWIDTH = 1e-3


def likeness(posterior: FloatArray, heard: Heard, positions: FloatArray | None, n_pairs: int) -> FloatArray:
    """Return how much the class of one row says about that of another, in [0, 1]; 1 is everything.

    It is ``Σ_kl r_ik A_kl r_jl exp(−‖z_i − z_j‖² / 2h²)``: the chance that clusters k and l share a class, made to fade
    with the distance. Before anything was heard A is 1 within a cluster and ε between two, the chance that clusters
    mean nothing; statements about rows of k and l change it. The bandwidth h is the distance within which half as many
    rows lie as there are for each question, in the middle of all rows.

    Parameters
    ----------
    posterior : (m, K)
    heard : Heard
        What is known about clusters.
    positions : (m, d), optional
        Columns are scaled to unit variance.
    n_pairs : int
        How many questions will be asked.
    """
    believed = (1 - _DISTRUST) * np.eye(posterior.shape[1]) + _DISTRUST
    trusted = posterior @ heard.agreement(believed) @ posterior.T
    if positions is None:
        alike: FloatArray = _WITHIN_CLUSTER * trusted
    else:
        squared = _squared_distances(_standardised(positions))
        reach = min(max(int(_COVERED * len(squared) / n_pairs), 1), len(squared) - 1)
        bandwidth = np.median(np.partition(squared, reach, axis=1)[:, reach])
        # Where most rows have doubles, the distance to a neighbour is none.
        bandwidth = max(bandwidth, _LEAST_BANDWIDTH * squared.mean(), np.finfo(float).tiny)
        alike = trusted * np.exp(-squared / (2 * bandwidth))
    np.fill_diagonal(alike, 1.0)
    return alike


def _standardised(positions: FloatArray) -> FloatArray:
    """Return columns of mean 0 and variance 1, missing cells at the mean, constant columns at 0."""
    present = ~np.isnan(positions)
    counts = np.maximum(present.sum(axis=0), 1)
    centred = np.where(present, positions, 0.0)
    centred = np.where(present, positions - centred.sum(axis=0) / counts, 0.0)
    scale = np.sqrt((centred**2).sum(axis=0) / counts)
    return centred / np.where(scale > 0, scale, 1.0)


def _squared_distances(positions: FloatArray) -> FloatArray:
    norms = (positions**2).sum(axis=1)
    return np.maximum(norms[:, None] + norms - 2 * positions @ positions.T, 0.0)
