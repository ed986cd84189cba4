"""The contract of the evaluators of a family."""

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from sidelight._typing import FloatArray
from sidelight.kernels.loops import QuadraticForm

Statistics = TypeVar("Statistics")


class Scorer(ABC):
    """Log densities at fixed parameters, of a block of at most ``block_rows`` rows at a time; it owns its buffers."""

    n_components: int
    block_rows: int

    @abstractmethod
    def load(self, block: Any) -> None:
        """Take a block of rows."""

    @abstractmethod
    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that may be overwritten."""


class Evaluator(Scorer, Generic[Statistics]):
    """Log densities and sufficient statistics."""

    @abstractmethod
    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""

    @abstractmethod
    def statistics(self) -> Statistics:
        """Return the statistics accumulated since the last call, and start anew."""

    def quadratic_form(self) -> QuadraticForm | None:
        """Return the quadratic form that the log densities of complete rows are; None where they are not one."""
        return None
