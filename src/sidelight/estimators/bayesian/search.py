"""The search for what a table is like: how many components, and how their covariances are built, by the bound."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.estimators.base.clusters import LEAST_OWNED, lay_out
from sidelight.estimators.base.conjugate_gaussians import (
    ConjugateGaussians,
    ConjugateNumbers,
    LearnedGaussians,
    LowRankGaussians,
)
from sidelight.estimators.base.emission import emission_of
from sidelight.estimators.base.model import Plan
from sidelight.estimators.bayesian.components import label_sums, shrunk
from sidelight.estimators.starts.sample import STARTS, Sample, StartRows, statistics_of_groups
from sidelight.estimators.starts.ward import ward_groups
from sidelight.graphs.metric import by_components
from sidelight.inference.agglomeration import Stage, agglomerate, highest, opening, worth_its_components
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import AnyFamily
from sidelight.tables.rounding import rounding_variances
from sidelight.tables.schema import Schema
from sidelight.tables.survey import Survey

# Rows that the search goes by.
SEARCH_ROWS = 3000
# Groups of Ward's tree that merging starts from, beyond those of the labels, and the least rows that a group may have
# on average.
_GROUPS = 30
_ROWS_PER_GROUP = 6
# With more Gaussian columns than this, free covariances take more time than they are worth.
_MOST_FREE_COLUMNS = 100
# With more columns than this, categories counted as one each, distances are not learned.
_MOST_METRIC_COLUMNS = 1000
# Smallest change of the bound per row worth a further step.
_TOL = 1e-4


class Found(NamedTuple):
    """The family that won, with the prior it has learned, its structure, and where its components stand."""

    family: AnyFamily
    structure: str
    n_components: int
    state: MixtureState


def structures(n_columns: int) -> tuple[str, ...]:
    """Return the structures worth trying for columns of numbers that go together, those with most parameters first."""
    if n_columns <= 1:
        return ("diag",)
    return ("full", "diag") if n_columns <= _MOST_FREE_COLUMNS else ("low_rank",)


def learned_family(
    schema: Schema,
    survey: Survey,
    gaussians: ConjugateGaussians | LowRankGaussians,
    heavy_tailed: ConjugateGaussians | LowRankGaussians,
    *,
    cells: AnyArray,
) -> AnyFamily:
    """Return the family of a table; priors of its Gaussian and Student t columns start from these and are learned.

    ``cells`` (m, g) are rows of the Gaussian columns, which show how coarsely they were recorded.
    """
    rounded = LearnedGaussians(gaussians, rounding_variances(cells))
    return emission_of(schema, survey, ConjugateNumbers(rounded, LearnedGaussians(heavy_tailed)))


def most_groups(few: StartRows, n_labels: int) -> int:
    """Return how many groups to start from: thirty more than there are labels, fewer for a small table."""
    return max(min(_GROUPS, few.problem.n_rows // _ROWS_PER_GROUP), 1) + n_labels


class _Descent(NamedTuple):
    """The rows to search by in the mixture of a structure, and the stages of its merging."""

    structure: str
    sample: Sample
    stages: list[Stage]

    @property
    def bound(self) -> float:
        """The highest bound on the way."""
        return highest(self.stages).objective


def search(
    families: Mapping[str, AnyFamily],
    sample_of: Callable[[AnyFamily], Sample],
    parsimony: float,
    random: np.random.RandomState,
) -> Found:
    """Merge components down from Ward's tree with every family, and return a stage of the one with the highest bound.

    That family is then merged once more, from Ward's tree by distances as its components see them; the descent with
    the higher bound counts.

    Parameters
    ----------
    families : mapping from str to Family
        By the name of their structure, those with most parameters first.
    sample_of : callable
        Puts the rows to search by into a mixture of a family.
    parsimony : float
        What components cost; see :func:`~sidelight.inference.agglomeration.worth_its_components`.
    random : RandomState
    """
    best = _best_structure(families, sample_of, random)
    if best.sample.points.shape[1] <= _MOST_METRIC_COLUMNS:
        best = max(best, _by_its_own_distances(best, random), key=lambda descent: descent.bound)
    stage = worth_its_components(best.stages, parsimony)
    return Found(stage.mixture.family, best.structure, len(stage.mixture.weights.classes), stage.state.afresh())


def _best_structure(
    families: Mapping[str, AnyFamily], sample_of: Callable[[AnyFamily], Sample], random: np.random.RandomState
) -> _Descent:
    """Return the descent of the structure with the highest bound.

    A family that is behind one with more parameters before the first merge is not merged at all. Surplus components
    cost most where they have most parameters, so it would fall back further.
    """
    samples = {name: sample_of(family) for name, family in families.items()}
    first = next(iter(samples.values()))
    groups = ward_groups(first.points, first.codes, first.layout.n_components, random)
    found: list[_Descent] = []
    for name, sample in samples.items():
        start = _opened(sample, groups)
        if not found or start.objective >= found[-1].stages[0].objective:
            found.append(_descended(name, sample, start))
    return max(found, key=lambda descent: descent.bound)


def _by_its_own_distances(descent: _Descent, random: np.random.RandomState) -> _Descent:
    """Return the descent from Ward's tree by distances as the components of another descent see them."""
    sample = descent.sample
    points = by_components(sample.points, sample.weights, _posterior(highest(descent.stages)))
    groups = ward_groups(points, sample.codes, sample.layout.n_components, random)
    return _descended(descent.structure, sample, _opened(sample, groups))


def _opened(sample: Sample, groups: IntArray) -> Stage:
    """Return the stage of all groups, before any merge."""
    return opening(sample.mixture, statistics_of_groups(sample, groups), tol=_tol(sample))


def _descended(structure: str, sample: Sample, start: Stage) -> _Descent:
    """Merge down from a stage."""
    stages = agglomerate(
        start,
        shrunk,
        lambda expectation: _owners(label_sums(expectation)),
        tol=_tol(sample),
        least=max(sample.layout.n_labelled, 1),
    )
    return _Descent(structure, sample, stages)


def _posterior(stage: Stage) -> FloatArray:
    """Return how the rows are assigned (rows, components)."""
    posterior = np.empty((stage.mixture.rows.shape[0], len(stage.mixture.weights.classes)))
    for part in stage.mixture.assign(stage.state):
        posterior[part.numbers] = part.posterior
    return posterior


def _tol(sample: Sample) -> float:
    return _TOL * float(sample.weights.sum())


def plan_from(found: Found, label_names: AnyArray, random: np.random.RandomState) -> Plan:
    """Return the plan of a fit that starts from what was found; further starts are short runs."""

    def start(number: int, mixture: Mixture, sample: Sample) -> MixtureState:
        return found.state if number == 1 else STARTS["short_runs"](sample, random)

    return Plan(found.family, lay_out(label_names, found.n_components, 1), start)


def _owners(sums: FloatArray) -> IntArray:
    """Return the label that owns each component, -1 where none does."""
    if not len(sums):
        return np.full(sums.shape[1], -1)
    return np.where(sums.max(axis=0) >= LEAST_OWNED, sums.argmax(axis=0), -1)
