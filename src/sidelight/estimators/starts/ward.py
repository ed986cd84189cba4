"""A start from Ward's tree: many small groups of rows, none of which has rows of two labels."""

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from sidelight._typing import FloatArray, IntArray

# The tree takes room for all pairs of rows.
_MOST_ROWS = 2000


def ward_groups(points: FloatArray, codes: IntArray, n_groups: int, random: np.random.RandomState) -> IntArray:
    """Return the group of each row, 0, 1, 2, …, at most ``n_groups`` of them.

    Ward's tree (1963) is cut at ``n_groups`` groups. A group with rows of several labels is split: each of its rows
    goes to the label whose nearest row is nearest. If that makes too many groups, the tree is cut higher up. Of more
    than 2000 points the tree is that of a sample; the others join the group with the nearest mean.

    Parameters
    ----------
    points : (m, d)
        Rows where distances mean something.
    codes : (m,)
        Label codes, -1 unknown.
    n_groups : int
        Not less than there are labels.
    random : RandomState
    """
    if len(points) == 1:
        return np.zeros(1, dtype=np.int64)
    rows = _tree_rows(codes, random)
    tree = linkage(points[rows], "ward")
    for cut in range(min(n_groups, len(rows)), 0, -1):
        groups = fcluster(tree, cut, "maxclust") - 1
        split = _split_by_labels(points[rows], codes[rows], groups)
        if split.max() < n_groups:
            break
    if len(rows) == len(points):
        return split
    means = np.stack([points[rows][split == group].mean(axis=0) for group in range(split.max() + 1)])
    everywhere = _nearest(points, means)
    everywhere[rows] = split
    return everywhere


def _tree_rows(codes: IntArray, random: np.random.RandomState) -> IntArray:
    """Return the rows that the tree is made of: labelled ones first, up to half of them."""
    n = len(codes)
    if n <= _MOST_ROWS:
        return np.arange(n)
    labelled = random.permutation(np.flatnonzero(codes >= 0))[: _MOST_ROWS // 2]
    others = random.permutation(np.flatnonzero(codes < 0))[: _MOST_ROWS - len(labelled)]
    return np.sort(np.concatenate([labelled, others]))


def _split_by_labels(points: FloatArray, codes: IntArray, groups: IntArray) -> IntArray:
    """Return groups in which no two labels meet."""
    label = np.full(len(points), -1)
    for group in np.unique(groups[codes >= 0]):
        members = np.flatnonzero(groups == group)
        labelled = members[codes[members] >= 0]
        if len(np.unique(codes[labelled])) > 1:
            label[members] = codes[labelled[_nearest(points[members], points[labelled])]]
            label[labelled] = codes[labelled]
    return np.unique(np.stack([groups, label]), axis=1, return_inverse=True)[1].reshape(-1)


def _nearest(points: FloatArray, others: FloatArray) -> IntArray:
    """Return the number of the nearest of the others for each point."""
    distances = np.square(others).sum(axis=1) - 2 * points @ others.T
    return np.asarray(distances.argmin(axis=1), dtype=np.int64)
