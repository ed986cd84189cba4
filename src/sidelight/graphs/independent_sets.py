"""Divide nodes into independent sets: nodes of one set have no link, so that a set can be updated at once.

`independent_sets` gives few sets of large graphs quickly; `first_fit_sets` keeps the order of the nodes and takes
cliques without listing their pairs.
"""

from collections.abc import Sequence
from itertools import count

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import IntArray


def independent_sets(affinity: "csr_array[np.float64]") -> IntArray:
    """Return the number of a set for each node, such that no link lies within a set; -1 for nodes without links.

    Again and again, the nodes that rank above all their remaining neighbours make up a set (Luby 1986). Ranks go by the
    number of links, then by a fixed shuffle: by their numbers, a chain would need as many sets as it has nodes.
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


def first_fit_sets(links: "csr_array[np.float64]", cliques: Sequence[IntArray] = ()) -> IntArray:
    """Return the number of a set for each node: the first that none of its neighbours is in, node after node.

    The entries of ``links`` (n, n), symmetric, are links whatever their values. Each of ``cliques`` has a clique of
    every node (n,), -1 for none; all nodes of a clique are linked.
    """
    starts, neighbours = links.indptr.tolist(), links.indices.tolist()
    codes_of = [codes.tolist() for codes in cliques]
    taken_in_clique: dict[tuple[int, int], set[int]] = {}
    sets = [-1] * (len(starts) - 1)
    for node in range(len(sets)):
        taken = {sets[other] for other in neighbours[starts[node] : starts[node + 1]]}
        own = [
            taken_in_clique.setdefault((kind, codes[node]), set())
            for kind, codes in enumerate(codes_of)
            if codes[node] >= 0
        ]
        sets[node] = next(number for number in count() if number not in taken.union(*own))
        for clique in own:
            clique.add(sets[node])
    return np.array(sets, dtype=np.int64)
