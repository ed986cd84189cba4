"""What inference asks of a model: the contracts of families, weights and couplings."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.kernels.loops import Backend, QuadraticForm

if TYPE_CHECKING:
    from sidelight.inference.mixture import CoupledRows
    from sidelight.inference.visits import PassSums, Visit
    from sidelight.tables.table import Rows

Worker = TypeVar("Worker")
Part = TypeVar("Part")
Result = TypeVar("Result")
Parameters = TypeVar("Parameters")
Memory = TypeVar("Memory")


class Statistics(Protocol):
    """Sums over rows: two of them add up to those of all their rows."""

    @property
    def mass(self) -> FloatArray:
        """Sum of the responsibilities of each component."""

    def __add__(self, other: Self) -> Self: ...

    def means(self) -> FloatArray:
        """Return the mean of every column in each component (components, d')."""

    def scaled(self, factor: float) -> Self:
        """Return the statistics of the same rows, each counted ``factor`` times."""

    def regrouped(self, groups: IntArray) -> Self:
        """Return the statistics of groups of components put together; those of group -1 are left out."""

    def paired(self, first: IntArray, second: IntArray) -> Self:
        """Return the statistics of pairs of components put together."""


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

    def predictive(self, parameters: FamilyParameters, backend: Backend) -> Scorer:
        """Return a scorer of rows by their predictive densities."""

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


AnyFamily = Family[Any, Any]


@runtime_checkable
class EvidenceFamily(Family[FamilyParameters, FamilyStatistics], Protocol):
    """An emission with a prior, whose parameters can be integrated out."""

    def log_evidence(self, statistics: FamilyStatistics) -> FloatArray:
        """Return the log evidence of the rows of each component (components,)."""

    def relearned(self, statistics: FamilyStatistics) -> Self:
        """Return the family with a prior that raises the objective at these statistics; itself where it is given."""


@runtime_checkable
class ExtrapolableFamily(Family[FamilyParameters, FamilyStatistics], Protocol):
    """An emission whose statistics may be extrapolated: it recognises those that no rows could have."""

    def admits(self, statistics: FamilyStatistics) -> bool:
        """Say whether there are parameters for these statistics."""


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

        ``codes`` are the label codes of the rows, -1 where a row has none; None where no row has one.
        """


class Executor(Protocol):
    """Who runs a pass: threads of this process, or a cluster."""

    def total(self, visit: "Visit", rows: "Rows") -> "PassSums":
        """Visit all chunks of the rows, wherever they are, and return what they add up to."""

    def run(
        self, work: Callable[[Worker, Part], Result], parts: Sequence[Part], make_worker: Callable[[], Worker]
    ) -> Iterator[Result]:
        """Work on every part in this process, and yield the results in the order of the parts."""


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


class CoupledExpectation(NamedTuple, Generic[Parameters, Memory]):
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

    statistics: Any
    class_counts: FloatArray
    evidence: float
    state: CouplingState[Parameters, Memory]
    counts: Any = None


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


class Coupling(Protocol[Parameters, Memory]):
    """How rows that depend on each other choose their components; side information enters here."""

    @property
    def monotone(self) -> bool:
        """Whether every step raises the objective."""

    @property
    def rows(self) -> IntArray:
        """Numbers of the rows it couples."""

    @property
    def takes_rows(self) -> bool:
        """Whether its rows do not take part in the pass by themselves as well."""

    def expect(
        self, rows: "CoupledRows", log_weights: FloatArray, state: CouplingState[Parameters, Memory]
    ) -> CoupledExpectation[Parameters, Memory]:
        """Take the coupled rows through E-step and statistics."""

    def assign(
        self, rows: "CoupledRows", log_weights: FloatArray, state: CouplingState[Parameters, Memory]
    ) -> Iterator[Assignment]:
        """Yield how the coupled rows are assigned."""

    def update(self, counts: Any) -> Parameters | None:
        """Return the coupling's own parameters that maximise the objective given counts of an E-step."""

    def log_prior(self, parameters: Parameters | None) -> float:
        """Return what the coupling's own parameters add to the objective by themselves."""

    def regrouped(
        self, state: CouplingState[Parameters, Memory], groups: IntArray
    ) -> CouplingState[Parameters, Memory]:
        """Return the state with components put together by groups; those of group -1 are forgotten."""
