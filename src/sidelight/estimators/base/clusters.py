"""Components, classes and clusters: which component is of which class, the names of clusters, and their rows."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import AnyArray, FloatArray, IntArray, LabelArray
from sidelight.inference.loop import LARGEST_KEPT, Snapshot
from sidelight.inference.protocols import Assignment
from sidelight.side import SideInformation
from sidelight.tables.scratch import give_back, scratch_array
from sidelight.tables.table import Table, row_ranges
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


def lay_out_classes(side: SideInformation, n_classes: int | None, components_per_class: int) -> Layout:
    """Give every class its components, the labelled classes first.

    Without a number there are as many classes as have a label; two without labels, or where a cannot-link
    tells that there is a second.
    """
    n_labelled = len(side.label_names)
    least = 2 if len(side.cannot_link) or not n_labelled else 1
    wanted = max(n_labelled, least) if n_classes is None else n_classes
    if wanted < n_labelled:
        warnings.warn(
            f"n_classes={n_classes} is less than the {n_labelled} classes that have a label; "
            f"the model grows to {n_labelled}.",
            UserWarning,
            stacklevel=2,
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


_PART_ROWS = 1_000_000


@dataclass(frozen=True, eq=False)
class Results:
    """Arrays that are filled chunk by chunk.

    Parameters
    ----------
    classes : (components,)
        The class of each component, -1 for noise; probabilities of a class's components add up.
    labels : (n,)
        The most probable class of each row, -1 for noise.
    log_density : (n,), optional
        Log density of the mixture at each row; NaN for coupled rows, which have none of their own.
    posterior : (n, classes), optional
        Probability of each class.
    noise : (n,), optional
        Probability of noise, where a component is noise.
    """

    classes: IntArray
    n_classes: int
    labels: LabelArray
    log_density: FloatArray | None
    posterior: FloatArray | None
    noise: FloatArray | None

    @classmethod
    def empty(
        cls,
        table: Table,
        classes: IntArray,
        n_classes: int,
        *,
        keep_density: bool = False,
        keep_posterior: bool = False,
    ) -> Self:
        """Return arrays to be filled, for the rows of a table; in memory only where the table is, or they are small."""
        n_rows = table.shape[0]

        def array(shape: tuple[int, ...], dtype: Any = np.float64) -> AnyArray:
            large = math.prod(shape) * np.dtype(dtype).itemsize > LARGEST_KEPT
            return scratch_array(shape, dtype) if large and not table.in_memory else np.empty(shape, dtype)

        return cls(
            classes,
            n_classes,
            array((n_rows,), np.int32),
            array((n_rows,)) if keep_density else None,
            array((n_rows, n_classes)) if keep_posterior else None,
            array((n_rows,)) if (classes < 0).any() else None,
        )

    def write(self, found: Assignment) -> None:
        """Fill in some rows."""
        by_class = found.posterior
        if not np.array_equal(self.classes, np.arange(self.n_classes)):
            by_class = by_class @ (self.classes[:, None] == np.arange(self.n_classes)).astype(float)
        labels = by_class.argmax(axis=1)
        if self.noise is not None:
            noise = found.posterior[:, self.classes < 0].sum(axis=1)
            self.noise[found.numbers] = noise
            labels[noise > by_class.max(axis=1)] = -1
        self.labels[found.numbers] = labels
        if self.posterior is not None:
            self.posterior[found.numbers] = by_class
        if self.log_density is not None:
            self.log_density[found.numbers] = np.nan if found.log_density is None else found.log_density
        if isinstance(found.numbers, slice):
            self._give_back(found.numbers)

    def array(self, name: str) -> AnyArray:
        """Return the array of a field, which must have been kept."""
        found: AnyArray | None = getattr(self, name)
        assert found is not None
        return found

    def copied(self) -> Self:
        """Return a copy, to be changed in place."""
        return replace(
            self,
            labels=self.labels.copy(),
            log_density=None if self.log_density is None else self.log_density.copy(),
            posterior=None if self.posterior is None else self.posterior.copy(),
            noise=None if self.noise is None else self.noise.copy(),
        )

    def sizes(self) -> IntArray:
        """Return the number of rows of each class, without noise."""
        counts = np.zeros(self.n_classes + 1, dtype=np.int64)
        for part in self._parts():
            counts += np.bincount(self.labels[part] + 1, minlength=self.n_classes + 1)
            self._give_back(part)
        return counts[1:]

    def renumbered(self, numbers: IntArray) -> LabelArray:
        """Give every class its new number, in place, and return the labels; noise stays -1."""
        with_noise = np.append(-1, numbers)
        for part in self._parts():
            self.labels[part] = with_noise[self.labels[part] + 1]
            self._give_back(part)
        return self.labels

    def reordered_posterior(self, order: IntArray) -> FloatArray | None:
        """Put the columns of the posterior into an order, in place, and return it; None where it was not kept."""
        if self.posterior is not None:
            for part in self._parts():
                self.posterior[part] = self.posterior[part][:, order]
                self._give_back(part)
        return self.posterior

    def _give_back(self, part: slice) -> None:
        for array in (self.labels, self.posterior, self.log_density, self.noise):
            if isinstance(array, np.memmap):
                give_back(array, part)

    def _parts(self) -> list[slice]:
        # NumPy turns whole arrays of indices into larger ones; a part at a time takes no room.
        return row_ranges(len(self.labels), _PART_ROWS)


class KeptPosterior:
    """Gives an estimator ``posterior_``; ``keep_posterior`` says whether it is kept, None up to 64 MB."""

    keep_posterior: bool | None
    _posterior: FloatArray | None

    @property
    def posterior_(self) -> FloatArray:
        """Probability of each cluster for each row of the fitted table, given labels and links."""
        check_is_fitted(self)
        if self._posterior is None:
            raise AttributeError(
                f"posterior_ was not kept; by default it is up to {LARGEST_KEPT // 1_000_000} MB only. "
                "Fit with keep_posterior=True to have it all the same, or use predict_proba on some of the rows."
            )
        return self._posterior

    def _keeps_posterior(self, n_rows: int, n_clusters: int) -> bool:
        if self.keep_posterior is None:
            return 8 * n_rows * n_clusters <= LARGEST_KEPT
        return self.keep_posterior


class KeptHistory:
    """Gives an estimator ``history_``; ``keep_history`` says whether it is kept, None up to 64 MB."""

    keep_history: bool | None
    _history: list[Snapshot] | None

    @property
    def history_(self) -> list[Snapshot]:
        """The model before every step of the fit: bound, weights and parameters."""
        check_is_fitted(self)
        if self._history is None:
            raise AttributeError(
                f"history_ was not kept; by default it is up to {LARGEST_KEPT // 1_000_000} MB only. "
                "Fit with keep_history=True to have it all the same."
            )
        return self._history
