"""The parts that a Bayesian mixture is put together from."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.independent import Independent
from sidelight.couplings.potts import PottsField, atoms_of, lay_stages
from sidelight.couplings.potts.divergence import DivergenceField
from sidelight.estimators.starts.sample import Data
from sidelight.families.conjugate import ConjugateFamily, NormalWishart, printed_divergence
from sidelight.inference.coupled_rows import TiedCoupling
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.rows import Rows
from sidelight.inference.starts import state_given
from sidelight.kernels.loops import Backend
from sidelight.weights import (
    DirichletWeights,
    Gamma,
    GivenConcentration,
    LearnedConcentration,
    StickBreakingWeights,
)

# The prior of a concentration that is learned: anything up to a few is likely.
_CONCENTRATION = Gamma(1.0, 1.0)
# A row that weighs nothing keeps a place among those that are tied to it, and counts next to nothing.
_LEAST_WEIGHT = 1e-12
# What scikit-learn's k-means did by default when the paper was written.
_KMEANS_STARTS = 10


class Potential(NamedTuple):
    """How strongly rows with statements act on each other, and through what: "constant", "divergence" or "printed"."""

    kind: str
    strength: float
    repulsion: float


def dirichlet_process(n_components: int, concentration: float | None) -> StickBreakingWeights:
    """Return stick-breaking weights; the concentration is learned where none is given."""
    given = LearnedConcentration(_CONCENTRATION) if concentration is None else GivenConcentration(concentration)
    return StickBreakingWeights(n_components, given)


def dirichlet(n_components: int, concentration: float | None) -> DirichletWeights:
    """Return Dirichlet weights; their concentration is learned where none is given."""
    return DirichletWeights(n_components, _CONCENTRATION if concentration is None else concentration)


WEIGHTS = {"dirichlet_process": dirichlet_process, "dirichlet": dirichlet}


def field_of(data: Data, potential: Potential, family: ConjugateFamily, backend: Backend) -> TiedCoupling | None:
    """Return the coupling of the rows that something is said about, None where nothing is."""
    if potential.kind == "constant":
        atoms = atoms_of(data.side, certain=potential.strength)
        if atoms is None:
            return None
        weights = None if data.weights is None else np.maximum(data.weights, _LEAST_WEIGHT)
        return PottsField(lay_stages(atoms, weights), potential.strength, potential.repulsion, backend)
    rows = np.flatnonzero(data.side.labels >= 0)
    if not len(rows):
        return None
    divergence = printed_divergence if potential.kind == "printed" else family.divergence
    return DivergenceField(rows, data.side.labels[rows], potential.strength, divergence)


def assemble(
    data: Data, family: ConjugateFamily, weights: Any, potential: Potential, backend: Backend, n_threads: int
) -> Mixture:
    """Put family, weights and field together on some rows."""
    field, left_out = field_of(data, potential, family, backend), None
    if field is not None:
        left_out = np.zeros(data.X.shape[0], dtype=bool)
        left_out[field.rows] = True
    return Mixture(
        rows=Rows(data.X, data.weights, None, left_out),
        family=family,
        weights=weights,
        coupling=Independent(weights.classes, backend),
        joint=field,
        backend=backend,
        n_threads=n_threads,
    )


def shrunk(mixture: Mixture, components: IntArray) -> Mixture:
    """Return the mixture with as many components as these, and their priors."""
    family: Any = mixture.family
    weights: Any = replace(mixture.weights, n_components=len(components))  # type: ignore[type-var]
    coupling = Independent(weights.classes, mixture.backend)
    return replace(mixture, family=family.narrowed(components), weights=weights, coupling=coupling)


def labelled_sums(mixture: Mixture, memory: Any, labels: IntArray, n_labels: int) -> FloatArray:
    """Return how many rows of each label every component owns (labels, components)."""
    if isinstance(mixture.joint, PottsField):
        return memory.sums
    sums = np.zeros((n_labels, len(mixture.weights.classes)))
    if mixture.joint is not None:
        np.add.at(sums, labels[mixture.joint.rows], memory)
    return sums


def freely_drawn(mixture: Mixture, state: MixtureState, labels: IntArray, n_labels: int) -> FloatArray:
    """Return how many rows of each label every component would have, had labels no say (labels, components)."""
    rows = np.flatnonzero(labels >= 0)
    drawn = np.zeros((n_labels, len(mixture.weights.classes)))
    codes = labels[rows]

    def write(numbers: Any, posterior: FloatArray, _: FloatArray | None) -> None:
        np.add.at(drawn, codes[numbers], posterior)

    if len(rows):
        alone = replace(mixture, rows=Rows(mixture.rows.X[rows]), joint=None, n_threads=1)
        alone.assignments(state, write)
    return drawn


def kmeans_centres(rows: FloatArray, n_components: int, random: np.random.RandomState) -> FloatArray:
    """Return the centres of k-means (components, d), in the units of the table."""
    from sklearn.cluster import KMeans

    return KMeans(n_components, n_init=_KMEANS_STARTS, random_state=random).fit(rows).cluster_centers_


def from_distances(mixture: Mixture, centres: FloatArray) -> MixtureState:
    """Start from responsibilities r ∝ exp(−½ ‖x − centre‖), as Echraibi et al. (2019, section 3) do."""
    rows = np.asarray(mixture.rows.X, dtype=float)
    scores = -0.5 * np.stack([np.linalg.norm(rows - centre, axis=1) for centre in centres], axis=1)
    responsibilities = np.exp(scores - logsumexp(scores, axis=1)[:, None])
    state = state_given(mixture, centres, responsibilities)
    if isinstance(mixture.joint, DivergenceField):
        return state._replace(coupled=responsibilities[mixture.joint.rows])
    return state


def with_prior_of(
    family: ConjugateFamily,
    *,
    mean: FloatArray | None,
    degrees: float | None,
    scatter: FloatArray | None,
) -> ConjugateFamily:
    """Return a Normal-Wishart family with what a user gave of its prior.

    Parameters
    ----------
    family : ConjugateFamily
    mean : (d,) or (components, d), optional
    degrees : float, optional
    scatter : (d, d), optional
    """
    given: dict[str, Any] = {
        name: value for name, value in (("mean", mean), ("degrees", degrees), ("scatter", scatter)) if value is not None
    }
    if not given:
        return family
    if not isinstance(family, NormalWishart):
        raise ValueError(  # noqa: TRY004  (it is what the user asks for that does not fit)
            "mean_prior, degrees_of_freedom_prior and covariance_prior are those of full Gaussians; leave them out "
            "for other families and for covariance_type='diag'."
        )
    return replace(family, **given)
