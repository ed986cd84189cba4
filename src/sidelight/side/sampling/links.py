"""Draw links from a ground truth.

Pairs of rows are never all listed: they are numbered, distinct numbers are drawn, and the pair of each number is worked
out. Every set of pairs is equally likely, and a million links among a million rows take seconds.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from sidelight._typing import BoolArray, IntArray
from sidelight.side.parsing.columns import encode
from sidelight.side.parsing.rows import choose_rows
from sidelight.side.sampling.labels import rank_within

# Tries at disjoint links of given numbers, where an unlucky choice of rows can leave too few of a kind.
_MAX_TRIES = 50


class Links(NamedTuple):
    """Links drawn from a ground truth, as row numbers, the lower first.

    Attributes
    ----------
    must_link, cannot_link : (m, 2) int
        The links as stated.
    wrong : (m,) bool
        Which of them the truth contradicts: must-links first, then cannot-links.

    Examples
    --------
    >>> from sidelight.side import draw_links
    >>> links = draw_links([0, 0, 1, 1], n_must=1, n_cannot=2, random_state=0)
    >>> links.must_link.shape, links.cannot_link.shape, links.wrong.tolist()
    ((1, 2), (2, 2), [False, False, False])
    """

    must_link: IntArray
    cannot_link: IntArray
    wrong: BoolArray


class _Classes(NamedTuple):
    """Rows sorted by class, where each class starts, and how many rows it has."""

    rows: IntArray
    codes: IntArray
    starts: IntArray
    counts: IntArray


def draw_links(
    y: Any,
    n_links: int | None = None,
    *,
    n_must: int | None = None,
    n_cannot: int | None = None,
    kind: str = "random",
    wrong: float = 0.0,
    among: Any = None,
    disjoint: bool = False,
    random_state: Any = None,
) -> Links:
    """Draw distinct pairs of rows; each is a must-link if the truth has them in one class, else a cannot-link.

    Parameters
    ----------
    y : (n,) column
        The truth. Rows of unknown class (-1, None, NaN) are never drawn.
    n_links : int, optional
        Total number of links.
    n_must, n_cannot : int, optional
        Instead of ``n_links``: the number of must-links and of cannot-links.
    kind : {"random", "must_link", "cannot_link", "balanced"}
        What ``n_links`` counts: any pairs, all equally likely; links of one kind; or equal numbers of both (one
        must-link more if the number is odd).
    wrong : float, default 0
        Fraction of the links (rounded) that contradict the truth. Where the number of each kind is given, it holds for
        each kind.
    among : (m,) int or (n,) bool, optional
        Rows that links may join; by default all.
    disjoint : bool, default False
        Whether a row is in at most one link. With numbers of each kind, the draw is random but not exactly uniform.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    Links
        Must-links, cannot-links, and which of them are wrong.

    Examples
    --------
    >>> from sidelight.side import draw_links
    >>> species = [0] * 50 + [1] * 50
    >>> links = draw_links(species, n_links=20, wrong=0.1, random_state=0)
    >>> len(links.must_link) + len(links.cannot_link), int(links.wrong.sum())
    (20, 2)
    """
    random = check_random_state(random_state)
    classes = _sort_by_class(encode(y, "y").codes, among)
    if not 0 <= wrong <= 1:
        raise ValueError(f"wrong={wrong} must lie between 0 and 1")
    numbers = _numbers(n_links, n_must, n_cannot, kind)
    if isinstance(numbers, int):
        pairs = _any_pairs(classes, numbers, disjoint, random)
        flipped = np.zeros(numbers, dtype=bool)
        flipped[random.permutation(numbers)[: round(wrong * numbers)]] = True
    else:
        pairs, flipped = _pairs_of_each_kind(classes, *numbers, wrong, disjoint, random)
    same = classes.codes[pairs[:, 0]] == classes.codes[pairs[:, 1]]
    pairs = np.sort(classes.rows[pairs], axis=1)
    stated = same ^ flipped
    return Links(pairs[stated], pairs[~stated], np.concatenate([flipped[stated], flipped[~stated]]))


def _sort_by_class(codes: IntArray, among: Any) -> _Classes:
    allowed = codes >= 0
    if among is not None:
        chosen = np.zeros(len(codes), dtype=bool)
        chosen[choose_rows(among, "among", len(codes))] = True
        allowed &= chosen
    rows = np.flatnonzero(allowed)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    _, starts, counts = np.unique(codes[rows], return_index=True, return_counts=True)
    return _Classes(rows, codes[rows], starts.astype(np.int64), counts.astype(np.int64))


def _numbers(n_links: int | None, n_must: int | None, n_cannot: int | None, kind: str) -> int | tuple[int, int]:
    if (n_links is None) == (n_must is None and n_cannot is None):
        raise ValueError("give either n_links, or n_must and n_cannot")
    if any((value or 0) < 0 for value in (n_links, n_must, n_cannot)):
        raise ValueError("n_links, n_must and n_cannot must not be negative")
    if n_links is None:
        return int(n_must or 0), int(n_cannot or 0)
    match kind:
        case "random":
            return int(n_links)
        case "must_link":
            return int(n_links), 0
        case "cannot_link":
            return 0, int(n_links)
        case "balanced":
            return n_links - n_links // 2, n_links // 2
    raise ValueError(f"kind={kind!r} is unknown; use 'random', 'must_link', 'cannot_link' or 'balanced'")


def _any_pairs(classes: _Classes, number: int, disjoint: bool, random: np.random.RandomState) -> IntArray:
    """Draw pairs of any kind, as places in ``classes.rows``."""
    n = len(classes.rows)
    if disjoint:
        _refuse_too_many(number, n // 2, f"disjoint links among {n} rows")
        return random.permutation(n)[: 2 * number].reshape(-1, 2).astype(np.int64)
    drawn = _distinct(n * (n - 1) // 2, number, f"links among {n} rows", random)
    return np.column_stack(_unrank(drawn))


def _pairs_of_each_kind(
    classes: _Classes,
    n_must: int,
    n_cannot: int,
    wrong: float,
    disjoint: bool,
    random: np.random.RandomState,
) -> tuple[IntArray, BoolArray]:
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


def _same_class_pairs(classes: _Classes, number: int, random: np.random.RandomState) -> IntArray:
    numbers = classes.counts * (classes.counts - 1) // 2
    drawn = _distinct(int(numbers.sum()), number, "pairs of rows of one class", random)
    which, local = _locate(numbers, drawn)
    return classes.starts[which][:, None] + np.column_stack(_unrank(local))


def _different_class_pairs(classes: _Classes, number: int, random: np.random.RandomState) -> IntArray:
    ends = classes.starts + classes.counts
    later = len(classes.rows) - ends
    numbers = classes.counts * later
    drawn = _distinct(int(numbers.sum()), number, "pairs of rows of different classes", random)
    which, local = _locate(numbers, drawn)
    first, second = np.divmod(local, later[which])
    return np.column_stack([classes.starts[which] + first, ends[which] + second])


def _disjoint_pairs(
    classes: _Classes, n_same: int, n_different: int, random: np.random.RandomState
) -> tuple[IntArray, IntArray]:
    codes, rows = classes.codes, np.arange(len(classes.rows))
    _refuse_too_many(n_same, int((classes.counts // 2).sum()), "disjoint pairs of rows of one class")
    # Where rows are scarce, one order of drawing can leave too few for the other kind: try both.
    for attempt in range(_MAX_TRIES):
        if attempt % 2 == 0:
            same = _disjoint_same(codes, rows, n_same, random)
            different = _disjoint_different(codes, np.setdiff1d(rows, same), n_different, random)
        else:
            different = _disjoint_different(codes, rows, n_different, random)
            same = _disjoint_same(codes, np.setdiff1d(rows, different), n_same, random)
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
    first = (rank_within(codes[order])[:-1] % 2 == 0) & (codes[order][1:] == codes[order][:-1])
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
    chosen = shuffled[rank_within(codes[shuffled]) < number][: 2 * number]
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
