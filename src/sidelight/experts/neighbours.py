"""Labels that spread over a graph of neighbours (Zhou et al. 2004, Zhu et al. 2003); each row is held out exactly.

With W the similarities of neighbours, D their sums, S the weights of the labelled rows, Y their classes and p the
shares of the classes, F minimises ½ ‖F − Y‖²_S + λ tr Fᵀ(D − W)F + ½ ε ‖F − p‖²: (S + 2λ(D − W) + ε) F = SY + εp.
With M the inverse of that matrix, the shares of a row without its own label of weight s are those with it, less
s M_ii Y_i, divided by 1 − s M_ii (the formula of Sherman and Morrison).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import splu

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.experts.expert import LearnedExpert, Lesson, Opinion, normalised
from sidelight.experts.view import View
from sidelight.graphs.neighbours import NearestRows, nearest_others, nearest_rows

_TINY = 1e-12
_LEAST_SHARE = 1e-6


@storable("NearestRowsOpinion")
@dataclass(frozen=True, eq=False)
class NearestRowsOpinion:
    """The opinion on a new row is that on the nearest rows that have one, by their similarity.

    Parameters
    ----------
    points : (n, q)
        Coordinates of the rows.
    shares : (n, classes)
        The probabilities of their classes.
    n_neighbours : int
    """

    points: FloatArray
    shares: FloatArray
    n_neighbours: int

    def probabilities(self, view: View) -> FloatArray:
        """Return the mean of the nearest rows."""
        return self.by(nearest_rows(view.coordinates, self.points, min(self.n_neighbours, len(self.points))))

    def by(self, near: NearestRows) -> FloatArray:
        """Return the mean of the nearest rows, of which there may be more than needed."""
        distances, rows = near.distances[:, : self.n_neighbours], near.rows[:, : self.n_neighbours]
        width = np.maximum(distances[:, -1:], _TINY)
        similarity = np.exp(-((distances / width) ** 2))
        return normalised((self.shares[rows] * similarity[:, :, None]).sum(axis=1))


def opinions_of(experts: Sequence[LearnedExpert], view: View) -> list[FloatArray]:
    """Return the probabilities (n, classes) by each expert; rows that several of them remember are searched once."""
    found: list[FloatArray] = []
    remembered: FloatArray = np.empty(0)
    near: NearestRows | None = None
    wanted = max((expert.n_neighbours for expert in experts if isinstance(expert, NearestRowsOpinion)), default=0)
    for expert in experts:
        if not isinstance(expert, NearestRowsOpinion):
            found.append(expert.probabilities(view))
            continue
        if near is None or not np.array_equal(remembered, expert.points):
            remembered = expert.points
            near = nearest_rows(view.coordinates, remembered, min(wanted, len(remembered)))
        found.append(expert.by(near))
    return found


@dataclass(frozen=True, eq=False)
class NeighbourExpert:
    """Labels spread over the graph (n, n) of the nearest neighbours of the rows of a table."""

    graph: "csr_array[np.float64]"
    n_neighbours: int
    name: str = "neighbours"
    prior_weight: float = 0.2
    smoothness: float = 0.01
    background: float = 1e-4

    @classmethod
    def of(cls, view: View, n_neighbours: int = 10) -> "NeighbourExpert":
        """Find the neighbours, which statements do not change: rounds of learning share the graph."""
        graph = similarity_graph(view.coordinates, min(n_neighbours, len(view.coordinates) - 1))
        return cls(graph, n_neighbours)

    def consult(self, view: View, lesson: Lesson, random: np.random.RandomState) -> Opinion:
        """Solve for the shares of all rows, and without the label of each row for the rows held out."""
        graph, n, own = self.graph, len(view.coordinates), np.arange(len(lesson.rows))
        labelled = np.zeros(n)
        labelled[lesson.rows] = lesson.weights
        degrees = np.asarray(graph.sum(axis=1)).ravel()
        diagonal = labelled + 2 * self.smoothness * degrees + self.background
        solver = splu((diags_array(diagonal) - 2 * self.smoothness * graph).tocsc())
        given = np.zeros((n, lesson.n_classes))
        given[lesson.rows] = lesson.one_hot()
        shares = solver.solve(given + self.background * lesson.shares())
        units = np.zeros((n, len(own)))
        units[lesson.rows, own] = 1.0
        leverage = solver.solve(units)[lesson.rows, own]
        without = shares[lesson.rows] - leverage[:, None] * given[lesson.rows]
        # 1 − leverage divides every share alike, and normalising takes it out again.
        found, held_out = (normalised(np.clip(part, _LEAST_SHARE, None)) for part in (shares, without))
        return Opinion(NearestRowsOpinion(view.coordinates, found, self.n_neighbours), found, held_out)


def similarity_graph(points: FloatArray, n_neighbours: int) -> "csr_array[np.float64]":
    """Return the similarities of neighbours: exp(−d²/σσ′), σ being the distance of a row's last neighbour."""
    if n_neighbours < 1:
        return csr_array((len(points), len(points)))
    near = nearest_others(points, n_neighbours)
    widths = np.maximum(near.distances[:, -1], _TINY)
    similar = np.exp(-(near.distances**2) / (widths[:, None] * widths[near.rows]))
    starts = np.arange(0, similar.size + 1, n_neighbours)
    graph = csr_array((similar.ravel(), near.rows.ravel(), starts), shape=(len(points), len(points)))
    return graph.maximum(graph.T)
