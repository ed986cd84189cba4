"""What the steps of a fit hand on: the model of some rows, the plan of a fit, where the ascent led, and the result."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sidelight._typing import FloatArray, IntArray
from sidelight.estimators.base.clusters import Layout
from sidelight.estimators.starts.sample import Problem, Sample
from sidelight.inference.loop import Recorder
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import AnyFamily, Coupling, RowCoupling, Weights
from sidelight.inference.pruning import Fit


class Model(NamedTuple):
    """What an estimator puts together for some rows, beside the family.

    Parameters
    ----------
    weights : Weights
        Sizes of the components.
    couplings : tuple of Coupling
        How side information enters the E-step.
    row_weights : (n,), optional
        How much rows count in the pass; all one where None.
    codes : (n,), optional
        Label codes that rows outside the couplings are held to.
    row_coupling : RowCoupling, optional
        How rows outside the couplings choose; softly where None.
    """

    weights: Weights
    couplings: tuple[Coupling[Any, Any], ...] = ()
    row_weights: FloatArray | None = None
    codes: IntArray | None = None
    row_coupling: RowCoupling | None = None


class Plan(NamedTuple):
    """What a fit sets out with.

    Parameters
    ----------
    family : Family
    layout : Layout
    start : callable
        Makes the state to start from: of the first start, the second and so on, by the mixture and its sample.
    """

    family: AnyFamily
    layout: Layout
    start: Callable[[int, Mixture, Sample], MixtureState]


class Fitted(NamedTuple):
    """What a fit gives.

    Parameters
    ----------
    fit : Fit
        The mixture on its data, and how it got there.
    total_weight : float
        How many rows it counts for.
    classes : (components,), optional
        The class of each component, labelled ones first in the order of the labels; those of the weights if not given.
    """

    fit: Fit
    total_weight: float
    classes: IntArray | None = None


class Ascent(NamedTuple):
    """Where the ascent from the starts led, the sample it started from, and who records its steps.

    Of a large table, ``stand_in`` has rows from all over it, weighted so that they count for all.
    """

    fit: Fit
    sample: Sample
    total_weight: float
    recorder: Recorder
    stand_in: Problem | None = None
