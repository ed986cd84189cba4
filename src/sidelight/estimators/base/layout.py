"""Which component belongs to which class, before anything is fitted."""

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, IntArray
from sidelight.estimators.base.parameters import check_integer


class Layout(NamedTuple):
    """Components and their classes: the labelled classes first, then one class for every further component.

    Parameters
    ----------
    classes : (components,)
        The class of each component; class c < n_labelled is the one with label code c.
    n_labelled : int
        Number of classes that have a label.
    """

    classes: IntArray
    n_labelled: int

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.classes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.classes.max()) + 1


def lay_out(label_names: AnyArray, n_components: int | None, components_per_class: Any) -> Layout:
    """Give every labelled class its components and the rest to classes nobody labelled.

    Parameters
    ----------
    label_names : (L,)
        Names of the labelled classes.
    n_components : int, optional
        Components in all; None for as many as the labelled classes need.
    components_per_class : int or mapping from label to int
        A class that a mapping does not name has one.
    """
    per_class = _components_of(label_names, components_per_class)
    needed = int(per_class.sum())
    total = needed if n_components is None else n_components
    if total < needed:
        warnings.warn(
            f"n_components={n_components} is less than the {needed} components that {len(label_names)} labelled "
            f"classes need; the model grows to {needed}.",
            UserWarning,
            stacklevel=2,
        )
        total = needed
    classes = np.concatenate(
        [np.repeat(np.arange(len(label_names)), per_class), len(label_names) + np.arange(total - needed)]
    )
    return Layout(classes.astype(np.int64), len(label_names))


def _components_of(label_names: AnyArray, components_per_class: Any) -> IntArray:
    if not isinstance(components_per_class, Mapping):
        check_integer("components_per_class", components_per_class, least=1)
        return np.full(len(label_names), components_per_class, dtype=np.int64)
    names = label_names.tolist()
    for name, number in components_per_class.items():
        if name not in names:
            raise ValueError(
                f"components_per_class names {name!r}, which is not among the labels {names}; "
                "name only classes that have a labelled row."
            )
        check_integer(f"components_per_class[{name!r}]", number, least=1)
    return np.array([components_per_class.get(name, 1) for name in names], dtype=np.int64)
