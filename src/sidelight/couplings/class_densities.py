"""Densities of classes from those of their components."""

from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from sidelight._typing import FloatArray, IntArray


class ClassDensities(NamedTuple):
    """What rows look like from each class.

    Parameters
    ----------
    log_density : (rows, classes)
        ln p_c(x) = ln Σ_{k in c} π_k|c p_k(x).
    within : (rows, components)
        Responsibilities of the components within their class; those of a class sum to one.
    log_weights : (classes,)
        ln α.
    """

    log_density: FloatArray
    within: FloatArray
    log_weights: FloatArray


def class_densities(log_likelihood: FloatArray, log_weights: FloatArray, classes: IntArray) -> ClassDensities:
    """Sum components up to classes.

    Parameters
    ----------
    log_likelihood : (rows, components)
    log_weights : (components,)
        ln α_c π_k|c.
    classes : (components,)
        The class of each component.
    """
    n_classes = int(classes.max()) + 1
    if np.array_equal(classes, np.arange(n_classes)):
        return ClassDensities(log_likelihood, np.ones_like(log_likelihood), log_weights)
    log_density = np.empty((len(log_likelihood), n_classes))
    within = np.empty_like(log_likelihood)
    log_class_weights = np.empty(n_classes)
    for c in range(n_classes):
        members = np.flatnonzero(classes == c)
        log_class_weights[c] = np.logaddexp.reduce(log_weights[members])
        scores = log_likelihood[:, members] + (log_weights[members] - log_class_weights[c])
        log_density[:, c] = logsumexp(scores, axis=1)
        within[:, members] = np.exp(scores - log_density[:, [c]])
    return ClassDensities(log_density, within, log_class_weights)
