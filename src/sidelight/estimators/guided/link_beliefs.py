"""What links say together with the experts: the classes of linked rows, which links are wrong, how probable all are.

Opinions about a single pair leave out what the other links say. Three rows of which each two are said to differ, with
opinions for two classes, contain a wrong link whatever the opinions are. So all links are judged at once, by inference
on their graph; how often links are wrong is learned by EM, of which this inference is the E-step.
"""

from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.link_graph import LinkedRows, Plan, infer, linked_rows, plan
from sidelight.side import SideInformation

# How probable it is that a link is wrong: at first, and within which bounds it is learned, with a prior of some links.
# People who judge pairs err in about one of seven; a prior that is sure of right links lets one wrong answer move a
# cluster, and a few dozen right ones overrule this one.
FIRST_LINK_ERROR = 0.05
_LEAST_LINK_ERROR, _MOST_LINK_ERROR = 0.002, 0.3
_PRIOR_LINKS = 10.0
# Tables of the exact inference on loops; larger ones are left to belief propagation, since links are read many times.
_MOST_ENTRIES = 20_000
# Scores that belief propagation on a graph visits, in units of its nodes and classes, in all readings of a fit.
_VISITS = 300


class LinkBeliefs(NamedTuple):
    """What is believed of links and of the rows that statements mention.

    Parameters
    ----------
    rows, shares : (m,), (m, classes)
        The rows mentioned, and the probabilities of their classes.
    wrong : (q,)
        Probability that each link is wrong, must-links first, in the order of the side information.
    evidence : float
        Log probability of all statements together, given the opinions.
    """

    rows: IntArray
    shares: FloatArray
    wrong: FloatArray
    evidence: float


class LinkReader:
    """Reads the links of side information, as often as opinions and the link error change; plans are made once."""

    def __init__(self, side: SideInformation) -> None:
        self.side = side
        self._plans: dict[int, Plan] = {}

    def believe(self, log_shares: FloatArray, link_error: float) -> LinkBeliefs:
        """Infer the classes of all rows mentioned, from opinions (n, classes) that have not seen the statements."""
        side = self.side
        linked: LinkedRows = linked_rows(side, link_confidence=1 - link_error)
        nodes = self._plan(linked, log_shares.shape[1])
        found = infer(nodes, np.add.reduceat(log_shares[linked.rows], linked.starts, axis=0))
        same = _same(linked, found.same, np.concatenate([side.must_link, side.cannot_link]), side.n_rows)
        wrong = np.where(np.arange(len(same)) < len(side.must_link), 1 - same, same)
        return LinkBeliefs(linked.rows, np.repeat(found.marginals, linked.sizes, axis=0), wrong, found.log_partition)

    def _plan(self, linked: LinkedRows, n_classes: int) -> Plan:
        if n_classes in self._plans:
            return self._plans[n_classes].with_potentials(linked.problem)
        n_scores = _VISITS * linked.problem.n_nodes * n_classes
        self._plans[n_classes] = plan(linked.problem, n_classes, max_entries=_MOST_ENTRIES, n_scores=n_scores)
        return self._plans[n_classes]


def believe_links(log_shares: FloatArray, side: SideInformation, link_error: float) -> LinkBeliefs:
    """Read the links once."""
    return LinkReader(side).believe(log_shares, link_error)


def _same(linked: LinkedRows, same: FloatArray, pairs: IntArray, n_rows: int) -> FloatArray:
    """Return the probability (q,) that the rows of each pair are of one class, from those of the graph's edges."""
    node = np.full(n_rows, -1)
    node[linked.rows] = np.repeat(np.arange(len(linked.starts)), linked.sizes)
    ends = np.sort(node[pairs], axis=1)
    edges = np.sort(linked.problem.edges, axis=1)
    n_nodes = linked.problem.n_nodes
    keys = edges[:, 0] * n_nodes + edges[:, 1]
    order = np.argsort(keys)
    apart = ends[:, 0] != ends[:, 1]
    found = np.ones(len(pairs))
    place = np.searchsorted(keys[order], (ends[:, 0] * n_nodes + ends[:, 1])[apart])
    found[apart] = same[order[place]]
    return np.clip(found, 0.0, 1.0)


def link_errors(side: SideInformation, error: float) -> FloatArray:
    """Return how probable it is that each link (q,) is wrong, must-links first; ``error`` where nothing is stated."""
    confidence = np.concatenate([side.must_link_confidence, side.cannot_link_confidence])
    return np.where(confidence < 1, 1 - confidence, error)


def learned_link_error(log_shares: FloatArray, links: LinkReader, error: float, n_steps: int) -> float:
    """Return how probable it is that a link is wrong, after some steps of EM.

    It is about the links that are stated without a confidence; about all where each has one.
    """
    side = links.side
    stated = np.concatenate([side.must_link_confidence, side.cannot_link_confidence]) < 1
    for _ in range(n_steps):
        wrong = links.believe(log_shares, error).wrong[stated.all() | ~stated]
        learned = float((wrong.sum() + _PRIOR_LINKS * FIRST_LINK_ERROR) / (len(wrong) + _PRIOR_LINKS))
        error = float(np.clip(learned, _LEAST_LINK_ERROR, _MOST_LINK_ERROR))
    return error


def log_prior_of_error(error: float) -> float:
    """Return the log prior of a link error, up to a constant, under which EM is what `learned_link_error` does."""
    return _PRIOR_LINKS * float(FIRST_LINK_ERROR * np.log(error) + (1 - FIRST_LINK_ERROR) * np.log1p(-error))
