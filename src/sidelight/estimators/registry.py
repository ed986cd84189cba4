"""The list of public estimators."""

from importlib import import_module
from typing import Any, TypeVar

from sidelight._storable import storable

Estimator = TypeVar("Estimator", bound=type[Any])

# Where each is defined; they are imported when they are first used.
MODULES = {
    "BayesianMixture": "sidelight.estimators.bayesian.mixture",
    "COPKMeans": "sidelight.baselines.cop_kmeans",
    "ClassMixture": "sidelight.estimators.class_mixture",
    "ConstrainedKernelKMeans": "sidelight.baselines.kernel_kmeans",
    "ConstrainedSpectralClustering": "sidelight.baselines.spectral",
    "EquivalenceMixture": "sidelight.estimators.equivalence",
    "GraphPropagation": "sidelight.baselines.propagation",
    "GuidedMixture": "sidelight.estimators.guided.mixture",
    "HMRFKMeans": "sidelight.baselines.hmrf_kmeans",
    "LabelledMixture": "sidelight.estimators.labelled",
    "LatentProcessDecomposition": "sidelight.estimators.latent_process",
    "PairwiseMixture": "sidelight.estimators.pairwise",
    "PosteriorConstraintMixture": "sidelight.estimators.posterior_constraint",
    "SeededKMeans": "sidelight.baselines.seeded_kmeans",
}
_REGISTERED: list[type[Any]] = []


def register(estimator: Estimator) -> Estimator:
    """Add an estimator to the list; used as a decorator. Saved models call it by its public name."""
    _REGISTERED.append(estimator)
    return storable(estimator.__name__)(estimator)


def all_estimators() -> list[tuple[str, type[Any]]]:
    """Return the name and class of every public estimator, sorted by name.

    Returns
    -------
    list of (str, type)
        Names and classes.

    Examples
    --------
    >>> from sidelight import all_estimators
    >>> [name for name, estimator in all_estimators() if "blocks" in estimator.takes][:2]
    ['BayesianMixture', 'COPKMeans']
    """
    for module in MODULES.values():
        import_module(module)
    return sorted((estimator.__name__, estimator) for estimator in _REGISTERED)


def estimators_taking(statement: str) -> list[str]:
    """Return the names of the estimators that can use a kind of statement ("labels", "must_link", …)."""
    return [name for name, estimator in all_estimators() if statement in estimator.takes]
