"""Sizes of the components of a Bayesian mixture: of a Dirichlet process, or of a Dirichlet distribution."""

from collections.abc import Callable

from sidelight.inference.mixture import Mixture
from sidelight.weights import (
    DirichletWeights,
    Gamma,
    GivenConcentration,
    LearnedConcentration,
    NoiseWeights,
    StickBreakingWeights,
)

# The prior of a concentration that is learned: anything up to a few is likely.
_CONCENTRATION = Gamma(1.0, 1.0)


def dirichlet_process(n_components: int, concentration: float | None) -> StickBreakingWeights:
    """Return stick-breaking weights; the concentration is learned where none is given."""
    given = LearnedConcentration(_CONCENTRATION) if concentration is None else GivenConcentration(concentration)
    return StickBreakingWeights(n_components, given)


def dirichlet(n_components: int, concentration: float | None) -> DirichletWeights:
    """Return Dirichlet weights; their concentration is learned where none is given."""
    return DirichletWeights(n_components, _CONCENTRATION if concentration is None else concentration)


WEIGHTS: dict[str, Callable[[int, float | None], StickBreakingWeights | DirichletWeights]] = {
    "dirichlet_process": dirichlet_process,
    "dirichlet": dirichlet,
}


def among_clusters(mixture: Mixture) -> StickBreakingWeights | DirichletWeights:
    """Return the weights of the clusters' components, without the noise where there is any."""
    weights = mixture.weights.clusters if isinstance(mixture.weights, NoiseWeights) else mixture.weights
    assert isinstance(weights, StickBreakingWeights | DirichletWeights)
    return weights
