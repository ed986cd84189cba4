"""Merged clusters are shown as one at once, before the next refit."""

from collections.abc import Mapping

import numpy as np

from sidelight._typing import IntArray
from sidelight.studio.choosing import Prepared
from sidelight.studio.fitting import ClusterView, Fit


def regrouped(fit: Fit, aliases: Mapping[int, int]) -> Fit:
    """Return a fit whose merged clusters are one."""
    into = np.array([aliases.get(key, key) for key in fit.keys.tolist()], dtype=np.int64)
    if (into == fit.keys).all():
        return fit
    keys = np.unique(into)
    column = np.searchsorted(keys, into)
    posterior = np.zeros((len(fit.posterior), len(keys)), dtype=np.float32)
    for at, place in enumerate(column.tolist()):
        posterior[:, place] += fit.posterior[:, at]
    views: dict[int, ClusterView] = {}
    for view in fit.clusters:
        key = aliases.get(view.key, view.key)
        views[key] = _joined(views[key], view) if key in views else view
    names = {view.key: view.name for view in fit.clusters}
    return fit._replace(
        keys=keys,
        places=column[fit.places].astype(np.int32),
        posterior=posterior,
        # The name is that of the cluster which the others were merged into.
        clusters=[views[key]._replace(key=key, name=names.get(key, views[key].name)) for key in sorted(views)],
        prepared=_splits_of(fit.prepared, column),
    )


def _joined(one: ClusterView, other: ClusterView) -> ClusterView:
    """Return two clusters as one."""
    larger = one if one.size >= other.size else other
    size = one.size + other.size
    return larger._replace(
        size=size,
        certainty=(one.size * one.certainty + other.size * other.certainty) / size,
        histograms=[
            (name, bins, [a + b for a, b in zip(counts, others, strict=True)], total)
            for (name, bins, counts, total), (_, _, others, _) in zip(one.histograms, other.histograms, strict=True)
        ],
        typical=[row for pair in zip(one.typical, other.typical, strict=False) for row in pair][: len(one.typical)],
        n_labels=one.n_labels + other.n_labels,
    )


def _splits_of(prepared: Prepared, column: IntArray) -> Prepared:
    splits: dict[int, IntArray] = {}
    for place, pairs in prepared.splits.items():
        merged = int(column[place])
        splits[merged] = np.concatenate([splits[merged], pairs]) if merged in splits else pairs
    return prepared._replace(splits=splits)
