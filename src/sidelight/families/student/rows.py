"""Student t rows: log densities, expected scales and statistics from distances.

A row of a Student t component is a Gaussian row whose precision is multiplied by a latent scale,
x | u ~ N(μ, Σ/u) with u ~ Gamma(ν/2, ν/2). Let D be the squared distance of the row from the component, by maximum
likelihood (x − μ)ᵀ Σ⁻¹ (x − μ), with posteriors its expectation, and p the number of observed cells. Then

    q(u) = Gamma((ν + p)/2, (ν + D)/2),   E u = (ν + p)/(ν + D),   E ln u = ψ((ν + p)/2) − ln((ν + D)/2)

(Liu and Rubin 1995 by maximum likelihood; Svensén and Bishop 2005 with posteriors). What the row adds to the
objective,

    E ln p(x, u) + H(q(u)) = ½ E ln|Λ| + ln Γ((ν + p)/2) − ln Γ(ν/2) − (p/2) ln πν − ((ν + p)/2) ln(1 + D/ν),

is the log density itself by maximum likelihood. So one evaluator does for both; sources of distances differ.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import GaussianStatistics, SquareStatistics, add_up
from sidelight.kernels.loops import front


@storable("StudentParameters")
class StudentParameters(NamedTuple):
    """Parameters of the Gaussians that scaled rows come from, and the degrees of freedom ν (components,)."""

    gaussians: Any
    tails: FloatArray


@storable("StudentStatistics")
@dataclass(frozen=True, eq=False)
class StudentStatistics:
    """Sums over rows and over their expected scales.

    Parameters
    ----------
    mass : (components,)
        Σ r.
    observed : (components, 1) or (components, columns)
        Σ r over the rows in which the column's cell is observed.
    deviations : (components,)
        Σ r (E ln u − E u).
    scaled_rows : GaussianStatistics or SquareStatistics
        Σ r u, Σ r u x and Σ r u x xᵀ.
    """

    mass: FloatArray
    observed: FloatArray
    deviations: FloatArray
    scaled_rows: GaussianStatistics | SquareStatistics

    def means(self) -> FloatArray:
        """Return the means (components, d), in which rows far out count less."""
        return self.scaled_rows.means()

    def __add__(self, other: "StudentStatistics") -> "StudentStatistics":
        return StudentStatistics(
            self.mass + other.mass,
            self.observed + other.observed,
            self.deviations + other.deviations,
            self.scaled_rows + other.scaled_rows,  # type: ignore[operator]
        )

    def scaled(self, factor: float) -> "StudentStatistics":
        """Return the statistics of the same rows, each counted ``factor`` times."""
        sums = (factor * self.mass, factor * self.observed, factor * self.deviations)
        return StudentStatistics(*sums, self.scaled_rows.scaled(factor))

    def rescaled(self, factors: FloatArray) -> "StudentStatistics":
        """Return the statistics of the same rows after their scales are multiplied by a factor of the component."""
        deviations = self.deviations + self.mass * np.log(factors) + self.scaled_rows.mass * (1.0 - factors)
        return StudentStatistics(self.mass, self.observed, deviations, self.scaled_rows.weighted(factors))

    def regrouped(self, groups: IntArray) -> "StudentStatistics":
        """Return the statistics of groups of components put together; those of group -1 are left out."""
        mass, observed, deviations = (add_up(sums, groups) for sums in (self.mass, self.observed, self.deviations))
        return StudentStatistics(mass, observed, deviations, self.scaled_rows.regrouped(groups))

    def paired(self, first: IntArray, second: IntArray) -> "StudentStatistics":
        """Return the statistics of pairs of components put together."""
        mass, observed, deviations = (
            values[first] + values[second] for values in (self.mass, self.observed, self.deviations)
        )
        return StudentStatistics(mass, observed, deviations, self.scaled_rows.paired(first, second))


class Distances(NamedTuple):
    """How far the rows of a block are from the components.

    Parameters
    ----------
    squares : (components, rows)
        D; it may be overwritten.
    log_roots : (components, rows or 1)
        ½ ln|Λ| of the observed cells, or its expectation.
    n_observed : (rows or 1,)
        p, the number of observed cells.
    """

    squares: FloatArray
    log_roots: FloatArray
    n_observed: FloatArray


class DistanceSource(ABC):
    """Distances of a block of rows, and sums over rows."""

    n_components: int
    block_rows: int

    @abstractmethod
    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""

    @abstractmethod
    def distances(self) -> Distances:
        """Return the distances of the block, in buffers that the next call overwrites."""

    @abstractmethod
    def add(self, scaled: FloatArray, responsibilities: FloatArray) -> None:
        """Add the sums of the block, by r u and r, both (components, rows)."""

    @abstractmethod
    def sums(self) -> tuple[FloatArray | None, GaussianStatistics | SquareStatistics]:
        """Return the sums since the last call, and start anew.

        First Σ r over the observed cells of each column, None where no cell is missing; then those of scaled rows.
        """


class StudentEvaluator(Evaluator[StudentStatistics]):
    """Log densities and statistics of Student t rows, by their distances; ``tails`` (components,) are ν."""

    def __init__(self, source: DistanceSource, tails: FloatArray) -> None:
        self.n_components = source.n_components
        self.block_rows = source.block_rows
        self._source = source
        self._tails = tails[:, None]
        # The scores that were handed out become responsibilities, so that scales are kept apart from them.
        self._scale_buffer = np.empty(self.n_components * self.block_rows)
        self._log_buffer = np.empty_like(self._scale_buffer)
        self._measured: Distances | None = None
        self._n_rows = 0
        self._start()

    def _start(self) -> None:
        self._mass = np.zeros(self.n_components)
        self._deviations = np.zeros(self.n_components)

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._source.load(block)
        self._measured = None

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        found = self._measured = self._measure()
        halves = 0.5 * (self._tails + found.n_observed)
        constants = gammaln(halves) - gammaln(0.5 * self._tails) + found.log_roots
        constants = constants - 0.5 * found.n_observed * np.log(np.pi * self._tails)
        scores = np.multiply(self._logs(), -halves, out=found.squares)
        scores += constants
        return scores

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        n_observed = (self._measure() if self._measured is None else self._measured).n_observed
        self._measured = None
        scaled = front(self._scale_buffer, *responsibilities.shape)
        scaled *= responsibilities
        mass = responsibilities.sum(axis=1)
        # E ln u = ln E u + ψ(a) − ln a with a = (ν + p)/2, and ln E u = ln(1 + p/ν) − ln(1 + D/ν).
        halves = 0.5 * (self._tails + n_observed)
        of_counts = digamma(halves) - np.log(0.5 * self._tails)
        expected = mass * of_counts[:, 0] if of_counts.shape[1] == 1 else (responsibilities * of_counts).sum(axis=1)
        logs = np.einsum("kn,kn->k", responsibilities, self._logs())
        self._mass += mass
        self._deviations += expected - logs - scaled.sum(axis=1)
        self._source.add(scaled, responsibilities)

    def statistics(self) -> StudentStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        observed, scaled_rows = self._source.sums()
        counts = self._mass[:, None] if observed is None else observed
        collected = StudentStatistics(self._mass, counts, self._deviations, scaled_rows)
        self._start()
        return collected

    def _measure(self) -> Distances:
        """Measure the block, and keep E u and ln(1 + D/ν) of its rows."""
        found = self._source.distances()
        ratios = found.squares
        # Rounding may leave a little less than no distance.
        np.maximum(ratios, 0.0, out=ratios)
        ratios /= self._tails
        self._n_rows = ratios.shape[1]
        np.log1p(ratios, out=self._logs())
        ratios += 1.0
        scales = front(self._scale_buffer, self.n_components, self._n_rows)
        np.divide(1.0 + found.n_observed / self._tails, ratios, out=scales)
        return found

    def _logs(self) -> FloatArray:
        return front(self._log_buffer, self.n_components, self._n_rows)


class QuadraticSource(DistanceSource):
    """Distances of complete rows from Gaussians, whose log densities are c − D/2 with c at the ``peaks`` (components,).

    ``log_roots`` (components,) are ½ ln|Λ| and d is the number of columns.
    """

    def __init__(
        self, gaussians: Evaluator[GaussianStatistics], peaks: FloatArray, log_roots: FloatArray, d: int
    ) -> None:
        self.n_components = gaussians.n_components
        self.block_rows = gaussians.block_rows
        self._gaussians = gaussians
        self._peaks = peaks[:, None]
        self._log_roots = log_roots[:, None]
        self._d = np.array([float(d)])

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        self._gaussians.load(block)

    def distances(self) -> Distances:
        """Return the distances of the block."""
        squares = self._gaussians.log_likelihood()
        squares -= self._peaks
        squares *= -2.0
        return Distances(squares, self._log_roots, self._d)

    def add(self, scaled: FloatArray, responsibilities: FloatArray) -> None:
        """Add the sums of the block."""
        self._gaussians.accumulate(scaled)

    def sums(self) -> tuple[FloatArray | None, GaussianStatistics]:
        """Return the sums since the last call, and start anew."""
        return None, self._gaussians.statistics()
