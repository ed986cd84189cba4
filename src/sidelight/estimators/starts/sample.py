"""The rows that a fit starts from, and the starts that every mixture can be asked for."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.estimators.base.clusters import Layout
from sidelight.families.gaussian.full import standardised
from sidelight.inference.journal import Journal
from sidelight.inference.loop import ascend
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import Statistics
from sidelight.inference.starts import (
    SAMPLE_ROWS,
    choose_rows,
    component_means,
    lloyd,
    match_to_labels,
    nearest_components,
    row_order,
    spread_centres,
    state_given,
    statistics_given,
)
from sidelight.side import SideInformation
from sidelight.tables.kinds import kind_named
from sidelight.tables.schema import Schema
from sidelight.tables.survey import Survey
from sidelight.tables.table import ArrayTable, Table


class Problem(NamedTuple):
    """A table, the side information about its rows, and their weights (all one where None).

    Passes over the rows are kept in the journal, where there is one.
    """

    table: Table
    side: SideInformation
    weights: FloatArray | None
    journal: Journal | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.table.shape[0]

    def row_weights(self) -> FloatArray:
        """Return the weights of the rows."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    def with_unlabelled_weight(self, weight: float) -> "Problem":
        """Return the problem with rows that have no label weighted down; itself where no row has one."""
        if weight == 1 or not len(self.side.label_names):
            return self
        weights = np.where(self.side.labels >= 0, 1.0, weight)
        return self._replace(weights=weights if self.weights is None else weights * self.weights)


class StartRows(NamedTuple):
    """The rows that a fit starts from, in memory and sorted.

    Parameters
    ----------
    problem : Problem
        These rows as a problem of their own.
    values : (m, d)
    whole : bool
        Whether the table is small enough to start from all of it.
    """

    problem: Problem
    values: AnyArray
    whole: bool


class Sample(NamedTuple):
    """The rows that a fit starts from, as a mixture of their own.

    Parameters
    ----------
    mixture : Mixture
    values : (m, d)
        The rows.
    points : (m, d')
        The rows where distances mean something: in standard deviations, categories as directions.
    weights : (m,)
    codes : (m,)
        Label codes, -1 unknown.
    layout : Layout
    whole : bool
    side : SideInformation
    outlying : (m,), optional
        Weights of rows far from all others, zero for the rest; ``weights`` are then zero for those, so that no start
        counts them. Where the mixture has noise, they start there.
    core : Mixture, optional
        The mixture of the rows that are not outlying, where ``outlying`` is given.
    """

    mixture: Mixture
    values: AnyArray
    points: FloatArray
    weights: FloatArray
    codes: IntArray
    layout: Layout
    whole: bool
    side: SideInformation
    outlying: FloatArray | None = None
    core: Mixture | None = None


def start_rows(
    problem: Problem, preferred: IntArray, random: np.random.RandomState, most: int = SAMPLE_ROWS
) -> StartRows:
    """Return the rows to start from: all of a small table; of a large one, half of them preferred rows.

    Parameters
    ----------
    problem : Problem
    preferred : (n,)
        Not negative for rows that a sample should have: those with labels, or with any statement.
    random : RandomState
    most : int
        A table with more rows is a large one.
    """
    rows = choose_rows(problem.n_rows, problem.weights, preferred, random, most)
    values = problem.table.gather(rows)
    order = row_order(values, problem.side.labels[rows])
    rows, values = rows[order], values[order]
    weights = None if problem.weights is None else problem.weights[rows]
    few = Problem(ArrayTable(values), problem.side.restrict(rows), weights)
    return StartRows(few, values, whole=problem.n_rows <= most)


def embedding(
    values: AnyArray, weights: FloatArray, schema: Schema, survey: Survey, random: np.random.RandomState
) -> FloatArray:
    """Return encoded rows (m, d) as points (m, d'), each column as its kind embeds it; of a wide table, rotated."""
    parts = []
    for name in sorted(set(schema.kinds)):
        kind, numbers = kind_named(name), schema.of_kind(name)
        cells = values if kind.compositional else values[:, numbers]
        parts.append(kind.embed(cells, weights, survey.only(numbers), random))
    points = np.concatenate(parts, axis=1)
    return rotated(points) if points.shape[1] > _WIDE * len(points) else points


def rotated(points: FloatArray) -> FloatArray:
    """Return points (m, d) in coordinates of their own span (m, at most m), which keep their distances.

    Coordinates are those of the principal components, from XXᵀ, so that nothing is as large as d × d.
    """
    values, vectors = eigh(points @ points.T)
    kept = values > _ROUNDING * values[-1]
    coordinates = vectors[:, kept] * np.sqrt(values[kept])
    # Without any distance one coordinate is enough.
    return coordinates[:, ::-1] if kept.any() else np.zeros((len(points), 1))


# Tables with so many times more columns than rows to start from are wide.
_WIDE = 2
# What rounding leaves of an eigenvalue, as a fraction of the largest.
_ROUNDING = 1e-14
# Of a small table eight runs cost next to nothing; of a large one half as many find what the full passes then refine.
_RUNS_SMALL, _RUNS_LARGE = 8, 4
_FIRST_STEPS = 5
_FURTHER_STEPS = 24
_SHORT_TOL = 1e-3
_LLOYD_STEPS = 10


Start = Callable[[Sample, np.random.RandomState], MixtureState]


def from_kmeans_plus_plus(sample: Sample, random: np.random.RandomState) -> MixtureState:
    """Start from centres spread by k-means++, labels first, and the rows nearest to them."""
    return from_nearest(sample, spread(sample, random))


def from_kmeans(sample: Sample, random: np.random.RandomState) -> MixtureState:
    """Start from k-means that respects the labels."""
    return from_lloyd(sample, spread(sample, random))


def from_short_runs(sample: Sample, random: np.random.RandomState) -> MixtureState:
    """Start from the best of several short runs of the model on the sample, each from centres of k-means++.

    All go a few steps; of a large table the one that is ahead by then goes on, of a small one all. The first starts
    where the labels are. Few labels may lie far from the middle of their class, so the others start from centres chosen
    without them, which are then matched to the labels.

    Where some rows are outlying, a run first goes without them, then with them: components that start on all rows would
    end at the outliers, or between them and the rest, and the best of the runs is the best for all rows.
    """
    unknown = np.full_like(sample.codes, -1)
    tol = _SHORT_TOL * sample.weights.sum()
    stages = [sample.mixture] if sample.core is None else [sample.core, sample.mixture]
    traces = []
    for run in range(_RUNS_SMALL if sample.whole else _RUNS_LARGE):
        centres = spread(sample if run == 0 else sample._replace(codes=unknown), random)
        if run > 0 and sample.layout.n_labelled:
            centres = match_to_labels(sample.points, centres, sample.codes, sample.layout.classes)
        # Every other run goes without k-means, which would lead many starts to the same place.
        start = from_nearest(sample, centres) if run % 2 else from_lloyd(sample, centres)
        traces.append(ascend(stages[0].step, start, max_iter=_FIRST_STEPS, tol=tol))
    ahead = traces if sample.whole else [max(traces, key=lambda trace: trace.objectives[-1])]
    for stage in stages:
        ahead = [ascend(stage.step, trace.state, max_iter=_FURTHER_STEPS, tol=tol) for trace in ahead]
    best = max(ahead, key=lambda trace: trace.objectives[-1])
    return best.state.afresh()


def from_labels(sample: Sample, random: np.random.RandomState) -> MixtureState:
    """Start from the labelled rows alone (Amini, lecture: semi-supervised CEM).

    Components of classes without labels take the rows without labels that are nearest to them.
    """
    if not (sample.codes >= 0).any():
        raise ValueError("init_params='labels' needs labelled rows, but y has none; use 'short_runs' or 'kmeans'.")
    centres = spread(sample, random)
    classes = sample.layout.classes
    assignment = nearest_components(sample.points, centres, sample.codes, classes)
    counts = (sample.codes >= 0) | (classes[assignment] >= sample.layout.n_labelled)
    return from_assignment(sample, assignment, counts)


def at_means(sample: Sample, means: Any, schema: Schema, survey: Survey) -> MixtureState:
    """Start from ``means_init`` and the rows nearest to these means."""
    given = np.asarray(means, dtype=float)
    expected = (sample.layout.n_components, sample.values.shape[1])
    if given.shape != expected:
        raise ValueError(f"means_init has shape {given.shape}, but this model needs {expected}.")
    if set(schema.kinds) not in ({"gaussian"}, {"student_t"}):
        raise ValueError(
            "means_init is for tables of Gaussian columns, or of Student t columns; leave it out, and use init_params."
        )
    # In the columns themselves: the sample's points may be rotated.
    points = standardised(np.asarray(sample.values, dtype=float), survey)
    return from_nearest(sample._replace(points=points), (given - survey.mean) / survey.scale)


STARTS: dict[str, Start] = {
    "short_runs": from_short_runs,
    "kmeans": from_kmeans,
    "k-means++": from_kmeans_plus_plus,
    "labels": from_labels,
}


def statistics_of_groups(sample: Sample, groups: IntArray) -> Statistics:
    """Return the statistics of groups of rows, one for each component; components beyond them are empty."""
    responsibilities = _responsibilities(sample, groups, sample.weights)
    means = component_means(sample.values, sample.weights, responsibilities)
    return statistics_given(sample.mixture, means, responsibilities)


def from_nearest(sample: Sample, centres: FloatArray) -> MixtureState:
    """Start from the rows nearest to these centres."""
    return from_assignment(sample, nearest_components(sample.points, centres, sample.codes, sample.layout.classes))


def from_lloyd(sample: Sample, centres: FloatArray) -> MixtureState:
    """Start from k-means from these centres."""
    assignment = lloyd(
        sample.points, sample.weights, centres, sample.codes, sample.layout.classes, max_iter=_LLOYD_STEPS
    )
    return from_assignment(sample, assignment)


def spread(sample: Sample, random: np.random.RandomState) -> FloatArray:
    """Return centres spread by k-means++, labels first."""
    return spread_centres(sample.points, sample.weights, sample.codes, sample.layout.classes, random)


def from_assignment(sample: Sample, assignment: IntArray, counts: AnyArray | None = None) -> MixtureState:
    """Start from rows assigned to components, of which those count that ``counts`` says; all where it is not given."""
    weights = sample.weights if counts is None else sample.weights * counts
    responsibilities = _responsibilities(sample, assignment, weights)
    means = component_means(sample.values, sample.weights, responsibilities)
    if len(sample.mixture.weights.classes) > sample.layout.n_components:  # the last component is noise
        noise = np.zeros(len(assignment)) if sample.outlying is None else sample.outlying
        responsibilities = np.column_stack([responsibilities, noise])
    return state_given(sample.mixture, means, responsibilities)


def _responsibilities(sample: Sample, assignment: IntArray, weights: FloatArray) -> FloatArray:
    """Return the weight of each row in its component (rows, components)."""
    responsibilities = np.zeros((len(assignment), sample.layout.n_components))
    responsibilities[np.arange(len(assignment)), assignment] = weights
    return responsibilities
