"""Where the ascent starts: at k-means clusters, labels respected.

Random starts can collapse: all blocks share one θ and α grows without end, with a bound far below.
"""

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.admixture.ascent import ProcessesOnData
from sidelight.admixture.model import Parameters, State
from sidelight.admixture.updates import Gaussians, Sums
from sidelight.inference.starts import lloyd, match_to_labels, nearest_components, spread_centres

_LLOYD_STEPS = 100


def kmeans_centres(
    sample: FloatArray, codes: IntArray, n_processes: int, random: np.random.RandomState, *, guided: bool
) -> FloatArray:
    """Return the centres (K, d) of k-means with labelled rows kept in their cluster (Basu et al. 2002).

    Parameters
    ----------
    sample : (m, d)
        Rows in units of standard deviations about the mean, 0 where a cell is missing.
    codes : (m,)
        Label codes, -1 unknown; label c belongs to process c.
    n_processes : int
    random : RandomState
    guided : bool
        Whether to start from the means of the labelled rows; otherwise centres are spread without them (few labels may
        lie far from the middle of their class) and matched to the labels afterwards.
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


def state_at(centres: FloatArray, codes: IntArray, on_data: ProcessesOnData) -> State:
    """Return the state in which every cell of a row belongs to the process with the nearest centre.

    Parameters
    ----------
    centres : (K, d)
    codes : (n,)
        Label codes of all rows, -1 unknown; labelled rows go to the process of their label.
    on_data : ProcessesOnData
    """
    n_processes, d = centres.shape
    row_mass = np.zeros((len(codes), n_processes))

    def visit(chunk: slice) -> FloatArray:
        sums = np.zeros((3, n_processes, d))
        for part in on_data.parts(chunk):
            rows = part.values.T
            nearest = nearest_components(rows, centres, codes[part.rows], np.arange(n_processes))
            n_cells = part.observed.sum(axis=0)
            row_mass[np.arange(part.rows.start, part.rows.stop), nearest] = n_cells
            chosen = (nearest == np.arange(n_processes)[:, None]).astype(float)
            for power, sum_ in zip((part.observed.T, rows, np.square(rows)), sums, strict=True):
                sum_ += chosen @ power
        return sums

    sums = Sums(*np.sum(list(on_data.visit_chunks(visit, n_processes)), axis=0))
    gaussians = on_data.prior.update(sums, Gaussians(centres, np.ones_like(centres)))
    alpha = np.ones(n_processes)
    return State(Parameters(alpha, *gaussians), alpha + on_data.by_block(row_mass))


def fill_missing(rows: AnyArray, centre: FloatArray, scale: FloatArray) -> FloatArray:
    """Return rows in units of standard deviations about the mean, 0 where a cell is missing; for starts only."""
    return np.nan_to_num((np.asarray(rows, dtype=float) - centre) / scale, nan=0.0)
