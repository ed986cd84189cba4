"""Rows that are coupled: what a coupling sees of them, and what it gives back."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.inference.protocols import Evaluator, Executor
from sidelight.tables.table import CHUNK_ROWS, ArrayTable, Table, row_ranges

Parameters = TypeVar("Parameters")
Memory = TypeVar("Memory")
Statistics = TypeVar("Statistics")


@storable("CouplingState")
class CouplingState(NamedTuple, Generic[Parameters, Memory]):
    """Where a coupling stands.

    Parameters
    ----------
    parameters : optional
        What the coupling itself learns (the classes of components, reliabilities); None before the first E-step, and
        for couplings that learn nothing.
    memory : optional
        What the next E-step starts from.
    """

    parameters: Parameters | None = None
    memory: Memory | None = None

    def learned(self) -> Parameters:
        """Return the parameters, which there must be."""
        assert self.parameters is not None
        return self.parameters

    def remembered(self) -> Memory:
        """Return the memory, which there must be."""
        assert self.memory is not None
        return self.memory


class Assignment(NamedTuple):
    """How some rows are assigned.

    Parameters
    ----------
    numbers : slice or (m,)
        Which rows these are.
    posterior : (m, components)
        Sums to one over components.
    evidence : float
        Their part of the objective.
    log_density : (m,), optional
        Log density of each row; None for coupled rows, which have none of their own.
    """

    numbers: slice | IntArray
    posterior: FloatArray
    evidence: float
    log_density: FloatArray | None = None


class CoupledExpectation(NamedTuple, Generic[Statistics, Parameters, Memory]):
    """The coupled rows' part of a pass.

    Parameters
    ----------
    statistics : the family's
    class_counts : (classes,)
        Draws of the latent class: rows that share one count once.
    evidence : float
    state : CouplingState
        The parameters that this E-step used, and what the next one starts from.
    counts : optional
        What the coupling's own parameters are updated from.
    """

    statistics: Statistics
    class_counts: FloatArray
    evidence: float
    state: CouplingState[Parameters, Memory]
    counts: Any = None


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


class EStep(NamedTuple, Generic[Memory]):
    """What a joint coupling makes of the log densities of its rows.

    Parameters
    ----------
    responsibilities : (rows, components)
        Weights of the emissions.
    class_counts : (classes,)
        Draws of the latent class: rows that share one count once.
    evidence : float
        The coupled rows' part of the objective.
    posterior : (rows, components)
        Rows sum to one: what the user sees.
    memory : optional
        What the next E-step starts from.
    """

    responsibilities: FloatArray
    class_counts: FloatArray
    evidence: float
    posterior: FloatArray
    memory: Memory | None = None


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
    ) -> CoupledExpectation[Any, None, Memory]:
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
