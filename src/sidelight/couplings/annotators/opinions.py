"""Statements of annotators about rows whose class probabilities are given: by experts, or by nothing at all."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.annotators.accuracy import CountMixture
from sidelight.couplings.annotators.coupling import annotated_rows
from sidelight.couplings.annotators.graph import StatementGraph
from sidelight.couplings.annotators.integrated import integrated
from sidelight.couplings.annotators.reliability import Reliability, ReliabilityPrior
from sidelight.couplings.annotators.trellis import MOST_STATES

_MOST_STEPS = 200
_TOL = 1e-6


class Resolved(NamedTuple):
    """What is believed of rows with statements.

    Parameters
    ----------
    rows : (m,)
    shares : (m, classes)
        Probability of each class, given opinions and statements.
    same : (q,)
        Probability that the rows of each judged pair share a class.
    reliability : Reliability
    mixtures : tuple of CountMixture
        What is known of the counts that reliabilities follow from.
    bounds : tuple of float
        The bound before every step; it never falls where inference on the links is exact. Where statements are few it
        is the log evidence.
    """

    rows: IntArray
    shares: FloatArray
    same: FloatArray
    reliability: Reliability
    mixtures: tuple[CountMixture, ...]
    bounds: tuple[float, ...]


def resolve(
    graph: StatementGraph,
    log_shares: FloatArray,
    *,
    start: Reliability | None = None,
    prior: ReliabilityPrior | None = None,
    max_iter: int = _MOST_STEPS,
    tol: float = _TOL,
    most_states: int = MOST_STATES,
) -> Resolved:
    """Learn how reliable annotators are, and what rows are, from opinions (n, classes) that have not seen statements.

    With opinions that are all the same this is the model of Dawid and Skene (1979) with priors, without a table.

    Parameters
    ----------
    graph : StatementGraph
    log_shares : (n, classes)
        Log probabilities of the classes of all rows.
    start : Reliability, optional
        Where to start; at the prior where absent.
    prior : ReliabilityPrior, optional
        What is expected of annotators.
    max_iter : int
    tol : float
        Smallest change of the bound, per row with statements, worth a further step.
    most_states : int
        As in `integrated`.
    """
    n_classes = log_shares.shape[1]
    coupling = annotated_rows(
        graph, np.ones(len(log_shares)), classes=np.arange(n_classes), allocation=np.eye(n_classes), prior=prior
    )
    coupling = integrated(coupling, most_states)
    own, even = log_shares[coupling.rows], np.zeros(n_classes)
    used, memory, bounds = coupling.start if start is None else start, None, [-np.inf]
    for _ in range(max_iter):
        found = coupling.step(own, even, used, memory)
        bounds.append(found.evidence + coupling.log_prior(used))
        memory = found.messages or None
        if abs(bounds[-1] - bounds[-2]) < tol * len(own):
            break
        used = coupling.update(found.counts)
    return Resolved(
        coupling.rows, found.posterior, found.counts.same, used, coupling.mixtures(found.counts), tuple(bounds[1:])
    )
