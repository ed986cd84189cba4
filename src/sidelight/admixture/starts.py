"""Where the ascent starts: at k-means clusters that respect the labels.

From random starts the ascent can collapse: all blocks share one θ, α grows without end, and the bound ends far below.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.admixture.decomposition import Decomposition
from sidelight.admixture.m_step import Gaussians, Sums
from sidelight.admixture.model import Parameters, State
from sidelight.inference.starts import choose_rows, lloyd, match_to_labels, nearest_components, spread_centres

_LLOYD_STEPS = 100


def kmeans_starts(
    decomposition: Decomposition, codes: IntArray, n_processes: int, n_init: int, random: np.random.RandomState
) -> dict[int, Callable[[], State]]:
    """Return the starts 1 to n_init, functions that make a state; the first starts k-means at the labelled rows.

    ``codes`` (n,) are label codes, -1 unknown; label c starts in process c.
    """
    chosen = choose_rows(len(codes), None, codes, random)
    # Missing cells are replaced by the mean of their attribute, for k-means only.
    sample = np.nan_to_num(decomposition.scaling.standardise(decomposition.rows.table.gather(chosen)), nan=0.0)

    def start(*, guided: bool) -> State:
        centres = kmeans_centres(sample, codes[chosen], n_processes, random, guided=guided)
        return state_at(centres, codes, decomposition)

    return {number: partial(start, guided=number == 1) for number in range(1, n_init + 1)}


def kmeans_centres(
    sample: FloatArray, codes: IntArray, n_processes: int, random: np.random.RandomState, *, guided: bool
) -> FloatArray:
    """Return the centres (K, d) of k-means with labelled rows kept in their cluster (Basu et al. 2002).

    ``sample`` (m, d) are standardised rows without missing cells, ``codes`` (m,) their label codes, -1 unknown; label c
    belongs to process c. A ``guided`` start is at the means of the labelled rows; otherwise centres are spread without
    them (few labels may lie far from the middle of their class) and matched to the labels afterwards.
    """
    classes, weights = np.arange(n_processes), np.ones(len(sample))
    if guided:
        centres = spread_centres(sample, weights, codes, classes, random)
    else:
        centres = spread_centres(sample, weights, np.full_like(codes, -1), classes, random)
        if (codes >= 0).any():
            centres = match_to_labels(sample, centres, codes, classes)
    assignment = lloyd(sample, weights, centres, codes, classes, max_iter=_LLOYD_STEPS)
    for k in np.unique(assignment):
        centres[k] = sample[assignment == k].mean(axis=0)
    return centres


def state_at(centres: FloatArray, codes: IntArray, decomposition: Decomposition) -> State:
    """Return the state in which every cell of a row belongs to the process with the nearest centre.

    Labelled rows go to the process of their label; ``codes`` (n,) are those of all rows, -1 unknown.
    """
    n_processes, d = centres.shape
    row_mass = np.zeros((len(codes), n_processes))

    def visit(chunk: slice) -> FloatArray:
        sums = np.zeros((3, n_processes, d))
        for part in decomposition.parts(chunk):
            rows = part.values.T
            nearest = nearest_components(rows, centres, codes[part.rows], np.arange(n_processes))
            n_cells = part.observed.sum(axis=0)
            row_mass[np.arange(part.rows.start, part.rows.stop), nearest] = n_cells
            chosen = (nearest == np.arange(n_processes)[:, None]).astype(float)
            for power, sum_ in zip((part.observed.T, rows, np.square(rows)), sums, strict=True):
                sum_ += chosen @ power
        return sums

    sums = Sums(*np.sum(list(decomposition.visit_chunks(visit, n_processes)), axis=0))
    gaussians = decomposition.prior.update(sums, Gaussians(centres, np.ones_like(centres)))
    alpha = np.ones(n_processes)
    return State(Parameters(alpha, *gaussians), alpha + decomposition.by_block(row_mass))
