"""The Potts field: labels attract their own and repel others, links pull together and push apart."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.couplings.potts.plan import Plan, Stage
from sidelight.inference.fused import can_sweep, sweep
from sidelight.inference.mixture import CoupledRows, FixedCoupling
from sidelight.inference.protocols import Assignment, CoupledExpectation, CouplingState, Evaluator
from sidelight.kernels.loops import Backend, Links, PosteriorTables, softly
from sidelight.tables.table import Block, row_ranges

_NOTHING = np.empty(0, dtype=np.int64)

_Evaluator = Evaluator[Any]


@storable("FieldMemory")
class FieldMemory(NamedTuple):
    """What the next E-step starts from.

    ``sums`` (labels, components) are S_c, the responsibilities of all rows of each label; the posterior (linked atoms,
    padded components) is from :class:`sidelight.kernels.loops.PosteriorTables`.
    """

    sums: FloatArray
    posterior: AnyArray


class _Part(NamedTuple):
    """What some atoms give: statistics, rows (m,) and the posterior of these, None where a sweep does not tell it.

    The value is Σ r·u + H(r), with u the log densities and what early neighbours add.
    """

    statistics: Any
    value: float
    numbers: IntArray
    posterior: FloatArray | None


@dataclass(frozen=True, eq=False)
class PottsField(FixedCoupling[FieldMemory]):
    """Side information as a likelihood, p(statements | z) ∝ exp(−E(z)) (after Echraibi et al. 2019, section 2.3).

    With S_c = Σ r_n over the rows of label c, n_c of them,

        E = Σ_c (λ / 2 n_c) (n_c² − |S_c|²) + Σ_{c<c'} ρ λ S_c·S_c' / √(n_c n_c')
            + Σ_must w (1 − r_a·r_b) + Σ_cannot w r_a·r_b.

    The paper weights pairs by a divergence between components, which moves with them, so that its normaliser varies and
    its objective is not a bound. A constant potential has a constant normaliser: the objective is a bound, all rows
    count for the weights, and every step raises it. The paper's labels only attract (ρ = 0), so that two labels may
    share a component.

    The first term contains a row's pull on itself, (λ / 2 n_c)(1 − |r_n|²) ≥ 0, which only lowers the bound and makes
    the energy concave in the rows of one label, so that all of them can be updated at once. Labels repel each other one
    after the other, and linked atoms go by sets without links among them.

    Parameters
    ----------
    strength, repulsion : float
        λ and ρ.
    noise : bool
        Whether the last component is noise, which a labelled row never is.
    part_atoms : int
        Atoms that one task takes at a time, whatever the number of threads, so that sums are the same.
    single_precision_from : int
        Number of linked atoms from which on their posterior is remembered in single precision: half as much to fetch
        from all over the memory, and rounding errors of many links average out.
    """

    plan: Plan
    strength: float
    repulsion: float
    backend: Backend
    part_atoms: int = 24 * 768
    single_precision_from: int = 100_000
    noise: bool = False
    monotone = True

    @cached_property
    def _tables(self) -> PosteriorTables:
        return PosteriorTables()

    @cached_property
    def rows(self) -> IntArray:
        """Numbers of the rows that side information mentions."""
        return np.concatenate([stage.rows for stage in self.plan.stages])

    @cached_property
    def _counts(self) -> FloatArray:
        """n_c."""
        counts = np.zeros(max(stage.label for stage in self.plan.stages) + 1)
        for stage in self.plan.stages:
            if stage.label >= 0:
                counts[stage.label] += (stage.weights * np.add.reduceat(stage.row_weights, stage.starts)).sum()
        return counts

    @cached_property
    def _interaction(self) -> FloatArray:
        """Interaction of the labels, (labels, labels): −∂E/∂r = interaction @ S."""
        if not len(self._counts):
            return np.empty((0, 0))
        between = -self.repulsion * self.strength / np.sqrt(np.outer(self._counts, self._counts))
        np.fill_diagonal(between, self.strength / self._counts)
        return between

    def expect(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[None, FieldMemory]
    ) -> CoupledExpectation[None, FieldMemory]:
        """Take the coupled rows through E-step and statistics, stage by stage."""
        return self._sweep(rows, log_weights, state.memory, None)

    def assign(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[None, FieldMemory]
    ) -> Iterator[Assignment]:
        """Yield how the coupled rows are assigned."""
        parts: list[_Part] = []
        evidence = self._sweep(rows, log_weights, state.memory, parts).evidence
        for part in parts:
            assert part.posterior is not None
            yield Assignment(part.numbers, part.posterior, 0.0)
        yield Assignment(_NOTHING, np.empty((0, len(log_weights))), evidence)

    def regrouped(self, state: CouplingState[None, FieldMemory], groups: IntArray) -> CouplingState[None, FieldMemory]:
        """Return the state with components put together by groups; those of group -1 are forgotten."""
        memory = state.memory
        assert memory is not None
        together = (groups[:, None] == np.arange(groups.max() + 1)).astype(float)
        fewer = self._blank(together.shape[1])
        fewer.posterior[:, : together.shape[1]] = memory.posterior[:, : len(groups)] @ together
        return CouplingState(None, FieldMemory(memory.sums @ together, fewer.posterior))

    def _sweep(
        self, coupled: CoupledRows, log_weights: FloatArray, memory: FieldMemory | None, kept: list[_Part] | None
    ) -> CoupledExpectation[None, FieldMemory]:
        """Update all atoms, stage by stage; keep what every part gives where a list is given for it."""
        k = len(log_weights)
        before = self._blank(k) if memory is None else memory
        sums, after = before.sums.copy(), self._tables.empty(self.plan.n_linked, k, before.posterior.dtype.type)
        workers: list[_Evaluator] = []
        found: list[Any] = []
        value = 0.0
        own = np.zeros((max(len(sums), 1), k))
        for number, stage in enumerate(self.plan.stages):
            offset = log_weights + (self._interaction[stage.label] @ sums if stage.label >= 0 else 0.0)
            if self.noise and stage.label >= 0:
                offset[-1] = -np.inf
            update = partial(self._update, coupled, stage, offset, before.posterior, after, kept is not None)
            tasks = row_ranges(len(stage.starts), self.part_atoms)
            parts = list(coupled.executor.run(update, tasks, _reused(workers, coupled)))
            if kept is not None:
                kept += [part._replace(statistics=None) for part in parts]
            gathered = reduce(add, (part.statistics for part in parts))
            found.append(gathered)
            # A component that is closed to these rows has none of them.
            pulls = np.where(np.isfinite(offset), log_weights - offset, 0.0)
            value += sum(part.value for part in parts) + float(pulls @ gathered.mass)
            if stage.label >= 0:
                own[stage.label] += gathered.mass
                if number + 1 == len(self.plan.stages) or self.plan.stages[number + 1].label != stage.label:
                    sums[stage.label] = own[stage.label]
        statistics = reduce(add, found)
        evidence = value - self._energy(sums)
        state = CouplingState(None, FieldMemory(sums, after))
        return CoupledExpectation(statistics, statistics.mass, evidence, state)

    def _blank(self, k: int) -> FieldMemory:
        """Return the memory before the first E-step: all zeros."""
        n = self.plan.n_linked
        kind = np.float32 if n >= self.single_precision_from else np.float64
        posterior = self._tables.empty(n, k, kind)
        posterior[:] = 0.0
        return FieldMemory(np.zeros((len(self._counts), k)), posterior)

    def _energy(self, sums: FloatArray) -> float:
        """Return the energy of the labels, and of the links as if all were broken."""
        labels = 0.5 * float(
            self.strength * self._counts.sum() - np.einsum("ck,cd,dk->", sums, self._interaction, sums)
        )
        return labels + self.plan.must_weight

    def _update(
        self,
        coupled: CoupledRows,
        stage: Stage,
        offset: FloatArray,
        before: AnyArray,
        after: AnyArray,
        keep: bool,
        evaluator: _Evaluator,
        part: slice,
    ) -> _Part:
        """Update some atoms of a stage, and keep their posterior if they are linked."""
        links = None
        if stage.early is not None and stage.late is not None:
            early, late = stage.early.part(part), stage.late.part(part)
            links = Links(early, late, before, after, stage.place + part.start)
        weights = stage.weights[part]
        alone = len(stage.rows) == len(stage.starts)
        compiled = self.backend.linked_sweep is not None
        if alone and not keep and compiled and can_sweep(evaluator, self.backend):
            numbers = stage.rows[part]
            block = Block(numbers, coupled.table.take(numbers), weights, None)
            swept = sweep(evaluator, self.backend, block, offset, links=links)
            if swept is not None:
                return _Part(evaluator.statistics(), swept, _NOTHING, None)
        choose = self._choose_singly if alone else self._choose_together
        field, from_late = self._pulls(links, len(weights), len(offset))
        shares, value = choose(coupled, stage, offset, field, evaluator, part)
        if links is not None:
            value -= float(np.einsum("a,ak,ak->", weights, shares, from_late))
            # The posterior is kept where the neighbours look it up.
            own = links.after[links.place : links.place + len(shares)]
            own[:, : len(offset)], own[:, len(offset) :] = shares, 0.0
        if not keep:
            return _Part(evaluator.statistics(), value, _NOTHING, None)
        sizes = np.diff(np.append(stage.starts, len(stage.rows)))[part]
        return _Part(evaluator.statistics(), value, _rows(stage, part), np.repeat(shares, sizes, axis=0))

    def _pulls(self, links: Links | None, n: int, k: int) -> tuple[FloatArray, FloatArray]:
        """Return what all neighbours, and what late ones, add to the scores of n atoms (atoms, components)."""
        if links is None:
            nothing = np.broadcast_to(0.0, (n, k))
            return nothing, nothing
        from_late = np.zeros((n, k))
        self.backend.add_neighbours(*links.late, links.before, from_late)
        field = from_late.copy()
        self.backend.add_neighbours(*links.early, links.after, field)
        return field, from_late

    def _choose_singly(
        self,
        coupled: CoupledRows,
        stage: Stage,
        offset: FloatArray,
        field: FloatArray,
        evaluator: _Evaluator,
        part: slice,
    ) -> tuple[FloatArray, float]:
        """Return the posterior of atoms of one row each, and their evidence."""
        rows, weights = stage.rows[part], stage.weights[part]
        shares, total, ones = np.empty(field.shape), 0.0, np.ones(evaluator.block_rows)
        for start in range(0, len(rows), evaluator.block_rows):
            block = slice(start, start + evaluator.block_rows)
            evaluator.load(coupled.table.take(rows[block]))
            scores = evaluator.log_likelihood()
            scores += field[block].T
            evidence = np.empty(scores.shape[1])
            self.backend.softmax(scores, offset, ones[: scores.shape[1]], evidence)
            total += float(evidence @ weights[block])
            shares[block] = scores.T
            scores *= weights[block]
            evaluator.accumulate(scores)
        return shares, total

    def _choose_together(
        self,
        coupled: CoupledRows,
        stage: Stage,
        offset: FloatArray,
        field: FloatArray,
        evaluator: _Evaluator,
        part: slice,
    ) -> tuple[FloatArray, float]:
        """Return the posterior of atoms of several rows, which share a component, and their evidence."""
        rows = _rows(stage, part)
        first = stage.starts[part.start]
        row_weights = stage.row_weights[first : first + len(rows)]
        scores = np.empty((len(rows), len(offset)))
        blocks = [slice(start, start + evaluator.block_rows) for start in range(0, len(rows), evaluator.block_rows)]
        for block in blocks:
            evaluator.load(coupled.table.take(rows[block]))
            scores[block] = (evaluator.log_likelihood().T + offset) * row_weights[block, None]
        starts = stage.starts[part] - first
        shares, value = softly(np.add.reduceat(scores, starts, axis=0) + field)
        weights = stage.weights[part]
        sizes = np.diff(np.append(starts, len(rows)))
        responsibilities = np.repeat(shares * weights[:, None], sizes, axis=0) * row_weights[:, None]
        for block in blocks:
            evaluator.load(coupled.table.take(rows[block]))
            evaluator.accumulate(np.ascontiguousarray(responsibilities[block].T))
        return shares, float(weights @ value)


def _reused(workers: list[_Evaluator], coupled: CoupledRows) -> Callable[[], _Evaluator]:
    """Return what gives a stage its evaluators: those of the stages before, then new ones."""
    idle = iter(tuple(workers))

    def take() -> _Evaluator:
        worker = next(idle, None)
        if worker is None:
            worker = coupled.evaluator()
            workers.append(worker)
        return worker

    return take


def _rows(stage: Stage, part: slice) -> IntArray:
    """Return the rows of some atoms of a stage."""
    bounds = np.append(stage.starts, len(stage.rows))
    return stage.rows[bounds[part.start] : bounds[part.stop]]
