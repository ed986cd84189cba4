"""Mixtures on random data, and their E-steps by enumeration."""

from itertools import product

import numpy as np

from sidelight.couplings.independent import Independent
from sidelight.families.gaussian import (
    CovariancePrior,
    DiagonalGaussian,
    FullGaussian,
    SphericalGaussian,
    TiedGaussian,
)
from sidelight.inference.executors.threads import Threads
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.kernels.loops import NUMPY
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import MaximumLikelihoodWeights

FAMILIES = {"full": FullGaussian, "tied": TiedGaussian, "diag": DiagonalGaussian, "spherical": SphericalGaussian}


def family_for(X, covariance_type, *, rows=0.0, fraction=0.0):
    """Return a Gaussian family centred on a table, with a prior scaled on it."""
    prior = CovariancePrior.scaled(np.var(np.asarray(X, dtype=float), axis=0), rows=rows, fraction=fraction)
    return FAMILIES[covariance_type](np.mean(np.asarray(X, dtype=float), axis=0), prior)


def random_covariances(rng, covariance_type, k, d):
    """Return well-conditioned covariances in scikit-learn's shapes."""
    factors = rng.normal(size=(k, d, 2 * d + 2))
    full = factors @ factors.swapaxes(1, 2) / (2 * d + 2)
    return {
        "full": full,
        "tied": full[0],
        "diag": np.diagonal(full, axis1=1, axis2=2).copy(),
        "spherical": full[:, 0, 0].copy(),
    }[covariance_type]


def mixture_of(X, family, k, *, backend=NUMPY, coupling=Independent, classes=None, couplings=(), n_threads=1, **rows):
    """Return a mixture of k components on a table; keywords are those of Rows."""
    classes = np.arange(k) if classes is None else classes
    return Mixture(
        Rows(ArrayTable(X), **rows),
        family,
        MaximumLikelihoodWeights(classes),
        coupling(classes, backend),
        couplings,
        backend,
        Threads(n_threads),
    )


def assigned(mixture, state):
    """Return the posterior (rows, components) of a mixture's rows, and the objective."""
    posterior, evidence = np.full((mixture.rows.shape[0], len(mixture.weights.classes)), np.nan), 0.0
    for part in mixture.assign(state):
        posterior[part.numbers] = part.posterior
        evidence += part.evidence
    return posterior, evidence + mixture.log_prior(state)


def rows_of(mixture):
    """Return all rows of a mixture's table."""
    return mixture.rows.table.take(slice(0, mixture.rows.shape[0]))


def random_state(rng, X, family, covariance_type, k):
    """Return a state with means among the rows and random weights."""
    means = np.asarray(X[rng.choice(len(X), k, replace=False)], dtype=float)
    weights = rng.dirichlet(np.ones(k))
    covariances = random_covariances(rng, covariance_type, k, X.shape[1])
    return MixtureState(family.parameters(means, covariances), np.log(weights))


def enumerate_chunklet(log_likelihood, log_weights, classes, label):
    """Return posterior, class posterior and evidence of one chunklet by summing over all joint assignments.

    A joint assignment gives the chunklet a class and every row a component of it; the class's weight counts once.
    """
    n, k = log_likelihood.shape
    n_classes = classes.max() + 1
    posterior, by_class, total = np.zeros((n, k)), np.zeros(n_classes), 0.0
    for c in range(n_classes):
        if label not in (-1, c):
            continue
        inside = np.flatnonzero(classes == c)
        class_weight = np.exp(log_weights[inside]).sum()
        for choice in product(inside, repeat=n):
            probability = class_weight
            for row, component in enumerate(choice):
                probability *= np.exp(log_weights[component] + log_likelihood[row, component]) / class_weight
            total += probability
            by_class[c] += probability
            posterior[np.arange(n), list(choice)] += probability
    return posterior / total, by_class / total, np.log(total)
