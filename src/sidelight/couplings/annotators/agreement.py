"""How often annotators agree: observed, and as often as answers drawn at random from what each says would."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.side.annotations import Annotations


@storable("Agreement")
class Agreement(NamedTuple):
    """How often two annotators agree on what both have judged.

    Parameters
    ----------
    first, second : any
        Names of the annotators.
    n_common : int
        Number of rows and pairs that both have judged.
    observed : float
        Share of them on which they agree.
    expected : float
        Share on which they would if each answered at random as often as they do.
    kappa : float
        Agreement beyond chance, (observed − expected) / (1 − expected) (Cohen 1960); 1 is perfect, 0 is chance.

    Examples
    --------
    >>> from sidelight import SideInformation
    >>> from sidelight.couplings.annotators import agreement
    >>> said = {"row": [0, 1, 0, 1], "label": list("abaa"), "annotator": ["Ann"] * 2 + ["Ben"] * 2}
    >>> side = SideInformation.from_annotations(2, labels=said)
    >>> [(found.first, found.second, found.observed) for found in agreement(side.annotations)]
    [('Ann', 'Ben', 0.5)]
    """

    first: Any
    second: Any
    n_common: int
    observed: float
    expected: float
    kappa: float


class Said(NamedTuple):
    """All statements as answers (s,) of annotators (s,) about items (s,), rows first and then pairs."""

    items: IntArray
    answers: IntArray
    annotators: IntArray
    n_answers: int
    n_rows: int


def said(annotations: Annotations) -> Said:
    """Return what annotators said of rows and pairs, "unsure" left out."""
    known, sure = annotations.label_codes >= 0, annotations.relations >= 0
    rows, row_items = np.unique(annotations.label_rows[known], return_inverse=True)
    pairs = annotations.pairs[sure]
    width = int(pairs.max(initial=0)) + 1
    _, pair_items = np.unique(pairs[:, 0] * width + pairs[:, 1], return_inverse=True)
    n_names = len(annotations.label_names)
    return Said(
        np.concatenate([row_items, len(rows) + pair_items]).astype(np.int64),
        np.concatenate([annotations.label_codes[known], n_names + annotations.relations[sure]]),
        np.concatenate([annotations.label_annotators[known], annotations.pair_annotators[sure]]),
        n_names + 2,
        len(rows),
    )


def agreement(annotations: Annotations) -> list[Agreement]:
    """Return how often each two annotators agree who have judged common rows or pairs; most common ones first."""
    stated, n = said(annotations), len(annotations.annotators)
    n_items = int(stated.items.max(initial=-1)) + 1
    if not n_items:
        return []
    counts = coo_array((np.ones(len(stated.items)), (stated.items, stated.annotators)), shape=(n_items, n)).tocsr()
    asked: csr_array[Any] = counts.sign()
    common, matches, chance = (asked.T @ asked).toarray(), np.zeros((n, n)), np.zeros((n, n))
    for answer in np.unique(stated.answers):
        given = stated.answers == answer
        # Who answered twice about one item is split between both answers.
        share = 1.0 / counts[stated.items[given], stated.annotators[given]]
        own = coo_array((share, (stated.items[given], stated.annotators[given])), shape=(n_items, n)).tocsr()
        matches += (own.T @ own).toarray()
        often = (own.T @ asked).toarray()
        chance += often * often.T
    found = []
    names = annotations.annotators.tolist()
    for first, second in zip(*np.nonzero(np.triu(common, k=1)), strict=True):
        shared = common[first, second]
        observed, expected = matches[first, second] / shared, chance[first, second] / shared**2
        kappa = 1.0 if expected >= 1 else (observed - expected) / (1 - expected)
        found.append(
            Agreement(names[first], names[second], int(shared), float(observed), float(expected), float(kappa))
        )
    return sorted(found, key=lambda one: -one.n_common)


def krippendorff(annotations: Annotations) -> tuple[float, float]:
    """Return the agreement of all annotators beyond chance (Krippendorff's α, nominal): of labels, and of pairs.

    NaN where no row, or no pair, has been judged twice.
    """
    stated = said(annotations)
    of_row = stated.items < stated.n_rows
    return _alpha(stated, of_row), _alpha(stated, ~of_row)


def _alpha(stated: Said, chosen: Any) -> float:
    if not chosen.any():
        return float("nan")
    items = np.unique(stated.items[chosen], return_inverse=True)[1]
    shape = (int(items.max()) + 1, stated.n_answers)
    counts = csr_array(coo_array((np.ones(len(items)), (items, stated.answers[chosen])), shape=shape))
    sizes: FloatArray = np.asarray(counts.sum(axis=1)).ravel()
    several = sizes >= 2
    counts, sizes = counts[several], sizes[several]
    if not len(sizes):
        return float("nan")
    squares = np.asarray(counts.power(2).sum(axis=1)).ravel()
    totals: FloatArray = np.asarray(counts.sum(axis=0)).ravel()
    n = totals.sum()
    observed = ((sizes**2 - squares) / (sizes - 1)).sum() / n
    expected = (n**2 - (totals**2).sum()) / (n * (n - 1))
    return float(1 - observed / expected) if expected else 1.0
