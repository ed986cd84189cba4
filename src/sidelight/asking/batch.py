"""The rows that questions can be about, and the choice of the questions of a batch, one after the other.

Candidates are rows with statements, in groups, and a sample of the others.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.asking.belief import (
    ClusterCounts,
    answer_entropy,
    membership,
    probability_joined,
    probability_same,
    uncertainty,
)
from sidelight.side import SideInformation
from sidelight.side.sampling.labels import rank_within

# Similarities are kept for all pairs of candidates; 2000 rows take 32 MB.
_MAX_FREE = 1500
_MAX_GROUPED = 500
_MAX_PER_GROUP = 20
# Questions about one row in a batch: more would be about that row and not about the data.
_MAX_PER_ROW = 3


class Candidates(NamedTuple):
    """Rows that questions can be about.

    Parameters
    ----------
    rows : (m,) int
        Row numbers: rows of groups, then free rows, those without statements, in random order.
    group : (m,) int
        The group of each row, -1 for free rows. Rows of a group certainly share a class.
    settled : (groups, groups) bool
        True where it is stated or entailed whether two groups share a class; and on the diagonal.
    """

    rows: IntArray
    group: IntArray
    settled: BoolArray

    @property
    def members(self) -> FloatArray:
        """Which candidates are in each group, (groups, m)."""
        return (self.group == np.arange(self.n_groups)[:, None]).astype(float)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.settled)


def find_candidates(side: SideInformation, random: np.random.RandomState) -> Candidates:
    """Divide the rows into groups, which are chunklets with statements, and free rows.

    Only the largest groups, some rows of a large group and a sample of the free rows are kept, so that the work does
    not grow with the table.
    """
    closure = side.closure()
    grouped = random.permutation(np.flatnonzero(side.mentioned))
    grouped = grouped[rank_within(closure.chunklets[grouped]) < _MAX_PER_GROUP]
    sizes = closure.sizes[closure.chunklets[grouped]]
    grouped = np.sort(grouped[np.argsort(-sizes, kind="stable")][:_MAX_GROUPED])
    kept, group = np.unique(closure.chunklets[grouped], return_inverse=True)
    free = random.permutation(np.flatnonzero(~side.mentioned))[:_MAX_FREE]
    return Candidates(
        rows=np.concatenate([grouped, free]),
        group=np.concatenate([group, np.full(len(free), -1)]),
        settled=_settled(side, kept),
    )


def _settled(side: SideInformation, kept: IntArray) -> BoolArray:
    """Return for which of the kept chunklets it is stated or entailed whether they share a class."""
    closure = side.closure()
    n_chunklets = len(closure.sizes)
    # Uncertain links entail nothing, but they need not be asked again.
    stated = closure.chunklets[np.concatenate([side.must_link, side.cannot_link])]
    pairs = np.concatenate([closure.cannot, stated])
    table = csr_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(n_chunklets, n_chunklets))
    settled: BoolArray = table[kept][:, kept].toarray()
    labelled = closure.labels[kept] >= 0
    return settled | settled.T | np.outer(labelled, labelled) | np.eye(len(kept), dtype=bool)


class Question(NamedTuple):
    """Do two candidates share a class? With the probability that they do, and the value of the answer."""

    first: int
    second: int
    probability: float
    value: float


class Batch:
    """Chooses questions; a chosen question changes the value of the others.

    A row that is asked about becomes a group of its own: whatever the answer, it is about this row. Two groups that a
    chain of questions of the batch connects are never asked about, since the answers may already entail it.

    ``counts`` are what the statements imply about clusters; ``similarity`` (m, m) is of :func:`row_similarity`,
    ``posterior`` (m, K) of the candidates, and ``base_rate`` the probability that two random rows share a class.
    """

    def __init__(
        self,
        candidates: Candidates,
        counts: ClusterCounts,
        similarity: FloatArray,
        posterior: FloatArray,
        base_rate: float,
    ) -> None:
        n_groups, m = candidates.n_groups, len(candidates.rows)
        members = candidates.members
        self._similarity = similarity
        self._base_rate = base_rate
        self._settled = candidates.settled
        self._group = candidates.group.copy()
        self._support = members @ similarity
        self._posterior = posterior
        # A group that was opened for a row has the clusters of the row.
        self._clusters = members @ posterior / np.maximum(members.sum(axis=1, keepdims=True), 1)
        identity = np.eye(posterior.shape[1])
        # Groups share a class only by what statements imply about their clusters, never by the model alone.
        self._agreement = counts.agreement(np.zeros_like(identity))
        shared = self._clusters @ self._clusters.T
        self._joined = np.where(candidates.settled, shared, self._clusters @ self._agreement @ self._clusters.T)
        np.fill_diagonal(self._joined, 1.0)
        self._uncertainty = np.where(candidates.group >= 0, 0.0, uncertainty(self._support, self._joined, posterior))
        self._asked = np.zeros(m, dtype=np.int64)
        # Groups that questions of the batch connect carry one number.
        self._tree = np.arange(n_groups)
        # Without statements, the model and the base rate have equal weight.
        prior = self._clusters @ counts.agreement((identity + base_rate) / 2) @ self._clusters.T
        probabilities = probability_joined(_largest_between(members, similarity), prior)
        self._joins = _Joins.between(probabilities, self._support, candidates.settled)

    def next(self) -> Question | None:
        """Return the question of the highest value; None where nothing is left to ask."""
        self._seed()
        offers = [offer for offer in (self._about_a_free_row(), self._about_two_groups()) if offer is not None]
        return max(offers, key=lambda offer: offer.value) if offers else None

    def take(self, question: Question) -> None:
        """Count a question as asked."""
        for row in (question.first, question.second):
            if self._group[row] < 0:
                self._open_group(row)
            self._asked[row] += 1
        one, other = self._tree[self._group[[question.first, question.second]]]
        self._tree[self._tree == other] = one

    def is_open(self, first: int, second: int) -> bool:
        """Say whether the answer about two candidates is unknown, and stays so whatever is answered in the batch."""
        one, other = self._group[[first, second]]
        if first == second or one < 0 or other < 0:
            return first != second
        known = len(self._settled)
        settled = one < known and other < known and self._settled[one, other]
        return not settled and self._tree[one] != self._tree[other]

    def _seed(self) -> None:
        """Without a group to compare with, open one for the most informative row."""
        free = np.flatnonzero(self._group < 0)
        if not len(self._tree) and len(free):
            self._open_group(int(free[np.argmax(self._reach()[free])]))

    def _open_group(self, row: int) -> None:
        joined = self._clusters @ self._agreement @ self._posterior[row]
        self._joined = np.block([[self._joined, joined[:, None]], [joined, np.ones(1)]])
        self._clusters = np.vstack([self._clusters, self._posterior[row]])
        self._group[row] = len(self._tree)
        self._tree = np.append(self._tree, self._tree.max(initial=-1) + 1)
        self._support = np.vstack([self._support, self._similarity[row]])
        # The answer reduces the uncertainty about similar rows.
        self._uncertainty = self._uncertainty * (1 - self._similarity[row])

    def _reach(self) -> FloatArray:
        """Return how much uncertainty about all rows the class of each candidate would remove."""
        return self._similarity @ self._uncertainty

    def _about_a_free_row(self) -> Question | None:
        free = np.flatnonzero(self._group < 0)
        partners = self._partners()
        groups = np.unique(self._group[partners])
        if not len(free) or not len(groups):
            return None
        probabilities = probability_same(self._support[:, free], self._joined, self._base_rate)[groups]
        bits = answer_entropy(probabilities)
        value = bits.max(axis=0) * self._reach()[free]
        best = int(np.argmax(value))
        # Of groups whose answers are equally informative, the most probable: a yes entails more than a no.
        most = np.flatnonzero(bits[:, best] >= bits[:, best].max() * (1 - 1e-9))
        group = most[np.argmax(probabilities[most, best])]
        row = int(free[best])
        members = partners[self._group[partners] == groups[group]]
        partner = int(members[np.argmax(self._similarity[row, members])])
        return Question(row, partner, float(probabilities[group, best]), float(value[best]))

    def _about_two_groups(self) -> Question | None:
        joins = self._joins
        partners = self._partners()
        askable = np.zeros(len(self._tree), dtype=bool)
        askable[self._group[partners]] = True
        apart = self._tree[joins.first] != self._tree[joins.second]
        left = np.flatnonzero(apart & askable[joins.first] & askable[joins.second])
        if not len(left):
            return None
        best = left[np.argmax(joins.value[left])]
        rows, others = (partners[self._group[partners] == group[best]] for group in (joins.first, joins.second))
        pairs = self._similarity[np.ix_(rows, others)]
        row, other = np.unravel_index(np.argmax(pairs), pairs.shape)
        return Question(int(rows[row]), int(others[other]), float(joins.probability[best]), float(joins.value[best]))

    def _partners(self) -> IntArray:
        """Return the candidates of groups that may be asked about again."""
        return np.flatnonzero((self._group >= 0) & (self._asked < _MAX_PER_ROW))


class _Joins(NamedTuple):
    """Pairs of groups that may share a class, the probability that they do, and the value of the answer."""

    first: IntArray
    second: IntArray
    probability: FloatArray
    value: FloatArray

    @classmethod
    def between(cls, probabilities: FloatArray, support: FloatArray, settled: BoolArray) -> "_Joins":
        """Return all pairs that are not settled."""
        first, second = np.nonzero(np.triu(~settled))
        probability = probabilities[first, second]
        # The answer matters for the expected number of rows of the smaller of the two groups.
        sizes = membership(support).sum(axis=1)
        return cls(first, second, probability, answer_entropy(probability) * np.minimum(sizes[first], sizes[second]))


def _largest_between(members: FloatArray, similarity: FloatArray) -> FloatArray:
    """Return the similarity of the most similar rows of every two groups."""
    largest = np.zeros((len(members), len(members)))
    for group, rows in enumerate(members.astype(bool)):
        nearest = similarity[rows].max(axis=0)
        largest[group] = np.where(members > 0, nearest, 0.0).max(axis=1)
    return largest
