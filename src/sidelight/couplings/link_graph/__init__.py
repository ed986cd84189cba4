"""Inference on the link graph: chunklets choose classes, links weigh whether two of them choose the same."""

from sidelight.couplings.link_graph.coupling import HARD, SOFT, LinkGraph
from sidelight.couplings.link_graph.inference import Inference, infer, most_probable, pair_marginals
from sidelight.couplings.link_graph.normaliser import Prior, PriorSum, log_prior_partition
from sidelight.couplings.link_graph.plan import Plan, plan
from sidelight.couplings.link_graph.problem import LinkedRows, LinkProblem, linked_rows
from sidelight.couplings.link_graph.split import LinkGraphs, link_graphs

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
    "log_prior_partition",
    "most_probable",
    "pair_marginals",
    "plan",
]
