"""What annotators say of each judged pair by itself: how probable it makes "same", whatever other rows are.

Inference on the link graph also asks what the table and the other pairs say. Experts who learn from judgements must not
be told what they themselves believe: for them a judgement counts by the reliability of its author alone.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import digamma, expit

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.annotators.graph import StatementGraph
from sidelight.couplings.annotators.reliability import ReliabilityPrior, expected_log_rates

_MOST_STEPS = 200
_TOL = 1e-6


class JudgedPairs(NamedTuple):
    """Pairs (p, 2) that annotators judged, each once, and the probability (p,) of "same" by what was said of it."""

    pairs: IntArray
    same: FloatArray


def judged_pairs(graph: StatementGraph, rates: FloatArray) -> JudgedPairs:
    """Return what is said of each judged pair by annotators with rates (A, 2, 2); both relations are as likely before.

    The parameters of the rates are as in `Reliability`.
    """
    pairs, item = _items(graph)
    return JudgedPairs(pairs, expit(_log_odds(graph, rates, item)))


def agreed_pairs(graph: StatementGraph, prior: ReliabilityPrior) -> JudgedPairs:
    """Return what annotators agree on, by the model of Dawid and Skene (1979) with priors: a pair is a task.

    The share of pairs that are the same is learned too, with an even prior. Of many classes, most pairs are different;
    taken for even, pairs on which annotators differ would make those look unreliable who say "different". What is
    returned is as in `judged_pairs`: experts know the share of such pairs from their own classes.
    """
    item = _items(graph)[1]
    rates, before = prior.rates, 0.0
    for _ in range(_MOST_STEPS):
        same = expit(before + _log_odds(graph, rates, item))
        learned = prior.rates + graph.pair_counts(same[item])
        before = float(digamma(1 + same.sum()) - digamma(1 + (1 - same).sum()))
        moved = float(np.abs(learned - rates).max(initial=0.0))
        rates = learned
        if moved < _TOL * max(len(item), 1):
            break
    return judged_pairs(graph, rates)


def _items(graph: StatementGraph) -> tuple[IntArray, IntArray]:
    """Return the judged pairs (p, 2), each once, and which of them each judgement (q,) is about."""
    pairs, item = np.unique(graph.judgements.pairs, axis=0, return_inverse=True)
    return pairs, item.ravel()


def _log_odds(graph: StatementGraph, rates: FloatArray, item: IntArray) -> FloatArray:
    """Return the log odds (p,) of "same" against "different" by all judgements of each pair."""
    judged = graph.judgements
    logs = expected_log_rates(rates)[judged.annotators, :, judged.same]
    odds = judged.weights * (logs[:, 1] - logs[:, 0])
    return np.asarray(np.bincount(item, odds, minlength=int(item.max(initial=-1)) + 1), dtype=float)
