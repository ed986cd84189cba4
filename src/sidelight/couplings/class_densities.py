"""Densities of classes from those of their components."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.kernels.loops import Chooser, finite, softly

# Scores of a block: more would leave the cache.
_BLOCK_SCORES = 60_000


class ClassDensities(NamedTuple):
    """Densities of rows in each class, and the log weights ln α (classes,) of these.

    Parameters
    ----------
    log_density : (rows, classes)
        ln p_c(x) = ln Σ_{k in c} π_k|c p_k(x), or the largest term where components are chosen outright.
    within : (rows, components)
        Responsibilities of the components within their class; those of a class sum to one.
    """

    log_density: FloatArray
    within: FloatArray
    log_weights: FloatArray


def class_densities(
    log_likelihood: FloatArray, log_weights: FloatArray, classes: IntArray, choose: Chooser = softly
) -> ClassDensities:
    """Sum components, with log densities (rows, components) and log weights ln α_c π_k|c, up to their classes.

    ``choose`` says how a row chooses among the components of a class.
    """
    n_rows, n_classes = len(log_likelihood), int(classes.max()) + 1
    if np.array_equal(classes, np.arange(n_classes)):
        return ClassDensities(log_likelihood, np.ones_like(log_likelihood), log_weights)
    members = [np.flatnonzero(classes == c) for c in range(n_classes)]
    log_alpha = np.array([np.logaddexp.reduce(log_weights[own]) for own in members])
    # A class without weight is never chosen, so its components may share it in any way.
    offsets = np.where(np.isneginf(log_alpha)[classes], 0.0, log_weights - finite(log_alpha)[classes])
    log_density, within = np.empty((n_rows, n_classes)), np.empty_like(log_likelihood)
    block_rows = _BLOCK_SCORES // len(classes) + 1
    for start in range(0, n_rows, block_rows):
        block = slice(start, start + block_rows)
        for c, own in enumerate(members):
            within[block, own], log_density[block, c] = choose(log_likelihood[block, own] + offsets[own])
    return ClassDensities(log_density, within, log_alpha)
