"""What annotators say of each judged pair by itself: how probable it makes "same", whatever other rows are.

Inference on the link graph also asks what the table and the other pairs say. Experts who learn from judgements must not
be told what they themselves believe: for them a judgement counts by the reliability of its author alone.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

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
    pairs, item = np.unique(graph.judgements.pairs, axis=0, return_inverse=True)
    odds = np.bincount(item.ravel(), _log_odds(graph, rates), minlength=len(pairs))
    return JudgedPairs(pairs, expit(odds))


def agreed_pairs(graph: StatementGraph, prior: ReliabilityPrior) -> JudgedPairs:
    """Return what annotators agree on, by the model of Dawid and Skene (1979) with priors: a pair is a task."""
    item = np.unique(graph.judgements.pairs, axis=0, return_inverse=True)[1].ravel()
    rates = prior.rates
    for _ in range(_MOST_STEPS):
        same = judged_pairs(graph, rates).same
        learned = prior.rates + graph.pair_counts(same[item])
        moved = float(np.abs(learned - rates).max(initial=0.0))
        rates = learned
        if moved < _TOL * max(len(item), 1):
            break
    return judged_pairs(graph, rates)


def _log_odds(graph: StatementGraph, rates: FloatArray) -> FloatArray:
    """Return the log odds (q,) of "same" against "different" by each judgement."""
    judged = graph.judgements
    logs = expected_log_rates(rates)[judged.annotators, :, judged.same]
    return np.asarray(judged.weights * (logs[:, 1] - logs[:, 0]))
