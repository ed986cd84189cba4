"""Starts in which users give some of the parameters: precisions and weights, in scikit-learn's shapes."""

from typing import Any

import numpy as np

from sidelight._typing import FloatArray
from sidelight.estimators.base.likelihood_gaussians import COVARIANCE_TYPES, GaussianFamily
from sidelight.families.gaussian import DiagonalGaussian, FullGaussian, SphericalGaussian, TiedGaussian
from sidelight.inference.mixture import MixtureState
from sidelight.inference.protocols import AnyFamily
from sidelight.weights.noise import NoiseBelief


def with_precisions(state: MixtureState, family: AnyFamily, covariance_type: str, precisions: Any) -> MixtureState:
    """Return the state with the covariances whose inverses a user gave as ``precisions_init``."""
    if not isinstance(family, GaussianFamily):
        raise ValueError("precisions_init is for tables of Gaussian columns; leave it out.")  # noqa: TRY004
    means = family.attributes(state.parameters)["means_"]
    covariances = _covariances(covariance_type, precisions, *means.shape)
    return state._replace(parameters=family.parameters(means, covariances))


def with_weights(state: MixtureState, weights: Any, n_components: int) -> MixtureState:
    """Return the state with the weights that a user gave as ``weights_init``."""
    array = np.asarray(weights, dtype=float)
    if array.shape != (n_components,):
        raise ValueError(f"weights_init has shape {array.shape}, but this model needs {(n_components,)}.")
    if (array <= 0).any():
        raise ValueError("weights_init must be positive.")
    given = np.log(array / array.sum())
    noisy = isinstance(state.weights, NoiseBelief)
    return state._replace(weights=state.weights._replace(clusters=given) if noisy else given)


def _covariances(covariance_type: str, precisions: Any, n_components: int, d: int) -> FloatArray:
    """Return the covariances whose inverses a user gave as ``precisions_init``, in scikit-learn's shapes."""
    shapes: dict[type[GaussianFamily], tuple[int, ...]] = {
        FullGaussian: (n_components, d, d),
        TiedGaussian: (d, d),
        DiagonalGaussian: (n_components, d),
        SphericalGaussian: (n_components,),
    }
    array = np.asarray(precisions, dtype=float)
    family = COVARIANCE_TYPES[covariance_type]
    expected = shapes.get(family)
    if expected is None:
        raise ValueError(
            f"precisions_init cannot be given with covariance_type={covariance_type!r}, whose covariances share "
            "something; leave it out, or use 'full', 'tied', 'diag' or 'spherical'."
        )
    if array.shape != expected:
        raise ValueError(
            f"precisions_init has shape {array.shape}; covariance_type={covariance_type!r} with {n_components} "
            f"components and {d} features needs {expected}."
        )
    return np.linalg.inv(array) if family in (FullGaussian, TiedGaussian) else 1.0 / array
