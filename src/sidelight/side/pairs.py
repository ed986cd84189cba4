"""Draw distinct pairs of rows, of one class or of two, without listing all pairs there are.

Pairs are numbered, distinct numbers are drawn, and the pair of each number is worked out: every set of pairs
is equally likely, and a million links among a million rows take seconds.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from sidelight.side.bonds import IntArray

# Tries at disjoint links of given numbers, where an unlucky choice of rows can leave too few of a kind.
_TRIES = 50


class Classes(NamedTuple):
    """Rows sorted by class, where each class starts, and how many rows it has."""

    rows: IntArray
    codes: IntArray
    starts: IntArray
    counts: IntArray


def rank_in_class(codes: IntArray) -> IntArray:
    """Count how often each code stood before, place by place."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order], side="left")
    rank = np.empty(len(codes), dtype=np.int64)
    rank[order] = np.arange(len(codes)) - starts
    return rank


def any_pairs(classes: Classes, number: int, disjoint: bool, random: np.random.RandomState) -> IntArray:
    """Draw pairs of any kind, as places in ``classes.rows``."""
    n = len(classes.rows)
    if disjoint:
        _refuse_too_many(number, n // 2, f"disjoint links among {n} rows")
        return random.permutation(n)[: 2 * number].reshape(-1, 2).astype(np.int64)
    drawn = _distinct(n * (n - 1) // 2, number, f"links among {n} rows", random)
    return np.column_stack(_unrank(drawn))


def pairs_of_each_kind(
    classes: Classes,
    n_must: int,
    n_cannot: int,
    wrong: float,
    disjoint: bool,
    random: np.random.RandomState,
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Draw pairs of one class, then pairs of two, as places in ``classes.rows``; flip the wrong ones.

    ``n_must`` and ``n_cannot`` count the links as stated, wrong ones included.
    """
    n_wrong = round(wrong * (n_must + n_cannot))
    wrong_must = min(round(wrong * n_must), n_wrong)
    wrong_cannot = n_wrong - wrong_must
    n_same = n_must - wrong_must + wrong_cannot
    n_different = n_cannot - wrong_cannot + wrong_must
    if disjoint:
        same, different = _disjoint_pairs(classes, n_same, n_different, random)
    else:
        same = _same_class_pairs(classes, n_same, random)
        different = _different_class_pairs(classes, n_different, random)
    flipped = np.concatenate([np.arange(n_same) < wrong_cannot, np.arange(n_different) < wrong_must])
    return np.concatenate([same, different]), flipped


def _same_class_pairs(classes: Classes, number: int, random: np.random.RandomState) -> IntArray:
    numbers = classes.counts * (classes.counts - 1) // 2
    drawn = _distinct(int(numbers.sum()), number, "pairs of rows of one class", random)
    which, local = _locate(numbers, drawn)
    return classes.starts[which][:, None] + np.column_stack(_unrank(local))


def _different_class_pairs(classes: Classes, number: int, random: np.random.RandomState) -> IntArray:
    ends = classes.starts + classes.counts
    later = len(classes.rows) - ends
    numbers = classes.counts * later
    drawn = _distinct(int(numbers.sum()), number, "pairs of rows of different classes", random)
    which, local = _locate(numbers, drawn)
    first, second = np.divmod(local, later[which])
    return np.column_stack([classes.starts[which] + first, ends[which] + second])


def _disjoint_pairs(
    classes: Classes, n_same: int, n_different: int, random: np.random.RandomState
) -> tuple[IntArray, IntArray]:
    codes, everyone = classes.codes, np.arange(len(classes.rows))
    _refuse_too_many(n_same, int((classes.counts // 2).sum()), "disjoint pairs of rows of one class")
    # Where rows are scarce, one order of drawing can leave too few for the other kind: try both.
    for attempt in range(_TRIES):
        if attempt % 2 == 0:
            same = _disjoint_same(codes, everyone, n_same, random)
            different = _disjoint_different(codes, np.setdiff1d(everyone, same), n_different, random)
        else:
            different = _disjoint_different(codes, everyone, n_different, random)
            same = _disjoint_same(codes, np.setdiff1d(everyone, different), n_same, random)
        if len(same) == n_same and len(different) == n_different:
            return same, different
    raise ValueError(
        f"found no {n_same} pairs of one class and {n_different} of different classes that share no row; "
        "ask for fewer, or allow links to share rows (disjoint=False)"
    )


def _disjoint_same(codes: IntArray, free: IntArray, number: int, random: np.random.RandomState) -> IntArray:
    """Pair rows of one class, as many as there are up to ``number``."""
    order = random.permutation(free)
    order = order[np.argsort(codes[order], kind="stable")]
    # Within each class, shuffled, the rows at even places are paired with their successors.
    first = (rank_in_class(codes[order])[:-1] % 2 == 0) & (codes[order][1:] == codes[order][:-1])
    at = random.permutation(np.flatnonzero(first))[:number]
    return np.column_stack([order[at], order[at + 1]])


def _disjoint_different(codes: IntArray, free: IntArray, number: int, random: np.random.RandomState) -> IntArray:
    """Pair rows of different classes: at random while that works, else by construction; none if neither."""
    pairs = [np.empty((0, 2), dtype=np.int64)]
    left, lacking = random.permutation(free), number
    for _ in range(10):
        couples = left[: len(left) // 2 * 2].reshape(-1, 2)
        good = np.flatnonzero(codes[couples[:, 0]] != codes[couples[:, 1]])[:lacking]
        pairs.append(couples[good])
        lacking -= len(good)
        if lacking == 0:
            return np.concatenate(pairs)
        left = random.permutation(np.setdiff1d(left, couples[good]))
    # No class may fill more than half of 2m rows; sorted by class, i and i + m then differ.
    shuffled = random.permutation(free)
    chosen = shuffled[rank_in_class(codes[shuffled]) < number][: 2 * number]
    if len(chosen) < 2 * number:
        return pairs[0]
    chosen = chosen[np.argsort(codes[chosen], kind="stable")]
    return np.column_stack([chosen[:number], chosen[number:]])


def _refuse_too_many(number: int, available: int, what: str) -> None:
    if number > available:
        raise ValueError(f"asked for {number} {what}, but there are only {available}; ask for fewer")


def _distinct(population: int, number: int, what: str, random: np.random.RandomState) -> IntArray:
    """Draw distinct numbers below ``population``, in random order, without listing them all."""
    _refuse_too_many(number, population, what)
    if number == 0:
        return np.empty(0, dtype=np.int64)
    drawn = sample_without_replacement(population, number, random_state=random)
    return random.permutation(drawn.astype(np.int64))


def _locate(numbers: IntArray, drawn: IntArray) -> tuple[IntArray, IntArray]:
    """Find the class whose pairs, listed class by class, hold each drawn number, and its place there."""
    ends = np.cumsum(numbers)
    which = np.searchsorted(ends, drawn, side="right")
    return which, drawn - (ends - numbers)[which]


def _unrank(ranks: IntArray) -> tuple[IntArray, IntArray]:
    """Give the pair i < j at each place of the list (0,1), (0,2), (1,2), (0,3), …."""
    high = ((1 + np.sqrt(1 + 8 * ranks.astype(np.float64))) / 2).astype(np.int64)
    # The square root may be off by one at the edge.
    high -= high * (high - 1) // 2 > ranks
    high += high * (high + 1) // 2 <= ranks
    return ranks - high * (high - 1) // 2, high
