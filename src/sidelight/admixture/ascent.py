"""The model on its data: one pass over the rows is the E-step of every cell and the sums that the M-step needs."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from sidelight._typing import FloatArray, IntArray
from sidelight.admixture.cells import Accumulate
from sidelight.admixture.concentration import maximise_alpha
from sidelight.admixture.model import Densities, Parameters, State, dirichlet_bound, expected_log
from sidelight.admixture.scaling import Scaling
from sidelight.admixture.updates import Gaussians, Prior, Sums
from sidelight.inference.rows import Rows
from sidelight.tables.table import CHUNK_ROWS

Result = TypeVar("Result")

_BLOCK_ROWS = 256
_BLOCK_CELLS = 131_072
_CHUNK_SCORES = 20_000_000


class Expectation(NamedTuple):
    """What a pass gives: sums over rows, Σ Q over the cells of each block (blocks, K), and the cells' evidence."""

    sums: Sums
    mass: FloatArray
    evidence: float


class Part(NamedTuple):
    """A few rows of the table in the units of the fit, one attribute after the other.

    ``values`` (d, rows) are 0 and ``observed`` (d, rows) is 0 where a cell is missing; ``rows`` says which rows.
    """

    rows: slice
    values: FloatArray
    observed: FloatArray


@dataclass(frozen=True, eq=False)
class ProcessesOnData:
    """Latent process decomposition of a table whose rows fall into blocks, ready to be stepped.

    Parameters
    ----------
    rows : Rows
    blocks : (n,)
        Block of every row, 0 to the number of blocks less 1, each at least once. Rows of a block share θ.
    scaling : Scaling
        Parameters are in its units; the bound is in those of the table.
    prior : Prior
    accumulate : Accumulate
    n_threads : int
        The results are the same for any number.
    """

    rows: Rows
    blocks: IntArray
    scaling: Scaling
    prior: Prior
    accumulate: Accumulate
    n_threads: int = 1

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
                own = np.ascontiguousarray(offsets[self.blocks[part.rows]].T)
                evidence += self.accumulate(part.values, part.observed, densities, own, mass, sums)
                row_mass[part.rows] = mass.T
            return sums, evidence

        visits = self.visit_chunks(visit, n_processes)
        sums, evidence = next(visits)
        for more, part in visits:
            sums, evidence = sums + more, evidence + part
        return Expectation(Sums(*sums), self.by_block(row_mass), evidence)

    def bound(self, state: State, expectation: Expectation) -> float:
        """Return the bound at a state, given its expectation: Q is then the best there is for its γ."""
        alpha, means, variances = state.parameters
        prior = self.prior.log_density(Gaussians(means, variances))
        return expectation.evidence + dirichlet_bound(alpha, state.gamma) + prior - self.scaling.log_volume

    def maximise(self, state: State, expectation: Expectation) -> State:
        """Return the state after each of γ (eq. 7), α, means and variances (eqs. 8 and 9) is maximised in turn."""
        alpha, means, variances = state.parameters
        gamma = alpha + expectation.mass
        alpha = maximise_alpha(alpha, expected_log(gamma).mean(axis=0))
        gaussians = self.prior.update(expectation.sums, Gaussians(means, variances))
        return State(Parameters(alpha, *gaussians), gamma)

    def by_block(self, of_rows: FloatArray) -> FloatArray:
        """Add up what belongs to the rows (n, K) of each block."""
        return of_rows if self._membership is None else self._membership @ of_rows

    @cached_property
    def _membership(self) -> sparse.csr_array | None:
        """Blocks by rows, 1 where a row belongs; None where every row is a block by itself, in order."""
        n = len(self.blocks)
        if np.array_equal(self.blocks, np.arange(n)):
            return None
        shape = (int(self.blocks.max()) + 1, n)
        return sparse.csr_array((np.ones(n), (self.blocks, np.arange(n))), shape=shape)

    def parts(self, chunk: slice) -> Iterator[Part]:
        """Yield the rows of a chunk, a few at a time."""
        centre, scale = self.scaling.centre[:, None], self.scaling.scale[:, None]
        for block in self.rows.blocks(chunk, self._part_rows):
            assert isinstance(block.numbers, slice)
            values = np.asarray(block.values, dtype=float).T - centre
            values /= scale
            observed = np.ones_like(values)
            missing = np.isnan(values)
            if missing.any():
                values[missing] = observed[missing] = 0.0
            yield Part(block.numbers, np.ascontiguousarray(values), np.ascontiguousarray(observed))

    @property
    def _part_rows(self) -> int:
        return max(min(_BLOCK_ROWS, _BLOCK_CELLS // self.rows.shape[1]), 16)

    def visit_chunks(self, visit: Callable[[slice], Result], n_processes: int) -> Iterator[Result]:
        """Visit all rows, in threads if there are several, and yield the results in the order of the rows.

        The chunks depend on the shape of the problem alone, so that sums come out the same for any number of threads.
        """
        n, d = self.rows.shape
        size = max(min(CHUNK_ROWS, _CHUNK_SCORES // (d * n_processes)), self._part_rows)
        chunks = [slice(start, min(start + size, n)) for start in range(0, n, size)]
        n_threads = min(self.n_threads, len(chunks))
        if n_threads == 1:
            yield from map(visit, chunks)
        else:
            with ThreadPoolExecutor(n_threads) as threads:
                yield from threads.map(visit, chunks)
