"""What an expert is: it learns from the rows whose class is known, and says how probable each class is for any row."""

from typing import NamedTuple, Protocol

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.experts.view import View

# Experts may be wrong where they are sure: no class is less probable than this to any of them.
FLOOR = 1e-4


class Lesson(NamedTuple):
    """Rows whose class is known, or believed.

    Parameters
    ----------
    rows : (m,)
        Their numbers in the view.
    codes : (m,)
        Their classes, 0 … n_classes - 1; every class has a row.
    weights : (m,)
        How much each counts: 1 for a label, less for a class that is only believed.
    folds : (m,)
        Rows of one fold are held out together.
    n_classes : int
    """

    rows: IntArray
    codes: IntArray
    weights: FloatArray
    folds: IntArray
    n_classes: int

    def part(self, chosen: IntArray) -> "Lesson":
        """Return some of the rows; classes keep their numbers, and may be left without rows."""
        return Lesson(self.rows[chosen], self.codes[chosen], self.weights[chosen], self.folds[chosen], self.n_classes)

    def one_hot(self) -> FloatArray:
        """Return the classes as weights (m, n_classes)."""
        given = np.zeros((len(self.rows), self.n_classes))
        given[np.arange(len(self.rows)), self.codes] = self.weights
        return given

    def shares(self) -> FloatArray:
        """Return the share (n_classes,) of each class, each counted once more."""
        counts = np.bincount(self.codes, self.weights, self.n_classes) + 1.0
        return counts / counts.sum()


class LearnedExpert(Protocol):
    """An expert that has learned: a record of arrays, which can be stored."""

    def probabilities(self, view: View) -> FloatArray:
        """Return the probability (n, n_classes) of each class for rows that may be new."""


class Opinion(NamedTuple):
    """What an expert says of the rows of a table.

    Parameters
    ----------
    learned : LearnedExpert
        Of whom new rows are asked.
    rows : (n, n_classes)
        Probabilities for all rows.
    held_out : (m, n_classes)
        For the rows of the lesson, as if the class of the row, or of its fold, were unknown.
    """

    learned: LearnedExpert
    rows: FloatArray
    held_out: FloatArray


class Expert(Protocol):
    """An expert before it has learned. A new one is one new file, and a line in the list of GuidedMixture."""

    @property
    def name(self) -> str:
        """What users call it."""

    @property
    def prior_weight(self) -> float:
        """How far it is trusted where nothing is known of how well it does."""

    def consult(self, view: View, lesson: Lesson, random: np.random.RandomState) -> Opinion:
        """Learn, and give an opinion on all rows of the view."""


def floored(probabilities: FloatArray) -> FloatArray:
    """Return log probabilities (n, classes), none below that of :data:`FLOOR`."""
    clipped = np.clip(probabilities, FLOOR, None)
    return np.asarray(np.log(clipped / clipped.sum(axis=1, keepdims=True)))


def normalised(shares: FloatArray) -> FloatArray:
    """Return shares (n, classes), not negative, as probabilities."""
    return shares / shares.sum(axis=1, keepdims=True)
