"""Gaussian components of wide tables: covariances of low rank, plus diagonal noise that all components share.

Mixtures of common factor analysers (Baek, McLachlan and Flack 2010): rows are x = c + s ∘ (W z + e), and only the
scores z in a subspace of few dimensions depend on the component. We depart from the paper in three ways. The subspace
and the noise are those of the table's principal components, found once before the fit; scores have Normal-Wishart
posteriors in place of point estimates; and the rank is found by evidence (:mod:`sidelight.families.subspace`).
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Self

import numpy as np
from numpy.random import RandomState

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray
from sidelight.families.conjugate.family import ConjugateFamily, multidigamma
from sidelight.families.conjugate.normal_wishart import NormalWishart, NormalWishartParameters
from sidelight.families.evaluators.missing import IncompleteEvaluator, IncompletePredictive
from sidelight.families.evaluators.projected import (
    PartlySeenEvaluator,
    ProjectedEvaluator,
    ProjectedScorer,
    partial_rows,
)
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.subspace import MOST_FACTORS, Subspace, principal_subspace
from sidelight.kernels.loops import Backend


@storable("LowRank")
@dataclass(frozen=True, eq=False)
class LowRank(ConjugateFamily[NormalWishartParameters, GaussianStatistics]):
    """Gaussians in a subspace, with noise outside of it; parameters are the posteriors of the scores.

    The bound is that of the d columns: it has the noise, the units of the columns, and, for the p parameters of
    subspace and noise, which have no posteriors, Schwarz's −½ p ln n. Bounds of different ranks, and those of other
    covariance types, can therefore be compared. Missing cells are latent variables of their row, as in
    :class:`NormalWishart`.

    Parameters
    ----------
    subspace : Subspace
    scores : NormalWishart
        The family of the scores, with its prior.
    total : float
        n, how many rows the subspace was learned for.
    """

    subspace: Subspace
    scores: NormalWishart
    total: float

    def __post_init__(self) -> None:
        if self.scores.degrees <= self.subspace.rank + 1:
            raise ValueError(
                f"degrees is {self.scores.degrees:g}; {self.subspace.rank} scores need more than "
                f"{self.subspace.rank + 1}, so that their predictive distribution has a covariance."
            )

    @classmethod
    def scaled(
        cls,
        mean: FloatArray,
        variances: FloatArray,
        rows: AnyArray,
        weights: FloatArray | None = None,
        *,
        total: float | None = None,
        degrees: float | None = None,
        fraction: float = 1.0,
        mean_precision: float = 0.01,
        most: int = MOST_FACTORS,
    ) -> Self:
        """Return the family whose prior covariance of the scores is a ``fraction`` of the table's.

        Parameters
        ----------
        mean, variances : (d,)
            Of the columns of the table.
        rows : (m, d)
            Some of its rows, to learn the subspace from; NaN where a cell is missing.
        weights : (m,), optional
            How many rows each stands for; all one where not given.
        total : float, optional
            How many rows the table counts for; as many as ``rows`` where not given.
        degrees, mean_precision : float
            As in :class:`NormalWishart`.
        most : int
            Largest rank.
        """
        counts = np.ones(len(rows)) if weights is None else weights
        n_rows = float(counts.sum()) if total is None else total
        subspace = principal_subspace(rows, counts, mean, variances, total=n_rows, most=most)
        origin = np.zeros(subspace.rank)
        scores = NormalWishart.scaled(
            origin, subspace.variances, degrees=degrees, fraction=fraction, mean_precision=mean_precision
        )
        return cls(subspace, scores, n_rows)

    def evaluator(self, parameters: NormalWishartParameters, backend: Backend) -> IncompleteEvaluator:
        """Return an evaluator of E ln p(x | θ_k) and of the statistics of the scores."""
        means, mean_precision, degrees, scatter, _ = parameters
        q = self.subspace.rank
        slack = multidigamma(degrees, q) + q * np.log(2.0 / degrees) - q / mean_precision
        covariances = scatter / degrees[:, None, None]
        whole = ProjectedEvaluator(self.scores.evaluator(parameters, backend), self.subspace)
        partly_seen = partial(PartlySeenEvaluator, means, covariances, slack, self.subspace)
        return IncompleteEvaluator(whole, partly_seen, partial_rows(len(means), self.subspace))

    def predictive(self, parameters: NormalWishartParameters, backend: Backend) -> IncompletePredictive:
        """Return a scorer of new rows: Student t in the subspace, noise outside of it.

        The margin of a Student t in some directions and of a Gaussian in others has no closed form. Rows with missing
        cells are scored by the Gaussian whose scores have the mean and the covariance of the Student t.
        """
        means, mean_precision, degrees, scatter, _ = parameters
        # The prior has more than q + 1 degrees, so that the Student t has a covariance.
        freedom = degrees - 1 - self.subspace.rank
        widths = (1.0 + 1.0 / mean_precision) / freedom
        whole = ProjectedScorer(self.scores.predictive(parameters, backend), self.subspace)
        covariances = widths[:, None, None] * scatter
        partly_seen = partial(PartlySeenEvaluator, means, covariances, np.zeros(len(means)), self.subspace)
        return IncompletePredictive(whole, partly_seen, partial_rows(len(means), self.subspace))

    def update(self, statistics: GaussianStatistics) -> NormalWishartParameters:
        """Return the posteriors of the scores' means and precisions."""
        return self.scores.update(statistics)

    def log_prior(self, parameters: NormalWishartParameters) -> float:
        """Return −Σ_k KL(q(θ_k) ‖ p(θ_k)) − ½ p ln n, with the p parameters of subspace and noise."""
        penalty = 0.5 * self.subspace.n_parameters * np.log(max(self.total, 1.0))
        return self.scores.log_prior(parameters) - float(penalty)

    def log_evidence(self, statistics: GaussianStatistics) -> FloatArray:
        """Return the log evidence of the scores of each component; the noise depends on the row alone."""
        return self.scores.log_evidence(statistics)

    def relearned(self, statistics: GaussianStatistics) -> Self:
        """Return the family whose prior of the scores is learned, where theirs is."""
        scores = self.scores.relearned(statistics)
        return self if scores is self.scores else replace(self, scores=scores)

    def divergence(self, parameters: NormalWishartParameters) -> FloatArray:
        """Return KL(q_k ‖ q_l) + KL(q_l ‖ q_k) of all pairs: those of the scores, for all else is shared."""
        return self.scores.divergence(parameters)

    def sample(self, parameters: NormalWishartParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component's posterior predictive distribution."""
        space = self.subspace
        rows = space.rows(self.scores.sample(parameters, component, n, random))
        noise = np.sqrt(space.noise) * random.standard_normal((n, space.n_columns))
        noise -= noise @ space.directions @ space.directions.T
        rows += space.scale * noise
        return rows

    def attributes(self, parameters: NormalWishartParameters) -> dict[str, FloatArray]:
        """Return the parameters in the units of the columns.

        ``means_`` (components, d). Covariances, as E[Λ]⁻¹, are B S_k Bᵀ + diag(v) with B = ``loadings_`` (d, q),
        S_k = ``factor_covariances_`` (components, q, q) and v = ``noise_variances_`` (d,). ``column_relevance_`` (d,)
        is the share of a column's variance that lies between the components.
        """
        means, mean_precision, degrees, scatter, _ = parameters
        space = self.subspace
        covariances = scatter / degrees[:, None, None] - space.noise * np.eye(space.rank)
        mass = mean_precision - self.scores.mean_precision
        return {
            "means_": space.rows(means),
            "loadings_": space.scale[:, None] * space.directions,
            "factor_covariances_": covariances,
            "noise_variances_": space.noise * np.square(space.scale),
            "mean_precision_": mean_precision,
            "degrees_of_freedom_": degrees,
            "column_relevance_": column_relevance(space, means, covariances, mass),
        }

    def around(self, means: FloatArray) -> NormalWishartParameters:
        """Return the prior moved to the scores of each of these means; without any column, it stays where it is."""
        unknown = np.isnan(means).all(axis=1, keepdims=True)
        placed = np.where(unknown, self.scores.mean, self.subspace.scores(means))
        return self.scores.around(placed)

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return self.scores.n_parameters(n_components) + self.subspace.n_parameters


def column_relevance(subspace: Subspace, means: FloatArray, covariances: FloatArray, mass: FloatArray) -> FloatArray:
    """Return the share of each column's variance that lies between components (d,), from 0 to 1.

    By the law of total variance, a column's variance in the mixture is Σ_k w_k (m_kj − m_j)² between its components
    plus Σ_k w_k Σ_kjj within them. The share is the same for all units of the column, and zero for one that never
    changes.

    Parameters
    ----------
    subspace : Subspace
    means : (components, q)
        Of the scores.
    covariances : (components, q, q)
        Of the scores, less the noise.
    mass : (components,)
        How many rows each component has.
    """
    shares = mass / max(float(mass.sum()), np.finfo(float).tiny)
    directions = subspace.directions
    deviations = (means - shares @ means) @ directions.T
    between = shares @ np.square(deviations)
    pooled = np.einsum("k,kij->ij", shares, covariances)
    within = np.einsum("ji,ji->j", directions @ pooled, directions) + subspace.noise
    return between / (between + within)
