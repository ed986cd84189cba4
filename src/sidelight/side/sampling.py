"""Draw labels and links from a ground truth, for experiments."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sidelight.side.bonds import IntArray
from sidelight.side.information import SideInformation
from sidelight.side.pairs import Classes, any_pairs, pairs_of_each_kind, rank_in_class
from sidelight.side.reading import AnyArray, Encoded, as_vector, choose_rows, encode, read_ids


class Links(NamedTuple):
    """Links drawn from a ground truth, as row numbers, the lower first.

    Attributes
    ----------
    must_link, cannot_link : (m, 2) int
        The links as stated.
    wrong : (m,) bool
        Which of them the truth contradicts: must-links first, then cannot-links.
    """

    must_link: IntArray
    cannot_link: IntArray
    wrong: NDArray[np.bool_]


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
    """Keep some labels of a ground truth and forget the others.

    Parameters
    ----------
    y : (n,) column
        The truth. Rows it does not know (-1, None, NaN) are never drawn.
    fraction, number, per_class : float or int
        How many labels to keep, one of the three: a fraction of the rows in question (rounded), a number of
        rows, or a number of rows of each class.
    left_out : names of classes, optional
        Classes of which no label is kept.
    stratify : bool, default False
        Whether ``fraction`` or ``number`` is shared out among the classes in proportion to their sizes.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    (n,) array
        Integers with -1 for unknown where the truth holds whole numbers, else objects with None.
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
        chosen = shuffled[rank_in_class(eligible[shuffled]) < quotas[eligible[shuffled]]]
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
    """Share the labels out among the classes; None where any row may be drawn."""
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
    # What rounding left over goes to the largest remainders, ties by lot.
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
    """Draw distinct pairs of rows and say of each whether the truth puts them in one class.

    Parameters
    ----------
    y : (n,) column
        The truth. Rows it does not know (-1, None, NaN) are never drawn.
    n_links : int, optional
        Number of links in all.
    n_must, n_cannot : int, optional
        In place of ``n_links``: how many must-links and how many cannot-links are stated.
    kind : {"random", "must_link", "cannot_link", "balanced"}
        What ``n_links`` counts: any pairs, all equally likely; links stated to be of one kind; or as many of
        one as of the other (one must-link more if the number is odd).
    wrong : float, default 0
        Fraction of the links (rounded) stated against the truth. Where the number of each kind is given,
        each kind has its share of them.
    among : (m,) int or (n,) bool, optional
        Rows that links may join; by default all.
    disjoint : bool, default False
        Whether each row stands in one link at most. With numbers of each kind, the draw is random but not
        exactly uniform.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    Links
        Must-links, cannot-links, and which of them are wrong.
    """
    random = check_random_state(random_state)
    classes = _classes(encode(y, "y"), among)
    if not 0 <= wrong <= 1:
        raise ValueError(f"wrong={wrong} must lie between 0 and 1")
    numbers = _numbers(n_links, n_must, n_cannot, kind)
    if isinstance(numbers, int):
        pairs = any_pairs(classes, numbers, disjoint, random)
        flipped = np.zeros(numbers, dtype=bool)
        flipped[random.permutation(numbers)[: round(wrong * numbers)]] = True
    else:
        pairs, flipped = pairs_of_each_kind(classes, *numbers, wrong, disjoint, random)
    same = classes.codes[pairs[:, 0]] == classes.codes[pairs[:, 1]]
    pairs = np.sort(classes.rows[pairs], axis=1)
    stated = same ^ flipped
    return Links(pairs[stated], pairs[~stated], np.concatenate([flipped[stated], flipped[~stated]]))


def _classes(truth: Encoded, among: Any) -> Classes:
    codes = truth.codes
    allowed = codes >= 0
    if among is not None:
        chosen = np.zeros(len(codes), dtype=bool)
        chosen[choose_rows(among, "among", len(codes))] = True
        allowed &= chosen
    rows = np.flatnonzero(allowed)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    _, starts, counts = np.unique(codes[rows], return_index=True, return_counts=True)
    return Classes(rows, codes[rows], starts.astype(np.int64), counts.astype(np.int64))


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


def draw_side(
    y: Any,
    *,
    labels: float | Mapping[str, Any] | None = None,
    links: int | Mapping[str, Any] | None = None,
    confidence: Any = None,
    sample_id: Any = None,
    random_state: Any = None,
) -> SideInformation:
    """Draw labels and links from a ground truth, as a SideInformation.

    Parameters
    ----------
    y : (n,) column
        The truth.
    labels : float, int or mapping, optional
        A fraction (float) or number (int) of labels, or the keywords of `draw_labels`.
    links : int or mapping, optional
        A number of random links, or the keywords of `draw_links`.
    confidence : float, column or mapping, optional
        Confidence of the links, as in `SideInformation.build`.
    sample_id : (n,) column, optional
        Names of the rows.
    random_state : int, RandomState or None
        Source of randomness.
    """
    random = check_random_state(random_state)
    truth = as_vector(y, "y")
    partial = None
    nothing = np.empty((0, 2), dtype=np.int64)
    drawn = Links(nothing, nothing, np.empty(0, dtype=bool))
    if labels is not None:
        if not isinstance(labels, Mapping):
            labels = {"number" if isinstance(labels, (int, np.integer)) else "fraction": labels}
        partial = draw_labels(truth, random_state=random, **labels)
    if links is not None:
        if not isinstance(links, Mapping):
            links = {"n_links": links}
        drawn = draw_links(truth, random_state=random, **links)
    ids = None if sample_id is None else read_ids(sample_id, len(truth))
    return SideInformation.build(
        len(truth),
        y=partial,
        must_link=drawn.must_link if ids is None else ids[drawn.must_link],
        cannot_link=drawn.cannot_link if ids is None else ids[drawn.cannot_link],
        confidence=confidence,
        sample_id=ids,
    )
