"""Which class each component belongs to, once the mixture is fitted."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidelight._typing import BoolArray, FloatArray, IntArray

# A component that less than half a statement is about is one without statements.
_LEAST_REACH = 0.5


class Allocation(NamedTuple):
    """The class of each component, and the component that stands for each choice of component and class.

    Parameters
    ----------
    classes : (components,)
        Numbers: those of labels first, as far as labels have a class.
    carriers : (components, max_classes)
        A component of the class chosen: the one chosen with it, where it is of that class.
    """

    classes: IntArray
    carriers: IntArray


def unreached(reach: FloatArray) -> BoolArray:
    """Tell which components are without statements, from how many each has; never all of them."""
    return reach < min(_LEAST_REACH, float(reach.max()))


def allocate(
    log_allocation: FloatArray, left_alone: BoolArray, overlaps: FloatArray | None, label_counts: FloatArray
) -> Allocation:
    """Give every component its most probable class, and number the classes.

    Parameters
    ----------
    log_allocation : (components, max_classes)
        ln β.
    left_alone : (components,)
        Components without statements.
    overlaps : (components, components), optional
        How far components share rows: one left alone joins the class it shares most with. None makes it a class of
        its own.
    label_counts : (labels, components)
        Rows of each label in each component.
    """
    n_components, max_classes = log_allocation.shape
    found = log_allocation.argmax(axis=1)
    for number, component in enumerate(np.flatnonzero(left_alone)):
        if overlaps is None:
            found[component] = max_classes + number
        else:
            found[component] = found[np.where(left_alone, -1.0, overlaps[component]).argmax()]
    numbers = _numbers(found, label_counts)
    classes = numbers[found]
    own = np.arange(n_components)
    carriers = np.repeat(own[:, None], max_classes, axis=1)
    for chosen in np.unique(found[~left_alone]):
        elsewhere = ~left_alone & (classes != numbers[chosen])
        carriers[elsewhere, chosen] = np.argmax(classes == numbers[chosen])
    return Allocation(classes, carriers)


def _numbers(found: IntArray, label_counts: FloatArray) -> IntArray:
    """Return a number for each class: the code of the label it suits best, one to one; then further numbers."""
    used = np.unique(found)
    members = (found[:, None] == used).astype(float)
    label, place = linear_sum_assignment(label_counts @ members, maximize=True)
    numbers = np.full(int(found.max()) + 1, -1, dtype=np.int64)
    numbers[used[place]] = label
    rest = used[numbers[used] < 0]
    numbers[rest] = len(label_counts) + np.arange(len(rest))
    return numbers
