"""A race of starts without side information: several on few rows, the winner on more and more of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from sidelight._typing import AnyArray, FloatArray
from sidelight.estimators.starts.merged_groups import from_merged_groups
from sidelight.estimators.starts.sample import (
    Sample,
    Start,
    from_kmeans,
    from_kmeans_plus_plus,
    from_lloyd,
    from_nearest,
    from_short_runs,
)
from sidelight.exceptions import SingularCovarianceError
from sidelight.families.gaussian import FullGaussian
from sidelight.inference.acceleration import can_overrelax, leap
from sidelight.inference.breathing import breathe
from sidelight.inference.loop import Trace
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.starts import component_means, spread_centres, state_given
from sidelight.tables.table import ArrayTable, Rows

# Of a smaller table, a run costs as much as what it may save.
_LARGE = 20_000
_ROWS_PER_CENTRE, _ROWS_PER_COLUMN = 50, 5
# A component with fewer rows for each direction is starved; so many of them are revived.
_ROWS_PER_DIRECTION, _MOST_REVIVED = 2, 3
# Times the median distance from the middle of the table.
_FARTHEST = 2.0
_FIRST_STEPS, _FURTHER_STEPS, _STAGE_STEPS = 3, 4, 10
# On a table of so many times more rows than the sample, a longer race costs little.
_SAMPLES = 25
# At most so many runs go on beyond the sample, for so many steps before the best one is known.
_FINALISTS, _FINAL_STEPS = 3, 4
# Rows of the first round: so many for each parameter of the components, and never fewer than the second number.
_ROWS_PER_PARAMETER = 3
_FEWEST_ROWS = 1000
# Each stage has so many times more rows than the one before, for as long as these are no larger a share of the table
# than one in so many, and no more cells than this.
_GROWTH, _SHARE = 5, 3
_MOST_CELLS = 2_000_000
# More rows move a maximum by about one parameter per row in the objective: a stage need not come closer than this
# fraction of it.
_CLOSENESS = 0.1
_TOL = 1e-3


def can_race(sample: Sample) -> bool:
    """Say whether a race makes sense: there is no side information, and longer steps can be taken."""
    return sample.side.is_empty and sample.core is None and can_overrelax(sample.mixture)


def from_race(mixture: Mixture, sample: Sample, random: np.random.RandomState) -> MixtureState:
    """Return where the ascent of a mixture starts: at the winner of a race.

    Of a table with too many parameters for a sample, that is the better of two runs of k-means. Of another small one it
    is where breathing k-means ends. Of large ones, runs from breathing k-means, merged groups and k-means take a few
    steps on a part of the sample; on very large ones, runs from k-means++ and k-means as well, unless the two best lead
    as high by then. The better ones go on with the sample, but of those that lead as high only one, and the best of
    these with larger and larger parts of the table.

    Some rows may have too few distinct ones for a covariance where the table has enough; then the start is that of
    short runs.
    """
    inner = sample._replace(points=_drawn_in(sample.points))
    few = _part(inner)
    try:
        if few is None:
            return _from_better_kmeans(inner, random)
        if mixture.rows.shape[0] < _LARGE:
            return from_nearest(inner, _breathing_centres(inner, random))
        return _on_more_rows(_stages(inner, mixture, random), _finalists(few, inner, mixture.rows.shape[0], random))
    except SingularCovarianceError:
        return from_short_runs(sample, random)


def _finalists(few: Sample, sample: Sample, n_rows: int, random: np.random.RandomState) -> list[Trace[MixtureState]]:
    """Return the runs that lead highest on a sample, of several starts on a part of it, the best one first."""

    def go(starts: Sequence[Start]) -> list[Trace[MixtureState]]:
        return [_run(few.mixture, start(few, random), _FIRST_STEPS) for start in starts]

    runs = go(_runners(sample))
    heights = sorted(map(_height, runs))
    if n_rows >= _SAMPLES * len(sample.values) and heights[-1] - heights[-2] > _tolerance(few):
        runs += go(_FURTHER_RUNNERS)
    ahead = _apart(runs, _tolerance(few))[: len(runs) // 2 + 1]
    runs = _apart([_run(sample.mixture, run.state, _FURTHER_STEPS) for run in ahead], _tolerance(sample))
    return [_without_starved(sample, runs[0]), *runs[1:_FINALISTS]]


def _on_more_rows(stages: Iterator[Mixture], runs: list[Trace[MixtureState]]) -> MixtureState:
    """Return the state after some steps on each of several sets of rows; the first of them decide between the runs."""
    for stage in stages:
        if len(runs) > 1:
            runs = [_run(stage, run.state, _FINAL_STEPS) for run in runs]
            best = max(runs, key=_height)
            runs = [best if best.converged else _run(stage, best.state, _STAGE_STEPS - _FINAL_STEPS)]
        else:
            runs = [_run(stage, runs[0].state, _STAGE_STEPS)]
    return max(runs, key=_height).state


def _apart(runs: Sequence[Trace[MixtureState]], tolerance: float) -> list[Trace[MixtureState]]:
    """Return the runs on a sample, the highest first, without those that are about as high as one before."""
    apart: list[Trace[MixtureState]] = []
    for run in sorted(runs, key=_height, reverse=True):
        if not apart or _height(apart[-1]) - _height(run) > tolerance:
            apart.append(run)
    return apart


def _drawn_in(points: FloatArray) -> FloatArray:
    """Return points (m, d) with those far out drawn in to a sphere, so that single rows attract no centre."""
    norms = np.sqrt(np.einsum("nd,nd->n", points, points))
    most = _FARTHEST * np.median(norms)
    return points * np.minimum(1.0, most / np.maximum(norms, np.finfo(float).tiny))[:, None] if most > 0 else points


def _without_starved(sample: Sample, run: Trace[MixtureState]) -> Trace[MixtureState]:
    """Let components that own a few outlying rows share the largest component instead, where that leads higher."""
    n_components, d = sample.layout.n_components, sample.values.shape[1]
    for _ in range(min(_MOST_REVIVED, n_components - 1)):
        posterior = np.concatenate([part.posterior for part in sample.mixture.assign(run.state)])
        responsibilities = posterior * sample.weights[:, None]
        mass = responsibilities.sum(axis=0)
        smallest, largest = int(mass.argmin()), int(mass.argmax())
        if mass[smallest] >= _ROWS_PER_DIRECTION * (d + 1):
            break
        shared = _halved(sample.points, responsibilities, largest)
        responsibilities[:, smallest], responsibilities[:, largest] = shared
        means = component_means(sample.values, sample.weights, responsibilities)
        trial = _run(sample.mixture, state_given(sample.mixture, means, responsibilities), _FURTHER_STEPS)
        if _height(trial) <= _height(run):
            break
        run = trial
    return run


def _halved(points: FloatArray, responsibilities: FloatArray, component: int) -> tuple[FloatArray, FloatArray]:
    """Return the responsibilities of a component on either side of its middle, along its longest axis."""
    own = responsibilities[:, component]
    offsets = points - own @ points / own.sum()
    axis = np.linalg.eigh((offsets * own[:, None]).T @ offsets)[1][:, -1]
    side = offsets @ axis > 0
    return own * side, own * ~side


def _breathing_centres(sample: Sample, random: np.random.RandomState) -> FloatArray:
    """Return the centres that breathing k-means finds on some rows."""
    per_centre = max(_ROWS_PER_CENTRE, _ROWS_PER_COLUMN * sample.points.shape[1])
    kept = _every(len(sample.values), max(_FEWEST_ROWS // 2, per_centre * sample.layout.n_components))
    rows, weights = sample.points[kept], sample.weights[kept]
    centres = spread_centres(rows, weights, sample.codes[kept], sample.layout.classes, random)
    return breathe(rows, weights, centres, random)


def _from_breathing(sample: Sample, random: np.random.RandomState) -> MixtureState:
    """Start from breathing k-means on some rows, and k-means on all from there."""
    return from_lloyd(sample, _breathing_centres(sample, random))


def _from_better_kmeans(sample: Sample, random: np.random.RandomState) -> MixtureState:
    """Start from breathing k-means or from k-means, whichever makes some rows more likely."""
    kept = _every(len(sample.values), _FEWEST_ROWS)
    judge = _on(sample, sample.values[kept], sample.weights[kept])
    starts = [_from_breathing(sample, random), from_kmeans(sample, random)]
    return max(starts, key=lambda start: judge.expect(start).evidence)


def _runners(sample: Sample) -> tuple[Start, ...]:
    """Return the starts that take part; groups are merged where covariances are free."""
    second = from_merged_groups if isinstance(sample.mixture.family, FullGaussian) else from_kmeans_plus_plus
    return (_from_breathing, second, from_kmeans)


_FURTHER_RUNNERS = (from_kmeans_plus_plus, from_kmeans, from_kmeans_plus_plus)


def _tolerance(sample: Sample) -> float:
    """Return by how much the heights of two runs on a sample differ at least, where they lead to different places."""
    return _TOL * float(sample.weights.sum())


def _height(run: Trace[MixtureState]) -> float:
    return run.objectives[-1]


def _stages(sample: Sample, mixture: Mixture, random: np.random.RandomState) -> Iterator[Mixture]:
    """Yield the mixture on more and more rows than before, but never on all of them."""
    n, d = mixture.rows.shape
    n_before = len(sample.values)
    while (n_rows := _GROWTH * n_before) <= min(n // _SHARE, _MOST_CELLS // d):
        # One row of each of equal parts of the table: in order, and without repeats.
        ends = np.linspace(0, n, n_rows + 1).astype(np.int64)
        chosen = ends[:-1] + random.randint(np.diff(ends))
        weights = mixture.rows.weights
        yield _on(sample, mixture.rows.table.gather(chosen), None if weights is None else weights[chosen])
        n_before = n_rows


def _run(mixture: Mixture, state: MixtureState, steps: int) -> Trace[MixtureState]:
    """Go some steps; fewer where the rows say no more."""
    n_parameters = mixture.family.n_parameters(len(mixture.weights.classes))
    total = mixture.rows.shape[0] if mixture.rows.weights is None else float(mixture.rows.weights.sum())
    return leap(mixture, state, max_iter=steps, tol=max(_TOL * total, _CLOSENESS * n_parameters))


def _part(sample: Sample) -> Sample | None:
    """Return as many rows of a sample as the parameters need; None where it has not as many."""
    n_parameters = sample.mixture.family.n_parameters(sample.layout.n_components)
    if len(sample.values) < _ROWS_PER_PARAMETER * n_parameters:
        return None
    kept = _every(len(sample.values), max(_ROWS_PER_PARAMETER * n_parameters, _FEWEST_ROWS))
    return sample._replace(
        mixture=_on(sample, sample.values[kept], sample.weights[kept]),
        values=sample.values[kept],
        points=sample.points[kept],
        weights=sample.weights[kept],
        codes=sample.codes[kept],
    )


def _every(n_rows: int, wanted: int) -> slice:
    """Return every second row, every third and so on, but at least as many as wanted if there are.

    The rows of a sample are sorted: these lie all over the table, and do not depend on its order.
    """
    every = max(n_rows // wanted, 1)
    return slice(every // 2, None, every)


def _on(sample: Sample, values: AnyArray, weights: FloatArray | None) -> Mixture:
    """Return the mixture of a sample on other rows; what transforms of columns add to the objective does not matter."""
    return replace(sample.mixture, rows=Rows(ArrayTable(values), weights))
