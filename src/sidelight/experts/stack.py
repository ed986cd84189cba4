"""How far to trust each expert: p(class | row) ∝ Π_e p_e(class | row)^w_e, with weights learned on what was held out.

A label is as probable as the class it names, a must-link as Σ_c p_a(c) p_b(c), a cannot-link as one less that; each may
be wrong, with a small probability. The weights maximise the log probability of all statements, by opinions that have
not seen them, less strength × Σ (ln w − ln w₀)², which decides where statements are few.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp

from sidelight._typing import BoolArray, FloatArray, IntArray

LABEL_ERROR = 0.001
# Strength of the prior weights: with many statements, and what is added with one for each class. Opinions held out are
# those of experts that have learned from fewer statements; where there are few of them this matters more.
_STRENGTH, _MORE_WITH_FEW = 0.2, 2.5
_LEAST_LOG_WEIGHT, _MOST_LOG_WEIGHT = np.log(1e-3), np.log(5.0)
# How much less a sure expert counts before it is judged: its weight falls with this power of its sureness, and with
# half of that where there are so many statements for each class.
_SURENESS_POWER, _STATEMENTS = 0.4, 10.0
_LEAST_SURENESS = 1e-6


class HeldOut(NamedTuple):
    """Statements by which experts are judged.

    Parameters
    ----------
    opinions : (experts, m, classes)
        Log probabilities for some rows, by experts that have not seen their statements.
    labelled, codes : (k,)
        Places among these rows that have labels, and their classes.
    pairs, same : (q, 2), (q,)
        Places that are linked, and whether by must-links.
    link_errors : (q,)
        Probability that each link is wrong.
    """

    opinions: FloatArray
    labelled: IntArray
    codes: IntArray
    pairs: IntArray
    same: BoolArray
    link_errors: FloatArray


def balanced(prior_weights: Sequence[float], opinions: FloatArray, n_statements: int) -> FloatArray:
    """Return prior weights (experts,) by which an expert that is surer than others counts less than it would.

    What an expert adds to the scores is its weight times its log probabilities, so that one which is always sure, as
    Gaussians in many dimensions are, outvotes all others where a few labels cannot yet judge it. The sureness s of an
    expert is the mean distance of its largest log probability (experts, n, classes) from their mean; weights become
    w s^-α, times what leaves Σ w s as it was. With more statements α falls, since these judge the experts.
    """
    few = _STATEMENTS * opinions.shape[2]
    power = _SURENESS_POWER * few / (few + n_statements)
    prior = np.asarray(prior_weights, dtype=float)
    sureness = (opinions.max(axis=2) - opinions.mean(axis=2)).mean(axis=1) + _LEAST_SURENESS
    lighter = prior * sureness**-power
    return np.asarray(lighter * (prior @ sureness) / (lighter @ sureness))


def combined(opinions: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the weighted opinion as log probabilities (n, classes)."""
    scores = np.tensordot(weights, opinions, 1)
    return np.asarray(scores - logsumexp(scores, axis=1, keepdims=True))


def log_probability(log_shares: FloatArray, held: HeldOut) -> tuple[float, FloatArray]:
    """Return the log probability of the statements, and its gradient (m, classes) in the scores behind the shares."""
    shares = np.exp(log_shares)
    gradient = np.zeros_like(shares)
    right = 1 - LABEL_ERROR
    own = shares[held.labelled, held.codes]
    likely = right * own + LABEL_ERROR / shares.shape[1]
    value = float(np.log(likely).sum())
    slope = right * own / likely
    gradient[held.labelled] -= slope[:, None] * shares[held.labelled]
    gradient[held.labelled, held.codes] += slope
    first, second = held.pairs.T
    together = (shares[first] * shares[second]).sum(axis=1)
    # A link that is wrong says the opposite.
    stated = np.where(held.same, together, 1 - together)
    likely = (1 - 2 * held.link_errors) * stated + held.link_errors
    value += float(np.log(likely).sum())
    slope = np.where(held.same, 1.0, -1.0) * (1 - 2 * held.link_errors) / likely
    ends = np.concatenate([first, second])
    change = shares[ends] * (shares[np.concatenate([second, first])] - np.tile(together, 2)[:, None])
    of_rows = csr_array((np.tile(slope, 2), (ends, np.arange(len(ends)))), shape=(len(shares), len(ends)))
    return value, gradient + of_rows @ change


def learn_weights(held: HeldOut, prior_weights: FloatArray) -> FloatArray:
    """Return the weights that make the statements most probable, near the prior weights where statements are few."""
    prior = np.log(prior_weights)
    n_statements = len(held.labelled) + len(held.pairs)
    strength = _STRENGTH + _MORE_WITH_FEW * held.opinions.shape[2] / max(n_statements, 1)

    def loss(log_weights: FloatArray) -> tuple[float, FloatArray]:
        weights = np.exp(log_weights)
        value, gradient = log_probability(combined(held.opinions, weights), held)
        slope = np.tensordot(held.opinions, gradient, ([1, 2], [0, 1])) * weights
        apart = log_weights - prior
        return -value + strength * float(apart @ apart), -slope + 2 * strength * apart

    bounds = [(_LEAST_LOG_WEIGHT, _MOST_LOG_WEIGHT)] * len(prior)
    found = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds)
    return np.asarray(np.exp(found.x))
