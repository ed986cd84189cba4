"""K-means in which no link is broken."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.baselines.base import Partition, PartitionEstimator, Task
from sidelight.baselines.support.centres import (
    Points,
    contract,
    draw_centres,
    move_centres,
    settle_empty,
    squared_distances,
)
from sidelight.couplings.link_graph.feasibility import MAX_SHOWN, list_links, list_rows
from sidelight.estimators.registry import register
from sidelight.exceptions import InfeasibleError
from sidelight.graphs.colouring import (
    Conflict,
    Neighbours,
    OutOfBudgetError,
    UncolourableError,
    cheapen,
    colour,
    find_conflict,
    neighbour_lists,
)
from sidelight.side import Closure, SideInformation
from sidelight.tables.validation import check_integer


@register
class COPKMeans(PartitionEstimator):
    """K-means with must-links and cannot-links that hold (COP-KMeans; Wagstaff, Cardie, Rogers and Schrödl 2001).

    Rows that must link are one point with their number as its weight, so that must-links alone make this k-means on
    weighted chunklets. Where there are cannot-links, assigning points to the nearest permitted centre is graph
    colouring with costs. The paper assigns one row after the other and gives up at the first that has no cluster left;
    here the assignment backtracks, so that links that can be respected are, and links that cannot are named. Later
    steps improve the assignment by exchanging clusters, so that the objective never rises.

    Parameters
    ----------
    n_clusters : int, optional
        None takes the number of labelled classes; 8, as scikit-learn does, where there are no labels.
    n_init : int, default 10
        Number of starts (k-means++ on the chunklets); the one that ends lowest is kept.
    max_iter : int, default 300
        Most iterations.
    max_tries : int, default 200_000
        Choices that the search for an assignment may try before it gives up.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.

    Attributes
    ----------
    labels_ : (n,)
    n_clusters_ : int
    cluster_names_ : (n_clusters_,)
    cluster_centers_ : (n_clusters_, d)
    inertia_ : float
        Sum of squared distances of rows from the centres; ``objectives_`` has it after every step.
    n_iter_, converged_ : int, bool
    violations_ : Violations
        Always none.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.baselines import COPKMeans
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> COPKMeans(2, random_state=0).fit(X, must_link=[(0, 3)], cannot_link=[(0, 1)]).labels_.tolist()
    [0, 1, 0, 0]
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels", "must_link", "cannot_link", "blocks"})

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        max_tries: int = 200_000,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_tries = max_tries
        self.random_state = random_state

    @property
    def inertia_(self) -> float:
        """Sum of squared distances of rows from the centres."""
        return self.objective_

    def _check_parameters(self) -> None:
        check_integer("n_init", self.n_init, least=1)
        check_integer("max_iter", self.max_iter, least=1)
        check_integer("max_tries", self.max_tries, least=1)

    def _partition(self, X: AnyArray, task: Task) -> Partition:
        closure = task.side.closure()
        points = contract(X, closure)
        apart = _Apart.between(closure.separated())
        runs = []
        for _ in range(self.n_init):
            centres = draw_centres(points.means, points.weights, task.n_clusters, task.random)
            try:
                runs.append(_descend(points, apart, centres, max_iter=self.max_iter, max_tries=self.max_tries))
            except OutOfBudgetError:
                raise InfeasibleError(
                    f"no assignment to n_clusters={task.n_clusters} clusters that respects every cannot-link was found "
                    f"in max_tries={self.max_tries} tries, and none was ruled out; raise max_tries or n_clusters, or "
                    "use HMRFKMeans, which may break links.",
                    proven=False,
                ) from None
            except UncolourableError as found:
                conflict = find_conflict(found.nodes, apart.neighbours, task.n_clusters, max_tries=self.max_tries)
                conflict = conflict._replace(nodes=apart.chunklets[conflict.nodes].tolist())
                raise _explain(conflict, task.side, closure, task.n_clusters) from None
        best = min(runs, key=lambda run: run.objectives[-1])
        return best._replace(clusters=best.clusters[points.of_row])

    def _place(self, X: AnyArray) -> IntArray:
        return squared_distances(X, self.cluster_centers_).argmin(axis=1)


class _Apart(NamedTuple):
    """The chunklets that are kept apart from others, and the graph they make, numbered from 0."""

    chunklets: IntArray
    pairs: IntArray
    neighbours: Neighbours

    @classmethod
    def between(cls, separated: IntArray) -> "_Apart":
        chunklets, pairs = np.unique(separated, return_inverse=True)
        pairs = pairs.reshape(-1, 2)
        return cls(chunklets, pairs, neighbour_lists(pairs, len(chunklets)))


def _descend(points: Points, apart: _Apart, centres: FloatArray, *, max_iter: int, max_tries: int) -> Partition:
    """Alternate assignments that respect the links with moves of the centres; the objective never rises."""
    chunklets = np.arange(len(points.weights))
    clusters, objectives = np.full(len(chunklets), -1), []
    for step in range(max_iter):
        costs = points.weights[:, None] * squared_distances(points.means, centres)
        following = costs.argmin(axis=1)
        bound = costs[apart.chunklets]
        start = clusters[apart.chunklets] if step else colour(apart.neighbours, bound, max_tries=max_tries)
        following[apart.chunklets] = cheapen(start, bound, apart.pairs)
        # An empty cluster is open to any chunklet, so no link can be broken by filling it.
        following = settle_empty(costs, following)
        converged = np.array_equal(following, clusters)
        clusters = following
        centres = move_centres(points.means, points.weights, clusters, centres)
        distances = np.square(points.means - centres[clusters]).sum(axis=1)
        objectives.append(float(points.weights @ distances) + points.scatter)
        if converged:
            break
    return Partition(clusters, tuple(objectives), converged, {"cluster_centers_": centres})


def _explain(conflict: Conflict, side: SideInformation, closure: Closure, n_clusters: int) -> InfeasibleError:
    """Put a conflict into words, with the rows and links that make it."""
    links = _links_among(conflict.nodes, side, closure)
    rows = sorted({row for link in links for row in link})
    noun = "rows" if side.ids is None else "ids"
    said = list_links(links, [min(side.labels[list(link)]) >= 0 for link in links], side.ids)
    if conflict.is_clique:
        members = [int(np.flatnonzero(closure.chunklets == chunklet)[0]) for chunklet in conflict.nodes]
        reason = (
            f"{noun} {list_rows(members, side.ids)} (and what they are bound to by must-links) are all kept apart from "
            f"each other, which takes {len(members)} clusters"
        )
    else:
        shown = list_rows(rows[:MAX_SHOWN], side.ids) + (", …" if len(rows) > MAX_SHOWN else "")
        reason = f"the {len(rows)} {noun} {shown} cannot be divided among so few"
    return InfeasibleError(
        f"n_clusters={n_clusters} is too few for the cannot-links: {reason}. The links are {said}. "
        "Raise n_clusters, remove one of these links, or use HMRFKMeans, which may break links.",
        tuple(rows),
        tuple(links),
    )


def _links_among(chunklets: list[int], side: SideInformation, closure: Closure) -> list[tuple[int, int]]:
    """Return one pair of rows for each two of the chunklets that are kept apart: a stated link where there is one."""
    wanted = np.isin(closure.separated(), chunklets).all(axis=1)
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    for a, b in closure.separated()[wanted].tolist():
        pairs[a, b] = (_carrier(a, side, closure), _carrier(b, side, closure))
    stated: IntArray = side.cannot_link[np.isin(closure.chunklets[side.cannot_link], chunklets).all(axis=1)]
    for first, second in stated[::-1].tolist():
        a, b = sorted((int(closure.chunklets[first]), int(closure.chunklets[second])))
        pairs[a, b] = (first, second)
    return list(pairs.values())


def _carrier(chunklet: int, side: SideInformation, closure: Closure) -> int:
    """Return a row of a chunklet, a labelled one where there is one."""
    rows = np.flatnonzero(closure.chunklets == chunklet)
    return int(rows[np.argmax(side.labels[rows] >= 0)])
