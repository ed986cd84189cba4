"""Inference on the link graph: chunklets choose classes, links weigh whether two of them choose the same."""

from sidelight.couplings.links.coupling import HARD, SOFT, LinkGraph
from sidelight.couplings.links.inference import Inference, infer, most_probable, pair_marginals
from sidelight.couplings.links.parts import LinkGraphs, link_graphs
from sidelight.couplings.links.planning import Plan, plan
from sidelight.couplings.links.prior import Prior, PriorSum, log_prior_partition
from sidelight.couplings.links.problem import LinkedRows, LinkProblem, linked_rows

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
