"""A mixture and its data: one pass takes log densities, assignments and statistics of block after block."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sidelight.inference.protocols import EStep, Evaluator, Family, JointCoupling, RowCoupling, Weights
from sidelight.inference.rows import Block, Rows
from sidelight.kernels.arrays import FloatArray, IntArray
from sidelight.kernels.backend import Backend

Result = TypeVar("Result")


class MixtureState(NamedTuple):
    """Where the ascent stands.

    Parameters
    ----------
    parameters : the family's
    log_weights : (components,)
    coupled : (rows, components), optional
        Posterior of the jointly coupled rows at the last E-step.
    """

    parameters: Any
    log_weights: FloatArray
    coupled: FloatArray | None = None


class Expectation(NamedTuple):
    """What one pass gives: statistics of all rows, counts for the weights, the evidence, the coupled rows' E-step."""

    statistics: Any
    class_mass: FloatArray
    evidence: float
    coupled: EStep | None


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture and its data, ready to be stepped: family × weights × coupling.

    Parameters
    ----------
    rows : Rows
    family : Family
    weights : Weights
    coupling : RowCoupling
        How rows that stand alone are assigned.
    joint : JointCoupling, optional
        How rows that are tied together are; ``rows`` must leave these out.
    backend : Backend
    n_threads : int
        The results are the same for any number.
    """

    rows: Rows
    family: Family
    weights: Weights
    coupling: RowCoupling
    joint: JointCoupling | None
    backend: Backend
    n_threads: int = 1

    def step(self, state: MixtureState) -> tuple[MixtureState, float]:
        """Return the next state and the objective of the given one."""
        expectation = self.expect(state)
        return self.maximise(expectation), self.objective(state, expectation)

    def objective(self, state: MixtureState, expectation: Expectation) -> float:
        """Return the objective at a state, given its expectation."""
        return expectation.evidence + self._log_prior(state)

    def maximise(self, expectation: Expectation) -> MixtureState:
        """Return the state that maximises the objective given an expectation."""
        statistics = expectation.statistics
        log_weights = self.weights.update(statistics.mass, expectation.class_mass)
        coupled = None if expectation.coupled is None else expectation.coupled.posterior
        return MixtureState(self.family.update(statistics), log_weights, coupled)

    def expect(self, state: MixtureState) -> Expectation:
        """Pass over all rows: E-step and statistics."""

        def visit(evaluator: Evaluator, chunk: slice) -> tuple[Any, float]:
            evidence = self._sweep(evaluator, chunk, state.log_weights)
            if evidence is not None:
                return evaluator.statistics(), evidence
            evidence = 0.0
            for block, responsibilities, log_evidence in self._assigned(evaluator, chunk, state.log_weights):
                evaluator.accumulate(responsibilities)
                evidence += float(log_evidence @ block.weights)
            return evaluator.statistics(), evidence

        visits = self._visit_chunks(visit, state)
        total, evidence = next(visits)
        for statistics, part in visits:
            total, evidence = total + statistics, evidence + part
        class_mass = class_sums(total.mass, self.weights.classes)
        coupled = self.couple(state)
        if coupled is not None:
            total = total + self._joint_statistics(state, coupled.responsibilities)
            class_mass = class_mass + coupled.class_counts
            evidence += coupled.evidence
        return Expectation(total, class_mass, evidence, coupled)

    def assignments(self, state: MixtureState, write: Callable[[Any, FloatArray, FloatArray | None], None]) -> float:
        """Pass over all rows to tell how they are assigned; return the objective.

        ``write(row_numbers, posterior, log_evidence)`` receives posteriors (rows, components) that sum to one over
        components; the log evidence (rows,) is None for rows that have none of their own, being tied to others.
        """

        def visit(evaluator: Evaluator, chunk: slice) -> float:
            evidence = 0.0
            for block, responsibilities, log_evidence in self._assigned(
                evaluator, chunk, state.log_weights, weighted=False
            ):
                write(block.numbers, responsibilities.T, log_evidence)
                evidence += float(log_evidence @ block.weights)
            return evidence

        evidence = sum(self._visit_chunks(visit, state))
        coupled = self.couple(state)
        if coupled is not None and self.joint is not None:
            write(self.joint.rows, coupled.posterior, None)
            evidence += coupled.evidence
        return evidence + self._log_prior(state)

    def couple(self, state: MixtureState) -> EStep | None:
        """Return the E-step of the jointly coupled rows, None where there are none."""
        if self.joint is None:
            return None
        evaluator = self._evaluator(state)
        log_likelihood = np.empty((len(self.joint.rows), evaluator.n_components))
        for numbers, values in self._joint_blocks(evaluator.block_rows):
            evaluator.load(values)
            log_likelihood[numbers] = evaluator.log_likelihood().T
        return self.joint(log_likelihood, state.log_weights, state.coupled)

    def _joint_statistics(self, state: MixtureState, responsibilities: FloatArray) -> Any:
        evaluator = self._evaluator(state)
        for numbers, values in self._joint_blocks(evaluator.block_rows):
            evaluator.load(values)
            evaluator.accumulate(np.ascontiguousarray(responsibilities[numbers].T))
        return evaluator.statistics()

    def _joint_blocks(self, block_rows: int) -> Iterator[tuple[slice, Any]]:
        assert self.joint is not None
        rows = self.joint.rows
        for start in range(0, len(rows), block_rows):
            numbers = slice(start, min(start + block_rows, len(rows)))
            yield numbers, self.rows.X[rows[numbers]]

    def _log_prior(self, state: MixtureState) -> float:
        return self.family.log_prior(state.parameters) + self.weights.log_prior(state.log_weights)

    def _evaluator(self, state: MixtureState) -> Evaluator:
        return self.family.evaluator(state.parameters, self.backend)

    def _sweep(self, evaluator: Evaluator, chunk: slice, log_weights: FloatArray) -> float | None:
        """Accumulate a chunk at once, where family and coupling can; return its evidence."""
        block = self.rows.whole(chunk) if self.coupling.soft else None
        if block is None:
            return None
        classes = self.weights.classes
        evidence = evaluator.sweep_softly(block.values, log_weights, block.codes, classes, block.weights)
        self.rows.release(chunk)
        return evidence

    def _assigned(
        self, evaluator: Evaluator, chunk: slice, log_weights: FloatArray, *, weighted: bool = True
    ) -> Iterator[tuple[Block, FloatArray, FloatArray]]:
        """Yield blocks with their responsibilities (components, rows) and log evidence (rows,)."""
        buffer, ones = np.empty(evaluator.block_rows), np.ones(evaluator.block_rows)
        for block in self.rows.blocks(chunk, evaluator.block_rows):
            evaluator.load(block.values)
            scores = evaluator.log_likelihood()
            evidence = buffer[: scores.shape[1]]
            weights = block.weights if weighted else ones[: scores.shape[1]]
            self.coupling(scores, log_weights, block.codes, weights, evidence)
            yield block, scores, evidence

    def _visit_chunks(self, visit: Callable[[Evaluator, slice], Result], state: MixtureState) -> Iterator[Result]:
        """Visit every chunk, in threads if there are several, and yield the results in the order of the rows."""
        chunks = self.rows.chunks()
        n_threads = min(self.n_threads, len(chunks))
        idle: SimpleQueue[Evaluator] = SimpleQueue()
        for _ in range(n_threads):
            idle.put(self._evaluator(state))

        def task(chunk: slice) -> Result:
            evaluator = idle.get()
            try:
                return visit(evaluator, chunk)
            finally:
                idle.put(evaluator)

        if n_threads == 1:
            yield from map(task, chunks)
        else:
            with ThreadPoolExecutor(n_threads) as threads:
                yield from threads.map(task, chunks)


def class_sums(component_mass: FloatArray, classes: IntArray) -> FloatArray:
    """Return what the components of each class add up to."""
    return np.bincount(classes, weights=component_mass).astype(float)
