"""Rows of many columns by their scores in a subspace: densities inside by another scorer, outside by isotropic noise.

The noise is the same in all components, so that it adds the same number to the log densities of a row under each.
"""

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray
from sidelight.families.evaluators.evaluator import Evaluator, Scorer
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.subspace import ConditionedScores, Subspace, condition, seen_part
from sidelight.kernels.loops import front, rows_per_block

# Doubles that the matrices of a block of rows with missing cells may take.
_BLOCK_DOUBLES = 1_000_000
_FEWEST_ROWS, _MOST_ROWS = 16, 384


class ProjectedScorer(Scorer):
    """Log densities of complete rows: ``inside`` of their scores, and the noise outside of the ``subspace``."""

    def __init__(self, inside: Scorer, subspace: Subspace) -> None:
        self.n_components = inside.n_components
        self.block_rows = min(inside.block_rows, rows_per_block(subspace.n_columns))
        self._inside = inside
        self._subspace = subspace
        outside = subspace.n_columns - subspace.rank
        self._constant = -0.5 * outside * np.log(2 * np.pi * subspace.noise) - np.log(subspace.scale).sum()
        self._outside = np.empty(0)

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        points = self._subspace.standardised(block)
        scores = points @ self._subspace.directions
        squares = np.einsum("nj,nj->n", points, points) - np.einsum("nj,nj->n", scores, scores)
        self._outside = self._constant - 0.5 / self._subspace.noise * np.maximum(squares, 0.0)
        if self._subspace.n_columns == self._subspace.rank:
            self._outside[:] = self._constant
        self._inside.load(scores)

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        scores = self._inside.log_likelihood()
        scores += self._outside
        return scores


class ProjectedEvaluator(ProjectedScorer, Evaluator[GaussianStatistics]):
    """The same with the statistics of the scores."""

    _inside: Evaluator[GaussianStatistics]

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        self._inside.accumulate(responsibilities)

    def statistics(self) -> GaussianStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        return self._inside.statistics()


def partial_rows(n_components: int, subspace: Subspace) -> int:
    """Return the number of rows with missing cells that are taken at once."""
    return min(max(_BLOCK_DOUBLES // (n_components * (2 * subspace.rank) ** 2), _FEWEST_ROWS), _MOST_ROWS)


class PartlySeenEvaluator(Evaluator[GaussianStatistics]):
    """Scores and statistics of rows with missing cells, whose scores in the subspace are latent variables.

    With q(μ, Λ) Normal-Wishart in the subspace, the best q of the missing cells and of the scores given the component
    is normal, as in :mod:`sidelight.families.evaluators.missing`: that of a row whose scores are N(m, Ψ / ν). The row
    adds to the bound r_k times ln N(y_o; W_o m, W_o A W_oᵀ + σ² I) + ``slack`` / 2 (see
    :func:`sidelight.families.subspace.condition`), and the statistics take the mean and the covariance of its scores.

    ``means`` (components, q), ``covariances`` (components, q, q) and ``slack`` (components,).
    """

    def __init__(self, means: FloatArray, covariances: FloatArray, slack: FloatArray, subspace: Subspace) -> None:
        self.n_components = len(means)
        self.block_rows = partial_rows(self.n_components, subspace)
        self._means = means
        self._covariances = covariances
        self._slack = slack
        self._subspace = subspace
        self._score_buffer = np.empty(self.n_components * self.block_rows)
        self._missing: BoolArray = np.empty((0, subspace.n_columns), dtype=bool)
        self._found: ConditionedScores | None = None
        self._start()

    def _start(self) -> None:
        self._mass = np.zeros(self.n_components)
        self._first = np.zeros_like(self._means)
        self._second = np.zeros_like(self._covariances)

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        points = self._subspace.standardised(block)
        self._missing = np.isnan(points)
        points[self._missing] = 0.0
        seen = seen_part(points, self._missing, self._subspace.directions)
        self._found = condition(seen, self._means, self._covariances, self._subspace.noise)

    def log_likelihood(self) -> FloatArray:
        """Return the scores (components, rows) of the block, in a buffer that the next call overwrites."""
        assert self._found is not None
        scores = front(self._score_buffer, self.n_components, len(self._missing))
        scores[:] = self._found.log_density.T + 0.5 * self._slack[:, None]
        scores -= ~self._missing @ np.log(self._subspace.scale)
        return scores

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        assert self._found is not None
        offsets = (self._found.means - self._means).swapaxes(0, 1)
        weighted = offsets * responsibilities[:, :, None]
        self._mass += responsibilities.sum(axis=1)
        self._first += weighted.sum(axis=1)
        self._second += weighted.swapaxes(1, 2) @ offsets
        self._second += np.einsum("kn,nkij->kij", responsibilities, self._found.covariances)

    def statistics(self) -> GaussianStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        collected = GaussianStatistics(self._mass, self._first, self._second, self._means)
        self._start()
        return collected
