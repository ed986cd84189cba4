"""Statements that a fit is not told, and how well it foretells them."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.side import SideInformation

# Any statement may be wrong, if only once in a thousand times: one miss of a sure model must not outweigh all the rest.
_MOST_CONFIDENT = 0.999


class HeldBack(NamedTuple):
    """What a fit is told, and what is held back from it."""

    told: SideInformation
    held: SideInformation


def hold_back(side: SideInformation, n_folds: int, random: np.random.RandomState) -> list[HeldBack]:
    """Share links and labels out among folds, each kind evenly; in turn, one fold is held back."""
    labelled = np.flatnonzero(side.labels >= 0)
    sizes = (len(side.must_link), len(side.cannot_link), len(labelled))
    if not isinstance(n_folds, int) or n_folds < 2:
        raise ValueError(f"cv={n_folds!r} must be a whole number of at least 2.")
    if sum(sizes) < n_folds:
        raise ValueError(
            f"cv={n_folds} folds need as many links or labels, but there are {sum(sizes)}; use fewer folds."
        )
    # Numbered on from kind to kind, so that no fold is empty.
    places = np.split(np.arange(sum(sizes)) % n_folds, np.cumsum(sizes)[:-1])
    must, cannot, label = (random.permutation(part) for part in places)
    folds = []
    for fold in range(n_folds):
        held_labels = labelled[label == fold]
        told = _part(side, must != fold, cannot != fold, np.setdiff1d(labelled, held_labels))
        held = replace(
            _part(side, must == fold, cannot == fold, held_labels),
            blocks=np.full(side.n_rows, -1),
            block_names=np.empty(0, dtype=np.int64),
        )
        folds.append(HeldBack(told, held))
    return folds


def _part(side: SideInformation, must: BoolArray, cannot: BoolArray, labelled: IntArray) -> SideInformation:
    labels = np.full(side.n_rows, -1)
    labels[labelled] = side.labels[labelled]
    return replace(
        side,
        labels=labels,
        must_link=side.must_link[must],
        must_link_confidence=side.must_link_confidence[must],
        cannot_link=side.cannot_link[cannot],
        cannot_link_confidence=side.cannot_link_confidence[cannot],
    )


def log_probability(model: Any, held: SideInformation) -> float:
    """Return the mean log probability of statements under the posterior of a fitted model."""
    posterior = np.asarray(model.posterior_)
    together, apart = (
        np.einsum("ic,ic->i", posterior[links[:, 0]], posterior[links[:, 1]])
        for links in (held.must_link, held.cannot_link)
    )
    rows = np.flatnonzero(held.labels >= 0)
    # The last column is for labels that have no cluster.
    padded = np.column_stack([posterior[rows], np.zeros(len(rows))])
    right = np.concatenate([together, 1 - apart, padded[np.arange(len(rows)), _clusters_of_labels(model, held, rows)]])
    sure = np.concatenate([held.must_link_confidence, held.cannot_link_confidence, np.ones(len(rows))])
    sure = np.minimum(sure, _MOST_CONFIDENT)
    return float(np.log(sure * right + (1 - sure) * (1 - right)).mean())


def violated(model: Any, held: SideInformation) -> float:
    """Return the fraction of statements that the labels of a fitted model break."""
    labels = np.asarray(model.labels_)
    rows = np.flatnonzero(held.labels >= 0)
    broken: FloatArray = np.concatenate(
        [
            labels[held.must_link[:, 0]] != labels[held.must_link[:, 1]],
            labels[held.cannot_link[:, 0]] == labels[held.cannot_link[:, 1]],
            labels[rows] != _clusters_of_labels(model, held, rows),
        ]
    ).astype(float)
    return float(broken.mean())


def _clusters_of_labels(model: Any, held: SideInformation, rows: IntArray) -> IntArray:
    """Return the number of the cluster named by each row's label; one past the last where none is."""
    names = model.cluster_names_.tolist() if len(rows) else []
    numbers = [names.index(name) if name in names else len(names) for name in held.label_names.tolist()]
    return np.array(numbers, dtype=np.int64)[held.labels[rows]] if len(rows) else rows
