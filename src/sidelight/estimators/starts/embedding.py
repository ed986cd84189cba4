"""Rows as points between which distances mean something, whatever their columns are: where starts look for centres."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_array, diags_array

from sidelight._typing import FloatArray
from sidelight.estimators.starts.sample import Data, scale_of
from sidelight.tables.schema import Columns
from sidelight.tables.survey import Survey

# Directions that rows of many words are reduced to.
_DIRECTIONS = 20
# Added to those of every word, so that single occurrences of rare words do not make up most of the distances.
_FURTHER_OCCURRENCES = 10.0
# Categories of a column that have a direction of their own; the others are too rare to make centres.
_CATEGORIES = 30


def embedding(data: Data, columns: Columns, survey: Survey, random: np.random.RandomState) -> FloatArray:
    """Return rows as points (m, d'); every column has variance one, or none, and missing cells lie at its mean.

    Gaussian and Bernoulli columns are standardised, Poisson columns are so after a square root, which gives counts of
    any size the same noise, and a category is a direction of its own. Rows of words are proportions over roots of what
    is expected, so that common words are as noisy as rare ones (correspondence analysis), reduced to 20 directions
    where there are more words. Square roots of proportions would not do: of words that are hardly ever met twice in a
    row they see little more than which are common.

    Parameters
    ----------
    data : Data
        Encoded rows.
    columns : Columns
    survey : Survey
        Of the whole table.
    random : RandomState
    """
    weights = np.ones(data.X.shape[0]) if data.weights is None else data.weights
    if "multinomial" in columns.kinds:
        return _words(data.X, weights, random)
    parts = []
    for kind in sorted(set(columns.kinds)):
        numbers = columns.of_kind(kind)
        parts.append(_PARTS[kind](data.X[:, numbers], weights, survey.only(numbers)))
    return np.concatenate(parts, axis=1)


def _standardised(rows: FloatArray, weights: FloatArray, survey: Survey) -> FloatArray:
    return np.nan_to_num((rows - survey.mean) / scale_of(survey))


def _rooted(rows: FloatArray, weights: FloatArray, survey: Survey) -> FloatArray:
    roots = np.sqrt(rows)
    observed = np.maximum(weights @ ~np.isnan(roots), np.finfo(float).tiny)
    centred = roots - weights @ np.nan_to_num(roots) / observed
    variances = weights @ np.square(np.nan_to_num(centred)) / observed
    return np.nan_to_num(centred) / np.where(variances > 0, np.sqrt(variances), 1.0)


def _one_hot(rows: FloatArray, weights: FloatArray, survey: Survey) -> FloatArray:
    return np.concatenate([_indicators(codes, weights) for codes in rows.T], axis=1)


def _indicators(codes: FloatArray, weights: FloatArray) -> FloatArray:
    """Return a column's categories (m, categories), centred, so that their variances add up to one."""
    seen = ~np.isnan(codes)
    counts = np.bincount(codes[seen].astype(np.intp), weights=weights[seen], minlength=1)
    frequent = np.argsort(-counts, kind="stable")[:_CATEGORIES]
    shares = counts[frequent] / max(counts.sum(), np.finfo(float).tiny)
    centred = np.where(seen[:, None], (codes[:, None] == frequent) - shares, 0.0)
    variance = float(shares @ (1.0 - shares))
    return centred / np.sqrt(variance) if variance > 0 else centred


_PARTS: dict[str, Callable[[FloatArray, FloatArray, Survey], FloatArray]] = {
    "gaussian": _standardised,
    "bernoulli": _standardised,
    "poisson": _rooted,
    "categorical": _one_hot,
}


def _words(counts: Any, weights: FloatArray, random: np.random.RandomState) -> FloatArray:
    sizes = np.asarray(counts.sum(axis=1), dtype=float).reshape(-1)
    occurrences = np.asarray(weights @ counts, dtype=float) + _FURTHER_OCCURRENCES
    proportions = diags_array(1.0 / np.maximum(sizes, 1.0)) @ csr_array(counts)
    scaled = proportions @ diags_array(np.sqrt(occurrences.sum() / occurrences))
    if scaled.shape[1] <= _DIRECTIONS:
        return scaled.toarray()
    from sklearn.decomposition import TruncatedSVD

    return TruncatedSVD(min(_DIRECTIONS, scaled.shape[0]), random_state=random).fit_transform(scaled)
