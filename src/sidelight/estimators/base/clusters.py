"""Components, classes and clusters: which component is of which class, and the names of clusters."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight._warnings import warn
from sidelight.side import SideInformation
from sidelight.tables.validation import check_integer


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
    """Give every labelled class its components and the rest to classes without labels.

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
        warn(
            f"n_components={n_components} is less than the {needed} components that {len(label_names)} labelled "
            f"classes need; the model grows to {needed}.",
        )
        total = needed
    classes = np.concatenate(
        [np.repeat(np.arange(len(label_names)), per_class), len(label_names) + np.arange(total - needed)]
    )
    return Layout(classes.astype(np.int64), len(label_names))


def lay_out_classes(side: SideInformation, n_classes: int | None, components_per_class: int) -> Layout:
    """Give every class its components, the labelled classes first.

    Without a number there are as many classes as have a label; two without labels, or where a cannot-link
    tells that there is a second.
    """
    n_labelled = len(side.label_names)
    least = 2 if len(side.cannot_link) or not n_labelled else 1
    wanted = max(n_labelled, least) if n_classes is None else n_classes
    if wanted < n_labelled:
        warn(
            f"n_classes={n_classes} is less than the {n_labelled} classes that have a label; "
            f"the model grows to {n_labelled}.",
        )
        wanted = n_labelled
    return Layout(np.repeat(np.arange(wanted), components_per_class), n_labelled)


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


# A component that has half as many of a label's rows as its size would make us expect is part of that class.
_SHARE_EXPECTED = 0.5
# Less than half a labelled row is none.
LEAST_OWNED = 0.5


def classes_by_labels(owned: FloatArray, drawn: FloatArray, mass: FloatArray) -> IntArray:
    """Return the class of each component: a label's number, or one of its own after those of the labels.

    A component that owns labelled rows belongs to the label it owns most of. Labels draw their rows together, so that
    one component may own all of a label while others describe the rest of the class. Such a component is known by the
    labelled rows that would go there by themselves: were it a class without labels there would be next to none;
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
        classes = np.where(owned.max(axis=0) >= LEAST_OWNED, owned.argmax(axis=0), -1)
        class_mass = np.bincount(classes[classes >= 0], weights=mass[classes >= 0], minlength=n_labels)
        n_labelled = owned.sum(axis=1)
        for component in np.flatnonzero(classes < 0):
            rates = n_labelled / np.maximum(class_mass + mass[component], 1.0)
            expected = np.maximum(rates * mass[component], LEAST_OWNED)
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


def cluster_order(label_names: AnyArray, sizes: IntArray) -> IntArray:
    """Return the order in which classes become clusters 0, 1, 2 and so on.

    Labels that are numbers in range keep them, so that clusters agree with ``y``; other labels come first, in the
    order of their names. Classes without labels fill what is left, the largest first. Clusters without rows come
    last, so that the numbers in use have no gap.

    Parameters
    ----------
    label_names : (L,)
        Names of the first L classes.
    sizes : (classes,)
        Number of rows of each class.
    """
    n_labelled, n_classes = len(label_names), len(sizes)
    unlabelled = n_labelled + np.argsort(-sizes[n_labelled:], kind="stable")
    order = np.concatenate([np.arange(n_labelled), unlabelled]).astype(np.int64)
    numbered = np.issubdtype(np.asarray(label_names).dtype, np.integer)
    if numbered and n_labelled and label_names.min() >= 0 and label_names.max() < n_classes:
        kept = np.full(n_classes, -1)
        kept[label_names] = np.arange(n_labelled)
        kept[kept < 0] = unlabelled
        if not np.any(np.diff((sizes[kept] > 0).astype(int)) > 0):
            return kept
    return order


def cluster_names(label_names: Sequence[Any], order: IntArray) -> AnyArray:
    """Return the names of clusters: their label, or "new 1" and so on where none of their rows has one.

    Without labels they are "cluster 0", "cluster 1" and so on.
    """
    names = np.empty(len(order), dtype=object)
    n_new = 0
    for cluster, c in enumerate(order):
        if c < len(label_names):
            names[cluster] = label_names[c]
        elif len(label_names):
            n_new += 1
            names[cluster] = f"new {n_new}"
        else:
            names[cluster] = f"cluster {cluster}"
    return names


def class_values(names: AnyArray) -> AnyArray:
    """Return what ``predict`` answers for each cluster, (n_clusters,), from names that come from labels.

    Labels that are whole numbers stay numbers, so that scikit-learn can compare them with ``y``. A cluster without a
    label then has its own number, where labels are the numbers of their clusters, or else one above all labels. Other
    labels stay as they are.

    Examples
    --------
    >>> class_values(np.array([0, 1, "new 1"], dtype=object)).tolist()
    [0, 1, 2]
    >>> class_values(np.array([3, 7, "new 1"], dtype=object)).tolist()
    [3, 7, 8]
    >>> class_values(np.array(["setosa", "new 1"], dtype=object)).tolist()
    ['setosa', 'new 1']
    """
    listed = names.tolist()
    if all(isinstance(name, bool) for name in listed):
        return np.array(listed, dtype=bool)
    numbers = [name for name in listed if type(name) is int]
    if not numbers:
        return names
    if all(type(name) is not int or name == cluster for cluster, name in enumerate(listed)):
        return np.arange(len(listed))
    further = count(max(numbers) + 1)
    return np.array([name if type(name) is int else next(further) for name in listed])
