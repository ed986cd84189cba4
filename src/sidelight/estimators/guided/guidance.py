"""From a table and what is known about it to experts and their weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.estimators.guided.clusters import clusters_without_statements
from sidelight.estimators.guided.doubts import HeldOutScores, held_out_scores
from sidelight.estimators.guided.link_beliefs import FIRST_LINK_ERROR
from sidelight.estimators.guided.new_classes import unlabelled_groups
from sidelight.estimators.guided.pupils import PUPILS, with_pupils
from sidelight.estimators.guided.rounds import (
    Round,
    Statements,
    Targets,
    believed_beside,
    better_for_links,
    take_turns,
    targets_of_partition,
    typical_rows,
)
from sidelight.estimators.starts.partitions import joined_where_linked, likely_partitions, links_of, price_of_number
from sidelight.experts import (
    ClusterExpert,
    DendrogramExpert,
    Expert,
    ForestExpert,
    GaussianExpert,
    LearnedExpert,
    LinearExpert,
    NeighbourExpert,
    PrincipalExpert,
    TableView,
    View,
    learn_view,
)
from sidelight.experts.expert import floored
from sidelight.experts.gaussians import SHARED
from sidelight.experts.neighbours import opinions_of
from sidelight.experts.stack import combined
from sidelight.inference.progress import Callback, Progress
from sidelight.side import SideInformation
from sidelight.tables.schema import Schema

# Rounds of experts and inference, from labels, and from what quick experts have found already.
_ROUNDS, _ROUNDS_AFTER_TRIALS = 3, 2
# What links must say more, in nats, for another partition than the clusters of the table, or those of an earlier fit:
# a few links that another partition also obeys do not justify leaving these. Where links join some of these clusters,
# every merger must be worth its price too: in a few links, some of them wrong, there are always a few for one.
_TRUST = 4.0
_MERGER_PRICE = 1.5
# Experts that learn quickly, and their rounds, which choose among partitions to start from.
_QUICK = ("neighbours", "Gaussians", "mixture")
_TRIALS = 2
_START_DIMENSIONS = 20
# How much a row counts that is taken for one of a new class.
_NEW_WEIGHT = 0.5

Turns = Callable[[Targets, int], Round]


@storable("Guidance")
@dataclass(frozen=True, eq=False)
class Guidance:
    """Experts that have learned, how they look at a table, and how far each is trusted.

    ``order`` (classes,) has the experts' own number of each class.
    """

    view: TableView
    experts: tuple[LearnedExpert, ...]
    weights: FloatArray
    order: IntArray

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.order)

    def log_shares(self, cells: AnyArray) -> FloatArray:
        """Return the log probability of each class for encoded rows."""
        return log_shares_among(combined(self._opinions(cells), self.weights), self.order)

    def opinions(self, cells: AnyArray) -> list[FloatArray]:
        """Return the probabilities (n, classes) by each expert for encoded rows."""
        return [np.exp(log_shares_among(opinion, self.order)) for opinion in self._opinions(cells)]

    def _opinions(self, cells: AnyArray) -> FloatArray:
        seen = self.view(cells)
        return np.array([floored(opinion) for opinion in opinions_of(self.experts, seen)])

    def reordered(self, order: IntArray) -> "Guidance":
        """Return the same with the classes in another order, or with some of them only."""
        return replace(self, order=self.order[order])


def log_shares_among(log_shares: FloatArray, classes: IntArray) -> FloatArray:
    """Return the log probabilities of some classes, in their order, given that a row is of one of them."""
    chosen = log_shares[:, classes]
    return np.asarray(chosen - logsumexp(chosen, axis=1, keepdims=True))


class Found(NamedTuple):
    """The guidance, the experts' names, and for the rows it was learned on log probabilities (n, classes).

    The score is that of the round that is kept, the course has the scores of all. Memberships (n, clusters) are of the
    mixture of the table.
    """

    guidance: Guidance
    names: tuple[str, ...]
    log_shares: FloatArray
    link_error: float
    scores: HeldOutScores
    score: float
    course: list[float]
    memberships: FloatArray


class Earlier(NamedTuple):
    """What an earlier fit found, where there is one.

    ``memberships`` (n, clusters) are those of the mixture of the table, ``labels`` (n,) the clusters of the rows.
    """

    memberships: FloatArray | None
    labels: IntArray | None


class Request(NamedTuple):
    """What the user asks for; see :class:`~sidelight.estimators.guided.mixture.GuidedMixture`."""

    n_clusters: int | None
    new_classes: str | bool | int
    link_confidence: float | None


def experts_of(view: View, memberships: FloatArray, random: np.random.RandomState) -> tuple[Expert, ...]:
    """Return the experts for a table; a new one is one more here.

    ``memberships`` (n, clusters) are those of the mixture of the table.
    """
    return (
        LinearExpert(),
        ForestExpert(),
        NeighbourExpert.of(view),
        DendrogramExpert.of(view, random),
        DendrogramExpert.of_clusters(view, memberships),
        GaussianExpert("labelled Gaussians", 0.1, unlabelled_weight=0.0),
        GaussianExpert("Gaussians", 0.12, unlabelled_weight=0.1),
        PrincipalExpert(GaussianExpert("tied Gaussians", 0.12, unlabelled_weight=0.3, prior_rows=SHARED)),
        ClusterExpert(memberships),
    )


def guide(
    cells: AnyArray,
    schema: Schema,
    side: SideInformation,
    weights: FloatArray,
    request: Request,
    random: np.random.RandomState,
    callbacks: Sequence[Callback],
    earlier: Earlier,
) -> Found:
    """Learn from encoded rows (n, d) and from what is known about them."""
    n_clusters, new_classes, link_confidence = request
    looked = learn_view(cells, schema)
    view, statements = looked(cells), Statements.of(side)
    n_labels = len(side.label_names)
    memberships = earlier.memberships
    if memberships is None:
        memberships = clusters_without_statements(cells, schema, view, random)
    clusters = np.unique(memberships.argmax(axis=1), return_inverse=True)[1]
    experts = experts_of(view, memberships, random)
    wanted = new_classes if n_clusters is None else max(n_clusters - n_labels, 0)
    looks_for_new = n_labels > 0 and wanted is not False and wanted != 0
    from_labels = _ROUNDS if len(statements.pairs) else 1
    rounds = from_labels if n_labels else _ROUNDS_AFTER_TRIALS
    most = 2 * rounds if looks_for_new else rounds
    told: list[float] = []

    def tell(score: float) -> None:
        change = score - told[-1] if told else float("inf")
        told.append(score)
        for callback in callbacks:
            callback(Progress(len(told), score, change, "round", most=most))

    def turns(start: Targets, n_classes: int) -> Round:
        return take_turns(view, statements, start, n_classes, experts, rounds, link_confidence, random, tell)

    if n_labels:
        labelled = Targets(side.labels, weights)
        best = turns(labelled, n_labels)
        if looks_for_new:
            best = _with_new_classes(view, statements, best, clusters, wanted, labelled, turns)
    else:
        if n_clusters is None and len(np.unique(statements.same)) < 2:
            # Links of one kind, or blocks alone, do not say how many classes there are.
            n_clusters = max(int(clusters.max()) + 1, 2)
        points = view.coordinates[:, :_START_DIMENSIONS]
        statements = statements._replace(typical=typical_rows(points, memberships, side))
        quick = tuple(expert for expert in experts if expert.name in _QUICK)

        def trial(start: Targets, n_classes: int) -> Round:
            silent: list[float] = []
            return take_turns(
                view, statements, start, n_classes, quick, _TRIALS, link_confidence, random, silent.append
            )

        best = _from_partition(view, statements, clusters, earlier.labels, n_clusters, trial, turns, random)
    scores = held_out_scores(best, statements)
    joined = better_for_links(best, with_pupils(view, statements, best, random), statements)
    guidance = Guidance(looked, joined.learned, joined.weights, np.arange(joined.log_shares.shape[1]))
    names = (*(expert.name for expert in experts), *(pupil.expert.name for pupil in PUPILS))
    return Found(guidance, names, joined.log_shares, best.link_error, scores, best.score, told, memberships)


def _from_partition(
    view: View,
    statements: Statements,
    clusters: IntArray,
    earlier: IntArray | None,
    n_clusters: int | None,
    trial: Turns,
    turns: Turns,
    random: np.random.RandomState,
) -> Round:
    """Start from the partition from which quick experts find the links most probable."""
    points = view.coordinates[:, :_START_DIMENSIONS]
    links = links_of(statements.side)
    worth, best = -np.inf, None
    origin: Targets | None = None
    candidates = [(classes, 0.0) for classes in likely_partitions(points, clusters, links, n_clusters, random)]
    for classes in (clusters, earlier):
        if classes is not None:
            groups = np.unique(classes, return_inverse=True)[1]
            joined = joined_where_linked(groups, points, links)
            for numbers in (groups,) if joined is groups else (groups, joined):
                if numbers.max() > 0 and n_clusters in (None, numbers.max() + 1):
                    merged = int(groups.max() - numbers.max())
                    candidates.append((numbers, _TRUST - _MERGER_PRICE * merged))
    # The clusters of the table may be many more than those of an earlier fit. Most rows are apart in them, so that a
    # few wrong cannot-links would speak for them.
    expected = clusters if earlier is None else np.unique(earlier, return_inverse=True)[1]
    for classes, trust in candidates:
        n_classes = n_clusters or int(classes.max()) + 1
        start = targets_of_partition(classes, n_classes, statements, FIRST_LINK_ERROR)
        found = trial(start, n_classes)
        value = found.score * len(links.same) - price_of_number(n_classes, expected) + trust
        if best is None or value > worth:
            worth, best, origin = value, found, start
    assert best is not None
    assert origin is not None
    return turns(believed_beside(origin, best, statements), best.log_shares.shape[1])


def _with_new_classes(
    view: View,
    statements: Statements,
    labelled: Round,
    clusters: IntArray,
    wanted: str | bool | int,
    start: Targets,
    turns: Turns,
) -> Round:
    """Let groups of rows that no labelled class explains be classes of their own."""
    points = view.coordinates[:, :_START_DIMENSIONS]
    links = links_of(statements.side)
    groups = unlabelled_groups(points, np.exp(labelled.log_shares), labelled.doubts, statements.codes, links, clusters)
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
