"""The search for what a table is like: how many components, and how their covariances are built, by the bound."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.estimators.base.clusters import LEAST_OWNED, lay_out
from sidelight.estimators.base.conjugate_gaussians import ConjugateGaussians, LearnedGaussians, LowRankGaussians
from sidelight.estimators.base.emission import emission_of
from sidelight.estimators.base.model import Plan
from sidelight.estimators.bayesian.components import label_sums, shrunk
from sidelight.estimators.starts.sample import STARTS, Sample, StartRows, statistics_of_groups
from sidelight.estimators.starts.ward import ward_groups
from sidelight.inference.agglomeration import Stage, agglomerate, highest, opening, worth_its_components
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import AnyFamily
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
# Smallest change of the bound per row worth a further step.
_TOL = 1e-4


class Found(NamedTuple):
    """The family that won, with the prior it has learned, its structure, and where its components stand."""

    family: AnyFamily
    structure: str
    n_components: int
    state: MixtureState


def structures(n_gaussian: int) -> tuple[str, ...]:
    """Return the structures worth trying for this number of Gaussian columns, those with most parameters first."""
    if n_gaussian <= 1:
        return ("diag",)
    return ("full", "diag") if n_gaussian <= _MOST_FREE_COLUMNS else ("low_rank",)


def learned_families(
    schema: Schema, survey: Survey, priors: Mapping[str, ConjugateGaussians | LowRankGaussians]
) -> dict[str, AnyFamily]:
    """Return the family of a table with each structure, whose prior starts from the one given and is learned."""
    return {name: emission_of(schema, survey, LearnedGaussians(prior)) for name, prior in priors.items()}


def most_groups(few: StartRows, n_labels: int) -> int:
    """Return how many groups to start from: thirty more than there are labels, fewer for a small table."""
    return max(min(_GROUPS, few.problem.n_rows // _ROWS_PER_GROUP), 1) + n_labels


def search(
    families: Mapping[str, AnyFamily],
    sample_of: Callable[[AnyFamily], Sample],
    parsimony: float,
    random: np.random.RandomState,
) -> Found:
    """Merge components down from Ward's tree with every family, and return a stage of the one with the highest bound.

    A family that is behind one with more parameters before the first merge is not merged at all. Surplus components
    cost most where they have most parameters, so it would fall back further.

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
    groups: IntArray | None = None
    best: tuple[str, list[Stage]] | None = None
    ahead = -np.inf
    for name, family in families.items():
        sample = sample_of(family)
        if groups is None:
            groups = ward_groups(sample.points, sample.codes, sample.layout.n_components, random)
        tol = _TOL * float(sample.weights.sum())
        first = opening(sample.mixture, statistics_of_groups(sample, groups), tol=tol)
        if first.objective < ahead:
            continue
        ahead = first.objective
        stages = agglomerate(
            first,
            shrunk,
            lambda expectation: _owners(label_sums(expectation)),
            tol=tol,
            least=max(sample.layout.n_labelled, 1),
        )
        if best is None or highest(stages).objective > highest(best[1]).objective:
            best = name, stages
    assert best is not None
    name, stage = best[0], worth_its_components(best[1], parsimony)
    return Found(stage.mixture.family, name, len(stage.mixture.weights.classes), stage.state.afresh())


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
