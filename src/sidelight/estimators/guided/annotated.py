"""Annotators who err, and experts: each learns from what the other believes.

Experts first learn from what annotators agree on. Their opinions on rows whose statements they have not seen then say
which annotators are right where these differ, and how reliable each is; the experts learn once more from that.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.annotators import (
    AnnotatorReport,
    Beliefs,
    Resolved,
    StatementGraph,
    annotator_report,
    judged_pairs,
    resolve,
    statement_graph,
)
from sidelight.estimators.base.annotated import believed_labels, believed_links, class_names, consensus
from sidelight.estimators.guided.guidance import Found
from sidelight.estimators.guided.link_beliefs import FIRST_LINK_ERROR
from sidelight.estimators.starts.sample import Problem
from sidelight.side import SideInformation

# How often experts learn.
_ROUNDS = 2

Consult = Callable[[Problem], tuple[Found, FloatArray]]


class Heard(NamedTuple):
    """What experts found and their log probabilities (n, classes); the rows with statements and their classes.

    ``shares`` (m, classes) has the probability of each class given opinions and statements, of ``rows`` (m,).
    """

    found: Found
    log_shares: FloatArray
    rows: IntArray
    shares: FloatArray
    report: AnnotatorReport


def consult_with_annotators(problem: Problem, consult: Consult, opinions: FloatArray | None) -> Heard:
    """Let experts learn from what annotators say, weighed by how reliable these are.

    Parameters
    ----------
    problem : Problem
        With statements of annotators.
    consult : callable
        Lets experts learn from a problem without annotators.
    opinions : (n, classes), optional
        Log probabilities to start from, by experts of an earlier fit; where given they learn once only.
    """
    side = problem.side
    links = len(side.must_link) + len(side.cannot_link) > 0
    graph = statement_graph(side, link_confidence=1 - FIRST_LINK_ERROR if links else None)
    if opinions is None:
        agreed, rounds = problem._replace(side=consensus(side)), _ROUNDS
    else:
        agreed, rounds = _believed(problem, graph, resolve(graph, opinions)), 1
    for _ in range(rounds):
        found, log_shares = consult(agreed)
        heard = resolve(graph, log_shares)
        agreed = _believed(problem, graph, heard)
    n_classes = log_shares.shape[1]
    beliefs = Beliefs(heard.shares, heard.same, heard.reliability, heard.mixtures, graph.prior(n_classes))
    report = annotator_report(graph, beliefs, side, class_names(side, n_classes))
    return Heard(found, log_shares, heard.rows, heard.shares, report)


def _believed(problem: Problem, graph: StatementGraph, heard: Resolved) -> Problem:
    """Return the problem with what is believed of rows as labels, and judged pairs as links; doubtful rows count less.

    Links are as sure as their authors are reliable. What experts believe of a pair is left out: they would take it for
    a statement, and be confirmed by it.
    """
    side: SideInformation = replace(problem.side, annotations=None)
    weights = problem.row_weights().copy()
    if graph.answers.n_columns:
        named = graph.said.sum(axis=1) > 0
        rows, shares = heard.rows[named], heard.shares[named]
        weights[rows] *= np.where(side.labels[rows] >= 0, 1.0, shares.max(axis=1))
        side = believed_labels(side, rows, shares)
    if len(graph.judgements.pairs):
        side = believed_links(side, judged_pairs(graph, heard.reliability.rates))
    return problem._replace(side=side, weights=weights)
