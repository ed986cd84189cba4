"""What inference asks of a model: the contracts of families, weights and couplings."""

from typing import Any, Protocol, Self, TypeVar

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.kernels.loops import Backend, QuadraticForm


class Statistics(Protocol):
    """Sums over rows: two of them add up to those of all their rows."""

    @property
    def mass(self) -> FloatArray:
        """Sum of the responsibilities of each component."""

    def __add__(self, other: Self) -> Self: ...

    def scaled(self, factor: float) -> Self:
        """Return the statistics of the same rows, each counted ``factor`` times."""

    def regrouped(self, groups: IntArray) -> Self:
        """Return the statistics of groups of components put together; those of group -1 are left out."""


class CentredStatistics(Statistics, Protocol):
    """Statistics of Gaussian rows, measured from an origin; the means of the components are ``origin + offsets()``."""

    @property
    def origin(self) -> FloatArray:
        """Where rows are measured from: (d,) or (components, d)."""

    def offsets(self) -> FloatArray:
        """Return the means (components, d) measured from the origin; zero for a component that owns nothing."""


FamilyParameters = TypeVar("FamilyParameters")
FamilyStatistics = TypeVar("FamilyStatistics", bound=Statistics)
EvaluatorStatistics = TypeVar("EvaluatorStatistics", bound=Statistics, covariant=True)


class Scorer(Protocol):
    """Log densities of a family at fixed parameters, of a block of at most ``block_rows`` rows at a time.

    It serves one thread and owns its buffers.
    """

    n_components: int
    block_rows: int

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that may be overwritten."""


class Evaluator(Scorer, Protocol[EvaluatorStatistics]):
    """Log densities and sufficient statistics."""

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""

    def statistics(self) -> EvaluatorStatistics:
        """Return the statistics accumulated since the last call, and start anew."""

    def quadratic_form(self) -> QuadraticForm | None:
        """Return the quadratic form that the log densities of complete rows are; None where they are not one.

        Features that are added to its sums count as accumulated.
        """


class Family(Protocol[FamilyParameters, FamilyStatistics]):
    """An emission: its parameters follow from its statistics."""

    def evaluator(self, parameters: FamilyParameters, backend: Backend) -> Evaluator[FamilyStatistics]:
        """Return an evaluator of these parameters."""

    def update(self, statistics: FamilyStatistics) -> FamilyParameters:
        """Return the parameters that maximise the objective given these statistics."""

    def log_prior(self, parameters: FamilyParameters) -> float:
        """Return the part of the objective that depends on the parameters alone."""

    def around(self, means: FloatArray) -> FamilyParameters:
        """Return parameters with these means, each component as wide as the whole table."""

    def attributes(self, parameters: FamilyParameters) -> dict[str, Any]:
        """Return the parameters under the names of a fitted estimator's attributes."""

    def select(self, parameters: FamilyParameters, components: IntArray) -> FamilyParameters:
        """Return the parameters of these components, in this order."""

    def sample(self, parameters: FamilyParameters, component: int, n: int, random: np.random.RandomState) -> FloatArray:
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
