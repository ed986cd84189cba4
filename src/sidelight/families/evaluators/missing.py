"""Gaussian rows with missing cells: factors that depend on which cells are missing are made once for each such pattern.

With q(μ, Λ) Normal-Wishart (m, κ, L, ν) and Ψ = L⁻¹, a row x = (x_o, x_m) of which only x_o is seen has x_m as a latent
of its own beside the component z, and q(z = k, x_m) = r_k q(x_m | k). The best q(x_m | k) is proportional to
exp E_q ln p(x | θ_k) = exp(c_k − ½ ν (x − m)ᵀ L (x − m)), c_k the value at the mean, hence normal:

    q(x_m | k) = N(m_m − L_mm⁻¹ L_mo (x_o − m_o), (ν L_mm)⁻¹) = N(m_m + Ψ_mo Ψ_oo⁻¹ (x_o − m_o), Ψ_m·o / ν),

where Ψ_m·o = Ψ_mm − Ψ_mo Ψ_oo⁻¹ Ψ_om. The row adds to the bound r_k times

    E ln p(x | θ_k) + H(q(x_m | k)) = ln ∫ exp E_q ln p(x | θ_k) dx_m
                                    = c_k + ½ |m| ln 2π − ½ ln|ν L_mm| − ½ ν (x_o − m_o)ᵀ Ψ_oo⁻¹ (x_o − m_o)

and |L_mm| = |L| |Ψ_oo|, so that only Ψ_oo is ever factored. The statistics take the mean and the covariance of
q(x_m | k) in place of the missing cells. As ν and κ grow this becomes the marginal density ln N(x_o; m_o, Ψ_oo / ν).
Integrating x_m out before the expectation would give a tighter bound, but no posterior that is Normal-Wishart.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.evaluators.evaluator import Evaluator, Scorer, Statistics
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian.full import precision_factors
from sidelight.kernels.loops import QuadraticForm, front, has_missing

# Doubles that the factors of the rows of a block may take.
_BLOCK_DOUBLES = 1_000_000
_FEWEST_ROWS, _MOST_ROWS = 16, 384

Score = Callable[[FloatArray, FloatArray, IntArray], FloatArray]


def pattern_rows(scatter: FloatArray) -> int:
    """Return the number of rows with missing cells that are taken at once, of components with these scatters."""
    return min(max(_BLOCK_DOUBLES // scatter.size, _FEWEST_ROWS), _MOST_ROWS)


class IncompletePredictive(Scorer):
    """Take complete rows to a quick scorer, ``whole``, and rows with missing cells to one that can score them.

    ``patterns`` makes the latter (a :class:`PatternEvaluator`, say), of blocks of at most ``most_rows`` rows, when the
    first such row comes.
    """

    def __init__(self, whole: Scorer, patterns: Callable[[], Scorer], most_rows: int) -> None:
        self.n_components = whole.n_components
        self.block_rows = min(whole.block_rows, most_rows)
        self._whole = whole
        self._make_partial = patterns
        self._partial: Scorer | None = None
        self._complete = self._incomplete = np.empty(0, dtype=np.int64)
        self._score_buffer = np.empty(0)

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        if not has_missing(block):
            self._incomplete = np.empty(0, dtype=np.int64)
            self._whole.load(block)
            return
        if self._partial is None:
            self._partial = self._make_partial()
            self._score_buffer = np.empty(self.n_components * self.block_rows)
        missing = np.isnan(block).any(axis=1)
        self._complete, self._incomplete = np.flatnonzero(~missing), np.flatnonzero(missing)
        self._whole.load(block[self._complete])
        self._partial.load(block[self._incomplete])

    def log_likelihood(self) -> FloatArray:
        """Return the scores (components, rows) of the block, in a buffer that the next call overwrites."""
        if self._partial is None or not len(self._incomplete):
            return self._whole.log_likelihood()
        n_rows = len(self._complete) + len(self._incomplete)
        scores = front(self._score_buffer, self.n_components, n_rows)
        scores[:, self._complete] = self._whole.log_likelihood()
        scores[:, self._incomplete] = self._partial.log_likelihood()
        return scores


class IncompleteRows(IncompletePredictive, Evaluator[Statistics]):
    """The same with statistics: those of rows with missing cells are added to those of ``whole``."""

    _whole: Evaluator[Statistics]
    _partial: Evaluator[Statistics] | None

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        if self._partial is None or not len(self._incomplete):
            self._whole.accumulate(responsibilities)
            return
        self._whole.accumulate(responsibilities[:, self._complete])
        self._partial.accumulate(responsibilities[:, self._incomplete])

    def statistics(self) -> Statistics:
        """Return the statistics accumulated since the last call, and start anew."""
        whole: Any = self._whole.statistics()
        return whole if self._partial is None else whole + self._partial.statistics()


class IncompleteEvaluator(IncompleteRows[GaussianStatistics]):
    """Gaussian rows, of which some have missing cells."""

    def quadratic_form(self) -> QuadraticForm | None:
        """Return the quadratic form of complete rows."""
        form = self._whole.quadratic_form()
        return None if form is None else form._replace(may_miss=True)

    def statistics(self) -> GaussianStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        found = super().statistics()
        # In the layout of a sum, so that rounding later does not depend on whether cells were missing elsewhere.
        return replace(found, first=np.ascontiguousarray(found.first))


class Patterns:
    """Factors of the observed columns' scatter, kept for the patterns met so far.

    ``factors`` (patterns, components, d, d) are lower triangular C with CᵀC = Ψ_oo⁻¹ among the observed columns and the
    identity on the missing ones, so that all patterns have one shape; ``log_scales`` (patterns, components) are
    ½ ln|Ψ_oo⁻¹| and ``observed`` (patterns, d) says which columns they are.
    """

    def __init__(self, scatter: FloatArray, capacity: int) -> None:
        n_components, d = scatter.shape[:2]
        self.factors = np.empty((capacity, n_components, d, d))
        self.log_scales = np.empty((capacity, n_components))
        self.observed = np.empty((capacity, d), dtype=bool)
        self._scatter = scatter
        self._slots: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._slots)

    def has_room_for(self, keys: list[bytes]) -> bool:
        """Say whether these patterns can be kept beside those that are."""
        return len(self._slots.keys() | keys) <= len(self.observed)

    def forget(self) -> None:
        """Forget all patterns."""
        self._slots = {}

    def slots(self, keys: list[bytes]) -> IntArray:
        """Return where patterns are kept, each given by the bytes of its row of ``observed``; there must be room."""
        new = [key for key in dict.fromkeys(keys) if key not in self._slots]
        if new:
            self._add(new)
        return np.array([self._slots[key] for key in keys], dtype=np.int64)

    def _add(self, keys: list[bytes]) -> None:
        start, stop = len(self._slots), len(self._slots) + len(keys)
        observed = np.frombuffer(b"".join(keys), dtype=bool).reshape(len(keys), -1)
        both = observed[:, None, :, None] & observed[:, None, None, :]
        factors = precision_factors(np.where(both, self._scatter, np.eye(observed.shape[1])))
        self.observed[start:stop] = observed
        self.factors[start:stop] = factors
        self.log_scales[start:stop] = np.log(np.diagonal(factors, axis1=2, axis2=3)).sum(axis=2)
        self._slots.update(zip(keys, range(start, stop), strict=True))


class PatternDistances(NamedTuple):
    """(x_o − m_o)ᵀ Ψ_oo⁻¹ (x_o − m_o) and ½ ln|Ψ_oo⁻¹|, both (components, rows), and |o| (rows,)."""

    distances: FloatArray
    log_scales: FloatArray
    n_observed: IntArray


class PatternRows:
    """Distances and sums of rows with missing cells, by m (components, d), Ψ (components, d, d) and ν (components,).

    Parameters
    ----------
    block_rows : int, optional
        Rows of a block, from :func:`pattern_rows` where not given.
    kept_doubles : int
        Doubles that the factors of all patterns met so far may take.
    """

    def __init__(
        self,
        means: FloatArray,
        scatter: FloatArray,
        degrees: FloatArray,
        *,
        block_rows: int | None = None,
        kept_doubles: int = 8_000_000,
    ) -> None:
        self.n_components, d = means.shape
        self.block_rows = pattern_rows(scatter) if block_rows is None else block_rows
        self._means = means
        self._scatter = scatter
        self._degrees = degrees
        kept = min(max(kept_doubles // scatter.size, self.block_rows), 2**d)
        self._patterns = Patterns(scatter, kept)
        self._factor_buffer = np.empty((self.block_rows, *scatter.shape))
        self._difference_buffer = np.empty((self.block_rows, self.n_components, d))
        self._white_buffer = np.empty_like(self._difference_buffer)
        self._slots = np.empty(0, dtype=np.int64)
        self._start()

    def _start(self) -> None:
        self._mass = np.zeros(self.n_components)
        self._first = np.zeros_like(self._means)
        self._second = np.zeros_like(self._scatter)
        self._pattern_mass = np.zeros(self._patterns.log_scales.shape)

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        missing = np.isnan(block)
        keys = [row.tobytes() for row in ~missing]
        if not self._patterns.has_room_for(keys):
            self._add_covariances()
            self._patterns.forget()
        self._slots = self._patterns.slots(keys)
        differences, white, factors = self._views()
        np.subtract(block[:, None], self._means, out=differences)
        # A missing cell adds nothing to the distance.
        np.copyto(differences, 0.0, where=missing[:, None])
        np.take(self._patterns.factors, self._slots, axis=0, out=factors)
        np.einsum("nkij,nkj->nki", factors, differences, out=white)

    def distances(self) -> PatternDistances:
        """Return the distances of the block, and what else the scores depend on."""
        _, white, _ = self._views()
        n_observed = self._patterns.observed[self._slots].sum(axis=1)
        return PatternDistances(
            np.einsum("nki,nki->kn", white, white), self._patterns.log_scales[self._slots].T, n_observed
        )

    def add(self, weights: FloatArray, of_covariances: FloatArray) -> None:
        """Add the sums of the block by weights of the rows and of the covariances of their missing cells.

        Both are (components, rows). They differ where rows have scales of their own: a row of scale u counts u times,
        and the covariance of its missing cells is u times smaller.
        """
        differences, white, factors = self._views()
        # A missing cell lies Ψ_mo Ψ_oo⁻¹ (x_o − m_o) from its mean.
        solved = np.einsum("nkij,nki->knj", factors, white)
        observed = self._patterns.observed[self._slots]
        deviations = np.where(observed, differences.swapaxes(0, 1), solved @ self._scatter)
        weighted = deviations * weights[:, :, None]
        self._mass += weights.sum(axis=1)
        self._first += weighted.sum(axis=1)
        self._second += weighted.swapaxes(1, 2) @ deviations
        np.add.at(self._pattern_mass, self._slots, of_covariances.T)

    def statistics(self) -> GaussianStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        self._add_covariances()
        collected = GaussianStatistics(self._mass, self._first, self._second, self._means)
        self._start()
        return collected

    def _views(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the loaded rows' differences from the means, these whitened, and the factors that do so."""
        n = len(self._slots)
        return self._difference_buffer[:n], self._white_buffer[:n], self._factor_buffer[:n]

    def _add_covariances(self) -> None:
        """Add the covariances of the missing cells of all rows so far to the second moments."""
        for slot in range(len(self._patterns)):
            seen, factors = self._patterns.observed[slot], self._patterns.factors[slot]
            lost = ~seen
            white = factors @ np.where(seen[:, None] & lost, self._scatter, 0.0)
            remainder = np.where(lost[:, None] & lost, self._scatter, 0.0) - white.swapaxes(1, 2) @ white
            self._second += (self._pattern_mass[slot] / self._degrees)[:, None, None] * remainder
        self._pattern_mass[: len(self._patterns)] = 0.0


class PatternEvaluator(PatternRows, Evaluator[GaussianStatistics]):
    """The same as log densities: ``score(distances, log_scales, n_observed)`` makes them of `PatternDistances`."""

    def __init__(
        self,
        means: FloatArray,
        scatter: FloatArray,
        degrees: FloatArray,
        score: Score,
        *,
        block_rows: int | None = None,
        kept_doubles: int = 8_000_000,
    ) -> None:
        super().__init__(means, scatter, degrees, block_rows=block_rows, kept_doubles=kept_doubles)
        self._score = score
        self._score_buffer = np.empty(self.n_components * self.block_rows)

    def log_likelihood(self) -> FloatArray:
        """Return the scores (components, rows) of the block, in a buffer that the next call overwrites."""
        scores = front(self._score_buffer, self.n_components, len(self._slots))
        scores[:] = self._score(*self.distances())
        return scores

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        self.add(responsibilities, responsibilities)
