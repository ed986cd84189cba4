"""Which class a component is part of: that of its labelled rows, or one that nobody labelled."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidelight._typing import FloatArray, IntArray

# A component that has half as many of a label's rows as its size would make us expect is part of that class.
_SHARE_EXPECTED = 0.5
# Less than half a labelled row is none.
_LEAST_OWNED = 0.5


def classes_by_labels(owned: FloatArray, drawn: FloatArray, mass: FloatArray) -> IntArray:
    """Return the class of each component: a label's number, or one of its own after those of the labels.

    A component that owns labelled rows belongs to the label it owns most of. Labels draw their rows together, so that
    one component may own all of a label while others describe the rest of the class. Such a component is known by the
    labelled rows that would go there by themselves: were it a class that nobody labelled there would be next to none;
    were it part of the class, about as large a share of its rows as is labelled of the class.

    Parameters
    ----------
    owned : (labels, components)
        Labelled rows of each component.
    drawn : (labels, components)
        The same, had their labels no say.
    mass : (components,)
        All rows of each component.
    """
    n_labels, n_components = owned.shape
    classes = np.full(n_components, -1)
    if n_labels:
        classes = np.where(owned.max(axis=0) >= _LEAST_OWNED, owned.argmax(axis=0), -1)
        class_mass = np.bincount(classes[classes >= 0], weights=mass[classes >= 0], minlength=n_labels)
        n_labelled = owned.sum(axis=1)
        for component in np.flatnonzero(classes < 0):
            rates = n_labelled / np.maximum(class_mass + mass[component], 1.0)
            expected = np.maximum(rates * mass[component], _LEAST_OWNED)
            label = int(np.argmax(drawn[:, component] / expected))
            if drawn[label, component] >= _SHARE_EXPECTED * expected[label]:
                classes[component] = label
    return _number_new(classes, n_labels)


def classes_one_to_one(owned: FloatArray) -> IntArray:
    """Return a class of its own for each component, those that own most of the labels by their numbers."""
    n_labels, n_components = owned.shape
    classes = np.full(n_components, -1)
    labels, components = linear_sum_assignment(-owned)
    classes[components] = labels
    return _number_new(classes, n_labels)


def _number_new(classes: IntArray, n_labels: int) -> IntArray:
    new = np.flatnonzero(classes < 0)
    classes[new] = n_labels + np.arange(len(new))
    return classes
