"""Rows that are tied together: what a coupling sees of them, and what it gives back."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple, Protocol

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.inference.executors.threads import share_out
from sidelight.inference.protocols import Evaluator
from sidelight.inference.rows import CHUNK_ROWS

Write = Callable[[Any, FloatArray, FloatArray | None], None]


@dataclass(frozen=True, eq=False)
class TiedRows:
    """Some rows of the table under a family at fixed parameters.

    Parameters
    ----------
    X : (n, d)
        The whole table.
    numbers : (m,)
        Which rows these are.
    evaluator : callable
        Makes an evaluator at the parameters.
    parameters : the family's
    n_threads : int
    """

    X: AnyArray
    numbers: IntArray
    evaluator: Callable[[], Evaluator[Any]]
    parameters: Any
    n_threads: int = 1

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (rows, components)."""
        n_components = self.evaluator().n_components
        log_likelihood = np.empty((len(self.numbers), n_components))

        def work(evaluator: Evaluator[Any], part: slice) -> None:
            for block in _blocks(part, evaluator.block_rows):
                evaluator.load(self.X[self.numbers[block]])
                log_likelihood[block] = evaluator.log_likelihood().T

        for _ in share_out(work, self._parts(), self.evaluator, self.n_threads):
            pass
        return log_likelihood

    def statistics(self, responsibilities: FloatArray) -> Any:
        """Return the statistics under responsibilities (rows, components)."""

        def work(evaluator: Evaluator[Any], part: slice) -> Any:
            for block in _blocks(part, evaluator.block_rows):
                evaluator.load(self.X[self.numbers[block]])
                evaluator.accumulate(np.ascontiguousarray(responsibilities[block].T))
            return evaluator.statistics()

        return reduce(add, share_out(work, self._parts(), self.evaluator, self.n_threads))

    def _parts(self) -> list[slice]:
        n = len(self.numbers)
        return [slice(start, min(start + CHUNK_ROWS, n)) for start in range(0, max(n, 1), CHUNK_ROWS)]


def _blocks(part: slice, block_rows: int) -> list[slice]:
    return [slice(start, min(start + block_rows, part.stop)) for start in range(part.start, part.stop, block_rows)]


class TiedExpectation(NamedTuple):
    """The tied rows' part of a pass: their statistics, class counts and evidence, and what the next one starts from."""

    statistics: Any
    class_counts: FloatArray
    evidence: float
    memory: Any


class TiedCoupling(Protocol):
    """How rows that are tied together choose their components."""

    @property
    def monotone(self) -> bool:
        """Whether every step raises the objective."""

    @property
    def rows(self) -> IntArray:
        """Numbers of the rows it couples."""

    def expect(self, tied: TiedRows, log_weights: FloatArray, memory: Any) -> TiedExpectation:
        """Take the tied rows through E-step and statistics; ``memory`` is that of the pass before, None at first."""

    def assign(self, tied: TiedRows, log_weights: FloatArray, memory: Any, write: Write) -> float:
        """Write how the tied rows are assigned; return their evidence."""

    def regrouped(self, memory: Any, groups: IntArray) -> Any:
        """Return the memory with components put together by groups; those of group -1 are forgotten."""


class EStep(NamedTuple):
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
        Where the next E-step may start, if not from the posterior.
    """

    responsibilities: FloatArray
    class_counts: FloatArray
    evidence: float
    posterior: FloatArray
    memory: Any = None


class JointCoupling(ABC):
    """A coupling that needs the log densities of all its rows at once."""

    monotone: bool
    rows: IntArray

    @abstractmethod
    def __call__(self, log_likelihood: FloatArray, log_weights: FloatArray, previous: Any) -> EStep:
        """Return the E-step of the coupled rows from their log densities (rows, components).

        ``previous`` is the memory of the E-step before, its posterior if it left none, or None at the first.
        """

    def expect(self, tied: TiedRows, log_weights: FloatArray, memory: Any) -> TiedExpectation:
        """Take the tied rows through E-step and statistics."""
        found = self(tied.log_likelihood(), log_weights, memory)
        return TiedExpectation(
            tied.statistics(found.responsibilities),
            found.class_counts,
            found.evidence,
            found.posterior if found.memory is None else found.memory,
        )

    def assign(self, tied: TiedRows, log_weights: FloatArray, memory: Any, write: Write) -> float:
        """Write the posterior of the tied rows; return their evidence."""
        found = self(tied.log_likelihood(), log_weights, memory)
        write(self.rows, found.posterior, None)
        return found.evidence

    def regrouped(self, memory: Any, groups: IntArray) -> Any:
        """Return None: the next E-step starts anew."""
        return None
