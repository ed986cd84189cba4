"""The Potts field: labels attract their own and repel others, links pull together and push apart."""

from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np

from sidelight.couplings.choice import softly
from sidelight.couplings.field.plan import Plan, Stage
from sidelight.inference.protocols import Evaluator
from sidelight.inference.threads import share_out
from sidelight.inference.tied import TiedExpectation, TiedRows, Write
from sidelight.kernels.arrays import AnyArray, FloatArray, IntArray
from sidelight.kernels.backend import Backend

# Atoms at a time: a field of so many stays in the cache between its steps.
_PART = 2048
# From so many linked atoms on, their posterior is remembered in single precision: half as much to fetch from all over
# the memory, and rounding errors of so many links average out.
_MANY = 100_000
_NO_CLASSES = np.empty(0, dtype=np.int64)


class FieldMemory(NamedTuple):
    """What the next E-step starts from.

    Parameters
    ----------
    sums : (labels, components)
        S_c, the responsibilities of all rows of each label.
    posterior : (linked atoms, components)
    """

    sums: FloatArray
    posterior: AnyArray


class _Part(NamedTuple):
    """What some atoms give: statistics, Σ r·u + H(r), and their part of the energy of links that is settled."""

    statistics: Any
    value: float
    affinity: float


@dataclass(frozen=True, eq=False)
class PottsField:
    """Side information as a likelihood, p(statements | z) ∝ exp(−E(z)) (after Echraibi et al. 2019, section 2.3).

    With S_c = Σ r_n over the rows of label c, n_c of them,

        E = Σ_c (λ / 2 n_c) (n_c² − |S_c|²) + Σ_{c<c'} ρ λ S_c·S_c' / √(n_c n_c')
            + Σ_must w (1 − r_a·r_b) + Σ_cannot w r_a·r_b.

    The paper weights pairs by a divergence between components, which moves with them, so that its normaliser is no
    constant and its updates raise no bound. A constant potential has a constant normaliser: the bound is one, all rows
    count for the weights, and every step raises it. The paper's labels only attract (ρ = 0); then nothing keeps two
    labels from sharing a component.

    The first term contains a row's pull on itself, (λ / 2 n_c)(1 − |r_n|²) ≥ 0, which only lowers the bound and makes
    the energy concave in the rows of one label, so that all of them can be updated at once. Labels repel each other one
    after the other, and linked atoms go by sets without links among them.

    Parameters
    ----------
    plan : Plan
    strength : float
        λ.
    repulsion : float
        ρ.
    backend : Backend
    """

    plan: Plan
    strength: float
    repulsion: float
    backend: Backend
    monotone = True

    @cached_property
    def rows(self) -> IntArray:
        """Numbers of the rows that something is said about."""
        return np.concatenate([stage.rows for stage in self.plan.stages])

    @cached_property
    def _counts(self) -> FloatArray:
        """n_c."""
        n_labels = max(stage.label for stage in self.plan.stages) + 1
        counts = np.zeros(n_labels)
        for stage in self.plan.stages:
            if stage.label >= 0:
                counts[stage.label] += _masses(stage).sum()
        return counts

    @cached_property
    def _attitude(self) -> FloatArray:
        """How a row of one label feels about the rows of another, (labels, labels): −∂E/∂r = attitude @ S."""
        if not len(self._counts):
            return np.empty((0, 0))
        between = -self.repulsion * self.strength / np.sqrt(np.outer(self._counts, self._counts))
        np.fill_diagonal(between, self.strength / self._counts)
        return between

    def expect(self, tied: TiedRows, log_weights: FloatArray, memory: FieldMemory | None) -> TiedExpectation:
        """Take the tied rows through E-step and statistics, stage by stage."""
        return self._sweep(tied, log_weights, memory, None)

    def assign(self, tied: TiedRows, log_weights: FloatArray, memory: FieldMemory | None, write: Write) -> float:
        """Write how the tied rows are assigned; return their evidence."""
        return self._sweep(tied, log_weights, memory, write).evidence

    def regrouped(self, memory: FieldMemory, groups: IntArray) -> FieldMemory:
        """Return the memory with components put together by groups; those of group -1 are forgotten."""
        together = (groups[:, None] == np.arange(groups.max() + 1)).astype(memory.posterior.dtype)
        return FieldMemory(memory.sums @ together, memory.posterior @ together)

    def _sweep(
        self, tied: TiedRows, log_weights: FloatArray, memory: FieldMemory | None, write: Write | None
    ) -> TiedExpectation:
        k = len(log_weights)
        before = self._blank(k) if memory is None else memory
        sums, posterior = before.sums.copy(), np.empty_like(before.posterior)
        workers = [tied.evaluator() for _ in range(tied.n_threads)]
        found: list[Any] = []
        value, affinity = 0.0, 0.0
        own = np.zeros((max(len(sums), 1), k))
        for number, stage in enumerate(self.plan.stages):
            offset = log_weights + (self._attitude[stage.label] @ sums if stage.label >= 0 else 0.0)
            update = partial(self._update, tied, stage, offset, before.posterior, posterior, write)
            parts = list(share_out(update, _parts(len(stage.starts)), partial(next, iter(workers)), tied.n_threads))
            gathered = reduce(add, (part.statistics for part in parts))
            found.append(gathered)
            value += sum(part.value for part in parts) + float((log_weights - offset) @ gathered.mass)
            affinity += sum(part.affinity for part in parts)
            if stage.label >= 0:
                own[stage.label] += gathered.mass
                if number + 1 == len(self.plan.stages) or self.plan.stages[number + 1].label != stage.label:
                    sums[stage.label] = own[stage.label]
        statistics = reduce(add, found)
        evidence = value - self._energy(sums, affinity)
        return TiedExpectation(statistics, statistics.mass, evidence, FieldMemory(sums, posterior))

    def _blank(self, k: int) -> FieldMemory:
        """Return what there is to remember before the first E-step: nothing pulls anywhere."""
        n = self.plan.n_linked
        kind = np.float32 if n >= _MANY else np.float64
        return FieldMemory(np.zeros((len(self._counts), k)), np.zeros((n, k), dtype=kind))

    def _energy(self, sums: FloatArray, affinity: float) -> float:
        labels = 0.5 * float(self.strength * self._counts.sum() - np.einsum("ck,cd,dk->", sums, self._attitude, sums))
        return labels + self.plan.must_weight - affinity

    def _update(
        self,
        tied: TiedRows,
        stage: Stage,
        offset: FloatArray,
        before: AnyArray,
        posterior: AnyArray,
        write: Write | None,
        evaluator: Evaluator,
        part: slice,
    ) -> _Part:
        """Update some atoms of a stage, and remember their posterior if they are linked."""
        k, n = len(offset), part.stop - part.start
        shares = early = None
        if stage.early is not None and stage.late is not None:
            early, shares = np.zeros((n, k)), np.zeros((n, k))
            self.backend.add_neighbours(*stage.early.part(part), posterior, early)
            self.backend.add_neighbours(*stage.late.part(part), before, shares)
            shares += early
        elif write is not None:
            shares = np.zeros((n, k))
        choose = self._choose_singly if len(stage.rows) == len(stage.starts) else self._choose_together
        value = choose(tied, stage, offset, shares, evaluator, part)
        affinity = 0.0
        if early is not None and shares is not None:
            posterior[stage.place + part.start : stage.place + part.stop] = shares
            affinity = float(np.einsum("a,ak,ak->", stage.weights[part], early, shares))
        if write is not None and shares is not None:
            sizes = np.diff(np.append(stage.starts, len(stage.rows)))[part]
            write(_rows(stage, part), np.repeat(shares, sizes, axis=0), None)
        return _Part(evaluator.statistics(), value, affinity)

    def _choose_singly(
        self,
        tied: TiedRows,
        stage: Stage,
        offset: FloatArray,
        field: FloatArray | None,
        evaluator: Evaluator,
        part: slice,
    ) -> float:
        """Update atoms of one row each; ``field`` becomes their posterior."""
        values, weights = tied.X[stage.rows[part]], stage.weights[part]
        swept = evaluator.sweep_softly(values, offset, None, _NO_CLASSES, weights, field)
        if swept is not None:
            return swept
        total = 0.0
        for start in range(0, values.shape[0], evaluator.block_rows):
            block = slice(start, start + evaluator.block_rows)
            evaluator.load(values[block])
            scores = evaluator.log_likelihood()
            if field is not None:
                scores += field[block].T
            evidence = np.empty(scores.shape[1])
            self.backend.softmax(scores, offset, weights[block], evidence)
            total += float(evidence @ weights[block])
            evaluator.accumulate(scores)
            if field is not None:
                total -= float(np.vdot(scores.T, field[block]))
                field[block] = scores.T / weights[block, None]
        return total

    def _choose_together(
        self,
        tied: TiedRows,
        stage: Stage,
        offset: FloatArray,
        field: FloatArray | None,
        evaluator: Evaluator,
        part: slice,
    ) -> float:
        """Update atoms of several rows, which share a component; ``field`` becomes their posterior."""
        rows = _rows(stage, part)
        first = stage.starts[part.start]
        row_weights = stage.row_weights[first : first + len(rows)]
        scores = np.empty((len(rows), len(offset)))
        blocks = [slice(start, start + evaluator.block_rows) for start in range(0, len(rows), evaluator.block_rows)]
        for block in blocks:
            evaluator.load(tied.X[rows[block]])
            scores[block] = (evaluator.log_likelihood().T + offset) * row_weights[block, None]
        starts = stage.starts[part] - first
        totals = np.add.reduceat(scores, starts, axis=0)
        shares, value = softly(totals if field is None else totals + field)
        weights = stage.weights[part]
        total = float(weights @ value)
        if field is not None:
            total -= float(np.einsum("a,ak,ak->", weights, shares, field))
            field[:] = shares
        sizes = np.diff(np.append(starts, len(rows)))
        responsibilities = np.repeat(shares * weights[:, None], sizes, axis=0) * row_weights[:, None]
        for block in blocks:
            evaluator.load(tied.X[rows[block]])
            evaluator.accumulate(np.ascontiguousarray(responsibilities[block].T))
        return total


def _masses(stage: Stage) -> FloatArray:
    """Return how many rows each atom of a stage stands for."""
    return stage.weights * np.add.reduceat(stage.row_weights, stage.starts)


def _rows(stage: Stage, part: slice) -> IntArray:
    """Return the rows of some atoms of a stage."""
    bounds = np.append(stage.starts, len(stage.rows))
    return stage.rows[bounds[part.start] : bounds[part.stop]]


def _parts(n: int) -> list[slice]:
    return [slice(start, min(start + _PART, n)) for start in range(0, n, _PART)]
