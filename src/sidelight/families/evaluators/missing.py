"""Gaussian rows with missing cells.

With q(μ, Λ) Normal-Wishart (m, κ, L, ν) and Ψ = L⁻¹, a row x = (x_o, x_m) of which only x_o is seen has x_m as a latent
of its own beside the component z, and q(z = k, x_m) = r_k q(x_m | k). The best q(x_m | k) is proportional to
exp E_q ln p(x | θ_k) = exp(c_k − ½ ν (x − m)ᵀ L (x − m)), c_k the value at the mean, hence normal:

    q(x_m | k) = N(m_m − L_mm⁻¹ L_mo (x_o − m_o), (ν L_mm)⁻¹).

The row adds to the bound r_k times

    E ln p(x | θ_k) + H(q(x_m | k)) = ln ∫ exp E_q ln p(x | θ_k) dx_m
                                    = c_k + ½ |m| ln 2π − ½ ln|ν L_mm| − ½ ν (x* − m)ᵀ L (x* − m),

x* being the row with the mean of q(x_m | k) in place of its missing cells. The statistics take that mean, and the
covariance of q(x_m | k). As ν and κ grow this becomes the marginal density ln N(x_o; m_o, Ψ_oo / ν), since
(x* − m)ᵀ L (x* − m) = (x_o − m_o)ᵀ Ψ_oo⁻¹ (x_o − m_o) and |L| = |L_mm| / |Ψ_oo|. Integrating x_m out before the
expectation would give a tighter bound, but no posterior that is Normal-Wishart.

Only L_mm is factored, once for each pattern of missing cells: most rows lack few cells. With CᵀC = L it is AᵀA, A being
the columns m of C, and is factored as A is (R of A = QR), which loses no digits to the square.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.families.evaluators.evaluator import Evaluator, Scorer, Statistics
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian.full import powers_of_two, precision_factors
from sidelight.kernels.loops import QuadraticForm, front, has_missing

# Doubles that what is computed of the rows of a block may take at once.
_BLOCK_DOUBLES = 1_000_000
_FEWEST_ROWS, _MOST_ROWS = 16, 384

Score = Callable[[FloatArray, FloatArray, IntArray], FloatArray]


def pattern_rows(scatter: FloatArray) -> int:
    """Return the number of rows with missing cells that are taken at once, of components with these scatters."""
    n_components, d = scatter.shape[:2]
    return min(max(_BLOCK_DOUBLES // (n_components * d), _FEWEST_ROWS), _MOST_ROWS)


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


class Pattern(NamedTuple):
    """What depends on which columns of a row are missing.

    Parameters
    ----------
    missing : (m,)
        The columns.
    covariances : (components, m, m)
        L_mm⁻¹, of columns in their scales.
    log_scales : (components,)
        ½ ln|L| − ½ ln|L_mm| = ½ ln|Ψ_oo⁻¹|, of columns in their own units.
    """

    missing: IntArray
    covariances: FloatArray
    log_scales: FloatArray


class Patterns:
    """The patterns met so far, by factors C (components, d, d) of L = CᵀC whose columns are in these scales."""

    def __init__(self, factors: FloatArray, scales: FloatArray, most_doubles: int) -> None:
        self.kept: list[Pattern] = []
        self._factors = factors
        self._log_scales = np.log(scales)
        # ½ ln|L|, of columns in their own units.
        self._log_whole = (np.log(np.diagonal(factors, axis1=1, axis2=2)) - self._log_scales).sum(axis=1)
        self._most_doubles = most_doubles
        self._doubles = 0
        self._slots: dict[bytes, int] = {}

    def has_room_for(self, missing: BoolArray) -> bool:
        """Say whether the patterns of these rows (n, d) can be kept beside those that are, or are the first."""
        new = [row.sum() for row in missing if row.tobytes() not in self._slots]
        needed = len(self._factors) * int(np.square(new).sum())
        return not self.kept or self._doubles + needed <= self._most_doubles

    def forget(self) -> None:
        """Forget all patterns."""
        self.kept, self._slots, self._doubles = [], {}, 0

    def slots(self, missing: BoolArray) -> IntArray:
        """Return which of the patterns kept each row (n, d) has; new ones are kept."""
        keys = [row.tobytes() for row in missing]
        new = {key: row for key, row in zip(keys, missing, strict=True) if key not in self._slots}
        by_size: dict[int, list[bytes]] = {}
        for key, row in new.items():
            by_size.setdefault(int(row.sum()), []).append(key)
        for size, alike in by_size.items():
            at_once = max(_BLOCK_DOUBLES // (self._factors[:, :, 0].size * max(size, 1)), 1)
            for start in range(0, len(alike), at_once):
                self._add(alike[start : start + at_once], new)
        return np.array([self._slots[key] for key in keys], dtype=np.int64)

    def _add(self, keys: list[bytes], rows: dict[bytes, BoolArray]) -> None:
        """Keep patterns of as many missing columns."""
        missing = np.array([np.flatnonzero(rows[key]) for key in keys])
        # (patterns, components, d, m): of each pattern the columns of the factors that are missing.
        triangles = np.linalg.qr(self._factors[:, :, missing].transpose(2, 0, 1, 3), mode="r")
        diagonals = np.abs(np.diagonal(triangles, axis1=2, axis2=3))
        # Brought to one scale before they are inverted, which compares rows.
        norms = powers_of_two(diagonals)
        inverses = np.linalg.inv(triangles / norms[..., :, None]) / norms[..., None, :]
        covariances = inverses @ inverses.swapaxes(2, 3)
        of_missing = self._log_scales[:, missing].sum(axis=2).T
        log_scales = self._log_whole + of_missing - np.log(diagonals).sum(axis=2)
        self._slots.update(zip(keys, range(len(self.kept), len(self.kept) + len(keys)), strict=True))
        self.kept += [Pattern(*found) for found in zip(missing, covariances, log_scales, strict=True)]
        self._doubles += covariances.size


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
        Doubles that what is known of all patterns met so far may take.
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
        self.n_components = len(means)
        self.block_rows = pattern_rows(scatter) if block_rows is None else block_rows
        self._means = means
        self._degrees = degrees
        # Columns may be of very different scales: here each is in its own, a power of two, which is exact.
        self._scales = powers_of_two(np.sqrt(np.diagonal(scatter, axis1=1, axis2=2)))
        self._factors = precision_factors(scatter) * self._scales[:, None, :]
        self._patterns = Patterns(self._factors, self._scales, kept_doubles)
        self._slots = np.empty(0, dtype=np.int64)
        self._deviations = self._white = np.empty((self.n_components, 0, means.shape[1]))
        self._start()

    def _start(self) -> None:
        self._mass = np.zeros(self.n_components)
        self._first = np.zeros_like(self._means)
        self._second = np.zeros_like(self._factors)
        self._pattern_mass = np.zeros((len(self._patterns.kept), self.n_components))

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        missing = np.isnan(block)
        if not self._patterns.has_room_for(missing):
            self._add_covariances()
            self._patterns.forget()
            self._pattern_mass = self._pattern_mass[:0]
        self._slots = self._patterns.slots(missing)
        new = np.zeros((len(self._patterns.kept) - len(self._pattern_mass), self.n_components))
        self._pattern_mass = np.concatenate([self._pattern_mass, new])
        # A missing cell lies at its mean, until the others of its row are known.
        differences = np.where(missing, 0.0, block - self._means[:, None]) / self._scales[:, None]
        whiten = self._factors.swapaxes(1, 2)
        slopes = differences @ whiten @ self._factors
        n_missing = missing.sum(axis=1)
        for m in np.unique(n_missing[n_missing > 0]).tolist():
            at_once = max(_BLOCK_DOUBLES // (self.n_components * m * m), 1)
            rows = np.flatnonzero(n_missing == m)
            for start in range(0, len(rows), at_once):
                self._fill(differences, slopes, rows[start : start + at_once])
        self._deviations = differences
        self._white = differences @ whiten

    def _fill(self, differences: FloatArray, slopes: FloatArray, rows: IntArray) -> None:
        """Put the mean of the missing cells, − L_mm⁻¹ L_mo (x_o − m_o) from theirs, of rows that lack as many."""
        patterns = [self._patterns.kept[slot] for slot in self._slots[rows]]
        columns = np.array([pattern.missing for pattern in patterns])
        covariances = np.array([pattern.covariances for pattern in patterns])
        of_missing = slopes[:, rows[:, None], columns]
        differences[:, rows[:, None], columns] = -np.einsum("nkij,knj->kni", covariances, of_missing)

    def distances(self) -> PatternDistances:
        """Return the distances of the block, and what else the scores depend on."""
        patterns = [self._patterns.kept[slot] for slot in self._slots]
        log_scales = np.array([pattern.log_scales for pattern in patterns]).reshape(-1, self.n_components)
        n_missing = np.array([len(pattern.missing) for pattern in patterns], dtype=np.int64)
        distances = np.einsum("kni,kni->kn", self._white, self._white)
        return PatternDistances(distances, log_scales.T, self._means.shape[1] - n_missing)

    def add(self, weights: FloatArray, of_covariances: FloatArray) -> None:
        """Add the sums of the block by weights of the rows and of the covariances of their missing cells.

        Both are (components, rows). They differ where rows have scales of their own: a row of scale u counts u times,
        and the covariance of its missing cells is u times smaller.
        """
        deviations = self._deviations * self._scales[:, None]
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

    def _add_covariances(self) -> None:
        """Add the covariances of the missing cells of all rows so far to the second moments."""
        for mass, (missing, covariances, _) in zip(self._pattern_mass, self._patterns.kept, strict=True):
            scales = self._scales[:, missing]
            found = covariances * scales[:, :, None] * scales[:, None, :]
            self._second[:, missing[:, None], missing] += (mass / self._degrees)[:, None, None] * found
        self._pattern_mass[:] = 0.0


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
