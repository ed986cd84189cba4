"""Choose the questions of a batch one after the other, each with those before it in mind."""

from typing import NamedTuple

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.asking.belief import Heard, answer_entropy, chance_joined, chance_same, doubt, membership
from sidelight.asking.candidates import Candidates

# An expert who sees one row again and again is asked about that row, not about the data.
MOST_PER_ROW = 3


class Question(NamedTuple):
    """Do two candidates share a class? With the chance that they do, and what the answer is worth."""

    first: int
    second: int
    chance: float
    value: float


class Batch:
    """Chooses questions; what has been chosen changes what is worth asking.

    Rows that were asked about become groups of their own: whatever the answer, it is about them. Two groups that a
    chain of questions of the batch joins are never asked about, since the answers may already tell.

    Parameters
    ----------
    candidates : Candidates
    heard : Heard
        What is known about clusters.
    alike : (m, m)
        How much the class of one candidate says about that of another.
    posterior : (m, K)
    strangers : float
        The chance that two rows at random share a class.
    """

    def __init__(
        self, candidates: Candidates, heard: Heard, alike: FloatArray, posterior: FloatArray, strangers: float
    ) -> None:
        n_groups, m = candidates.n_groups, len(candidates.rows)
        members = candidates.members
        self._alike = alike
        self._strangers = strangers
        self._group = candidates.group.copy()
        self._support = members @ alike
        self._posterior = posterior
        # A group that was opened for a row is in the clusters that the row is in.
        self._clusters = members @ posterior / np.maximum(members.sum(axis=1, keepdims=True), 1)
        identity = np.eye(posterior.shape[1])
        # Groups count as one class only for what was heard about their clusters, never on the model's word alone.
        self._agreement = heard.agreement(np.zeros_like(identity))
        shared = self._clusters @ self._clusters.T
        self._joined = np.where(candidates.settled, shared, self._clusters @ self._agreement @ self._clusters.T)
        np.fill_diagonal(self._joined, 1.0)
        self._doubt = np.where(candidates.group >= 0, 0.0, doubt(self._support, self._joined, posterior))
        self._asked = np.zeros(m, dtype=np.int64)
        # Groups that questions of the batch have joined carry one number.
        self._tree = np.arange(n_groups)
        # Half of what the model says is believed at sight, before anything is known.
        at_sight = self._clusters @ heard.agreement((identity + strangers) / 2) @ self._clusters.T
        chances = chance_joined(_largest_between(members, alike), at_sight)
        self._joins = _Joins.between(chances, self._support, candidates.settled)

    def next(self) -> Question | None:
        """Return the question that is worth most; None where nothing is left to ask."""
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

    def _seed(self) -> None:
        """Where there is no group to compare with, begin with the row that says most about the others."""
        free = np.flatnonzero(self._group < 0)
        if not len(self._tree) and len(free):
            self._open_group(int(free[np.argmax(self._reach()[free])]))

    def _open_group(self, row: int) -> None:
        chances = self._clusters @ self._agreement @ self._posterior[row]
        self._joined = np.block([[self._joined, chances[:, None]], [chances, np.ones(1)]])
        self._clusters = np.vstack([self._clusters, self._posterior[row]])
        self._group[row] = len(self._tree)
        self._tree = np.append(self._tree, self._tree.max(initial=-1) + 1)
        self._support = np.vstack([self._support, self._alike[row]])
        # The answer will say this much of what is open about the others.
        self._doubt = self._doubt * (1 - self._alike[row])

    def _reach(self) -> FloatArray:
        """Return how much of what is open the class of each candidate would tell."""
        return self._alike @ self._doubt

    def _about_a_free_row(self) -> Question | None:
        free = np.flatnonzero(self._group < 0)
        partners = self._partners()
        groups = np.unique(self._group[partners])
        if not len(free) or not len(groups):
            return None
        chances = chance_same(self._support[:, free], self._joined, self._strangers)[groups]
        bits = answer_entropy(chances)
        value = bits.max(axis=0) * self._reach()[free]
        best = int(np.argmax(value))
        # Of two groups whose answers tell as much, the likelier: a yes says more than a no.
        most = np.flatnonzero(bits[:, best] >= bits[:, best].max() * (1 - 1e-9))
        group = most[np.argmax(chances[most, best])]
        row = int(free[best])
        members = partners[self._group[partners] == groups[group]]
        partner = int(members[np.argmax(self._alike[row, members])])
        return Question(row, partner, float(chances[group, best]), float(value[best]))

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
        pairs = self._alike[np.ix_(rows, others)]
        row, other = np.unravel_index(np.argmax(pairs), pairs.shape)
        return Question(int(rows[row]), int(others[other]), float(joins.chance[best]), float(joins.value[best]))

    def _partners(self) -> IntArray:
        """Return the candidates of groups that may be asked about once more."""
        return np.flatnonzero((self._group >= 0) & (self._asked < MOST_PER_ROW))


class _Joins(NamedTuple):
    """Pairs of groups that may or may not share a class, the chance that they do, and what the answer is worth."""

    first: IntArray
    second: IntArray
    chance: FloatArray
    value: FloatArray

    @classmethod
    def between(cls, chances: FloatArray, support: FloatArray, settled: BoolArray) -> "_Joins":
        """Return all pairs that are not settled."""
        first, second = np.nonzero(np.triu(~settled))
        chance = chances[first, second]
        # Whichever of the two is the smaller: the rows that seem to belong to it hang on the answer.
        hanging = membership(support).sum(axis=1)
        return cls(first, second, chance, answer_entropy(chance) * np.minimum(hanging[first], hanging[second]))


def _largest_between(members: FloatArray, alike: FloatArray) -> FloatArray:
    """Return the likeness of the most alike rows of every two groups."""
    largest = np.zeros((len(members), len(members)))
    for group, rows in enumerate(members.astype(bool)):
        nearest = alike[rows].max(axis=0)
        largest[group] = np.where(members > 0, nearest, 0.0).max(axis=1)
    return largest
