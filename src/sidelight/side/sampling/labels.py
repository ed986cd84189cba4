"""Draw labels from a ground truth."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sidelight._typing import AnyArray, IntArray
from sidelight.side.parsing.columns import encode


def draw_labels(
    y: Any,
    *,
    fraction: float | None = None,
    number: int | None = None,
    per_class: int | None = None,
    left_out: Iterable[Any] = (),
    stratify: bool = False,
    random_state: Any = None,
) -> AnyArray:
    """Keep some labels of a ground truth and hide the others.

    Parameters
    ----------
    y : (n,) column
        The truth. Rows of unknown class (-1, None, NaN) are never drawn.
    fraction, number, per_class : float or int
        How many labels to keep, one of the three: a fraction of the eligible rows (rounded), a number of rows, or a
        number of rows of each class.
    left_out : names of classes, optional
        Classes without labels.
    stratify : bool, default False
        Whether ``fraction`` or ``number`` is divided among the classes in proportion to their sizes.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    (n,) array
        Integers with -1 for unknown where the truth holds whole numbers, else objects with None.

    Examples
    --------
    >>> from sidelight.side import draw_labels
    >>> draw_labels(["a", "a", "a", "b", "b", "b"], per_class=1, random_state=0).tolist().count(None)
    4
    """
    random = check_random_state(random_state)
    codes, names = encode(y, "y")
    eligible = _without(codes, names, left_out)
    rows = np.flatnonzero(eligible >= 0)
    sizes = np.bincount(eligible[rows], minlength=len(names))
    quotas = _quotas(sizes, fraction, number, per_class, names, stratify, random)
    if quotas is None:
        chosen = random.permutation(rows)[: _wanted(len(rows), fraction, number)]
    else:
        shuffled = random.permutation(rows)
        chosen = shuffled[rank_within(eligible[shuffled]) < quotas[eligible[shuffled]]]
    return _partial(codes, names, chosen)


def _without(codes: IntArray, names: AnyArray, left_out: Iterable[Any]) -> IntArray:
    known = names.tolist()
    for name in left_out:
        if name not in known:
            raise ValueError(f"left_out names the class {name!r}, which is not in y; classes are {known!r}")
        codes = np.where(codes == known.index(name), -1, codes)
    return codes


def _quotas(
    sizes: IntArray,
    fraction: float | None,
    number: int | None,
    per_class: int | None,
    names: AnyArray,
    stratify: bool,
    random: np.random.RandomState,
) -> IntArray | None:
    """Divide the labels among the classes; None where any row may be drawn."""
    if sum(value is not None for value in (fraction, number, per_class)) != 1:
        raise ValueError("give one of fraction, number and per_class")
    if per_class is not None:
        short = np.flatnonzero((sizes < per_class) & (sizes > 0))
        if per_class < 0 or len(short):
            reason = (
                f"class {names[short[:1]].tolist()[0]!r} has only {sizes[short[0]]} rows"
                if len(short)
                else "it is negative"
            )
            raise ValueError(f"per_class={per_class} cannot be drawn: {reason}")
        return np.full(len(sizes), per_class)
    if not stratify:
        return None
    total = _wanted(int(sizes.sum()), fraction, number)
    shares = total * sizes / max(int(sizes.sum()), 1)
    quotas = np.floor(shares).astype(np.int64)
    # Labels left by rounding go to the largest remainders, ties at random.
    order = np.lexsort((random.random_sample(len(sizes)), quotas - shares))
    quotas[order[: total - quotas.sum()]] += 1
    return quotas


def _wanted(n_rows: int, fraction: float | None, number: int | None) -> int:
    if fraction is not None and not 0 <= fraction <= 1:
        raise ValueError(f"fraction={fraction} must lie between 0 and 1")
    wanted = round(fraction * n_rows) if fraction is not None else int(number or 0)
    if not 0 <= wanted <= n_rows:
        raise ValueError(f"number={wanted} labels cannot be drawn from {n_rows} rows")
    return wanted


def _partial(codes: IntArray, names: AnyArray, chosen: IntArray) -> AnyArray:
    whole = names.dtype.kind in "iu"
    partial = np.full(len(codes), -1 if whole else None, dtype=np.int64 if whole else object)
    partial[chosen] = names[codes[chosen]] if whole else np.array(names.tolist(), dtype=object)[codes[chosen]]
    return partial


def rank_within(codes: IntArray) -> IntArray:
    """Count the equal codes before each place."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order], side="left")
    rank = np.empty(len(codes), dtype=np.int64)
    rank[order] = np.arange(len(codes)) - starts
    return rank
