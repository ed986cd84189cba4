"""A mixture and its data: one pass takes log densities, assignments and statistics of block after block."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.inference.coupled_rows import TiedCoupling, TiedExpectation, TiedRows, Write
from sidelight.inference.executors.threads import share_out
from sidelight.inference.fused import can_sweep, sweep
from sidelight.inference.protocols import Evaluator, Family, RowCoupling, Weights
from sidelight.inference.rows import Block, Rows
from sidelight.kernels.loops import Backend

Result = TypeVar("Result")


@storable("MixtureState")
class MixtureState(NamedTuple):
    """Where the ascent stands.

    Parameters
    ----------
    parameters : the family's
    weights : the weights' parameters
    coupled : optional
        What the coupling of tied rows remembers of the last E-step.
    """

    parameters: Any
    weights: Any
    coupled: Any = None


class Expectation(NamedTuple):
    """What one pass gives: statistics of all rows, counts for the weights, the evidence, what tied rows remember."""

    statistics: Any
    class_mass: FloatArray
    evidence: float
    coupled: Any


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
    joint : TiedCoupling, optional
        How rows that are tied together are; ``rows`` must leave these out.
    backend : Backend
    n_threads : int
        The results are the same for any number.
    """

    rows: Rows
    family: Family[Any, Any]
    weights: Weights
    coupling: RowCoupling
    joint: TiedCoupling | None
    backend: Backend
    n_threads: int = 1

    def step(self, state: MixtureState) -> tuple[MixtureState, float]:
        """Return the next state and the objective of the given one."""
        expectation = self.expect(state)
        return self.maximise(expectation, state), self.objective(state, expectation)

    def objective(self, state: MixtureState, expectation: Expectation) -> float:
        """Return the objective at a state, given its expectation."""
        return expectation.evidence + self._log_prior(state)

    def maximise(self, expectation: Expectation, state: MixtureState) -> MixtureState:
        """Return the state that maximises the objective given an expectation, which was taken at ``state``."""
        statistics = expectation.statistics
        weights = self.weights.update(statistics.mass, expectation.class_mass, state.weights)
        return MixtureState(self.family.update(statistics), weights, expectation.coupled)

    def expect(self, state: MixtureState) -> Expectation:
        """Pass over all rows: E-step and statistics."""
        log_weights = self.weights.log(state.weights)

        def visit(evaluator: Evaluator[Any], chunk: slice) -> tuple[Any, float]:
            evidence = self._sweep(evaluator, chunk, log_weights)
            if evidence is not None:
                return evaluator.statistics(), evidence
            evidence = 0.0
            for block, responsibilities, log_evidence in self._assigned(evaluator, chunk, log_weights):
                evaluator.accumulate(responsibilities)
                evidence += float(log_evidence @ block.weights)
            return evaluator.statistics(), evidence

        visits = self._visit_chunks(visit, state)
        total, evidence = next(visits)
        for statistics, part in visits:
            total, evidence = total + statistics, evidence + part
        class_mass = class_sums(total.mass, self.weights.classes)
        if self.joint is None:
            return Expectation(total, class_mass, evidence, None)
        tied = self.expect_tied(state)
        return Expectation(
            total + tied.statistics, class_mass + tied.class_counts, evidence + tied.evidence, tied.memory
        )

    def expect_tied(self, state: MixtureState) -> TiedExpectation:
        """Take the tied rows alone through E-step and statistics."""
        assert self.joint is not None
        return self.joint.expect(self._tied(state, self.joint), self.weights.log(state.weights), state.coupled)

    def assignments(self, state: MixtureState, write: Write) -> float:
        """Pass over all rows to tell how they are assigned; return the objective.

        ``write(row_numbers, posterior, log_evidence)`` receives posteriors (rows, components) that sum to one over
        components; the log evidence (rows,) is None for rows that have none of their own, being tied to others.
        """
        log_weights = self.weights.log(state.weights)

        def visit(evaluator: Evaluator[Any], chunk: slice) -> float:
            evidence = 0.0
            for block, responsibilities, log_evidence in self._assigned(evaluator, chunk, log_weights, weighted=False):
                write(block.numbers, responsibilities.T, log_evidence)
                evidence += float(log_evidence @ block.weights)
            return evidence

        evidence = sum(self._visit_chunks(visit, state))
        if self.joint is not None:
            evidence += self.joint.assign(self._tied(state, self.joint), log_weights, state.coupled, write)
        return evidence + self._log_prior(state)

    def _tied(self, state: MixtureState, joint: TiedCoupling) -> TiedRows:
        evaluator = partial(self._evaluator, state)
        return TiedRows(self.rows.X, joint.rows, evaluator, state.parameters, self.n_threads)

    def _log_prior(self, state: MixtureState) -> float:
        return self.family.log_prior(state.parameters) + self.weights.log_prior(state.weights)

    def _evaluator(self, state: MixtureState) -> Evaluator[Any]:
        return self.family.evaluator(state.parameters, self.backend)

    def _sweep(self, evaluator: Evaluator[Any], chunk: slice, log_weights: FloatArray) -> float | None:
        """Accumulate a chunk by a fused loop, where family and coupling have one; return its evidence."""
        if not (self.coupling.soft and can_sweep(evaluator, self.backend)):
            return None
        block = self.rows.whole(chunk)
        evidence = sweep(evaluator, self.backend, block, log_weights, classes=self.weights.classes)
        self.rows.release(chunk)
        return evidence

    def _assigned(
        self, evaluator: Evaluator[Any], chunk: slice, log_weights: FloatArray, *, weighted: bool = True
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

    def _visit_chunks(self, visit: Callable[[Evaluator[Any], slice], Result], state: MixtureState) -> Iterator[Result]:
        """Visit every chunk, in threads if there are several, and yield the results in the order of the rows."""
        return share_out(visit, self.rows.chunks(), partial(self._evaluator, state), self.n_threads)


def class_sums(component_mass: FloatArray, classes: IntArray) -> FloatArray:
    """Return what the components of each class add up to."""
    return np.bincount(classes, weights=component_mass).astype(float)
