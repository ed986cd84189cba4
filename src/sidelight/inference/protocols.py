"""What inference asks of a model: the faces of families, weights and couplings."""

from typing import Any, Protocol, Self

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.kernels.loops import Backend, Links


class Statistics(Protocol):
    """Sums over rows: two of them add up to those of all their rows."""

    @property
    def mass(self) -> FloatArray:
        """Sum of the responsibilities of each component."""

    def __add__(self, other: Self) -> Self: ...

    def regrouped(self, groups: IntArray) -> Self:
        """Return the statistics of groups of components put together; those of group -1 are left out."""


class Evaluator(Protocol):
    """One thread's view of a family at fixed parameters: a block of at most ``block_rows`` rows at a time.

    The buffers are its own.
    """

    n_components: int
    block_rows: int

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that may be overwritten."""

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""

    def sweep_softly(
        self,
        rows: AnyArray,
        log_weights: FloatArray,
        codes: IntArray | None,
        classes: IntArray,
        weights: FloatArray,
        links: Links | None = None,
    ) -> float | None:
        """Accumulate the statistics of rows that choose softly and by themselves; return their weighted log evidence.

        None, and nothing done, where there is no quicker way than block by block. With ``links``, neighbours add to the
        scores and the posterior is kept for them; the evidence leaves out what late neighbours add.
        """

    def statistics(self) -> Any:
        """Return what was accumulated since the last call, and start anew."""


class Family(Protocol):
    """An emission: parameters are whatever it makes of its statistics."""

    def evaluator(self, parameters: Any, backend: Backend) -> Evaluator:
        """Return an evaluator of these parameters."""

    def update(self, statistics: Any) -> Any:
        """Return the parameters that maximise the objective given these statistics."""

    def log_prior(self, parameters: Any) -> float:
        """Return what the parameters add to the objective by themselves."""

    def around(self, means: FloatArray) -> Any:
        """Return parameters with these means, each component as wide as the whole table."""

    def attributes(self, parameters: Any) -> dict[str, FloatArray]:
        """Return the parameters by the names that a fitted estimator shows them under."""

    def select(self, parameters: Any, components: IntArray) -> Any:
        """Return the parameters of these components, in this order."""

    def sample(self, parameters: Any, component: int, n: int, random: np.random.RandomState) -> FloatArray:
        """Draw n rows from one component."""

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""


class Weights(Protocol):
    """Sizes of the components: parameters are whatever it makes of the counts."""

    @property
    def classes(self) -> IntArray:
        """The class of each component."""

    def update(self, component_mass: FloatArray, class_mass: FloatArray, previous: Any) -> Any:
        """Return the parameters that maximise the objective given these counts.

        ``previous`` are the parameters before, None at the start, for those that are found step by step.
        """

    def log(self, parameters: Any) -> FloatArray:
        """Return the log weights (components,) that enter the E-step."""

    def mean(self, parameters: Any) -> FloatArray:
        """Return the weights (components,) themselves, which sum to one."""

    def log_prior(self, parameters: Any) -> float:
        """Return what the parameters add to the objective by themselves."""


class RowCoupling(Protocol):
    """How a row chooses its component when rows are independent given the parameters."""

    @property
    def monotone(self) -> bool:
        """Whether every step raises the objective."""

    @property
    def soft(self) -> bool:
        """Whether it is Bayes' rule among the components that a row's code, its class, allows."""

    def __call__(
        self,
        scores: FloatArray,
        log_weights: FloatArray,
        codes: IntArray | None,
        weights: FloatArray,
        evidence: FloatArray,
    ) -> None:
        """Turn log densities (components, rows) into weighted responsibilities, in place; fill ``evidence`` (rows,).

        ``codes`` says what is known of each row (-1 nothing), or is None where nothing is known of any.
        """
