"""The model on its data: one pass over the rows is the E-step of every cell and collects the sums of the M-step.

The probabilities Q of the latent variables are never stored for the whole table. A buffer that fits the cache holds
those of a few attributes at a time, and only their sums are kept.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from sidelight._typing import FloatArray, IntArray
from sidelight.admixture.m_step import Gaussians, Prior, Sums, maximise_alpha
from sidelight.admixture.model import Densities, Parameters, State, dirichlet_bound, expected_log
from sidelight.admixture.scaling import Scaling
from sidelight.inference.executors.threads import ONE_THREAD
from sidelight.inference.protocols import Executor
from sidelight.kernels.loops import softmax, worth_compiling
from sidelight.tables.table import CHUNK_ROWS, Rows, row_ranges

_CACHE_DOUBLES = 64_000
_PART_CELLS = 131_072
_LEAST_PART_ROWS = 16

Result = TypeVar("Result")
# Values, observed, densities, offsets, row mass, sums → evidence; see accumulate.
CellKernel = Callable[[FloatArray, FloatArray, Densities, FloatArray, FloatArray, FloatArray], float]


def accumulate(
    values: FloatArray,
    observed: FloatArray,
    densities: Densities,
    offsets: FloatArray,
    row_mass: FloatArray,
    sums: FloatArray,
) -> float:
    """Add the sums of a few rows and return their evidence, Σ over cells of ln Σ_k exp(offset_k) N_k(x).

    Li, Ying and Campbell, eq. 6, and the sums that eqs. 7 to 9 need.
    ``values`` (d, rows) are any number and ``observed`` (d, rows) is 0 where a cell is missing, else 1; ``offsets``
    (K, rows) are E ln θ of every row's block. Σ Q over attributes is added to ``row_mass`` (K, rows), and Σ Q, Σ Q x
    and Σ Q x² over rows to ``sums`` (3, K, d).
    """
    n_processes, n_rows = offsets.shape
    d = len(values)
    width = max(_CACHE_DOUBLES // (n_processes * n_rows), 1)
    buffer, log_evidence = np.empty(n_processes * width * n_rows), np.empty(width * n_rows)
    no_offsets = np.zeros(n_processes)
    evidence = 0.0
    for start in range(0, d, width):
        columns = slice(start, min(start + width, d))
        shape = (n_processes, columns.stop - columns.start, n_rows)
        scores = buffer[: shape[0] * shape[1] * shape[2]].reshape(shape)
        x, weights = values[columns], observed[columns]
        densities.columns(columns).log(x, out=scores)
        scores += offsets[:, None, :]
        cells = log_evidence[: x.size]
        softmax(scores.reshape(n_processes, -1), no_offsets, weights.reshape(-1), cells)
        evidence += float(cells @ weights.reshape(-1))
        row_mass += scores.sum(axis=1)
        powers = np.stack([np.ones_like(x), x, np.square(x)], axis=2)
        sums[:, :, columns] += (scores.transpose(1, 0, 2) @ powers).transpose(2, 1, 0)
    return evidence


def kernel_for(n_scores: int, *, threshold: int = 200_000_000) -> CellKernel:
    """Return the form that is quicker for about ``n_scores`` cells times processes times passes in all.

    Loading the compiled form takes about a second; NumPy needs about 9 ns more per score.
    """
    if worth_compiling(n_scores, threshold):
        compiled: CellKernel = import_module("sidelight.admixture.compiled").accumulate
        return compiled
    return accumulate


class Expectation(NamedTuple):
    """Result of a pass: sums over rows, Σ Q over the cells of each block (blocks, K), and the evidence of all cells."""

    sums: Sums
    mass: FloatArray
    evidence: float


class Part(NamedTuple):
    """A few rows of the table in the units of the fit, one attribute after the other.

    ``values`` (d, rows) are 0 and ``observed`` (d, rows) is 0 where a cell is missing; ``rows`` are the row numbers.
    """

    rows: slice
    values: FloatArray
    observed: FloatArray


@dataclass(frozen=True, eq=False)
class Decomposition:
    """Latent process decomposition of a table whose rows fall into blocks.

    Parameters
    ----------
    blocks : (n,)
        Block of every row, 0 to the number of blocks less 1, each at least once. Rows of a block share θ.
    scaling : Scaling
        Parameters are in its units; the bound is in those of the table.
    executor : Executor
        Runs the chunks of a pass; the results do not depend on it.
    part_rows, chunk_scores : int
        Most rows that the kernel takes at a time, fewer in a table with many columns; most cells times processes that a
        thread takes at a time.
    """

    rows: Rows
    blocks: IntArray
    scaling: Scaling
    prior: Prior
    kernel: CellKernel
    executor: Executor = ONE_THREAD
    part_rows: int = 256
    chunk_scores: int = 20_000_000

    def step(self, state: State) -> tuple[State, float]:
        """Return the next state and the bound of the given one."""
        expectation = self.expect(state)
        return self.maximise(state, expectation), self.bound(state, expectation)

    def expect(self, state: State) -> Expectation:
        """Pass over all rows (Li, Ying and Campbell, eq. 6): Q of every cell given γ, and its sums."""
        densities = Densities.of(state.parameters.means, state.parameters.variances)
        n_processes, d = densities.means.shape
        offsets = expected_log(state.gamma)
        row_mass = np.empty((len(self.blocks), n_processes))

        def visit(chunk: slice) -> tuple[FloatArray, float]:
            sums, evidence = np.zeros((3, n_processes, d)), 0.0
            for part in self.parts(chunk):
                mass = np.zeros((n_processes, part.values.shape[1]))
                row_offsets = np.ascontiguousarray(offsets[self.blocks[part.rows]].T)
                evidence += self.kernel(part.values, part.observed, densities, row_offsets, mass, sums)
                row_mass[part.rows] = mass.T
            return sums, evidence

        visits = self.visit_chunks(visit, n_processes)
        sums, evidence = next(visits)
        for more, part in visits:
            sums, evidence = sums + more, evidence + part
        return Expectation(Sums(*sums), self.by_block(row_mass), evidence)

    def bound(self, state: State, expectation: Expectation) -> float:
        """Return the bound at a state, given its expectation, in which Q is the best for γ."""
        alpha, means, variances = state.parameters
        prior = self.prior.log_density(Gaussians(means, variances))
        return expectation.evidence + dirichlet_bound(alpha, state.gamma) + prior - self.scaling.log_volume

    def maximise(self, state: State, expectation: Expectation) -> State:
        """Return the state after γ (eq. 7), α, means and variances (eqs. 8 and 9) are maximised in turn."""
        alpha, means, variances = state.parameters
        gamma = alpha + expectation.mass
        alpha = maximise_alpha(alpha, expected_log(gamma).mean(axis=0))
        gaussians = self.prior.update(expectation.sums, Gaussians(means, variances))
        return State(Parameters(alpha, *gaussians), gamma)

    def by_block(self, row_values: FloatArray) -> FloatArray:
        """Return the sums over the rows of each block (blocks, K) of values (n, K)."""
        return row_values if self._membership is None else self._membership @ row_values

    @cached_property
    def _membership(self) -> sparse.csr_array | None:
        """Blocks by rows, 1 where a row belongs to the block; None where block c is row c alone."""
        n = len(self.blocks)
        if np.array_equal(self.blocks, np.arange(n)):
            return None
        shape = (int(self.blocks.max()) + 1, n)
        return sparse.csr_array((np.ones(n), (self.blocks, np.arange(n))), shape=shape)

    def parts(self, chunk: slice) -> Iterator[Part]:
        """Yield the rows of a chunk, a few at a time."""
        for part in self.rows.blocks(chunk, self._rows_per_part):
            assert isinstance(part.numbers, slice)
            values = np.ascontiguousarray(self.scaling.standardise(part.values).T)
            observed = np.ones_like(values)
            missing = np.isnan(values)
            if missing.any():
                values[missing] = observed[missing] = 0.0
            yield Part(part.numbers, values, observed)

    @property
    def _rows_per_part(self) -> int:
        return max(min(self.part_rows, _PART_CELLS // self.rows.shape[1]), _LEAST_PART_ROWS)

    def visit_chunks(self, visit: Callable[[slice], Result], n_processes: int) -> Iterator[Result]:
        """Visit all rows, chunk by chunk, and yield the results in the order of the rows.

        The chunks depend only on the shape of the problem, so that sums are the same for any number of threads.
        """
        n, d = self.rows.shape
        size = max(min(CHUNK_ROWS, self.chunk_scores // (d * n_processes)), self._rows_per_part)
        return self.executor.run(lambda _, chunk: visit(chunk), row_ranges(n, size), lambda: None)
