"""From a table and what is known about it to experts and their weights."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.estimators.guided.new_classes import unlabelled_groups
from sidelight.estimators.guided.partitions import Links, likely_partitions
from sidelight.estimators.guided.rounds import (
    FIRST_LINK_ERROR,
    Round,
    Statements,
    Targets,
    take_turns,
    targets_of_partition,
)
from sidelight.experts import (
    DendrogramExpert,
    Expert,
    ForestExpert,
    GaussianExpert,
    LinearExpert,
    NeighbourExpert,
    TableView,
    View,
    learn_view,
)
from sidelight.experts.expert import floored
from sidelight.experts.stack import combined
from sidelight.side import SideInformation
from sidelight.tables.schema import Schema

# A new expert is one more in this list.
EXPERTS: tuple[Expert, ...] = (
    LinearExpert(),
    ForestExpert(),
    NeighbourExpert(),
    DendrogramExpert(),
    GaussianExpert("labelled Gaussians", 0.1, unlabelled_weight=0.0),
    GaussianExpert("Gaussians", 0.12, unlabelled_weight=0.1),
)
_ROUNDS = 3
_STARTS = 2
_START_DIMENSIONS = 20
# How much a row counts that is taken for one of a new class.
_NEW_WEIGHT = 0.5


@storable("Guidance")
@dataclass(frozen=True, eq=False)
class Guidance:
    """Experts that have learned, how they look at a table, and how far each is trusted.

    ``order`` (classes,) has the experts' own number of each class.
    """

    view: TableView
    experts: tuple[Any, ...]
    weights: FloatArray
    order: IntArray

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.order)

    def log_shares(self, cells: AnyArray) -> FloatArray:
        """Return the log probability of each class for encoded rows."""
        seen = self.view(cells)
        opinions = np.array([floored(expert.probabilities(seen)) for expert in self.experts])
        return combined(opinions, self.weights)[:, self.order]

    def reordered(self, order: IntArray) -> "Guidance":
        """Return the same with the classes in another order."""
        return replace(self, order=self.order[order])


class Found(NamedTuple):
    """The guidance, the log probabilities (n, classes) of the rows that it was learned on, and the error of links."""

    guidance: Guidance
    log_shares: FloatArray
    link_error: float


def guide(
    cells: AnyArray,
    schema: Schema,
    side: SideInformation,
    weights: FloatArray,
    *,
    n_clusters: int | None,
    new_classes: Any,
    link_confidence: float | None,
    random: np.random.RandomState,
) -> Found:
    """Learn from encoded rows (n, d) and from what is known about them."""
    looked = learn_view(cells, schema)
    view, statements = looked(cells), Statements.of(side)
    n_labels = len(side.label_names)

    def turns(start: Targets, n_classes: int) -> Round:
        rounds = _ROUNDS if len(statements.pairs) else 1
        return take_turns(view, statements, start, n_classes, EXPERTS, rounds, link_confidence, random)

    if n_labels:
        labelled = Targets(side.labels, weights)
        best = turns(labelled, n_labels)
        wanted = new_classes if n_clusters is None else max(n_clusters - n_labels, 0)
        if wanted is not False and wanted != 0:
            best = _with_new_classes(view, statements, best, wanted, labelled, turns)
    else:
        best = _from_partitions(view, statements, n_clusters, turns, random)
    n_classes = best.log_shares.shape[1]
    guidance = Guidance(looked, best.learned, best.weights, np.arange(n_classes))
    return Found(guidance, best.log_shares, best.link_error)


def _from_partitions(
    view: View, statements: Statements, n_clusters: int | None, turns: Any, random: np.random.RandomState
) -> Round:
    """Start from the partitions that predict links best, and keep what makes the links most probable."""
    points = view.coordinates[:, :_START_DIMENSIONS]
    links = Links(statements.pairs, statements.same)
    rounds = []
    for partition in likely_partitions(points, links, n_clusters, _STARTS, random):
        n_classes = int(partition.classes.max()) + 1
        start = targets_of_partition(partition.classes, n_classes, statements, FIRST_LINK_ERROR)
        rounds.append(turns(start, n_classes))
    return max(rounds, key=lambda found: found.score)


def _with_new_classes(
    view: View, statements: Statements, labelled: Round, wanted: Any, start: Targets, turns: Any
) -> Round:
    """Let groups of rows that no labelled class explains be classes of their own."""
    points = view.coordinates[:, :_START_DIMENSIONS]
    groups = unlabelled_groups(points, np.exp(labelled.log_shares), statements.codes)
    if wanted != "auto":
        groups = groups[: int(wanted)]
    if not groups:
        return labelled
    n_labels = labelled.log_shares.shape[1]
    codes, weights = start.codes.copy(), start.weights.copy()
    for number, rows in enumerate(groups):
        codes[rows] = n_labels + number
        weights[rows] *= _NEW_WEIGHT
    return turns(Targets(codes, weights), n_labels + len(groups))
