"""Where to start: centres spread over the rows, or drawn from labelled rows, and the rows they attract.

Rows are handed in sorted and draws go by cumulated weight, so that a start depends neither on the order of the rows
nor on whether equal rows are repeated or weighted.
"""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse
from sklearn.utils.extmath import row_norms

from sidelight._typing import FloatArray, IntArray
from sidelight.inference.mixture import Mixture, MixtureState, class_sums
from sidelight.inference.protocols import Statistics

# Enough rows to start from: a start is refined by passes over all of them.
SAMPLE_ROWS = 5000


def choose_rows(
    n: int, weights: FloatArray | None, codes: IntArray, random: np.random.RandomState, most: int = SAMPLE_ROWS
) -> IntArray:
    """Return the numbers of rows to start from.

    All of a small table; of one with more than ``most`` rows up to half labelled rows, and others. Rows that weigh
    nothing are left out.
    """
    counted = None if weights is None else np.flatnonzero(weights > 0)
    n_counted = n if counted is None else len(counted)
    if n_counted <= most:
        return np.arange(n) if counted is None else counted
    # Drawn with replacement and made unique: a permutation of all rows would take as much room as they do.
    drawn = random.randint(n_counted, size=most)
    others = drawn if counted is None else counted[drawn]
    labelled = np.flatnonzero(codes >= 0) if weights is None else np.flatnonzero((codes >= 0) & (weights > 0))
    if len(labelled) > most // 2:
        labelled = labelled[random.randint(len(labelled), size=most // 2)]
    return np.union1d(labelled, others[codes[others] < 0])


def row_order(rows: Any, codes: IntArray) -> IntArray:
    """Return the order that sorts rows by value, missing cells last, then by label.

    Sparse rows (CSR) are sorted by their products with a fixed direction, in which no two that differ are likely to
    agree: all that matters is that the order does not depend on the one they came in.
    """
    if issparse(rows):
        return np.lexsort((codes, rows @ np.sin(np.arange(1.0, rows.shape[1] + 1.0))))
    # Where no two rows agree in the first column, the others do not matter.
    order = np.argsort(rows[:, 0], kind="stable")
    first = rows[order, 0]
    return order if (first[1:] > first[:-1]).all() else np.lexsort((codes, *rows.T[::-1]))


def spread_centres(
    rows: FloatArray,
    weights: FloatArray,
    codes: IntArray,
    classes: IntArray,
    random: np.random.RandomState,
) -> FloatArray:
    """Choose a centre for each component by k-means++ (Arthur and Vassilvitskii 2007), labels first.

    A class with one component and labelled rows starts at their mean; one with several draws them from its labelled
    rows. What is left, components of classes without enough labels, is drawn from the rows without labels, far from
    the centres there are.

    Parameters
    ----------
    rows : (m, d)
        In units in which distances mean something.
    weights : (m,)
    codes : (m,)
        The class of each labelled row, -1 unknown.
    classes : (components,)
        The class of each component.
    """
    centres = np.full((len(classes), rows.shape[1]), np.nan)
    for c in np.unique(codes[codes >= 0]):
        members, components = np.flatnonzero(codes == c), np.flatnonzero(classes == c)
        if len(components) == 1:
            centres[components[0]] = np.average(rows[members], axis=0, weights=weights[members])
        else:
            _draw_far(rows[members], weights[members], centres, components[: len(members)], random, local=True)
    missing = np.flatnonzero(np.isnan(centres[:, 0]))
    free = np.flatnonzero(codes < 0)
    pool = free if len(free) else np.arange(len(rows))
    _draw_far(rows[pool], weights[pool], centres, missing, random, local=False)
    return centres


def _draw_far(
    rows: FloatArray,
    weights: FloatArray,
    centres: FloatArray,
    components: IntArray,
    random: np.random.RandomState,
    *,
    local: bool,
) -> None:
    """Fill ``centres[components]`` with rows drawn by squared distance from the centres set so far.

    With ``local`` only the centres drawn here count. Of a few candidates the one that helps most is kept, as in
    scikit-learn's greedy form.
    """
    norms = row_norms(rows, squared=True)
    known = np.zeros((0, rows.shape[1])) if local else centres[~np.isnan(centres[:, 0])]
    nearest = np.full(len(rows), np.inf)
    for centre in known:
        nearest = np.minimum(nearest, _squared_distances(rows, norms, centre[None])[:, 0])
    n_candidates = 2 + int(np.log(len(centres)))
    rounding = 1e-12 * float(weights @ norms)
    for component in components:
        potential = weights * nearest if np.isfinite(nearest).all() else weights
        if potential.sum() <= 0:
            potential = weights
        cumulated = np.cumsum(potential)
        drawn = np.searchsorted(cumulated, random.uniform(size=n_candidates) * cumulated[-1], side="right")
        candidates = np.minimum(drawn, len(rows) - 1)
        closer = np.minimum(nearest[:, None], _squared_distances(rows, norms, rows[candidates]))
        costs = weights @ closer
        # Two candidates may help alike, each leaving the other; the first drawn is kept, whatever the rounding.
        best = int(np.argmax(costs <= costs.min() + rounding))
        centres[component] = rows[candidates[best]]
        nearest = closer[:, best]


def _squared_distances(rows: FloatArray, norms: FloatArray, points: FloatArray) -> FloatArray:
    distances = norms[:, None] - 2 * rows @ points.T + row_norms(points, squared=True)
    return np.maximum(distances, 0.0)


def match_to_labels(rows: FloatArray, centres: FloatArray, codes: IntArray, classes: IntArray) -> FloatArray:
    """Return the centres in the order of the components that suits the labels best.

    Components of labelled classes take the centres nearest to their labelled rows, so that the sum of squared distances
    is smallest (one centre each, by the Hungarian method); the others take what is left.
    """
    labelled = np.flatnonzero(np.isin(classes, codes[codes >= 0]))
    if not len(labelled):
        return centres
    norms = row_norms(rows, squared=True)
    distances = _squared_distances(rows, norms, centres)
    cost = np.stack([distances[codes == c].sum(axis=0) for c in classes[labelled]])
    taken = linear_sum_assignment(cost)[1]
    matched = np.empty_like(centres)
    matched[labelled] = centres[taken]
    matched[np.setdiff1d(np.arange(len(classes)), labelled)] = np.delete(centres, taken, axis=0)
    return matched


def nearest_components(rows: FloatArray, centres: FloatArray, codes: IntArray, classes: IntArray) -> IntArray:
    """Return the component with the nearest centre for each row, among those its label allows."""
    # Without the norms of the rows, which do not change which is nearest.
    distances = rows @ (-2 * centres.T) + row_norms(centres, squared=True)
    labelled = np.flatnonzero(codes >= 0)
    if len(labelled):
        distances[labelled] = np.where(codes[labelled, None] == classes, distances[labelled], np.inf)
    return distances.argmin(axis=1)


def lloyd(
    rows: FloatArray,
    weights: FloatArray,
    centres: FloatArray,
    codes: IntArray,
    classes: IntArray,
    *,
    max_iter: int,
) -> IntArray:
    """Improve centres by k-means with labels respected (Basu et al. 2002) and return the assignment of the rows."""
    assignment = nearest_components(rows, centres, codes, classes)
    for _ in range(max_iter):
        mass = np.bincount(assignment, weights=weights, minlength=len(centres))
        indicator = np.zeros((len(centres), len(rows)))
        indicator[assignment, np.arange(len(rows))] = weights
        moved = indicator @ rows / np.maximum(mass, np.finfo(float).tiny)[:, None]
        centres = np.where((mass > 0)[:, None], moved, centres)
        following = nearest_components(rows, centres, codes, classes)
        if np.array_equal(following, assignment):
            break
        assignment = following
    return assignment


def component_means(rows: Any, weights: FloatArray, responsibilities: FloatArray) -> FloatArray:
    """Return the mean row of each component (components, d), of observed cells only; CSR rows are not made dense.

    A component that has no cell of a column takes the mean of all rows, NaN where these have none either.

    Parameters
    ----------
    rows : (m, d)
    weights : (m,)
    responsibilities : (m, components)
        Weighted.
    """
    shares = np.column_stack([responsibilities, weights])
    mass = shares.sum(axis=0)[:, None]
    if issparse(rows):
        sums = (rows.T @ shares).T
    else:
        values = np.asarray(rows, dtype=float)
        seen = ~np.isnan(values)
        if not seen.all():
            mass, values = shares.T @ seen, np.where(seen, values, 0.0)
        sums = shares.T @ values
    means = sums / np.where(mass > 0, mass, np.nan)
    return np.where(np.isnan(means[:-1]), means[-1], means[:-1])


def state_given(mixture: Mixture, means: FloatArray, responsibilities: FloatArray) -> MixtureState:
    """Return the state that maximises the objective given responsibilities; see :func:`statistics_given`."""
    return state_of(mixture, statistics_given(mixture, means, responsibilities))


def state_of(mixture: Mixture, statistics: Statistics) -> MixtureState:
    """Return the state that maximises the objective given the statistics of all rows."""
    class_mass = class_sums(statistics.mass, mixture.weights.classes)
    weights = mixture.weights.update(statistics.mass, class_mass, None)
    return MixtureState(mixture.family.update(statistics), weights)


def statistics_given(mixture: Mixture, means: FloatArray, responsibilities: FloatArray) -> Statistics:
    """Return the statistics of all rows under responsibilities.

    Parameters
    ----------
    mixture : Mixture
    means : (components, d)
        Where the components are, roughly: rows may be measured from there.
    responsibilities : (rows, components)
        Weighted; a row may count less than it weighs, or nothing.
    """
    parameters = mixture.family.around(means)
    evaluator = mixture.family.evaluator(parameters, mixture.backend)
    for start in range(0, len(responsibilities), evaluator.block_rows):
        block = slice(start, start + evaluator.block_rows)
        evaluator.load(mixture.rows.table.take(block))
        evaluator.accumulate(np.ascontiguousarray(responsibilities[block].T))
    return evaluator.statistics()
