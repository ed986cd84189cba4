"""Experts and inference on links take turns.

In a round every expert learns from the rows whose class is known or believed, and gives its opinion on all rows, on
those it learned from as if their class were unknown. The stack weighs the opinions by the statements. Inference on the
links then gives the classes that linked rows are believed to have, which the experts of the next round learn from. The
round whose opinions make the statements most probable is kept.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.estimators.guided.link_beliefs import (
    FIRST_LINK_ERROR,
    LinkReader,
    believe_links,
    learned_link_error,
    link_errors,
    log_prior_of_error,
)
from sidelight.experts.expert import Expert, LearnedExpert, floored
from sidelight.experts.folds import lesson_of
from sidelight.experts.stack import HeldOut, balanced, combined, learn_weights, log_probability
from sidelight.experts.view import View
from sidelight.side import SideInformation

# How often weights and the link error are learned in turn.
_TURNS = 2
_LINK_ERROR_STEPS = 2
# Rows that are believed to be of a class with less certainty than this teach nothing.
_LEAST_CERTAINTY = 0.1
# Rows that stand for a cluster.
_TYPICAL_ROWS = 5
# Two labelled classes are harder to tell apart than many are, in most tables: before labels judge them, experts count
# this much less there, so that a few labels do not make everything look certain.
_TWO_CLASSES = 0.65
# How sure a partition to start from is of itself.
_START_CERTAINTY = 0.7


class Statements(NamedTuple):
    """What is known about some rows, as arrays.

    Parameters
    ----------
    side : SideInformation
    codes : (n,)
        Label codes, -1 unknown.
    pairs, same : (q, 2), (q,)
        Links, and whether they are must-links.
    typical : (t,)
        Rows that stand for clusters of the table. Experts learn from them too, by what is believed of them.
    links : LinkReader
        What the links say, read many times.
    """

    side: SideInformation
    codes: IntArray
    pairs: IntArray
    same: BoolArray
    typical: IntArray
    links: LinkReader

    @classmethod
    def of(cls, side: SideInformation) -> "Statements":
        """Return the labels and links of side information."""
        pairs = np.concatenate([side.must_link, side.cannot_link])
        must = np.arange(len(pairs)) < len(side.must_link)
        return cls(side, side.labels, pairs, must, np.empty(0, dtype=np.int64), LinkReader(side))


class Targets(NamedTuple):
    """The classes (n,) that experts learn from, -1 where unknown, and how much each row counts (n,)."""

    codes: IntArray
    weights: FloatArray


class Round(NamedTuple):
    """What experts say together after they have learned.

    Parameters
    ----------
    learned : tuple of LearnedExpert
    weights : (experts,)
        How far each is trusted.
    log_shares : (n, classes)
        Log probabilities of the classes; of rows that were learned from, as if their class were unknown.
    score : float
        Mean log probability of the statements, all links judged together.
    link_error : float
    accuracies : (experts,)
        Share of the labels that each expert names without having seen them; NaN without labels.
    doubts : (n,)
        Mean over the experts, by their prior weights, of minus the log probability of the class that they together
        think most probable.
    """

    learned: tuple[LearnedExpert, ...]
    weights: FloatArray
    log_shares: FloatArray
    score: float
    link_error: float
    accuracies: FloatArray
    doubts: FloatArray


Tell = Callable[[float], None]


def take_turns(
    view: View,
    statements: Statements,
    start: Targets,
    n_classes: int,
    experts: Sequence[Expert],
    most_rounds: int,
    link_confidence: float | None,
    random: np.random.RandomState,
    tell: Tell,
) -> Round:
    """Let experts and inference take turns; return the round that makes the statements most probable.

    After every round ``tell`` is called with its score.
    """
    best: Round | None = None
    targets = start
    for _ in range(most_rounds):
        current = consult(view, statements, targets, n_classes, experts, link_confidence, random)
        tell(current.score)
        if best is None or current.score > best.score:
            best = current
        if not len(statements.pairs):
            break
        targets = believed_beside(start, current, statements)
    assert best is not None
    return best


def consult(
    view: View,
    statements: Statements,
    targets: Targets,
    n_classes: int,
    experts: Sequence[Expert],
    link_confidence: float | None,
    random: np.random.RandomState,
) -> Round:
    """Let every expert learn, and weigh their opinions by the statements; learn how often links are wrong."""
    lesson = lesson_of(targets.codes, targets.weights, n_classes, random)
    opinions = [expert.consult(view, lesson, random) for expert in experts]
    rows = np.array([floored(opinion.rows) for opinion in opinions])
    rows[:, lesson.rows] = [floored(opinion.held_out) for opinion in opinions]
    labelled = np.flatnonzero(statements.codes >= 0)
    asked = np.union1d(labelled, statements.pairs)
    error = FIRST_LINK_ERROR if link_confidence is None else 1 - link_confidence
    held = HeldOut(
        rows[:, asked],
        np.searchsorted(asked, labelled),
        statements.codes[labelled],
        np.searchsorted(asked, statements.pairs),
        statements.same,
        link_errors(statements.side, error),
    )
    n_statements = len(labelled) + len(statements.pairs)
    prior_weights = balanced([expert.prior_weight for expert in experts], rows, n_statements)
    if len(labelled) and n_classes == 2:
        prior_weights = _TWO_CLASSES * prior_weights
    weights = learn_weights(held, prior_weights)
    if link_confidence is None and len(statements.pairs):
        # Experts are trusted too little while wrong links are taken for right ones.
        for _ in range(_TURNS):
            log_shares = combined(rows, weights)
            error = learned_link_error(log_shares, statements.links, error, _LINK_ERROR_STEPS)
            held = held._replace(link_errors=link_errors(statements.side, error))
            weights = learn_weights(held, prior_weights)
    log_shares = combined(rows, weights)
    evidence = log_probability(log_shares[asked], held)[0]
    if len(statements.pairs):
        evidence = statements.links.believe(log_shares, error).evidence
        evidence += log_prior_of_error(error)
    return Round(
        tuple(opinion.learned for opinion in opinions),
        weights,
        log_shares,
        evidence / max(n_statements, 1),
        error,
        _accuracies(rows[:, labelled], statements.codes[labelled]),
        doubts_of(rows, log_shares, prior_weights),
    )


def better_for_links(teachers: Round, joined: Round, statements: Statements) -> Round:
    """Return what experts say with their pupils; where only links are known, without them if links then fit better."""
    if not len(statements.pairs) or (statements.codes >= 0).any():
        return joined
    alone, together = (statements.links.believe(found.log_shares, found.link_error) for found in (teachers, joined))
    if together.evidence >= alone.evidence:
        return joined
    silent = np.zeros(len(joined.weights) - len(teachers.weights))
    return joined._replace(weights=np.concatenate([teachers.weights, silent]), log_shares=teachers.log_shares)


def doubts_of(opinions: FloatArray, log_shares: FloatArray, prior_weights: FloatArray) -> FloatArray:
    """Return how improbable experts (experts, n, classes) find the class (n,) that they together think most probable.

    Experts count by their prior weights, so that one which is always sure does not make up most of the doubt. Learned
    weights would leave out those that differ from the others, who are the ones to ask about rows of another class.
    """
    own = -opinions[:, np.arange(len(log_shares)), log_shares.argmax(axis=1)]
    return np.asarray(prior_weights @ own / prior_weights.sum())


def _accuracies(opinions: FloatArray, codes: IntArray) -> FloatArray:
    if not len(codes):
        return np.full(len(opinions), np.nan)
    return np.asarray((opinions.argmax(axis=2) == codes).mean(axis=1))


class LinkedShares(NamedTuple):
    """Rows (m,) that something is known about, and the probabilities (m, classes) of their classes."""

    rows: IntArray
    shares: FloatArray


def linked_shares(log_shares: FloatArray, side: SideInformation, link_error: float) -> LinkedShares:
    """Return the probability of each class for the rows that are mentioned, given their labels, blocks and links."""
    beliefs = believe_links(log_shares, side, link_error)
    return LinkedShares(beliefs.rows, beliefs.shares)


def believed_classes(log_shares: FloatArray, statements: Statements, link_error: float) -> Targets:
    """Return the classes that mentioned rows are believed to have, and how certain that is."""
    beliefs = statements.links.believe(log_shares, link_error)
    rows, shares = beliefs.rows, beliefs.shares
    n, n_classes = log_shares.shape
    certainty = (shares.max(axis=1) * n_classes - 1) / max(n_classes - 1, 1)
    codes, weights = np.full(n, -1), np.zeros(n)
    taught = certainty >= _LEAST_CERTAINTY
    codes[rows[taught]] = shares[taught].argmax(axis=1)
    weights[rows[taught]] = certainty[taught]
    labelled = statements.codes >= 0
    codes[labelled], weights[labelled] = statements.codes[labelled], 1.0
    return Targets(codes, weights)


def believed_beside(start: Targets, current: Round, statements: Statements) -> Targets:
    """Return what a round leads to believe of mentioned rows; typical ones stay what they are in the start."""
    believed = believed_classes(current.log_shares, statements, current.link_error)
    typical = statements.typical
    believed.codes[typical], believed.weights[typical] = start.codes[typical], start.weights[typical]
    return believed


def targets_of_partition(classes: IntArray, n_classes: int, statements: Statements, link_error: float) -> Targets:
    """Return the classes that linked rows are believed to have by a partition to start from, and their links."""
    shares = np.full((len(classes), n_classes), (1 - _START_CERTAINTY) / n_classes)
    shares[np.arange(len(classes)), classes] += _START_CERTAINTY
    believed = believed_classes(np.log(shares), statements, link_error)
    typical = statements.typical
    # Typical rows count as much as mentioned ones, until more rows are mentioned.
    weight = min(1.0, len(typical) / max(int(np.count_nonzero(statements.side.mentioned)), 1))
    believed.codes[typical], believed.weights[typical] = classes[typical], weight
    return believed


def typical_rows(points: FloatArray, memberships: FloatArray, side: SideInformation) -> IntArray:
    """Return a few rows for each cluster: those nearest to its mean, of the rows that nothing is stated about.

    An answer about one row of a cluster teaches little as long as experts may take all others for something else.
    """
    clusters = memberships.argmax(axis=1)
    found = []
    for cluster in np.unique(clusters):
        rows = np.flatnonzero((clusters == cluster) & ~side.mentioned)
        shares = memberships[:, cluster]
        mean = shares @ points / shares.sum()
        apart = np.square(points[rows] - mean).sum(axis=1)
        found.append(rows[np.argsort(apart, kind="stable")[:_TYPICAL_ROWS]])
    return np.sort(np.concatenate(found))
