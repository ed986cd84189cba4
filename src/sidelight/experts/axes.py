"""An expert that sees the table along the few axes on which its rows vary most.

Axes on which rows hardly differ are mostly noise. A model of densities that learns from rows without labels gives them
as much weight as the others, and with few labels nothing corrects that.
"""

from dataclasses import dataclass

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.experts.expert import Expert, LearnedExpert, Lesson, Opinion
from sidelight.experts.view import View, principal_axes


@storable("AlongAxes")
@dataclass(frozen=True, eq=False)
class AlongAxes:
    """What an expert has learned that sees the coordinates along some axes (coordinates, q)."""

    axes: FloatArray
    learned: LearnedExpert

    def probabilities(self, view: View) -> FloatArray:
        """Return the probability of each class."""
        return self.learned.probabilities(_along(view, self.axes))


@dataclass(frozen=True)
class PrincipalExpert:
    """An expert that is shown the principal coordinates of the table, few of them."""

    expert: Expert
    n_axes: int = 8

    @property
    def name(self) -> str:
        """What users call it."""
        return self.expert.name

    @property
    def prior_weight(self) -> float:
        """How far it is trusted where nothing is known of how well it does."""
        return self.expert.prior_weight

    def consult(self, view: View, lesson: Lesson, random: np.random.RandomState) -> Opinion:
        """Find the axes from all rows, and let the expert learn along them."""
        axes = principal_axes(view.coordinates - view.coordinates.mean(axis=0), self.n_axes)
        opinion = self.expert.consult(_along(view, axes), lesson, random)
        return opinion._replace(learned=AlongAxes(axes, opinion.learned))


def _along(view: View, axes: FloatArray) -> View:
    return View(view.features, view.coordinates @ axes)
