"""How often annotators are right, given the counts of what they said of rows and pairs of each class."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta

from sidelight._typing import FloatArray, IntArray

_COVERED = 0.95
# States of the counts that are less probable than this, in total, say nothing.
_NEGLIGIBLE = 1e-13
# How many statements a distribution is worth at most.
_MOST_CERTAIN = 1e9


class CountMixture(NamedTuple):
    """Posterior of the counts that reliabilities follow from: given a state, these have Dirichlet distributions.

    Parameters
    ----------
    weights : (states,)
        Probability of each state; one state has the expected counts, where these stand for all.
    answers : (a,)
        Columns of answers.
    said : (states, classes, a)
        How often rows of each class got each of them.
    judges : (j,)
        Annotators who judged pairs.
    judged : (states, j, 2, 2)
        How often they judged pairs that are different (0) and the same (1) in either way.
    """

    weights: FloatArray
    answers: IntArray
    said: FloatArray
    judges: IntArray
    judged: FloatArray


class OwnCounts(NamedTuple):
    """The counts of one annotator: weights (states,), labels (states, classes, columns), pairs (states, 2, 2)."""

    weights: FloatArray
    labels: FloatArray
    pairs: FloatArray


def own_counts(mixtures: tuple[CountMixture, ...], columns: IntArray, number: int, n_classes: int) -> OwnCounts:
    """Return the counts of an annotator, whose answers are ``columns``, from the part that has them."""
    for weights, answers, said, judges, judged in mixtures:
        given, judge = np.isin(columns, answers), np.flatnonzero(judges == number)
        if not (given.any() or len(judge)):
            continue
        kept = np.argsort(-weights, kind="stable")
        kept = np.sort(kept[: np.searchsorted(np.cumsum(weights[kept]), 1 - _NEGLIGIBLE) + 1])
        labels = np.zeros((len(kept), n_classes, len(columns)))
        labels[:, :, given] = said[kept][:, :, np.searchsorted(answers, columns[given])]
        pairs = judged[kept][:, judge[0]] if len(judge) else np.zeros((len(kept), 2, 2))
        return OwnCounts(weights[kept], labels, pairs)
    return OwnCounts(np.ones(1), np.zeros((1, n_classes, len(columns))), np.zeros((1, 2, 2)))


class Accuracy(NamedTuple):
    """Share (states,) of ``n`` (states,) statements that are right, given the counts: mean and variance."""

    n: FloatArray
    mean: FloatArray
    variance: FloatArray


def accuracy(counts: FloatArray, prior: FloatArray, right: FloatArray) -> Accuracy:
    """Return how often answers are right, from counts (states, kinds, answers) and a prior (kinds, answers).

    ``right`` (kinds, answers) is 1 for the answer that is right of rows or pairs of a kind. The kinds count as often as
    the annotator met them.
    """
    parameters, met = prior + counts, counts.sum(axis=2)
    total = parameters.sum(axis=2)
    mean = (right * parameters).sum(axis=2) / total
    variance = mean * (1 - mean) / (total + 1)
    n = met.sum(axis=1)
    shares = met / np.maximum(n, 1e-300)[:, None]
    return Accuracy(n, (shares * mean).sum(axis=1), (shares**2 * variance).sum(axis=1))


def interval(weights: FloatArray, parts: list[Accuracy]) -> tuple[float, float, float]:
    """Return mean and interval of the share of right statements.

    Given the counts, it has the Beta distribution of the same mean and variance, which is its own where one rate alone
    counts; these are mixed.
    """
    n = sum((part.n for part in parts), start=np.zeros(len(weights)))
    if not n.any():
        return float("nan"), 0.0, 1.0
    mean = np.sum([part.n * part.mean for part in parts], axis=0) / n
    variance = np.sum([(part.n / n) ** 2 * part.variance for part in parts], axis=0)
    # Who can give one answer only gives it for certain.
    spread = np.maximum(mean * (1 - mean), np.finfo(float).tiny)
    size = 1 / np.maximum(variance / spread, 1 / _MOST_CERTAIN) - 1
    right, wrong = np.maximum(mean * size, 1e-9), np.maximum((1 - mean) * size, 1e-9)
    low, high = (quantile(weights, right, wrong, (1 + sign * _COVERED) / 2) for sign in (-1, 1))
    expected = float(weights @ mean / weights.sum())
    # A state that is next to certain may have all of the interval, and another one move the mean out of it.
    return expected, min(low, expected), max(high, expected)


def quantile(weights: FloatArray, right: FloatArray, wrong: FloatArray, share: float) -> float:
    """Return the quantile of a mixture of Beta distributions."""
    ends = beta.ppf(share, right, wrong)
    low, high = float(ends.min()), float(ends.max())
    if low == high:
        return low
    whole = weights.sum()

    def missing(rate: float) -> float:
        return float(weights @ beta.cdf(rate, right, wrong) / whole - share)

    return float(brentq(missing, low, high, xtol=1e-12)) if missing(low) < 0 < missing(high) else low
