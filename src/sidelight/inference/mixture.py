"""A mixture and its data: one pass takes log densities, assignments and statistics of block after block.

Rows that stand alone go through in blocks; rows that a coupling takes, together.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.inference.executors.threads import ONE_THREAD
from sidelight.inference.journal import Journal
from sidelight.inference.protocols import (
    AnyFamily,
    Assignment,
    CoupledExpectation,
    Coupling,
    CouplingState,
    EStep,
    Evaluator,
    Executor,
    RowCoupling,
    Scorer,
    Weights,
)
from sidelight.inference.visits import Visit
from sidelight.kernels.loops import Backend
from sidelight.tables.table import CHUNK_ROWS, ArrayTable, Rows, Table, row_ranges

Memory = TypeVar("Memory")


@storable("MixtureState")
class MixtureState(NamedTuple):
    """Where the ascent stands.

    Parameters
    ----------
    parameters : the family's
    weights : the weights' parameters
    couplings : tuple of CouplingState
        One for each coupling; empty where all of them begin anew.
    """

    parameters: Any
    weights: Any
    couplings: tuple[CouplingState[Any, Any], ...] = ()

    def afresh(self) -> "MixtureState":
        """Return the state with couplings that begin anew: theirs are of other rows."""
        return self._replace(couplings=())


class Expectation(NamedTuple):
    """What one pass gives: statistics of all rows, counts for the weights, the evidence, and each coupling's part."""

    statistics: Any
    class_mass: FloatArray
    evidence: float
    coupled: tuple[CoupledExpectation[Any, Any], ...] = ()


@dataclass(frozen=True, eq=False)
class CoupledRows:
    """Some rows of a table under a family at fixed parameters.

    Parameters
    ----------
    table : Table
    numbers : (m,)
        Which rows these are.
    evaluator : callable
        Makes an evaluator at the parameters.
    parameters : the family's
    executor : Executor
    """

    table: Table
    numbers: IntArray
    evaluator: Callable[[], Evaluator[Any]]
    parameters: Any
    executor: Executor

    def only(self, numbers: IntArray) -> "CoupledRows":
        """Return some rows, by their numbers in the table."""
        return replace(self, numbers=numbers)

    def fetched(self, numbers: IntArray) -> "CoupledRows":
        """Return some rows, fetched once: they may be anywhere in the table, and are needed several times."""
        return replace(self, table=ArrayTable(self.table.take(numbers)), numbers=np.arange(len(numbers)))

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (rows, components)."""
        log_likelihood = np.empty((len(self.numbers), self.evaluator().n_components))

        def work(evaluator: Evaluator[Any], part: slice) -> None:
            for block in _blocks(part, evaluator.block_rows):
                evaluator.load(self.table.take(self.numbers[block]))
                log_likelihood[block] = evaluator.log_likelihood().T

        for _ in self.executor.run(work, self._parts(), self.evaluator):
            pass
        return log_likelihood

    def statistics(self, responsibilities: FloatArray) -> Any:
        """Return the statistics under responsibilities (rows, components)."""

        def work(evaluator: Evaluator[Any], part: slice) -> Any:
            for block in _blocks(part, evaluator.block_rows):
                evaluator.load(self.table.take(self.numbers[block]))
                evaluator.accumulate(np.ascontiguousarray(responsibilities[block].T))
            return evaluator.statistics()

        return reduce(add, self.executor.run(work, self._parts(), self.evaluator))

    def _parts(self) -> list[slice]:
        return row_ranges(len(self.numbers), CHUNK_ROWS) or [slice(0, 0)]


def _blocks(part: slice, block_rows: int) -> list[slice]:
    return [slice(start, min(start + block_rows, part.stop)) for start in range(part.start, part.stop, block_rows)]


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture and its data, ready to be stepped: family × weights × couplings.

    Parameters
    ----------
    rows : Rows
    family : Family
    weights : Weights
    coupling : RowCoupling
        How rows that stand alone are assigned.
    couplings : tuple of Coupling
        How rows that depend on each other are; a row is taken by one of them at most.
    backend : Backend
    executor : Executor
        Who runs the chunks of a pass; the results do not depend on it.
    log_jacobian : float
        Part of the objective: the sum over rows of the log determinant of the transforms that the table went through,
        so that densities are those of the rows before.
    journal : Journal, optional
        Keeps what passes give on disk.
    """

    rows: Rows
    family: AnyFamily
    weights: Weights
    coupling: RowCoupling
    couplings: tuple[Coupling[Any, Any], ...]
    backend: Backend
    executor: Executor = ONE_THREAD
    log_jacobian: float = 0.0
    journal: Journal | None = None

    @cached_property
    def alone(self) -> Rows:
        """The rows that no coupling takes."""
        taken = [coupling.rows for coupling in self.couplings if coupling.takes_rows]
        if not taken:
            return self.rows
        left_out = np.zeros(self.rows.shape[0], dtype=bool)
        left_out[np.concatenate(taken)] = True
        return replace(self.rows, left_out=left_out)

    def step(self, state: MixtureState) -> tuple[MixtureState, float]:
        """Return the next state and the objective of the given one: E-step, then M-step."""
        expectation = self.expect(state)
        return self.maximise(expectation, state), self.objective(state, expectation)

    def objective(self, state: MixtureState, expectation: Expectation) -> float:
        """Return the objective at a state, given its expectation."""
        used = tuple(part.state for part in expectation.coupled)
        return expectation.evidence + self.log_jacobian + self.log_prior(state._replace(couplings=used))

    def log_prior(self, state: MixtureState) -> float:
        """Return what the parameters add to the objective by themselves."""
        total = self.family.log_prior(state.parameters) + self.weights.log_prior(state.weights)
        for coupling, own in zip(self.couplings, state.couplings, strict=False):
            total += coupling.log_prior(own.parameters)
        return total

    def maximise(self, expectation: Expectation, state: MixtureState) -> MixtureState:
        """Return the state that maximises the objective given an expectation, which was taken at ``state``."""
        statistics = expectation.statistics
        weights = self.weights.update(statistics.mass, expectation.class_mass, state.weights)
        couplings = tuple(
            CouplingState(coupling.update(part.counts), part.state.memory)
            for coupling, part in zip(self.couplings, expectation.coupled, strict=True)
        )
        return MixtureState(self.family.update(statistics), weights, couplings)

    def expect(self, state: MixtureState) -> Expectation:
        """Pass over all rows: E-step and statistics; a pass that the journal has is not made again."""
        if self.journal is None:
            return self._expect(state)
        return self.journal.remembered(partial(self._expect, state))

    def _expect(self, state: MixtureState) -> Expectation:
        found = self.expect_alone(state)
        coupled = self.expect_coupled(state)
        for part in coupled:
            found = Expectation(
                found.statistics + part.statistics,
                found.class_mass + part.class_counts,
                found.evidence + part.evidence,
            )
        return found._replace(coupled=coupled)

    def expect_alone(self, state: MixtureState) -> Expectation:
        """Pass over the rows that no coupling takes."""
        total = self.executor.total(self.visit(state), self.alone)
        class_mass = class_sums(total.statistics.mass, self.weights.classes)
        return Expectation(total.statistics, class_mass, total.evidence)

    def expect_coupled(self, state: MixtureState) -> tuple[CoupledExpectation[Any, Any], ...]:
        """Take the coupled rows through E-step and statistics, coupling by coupling."""
        log_weights = self.weights.log(state.weights)
        return tuple(coupling.expect(rows, log_weights, own) for coupling, rows, own in self._each_coupling(state))

    def assign(self, state: MixtureState) -> Iterator[Assignment]:
        """Pass over all rows and yield how they are assigned, chunk by chunk, then coupling by coupling."""
        yield from self.assign_alone(state)
        yield from self.assign_coupled(state)

    def assign_alone(self, state: MixtureState) -> Iterator[Assignment]:
        """Yield how rows that no coupling takes are assigned."""
        visit = self.visit(state)
        return self._visited(visit, visit.evaluator)

    def assign_predictively(self, state: MixtureState) -> Iterator[Assignment]:
        """Yield how rows that no coupling takes are assigned by predictive densities."""
        visit = self.visit(state)
        return self._visited(visit, visit.predictive)

    def _visited(self, visit: Visit, make_scorer: Callable[[], Scorer]) -> Iterator[Assignment]:
        def assignment(scorer: Scorer, chunk: slice) -> Assignment:
            return visit.assignment(scorer, self.alone, chunk)

        return self.executor.run(assignment, self.rows.chunks(), make_scorer)

    def assign_coupled(self, state: MixtureState) -> Iterator[Assignment]:
        """Yield how the coupled rows are assigned."""
        log_weights = self.weights.log(state.weights)
        for coupling, rows, own in self._each_coupling(state):
            yield from coupling.assign(rows, log_weights, own)

    def _each_coupling(
        self, state: MixtureState
    ) -> Iterator[tuple[Coupling[Any, Any], CoupledRows, CouplingState[Any, Any]]]:
        states = state.couplings or (CouplingState(),) * len(self.couplings)
        for coupling, own in zip(self.couplings, states, strict=True):
            evaluator = self.visit(state).evaluator
            self.rows.table.hold(coupling.rows)
            rows = CoupledRows(self.rows.table, coupling.rows, evaluator, state.parameters, self.executor)
            yield coupling, rows, own

    def visit(self, state: MixtureState) -> Visit:
        """Return what a pass does with rows that stand alone."""
        return Visit(
            self.family,
            state.parameters,
            self.weights.log(state.weights),
            self.weights.classes,
            self.coupling,
            self.backend,
        )


def class_sums(component_mass: FloatArray, classes: IntArray) -> FloatArray:
    """Return what the components of each class add up to."""
    return np.bincount(classes, weights=component_mass).astype(float)


class FixedCoupling(Generic[Memory]):
    """A coupling that learns nothing itself."""

    takes_rows: bool = True

    def update(self, counts: Any) -> None:
        """Return None: there are no parameters."""

    def log_prior(self, parameters: None) -> float:
        """Return 0: there are no parameters."""
        return 0.0

    def regrouped(self, state: CouplingState[None, Memory], groups: IntArray) -> CouplingState[None, Memory]:
        """Return an empty state: the next E-step starts anew."""
        return CouplingState()


class JointCoupling(FixedCoupling[Memory], ABC):
    """A coupling that needs the log densities of all its rows at once, and learns nothing itself."""

    monotone: bool
    rows: IntArray

    @abstractmethod
    def __call__(self, log_likelihood: FloatArray, log_weights: FloatArray, previous: Memory | None) -> EStep[Memory]:
        """Return the E-step of the coupled rows from their log densities (rows, components).

        ``previous`` is the memory of the E-step before, None at the first.
        """

    def expect(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[None, Memory]
    ) -> CoupledExpectation[None, Memory]:
        """Take the coupled rows through E-step and statistics."""
        found = self(rows.log_likelihood(), log_weights, state.memory)
        statistics = rows.statistics(found.responsibilities)
        return CoupledExpectation(statistics, found.class_counts, found.evidence, CouplingState(None, found.memory))

    def assign(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[None, Memory]
    ) -> Iterator[Assignment]:
        """Yield how the coupled rows are assigned."""
        found = self(rows.log_likelihood(), log_weights, state.memory)
        yield Assignment(self.rows, found.posterior, found.evidence)
