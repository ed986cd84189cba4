"""Held-out statements, and how well a model fitted without them predicts them."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.side import SideInformation

# Any statement may be wrong, at least once in a thousand times, so that one error of a certain model does not
# outweigh all other statements.
_MAX_CONFIDENCE = 0.999


class Fold(NamedTuple):
    """Statements to fit with, and statements to predict."""

    train: SideInformation
    held_out: SideInformation


def split_statements(side: SideInformation, n_folds: int, random: np.random.RandomState) -> list[Fold]:
    """Divide links and labels among folds, each kind evenly; each fold is held out in turn. Blocks stay in all."""
    labelled = np.flatnonzero(side.labels >= 0)
    sizes = (len(side.must_link), len(side.cannot_link), len(labelled))
    if not isinstance(n_folds, int) or n_folds < 2:
        raise ValueError(f"cv={n_folds!r} must be a whole number of at least 2.")
    if sum(sizes) < n_folds:
        raise ValueError(
            f"cv={n_folds} folds need as many links or labels, but there are {sum(sizes)}; use fewer folds."
        )
    # Folds are assigned in turn across the kinds, so that no fold is empty.
    fold_of = np.split(np.arange(sum(sizes)) % n_folds, np.cumsum(sizes)[:-1])
    must, cannot, label = (random.permutation(part) for part in fold_of)
    folds = []
    for fold in range(n_folds):
        train = _part(side, must != fold, cannot != fold, labelled[label != fold])
        held_out = replace(
            _part(side, must == fold, cannot == fold, labelled[label == fold]),
            blocks=np.full(side.n_rows, -1),
            block_names=np.empty(0, dtype=np.int64),
        )
        folds.append(Fold(train, held_out))
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


def log_probability(model: Any, side: SideInformation) -> float:
    """Return the mean log probability of statements under the posterior of a fitted model; higher is better."""
    posterior = np.asarray(model.posterior_)
    together, apart = (
        np.einsum("ic,ic->i", posterior[links[:, 0]], posterior[links[:, 1]])
        for links in (side.must_link, side.cannot_link)
    )
    rows = np.flatnonzero(side.labels >= 0)
    # The last column is for labels without a cluster.
    padded = np.column_stack([posterior[rows], np.zeros(len(rows))])
    right = np.concatenate([together, 1 - apart, padded[np.arange(len(rows)), _clusters_of_labels(model, side, rows)]])
    confidence = np.concatenate([side.must_link_confidence, side.cannot_link_confidence, np.ones(len(rows))])
    confidence = np.minimum(confidence, _MAX_CONFIDENCE)
    return float(np.log(confidence * right + (1 - confidence) * (1 - right)).mean())


def violated_fraction(model: Any, side: SideInformation) -> float:
    """Return the fraction of statements that the labels of a fitted model violate; lower is better."""
    labels = np.asarray(model.labels_)
    rows = np.flatnonzero(side.labels >= 0)
    violated: FloatArray = np.concatenate(
        [
            labels[side.must_link[:, 0]] != labels[side.must_link[:, 1]],
            labels[side.cannot_link[:, 0]] == labels[side.cannot_link[:, 1]],
            labels[rows] != _clusters_of_labels(model, side, rows),
        ]
    ).astype(float)
    return float(violated.mean())


def _clusters_of_labels(model: Any, side: SideInformation, rows: IntArray) -> IntArray:
    """Return the number of the cluster named after each row's label; one past the last where there is none."""
    names = model.cluster_names_.tolist() if len(rows) else []
    numbers = [names.index(name) if name in names else len(names) for name in side.label_names.tolist()]
    return np.array(numbers, dtype=np.int64)[side.labels[rows]] if len(rows) else rows
