"""Inference on the link graph: chunklets choose classes, links weigh whether two of them choose the same.

In the order of reading:

problem             chunklets and the links between them as a Markov network; labels as evidence
plan                which inference is used for which piece of the network, and its results: marginals, log partition
exact.direct        nodes without links and single links; two classes: nodes that certain links connect become one node
exact.trees         trees, in two passes; the messages along links
exact.compiled      the same for long chains, compiled
exact.elimination   small loops, by bucket elimination
belief_propagation  large loops, approximately
feasibility         refuses links that no assignment respects, and names the rows that prove it
coupling            the E-step of a mixture: classes by the link graph, components given the class
normaliser          the normaliser of the prior where the links are given ("conditional")
"""

from sidelight.couplings.link_graph.coupling import HARD, SOFT, LinkGraph, LinkGraphs, link_graphs
from sidelight.couplings.link_graph.normaliser import Prior, PriorSum
from sidelight.couplings.link_graph.plan import Inference, Plan, infer, most_probable, pair_marginals, plan
from sidelight.couplings.link_graph.problem import LinkedRows, LinkProblem, linked_rows

__all__ = [
    "HARD",
    "SOFT",
    "Inference",
    "LinkGraph",
    "LinkGraphs",
    "LinkProblem",
    "LinkedRows",
    "Plan",
    "Prior",
    "PriorSum",
    "infer",
    "link_graphs",
    "linked_rows",
    "most_probable",
    "pair_marginals",
    "plan",
]
