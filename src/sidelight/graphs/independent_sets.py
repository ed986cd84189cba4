"""In which order tied rows are updated: rows of one set do not act on each other, so a set can be updated at once."""

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import IntArray


def independent_sets(affinity: "csr_array[np.float64]") -> IntArray:
    """Return the number of a set for each node, such that no link lies within a set; -1 for nodes without links.

    Again and again, the nodes that rank above all their neighbours that are left make up a set (Luby 1986). Ranks go by
    the number of links, then by a fixed shuffle: by their numbers, a chain would need as many sets as it has nodes.
    """
    n = affinity.shape[0]
    degrees = np.diff(affinity.indptr)
    rank = np.empty(n, dtype=np.int64)
    rank[np.lexsort((np.random.default_rng(0).permutation(n), degrees))] = np.arange(n)

    sets = np.full(n, -1)
    left = np.flatnonzero(degrees)
    tails, heads = np.repeat(np.arange(n), degrees), affinity.indices
    number = 0
    while len(left):
        highest_neighbour = np.full(n, -1)
        if len(tails):
            starts = np.flatnonzero(np.diff(tails, prepend=-1))
            highest_neighbour[tails[starts]] = np.maximum.reduceat(rank[heads], starts)
        sets[left[rank[left] > highest_neighbour[left]]] = number
        left = left[sets[left] < 0]
        among = (sets[tails] < 0) & (sets[heads] < 0)
        tails, heads = tails[among], heads[among]
        number += 1
    return sets
