"""Linked rows by enumeration of all joint assignments."""

from itertools import product
from typing import NamedTuple

import numpy as np


class Enumerated(NamedTuple):
    """Component posteriors (rows, components), expected draws of classes (classes,), log evidence."""

    posterior: np.ndarray
    draws: np.ndarray
    evidence: float


def enumerate_linked(log_likelihood, log_weights, classes, chunklets, labels, factors, draws):
    """Sum over all components of all rows, with rows of a chunklet in one class.

    ``factors`` are (a, b, chance if their classes are the same, chance if not) of chunklets; ``draws`` says how often
    the class of a chunklet is drawn. Prior weights are not normalised.
    """
    n, k = log_likelihood.shape
    n_classes = classes.max() + 1
    log_class = np.array([np.logaddexp.reduce(log_weights[classes == c]) for c in range(n_classes)])
    posterior, counts, total = np.zeros((n, k)), np.zeros(n_classes), 0.0
    for choice in product(range(k), repeat=n):
        of_row = classes[list(choice)]
        of_chunklet = np.full(chunklets.max() + 1, -1)
        of_chunklet[chunklets] = of_row
        if (of_chunklet[chunklets] != of_row).any() or ((labels >= 0) & (labels != of_chunklet)).any():
            continue
        value = draws @ log_class[of_chunklet]
        value += sum(log_likelihood[i, j] + log_weights[j] - log_class[classes[j]] for i, j in enumerate(choice))
        chance = np.exp(value)
        for a, b, same, different in factors:
            chance *= same if of_chunklet[a] == of_chunklet[b] else different
        total += chance
        posterior[np.arange(n), list(choice)] += chance
        np.add.at(counts, of_chunklet, chance * draws)
    return Enumerated(posterior / total, counts / total, float(np.log(total)))
