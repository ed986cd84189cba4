"""Column kinds, and the schema of a table: what each of its columns is, and how the table becomes numbers by it."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from scipy.sparse import csr_array, issparse

from sidelight._storable import storable
from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight.exceptions import IgnoredColumnWarning
from sidelight.tables.column_summary import ColumnFigures, range_of_numbers
from sidelight.tables.comparison import MEANS, Comparison
from sidelight.tables.frame import RawColumn, raw_columns, sampled_columns
from sidelight.tables.power import Powers, transformed
from sidelight.tables.quantiles import weighted_quantiles
from sidelight.tables.validation import as_frame, check_choice, column_label, column_names

if TYPE_CHECKING:
    from sidelight.tables.survey import Survey

Kind = TypeVar("Kind", bound="type[ColumnKind]")

Categories = tuple[tuple[Any, ...] | None, ...]
# What estimators take as ``family``: a kind for all columns, "auto", or a mapping from columns to kinds.
FamilyChoice = str | Mapping[Any, str]


class ColumnKind(ABC):
    """What a column of a table can be.

    Attributes
    ----------
    name : str
        What ``family=`` calls it.
    noun, plural : str
        What people call its cells.
    takes : str or None
        Which cells fit, in words; None where every number does.
    encodes : bool
        Whether cells are categories of any type, which become codes 0, 1, 2, …
    dates : bool
        Whether cells are dates, which become days since 1970-01-01; dates are of no other kind.
    joins : str, optional
        The name of the kind whose family describes these columns together with its own; None for a family of their own.
    ordered : bool
        Whether the categories have an order.
    compositional : bool
        Whether it describes whole rows, so that a table has it in all columns or in none, and a cell counts as its
        share of the sum of its row.
    in_arrays : bool
        Whether it is looked for in arrays of numbers too, which do not say what their columns mean.
    ignores : bool
        Whether columns of this kind take no part, so that they may hold anything.
    comparison : Comparison
        How clusters are compared on such a column, or on each of its categories.
    summary : staticmethod
        How a report summarises such a column.
    """

    name: ClassVar[str]
    noun: ClassVar[str]
    plural: ClassVar[str]
    takes: ClassVar[str | None] = None
    encodes: ClassVar[bool] = False
    ordered: ClassVar[bool] = False
    dates: ClassVar[bool] = False
    joins: ClassVar[str | None] = None
    compositional: ClassVar[bool] = False
    in_arrays: ClassVar[bool] = False
    ignores: ClassVar[bool] = False
    comparison: ClassVar[Comparison] = MEANS
    summary: ClassVar["staticmethod[[ColumnFigures], str]"] = staticmethod(range_of_numbers)

    @abstractmethod
    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column is of this kind where the user has not said; the kind registered last is asked first."""

    def usual_value(self, column: RawColumn) -> float | None:
        """Return the usual value of a column of this kind; None for kinds without one."""
        return None

    def misfits(self, cells: AnyArray) -> BoolArray:
        """Say of each cell whether it does not fit; NaN, a missing cell, fits unless a kind says otherwise."""
        return np.zeros(cells.shape, dtype=bool)

    @abstractmethod
    def embed(self, cells: Any, weights: FloatArray, survey: "Survey", random: np.random.RandomState) -> FloatArray:
        """Return encoded columns (m, c) as points (m, c') between which distances mean something: where starts look.

        Every column has variance one, or none, and missing cells lie at its mean.
        """

    @abstractmethod
    def family(self, survey: "Survey", categories: Categories, settings: Any) -> Any:
        """Return the emission of all columns of this kind, with a prior in the units of the table.

        Parameters
        ----------
        survey : Survey
            Of these columns.
        categories : tuple
            The categories of each column, None for columns that have none.
        settings : EmissionSettings
            What the estimator decides about emissions (:mod:`sidelight.estimators.base.emission`).
        """

    def log_widths(self, cells: Any, weights: FloatArray, survey: "Survey", categories: Categories) -> FloatArray:
        """Return the logarithm of the width of each column: rows that belong nowhere have the density one over it.

        The width of numbers is the range of all but the outer cells, half a percent at either end, so that a single
        cell does not decide it. A kind of whole numbers or categories returns the logarithm of how many there are.

        Parameters
        ----------
        cells : (m, c)
            Encoded columns.
        weights : (m,)
        survey, categories
            As in :meth:`family`.
        """
        low, high = weighted_quantiles(cells, weights, _WITHIN_WIDTH)
        with np.errstate(invalid="ignore"):
            ranged = high > low
        # A uniform distribution as wide as this has the column's standard deviation.
        return np.log(np.where(ranged, high - low, np.sqrt(12.0) * survey.scale))


# The quantiles between which the width of a column of numbers is measured.
_WITHIN_WIDTH = (0.005, 0.995)
_KINDS: dict[str, ColumnKind] = {}


def register_kind(cls: Kind) -> Kind:
    """Add a kind; used as a decorator."""
    _KINDS[cls.name] = cls()
    return cls


def all_kinds() -> dict[str, ColumnKind]:
    """Return the kinds by their names, in the order they were registered."""
    # The kinds of sidelight are one room above, next to their families; whoever asks here first has them registered.
    import_module("sidelight.families")
    return dict(_KINDS)


def kind_named(name: str) -> ColumnKind:
    """Return the kind of a name."""
    return all_kinds()[name]


def observed_integers(column: RawColumn) -> FloatArray:
    """Return the observed cells of a column of integers; none of a column that holds anything else."""
    if column.holds != "integers":
        return np.empty(0)
    return column.values[~np.isnan(column.values)]


def is_count(cells: AnyArray) -> AnyArray:
    """Say of each cell whether it is a count: 0, 1, 2 and so on."""
    return (cells >= 0) & (cells == np.floor(cells)) & (cells < np.inf)


# Text with more values than this, most of them met only once, is not a set of categories.
_MANY_CATEGORIES = 20
_SHOWN = 5


@storable("Schema")
@dataclass(frozen=True, eq=False)
class Schema:
    """The columns of a table as they were when it was fitted.

    Parameters
    ----------
    names : tuple, optional
        Of a frame's columns.
    kinds : tuple of str
        The name of each column's kind.
    categories : tuple
        The categories of each column whose kind encodes them, in the order of their codes; None for other columns.
    usual : tuple, optional
        The usual value of each column whose kind has one, None for other columns; None where no column has one.
    powers : tuple of PowerTransform or None, optional
        The scale that each column is taken on; None for columns left as they are, and where all are.
    """

    names: tuple[Any, ...] | None
    kinds: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    usual: tuple[float | None, ...] | None = None
    powers: Powers | None = None

    @classmethod
    def uniform(cls, kind: str, n_columns: int, names: tuple[Any, ...] | None = None) -> Self:
        """Return the schema of a table whose columns are all of one kind without categories."""
        return cls(names, (kind,) * n_columns, (None,) * n_columns)

    def of_kind(self, kind: str) -> IntArray:
        """Return the numbers of the columns of a kind."""
        return np.flatnonzero(np.array(self.kinds) == kind)

    def usual_values(self) -> FloatArray | None:
        """Return the usual value of each column (d,), NaN for those without one; None where no column has one."""
        if self.usual is None:
            return None
        return np.array([np.nan if value is None else value for value in self.usual])

    @property
    def families(self) -> tuple[str, ...]:
        """The name of the kind whose family describes each column."""
        return tuple(kind_named(name).joins or name for name in self.kinds)

    def of_family(self, kind: str) -> IntArray:
        """Return the numbers of the columns that the family of a kind describes."""
        return np.flatnonzero(np.array(self.families) == kind)

    def label(self, number: int) -> str:
        """Return what messages call a column."""
        return column_label(number, self.names)

    def in_original_units(self) -> Self:
        """Return the schema by which cells keep their units."""
        return replace(self, powers=None)


def learn_schema(X: Any, family: FamilyChoice) -> Schema:
    """Find out what each column is.

    A Gaussian is what a column of numbers is taken for, or an atom where one value is frequent. That holds for whole
    arrays of numbers, integers too: an array does not say what its columns mean. A frame does: each kind says which of
    its columns it recognises (:meth:`~sidelight.tables.schema.ColumnKind.recognises`). Text is categorical, booleans
    are Bernoulli, floats are Gaussian or atoms, categories with an order are ordinal and dates are dates. Integers that
    are 0 and 1 only are Bernoulli; others are what has most evidence: counts (Poisson, or negative binomial where they
    vary more) if they start at 0 and are small, ordinal if they have few values, and Gaussian. Arrays of objects or
    strings are taken column by column, as frames are. Of large arrays of numbers some rows are looked at.

    Columns that hold one value only, or none, say nothing about clusters. They are left out, with a warning that names
    them; a table of constant columns keeps them.

    Parameters
    ----------
    X : frame, (n, d) array of floats, booleans or objects, or sparse array
    family : str or mapping
        "auto" for the rule above, the name of one kind for all columns, or a mapping from column names or numbers to
        kinds; the rule holds for columns that it does not name.
    """
    names, n_columns = column_names(X), X.shape[1]
    wanted = _wanted_kinds(family, names, n_columns)
    if wanted[0] != "auto" and kind_named(wanted[0]).compositional:
        return Schema.uniform(wanted[0], n_columns, names)
    in_array = as_frame(X) is None and X.dtype.kind in "fiu"
    columns = sampled_columns(X, [kind == "auto" for kind in wanted]) if in_array else list(raw_columns(X))
    left_out = _left_out(columns, wanted)
    kinds, categories, usual = [], [], []
    for number, (raw, kind) in enumerate(zip(columns, wanted, strict=True)):
        found = "ignored" if number in left_out else _recognised(raw, in_array=in_array) if kind == "auto" else kind
        kinds.append(found)
        categories.append(_categories_of(raw, found, named=kind != "auto"))
        usual.append(kind_named(found).usual_value(raw))
    if left_out:
        _warn_left_out([raw.label for number, raw in enumerate(columns) if number in left_out])
    return Schema(names, tuple(kinds), tuple(categories), None if set(usual) == {None} else tuple(usual))


def encode(X: Any, schema: Schema) -> Any:
    """Return a table as numbers: floats with NaN where a cell is missing, or CSR for a sparse one.

    Categories become their codes, booleans 0 and 1. A category that the fitted table did not have becomes missing, with
    a warning that names it. Columns with a transform are transformed; an array of floats without transforms and
    categories is handed back as it is.

    Parameters
    ----------
    X : frame, (n, d) array of floats, booleans or objects, or sparse array
    schema : Schema
    """
    if issparse(X):
        return _canonical(csr_array(X))
    if as_frame(X) is None and X.dtype.kind == "f" and all(found is None for found in schema.categories):
        return transformed(X, schema.powers)
    encoded: list[AnyArray] = []
    for raw, kind, categories in zip(raw_columns(X), schema.kinds, schema.categories, strict=True):
        encoded.append(_as_numbers(raw, kind, categories))
    single = all(values.dtype == np.float32 for values in encoded)
    table = np.empty(X.shape, dtype=np.float32 if single else np.float64)
    for number, values in enumerate(encoded):
        table[:, number] = values
    return transformed(table, schema.powers)


def _canonical(X: "csr_array[Any]") -> "csr_array[Any]":
    """Return a sparse table in which every cell stands once."""
    if X.has_canonical_format:
        return X
    copy = X.copy()
    copy.sum_duplicates()
    return copy


def _wanted_kinds(family: FamilyChoice, names: tuple[Any, ...] | None, n_columns: int) -> list[str]:
    """Return what the user wants each column to be, "auto" where the user has not said."""
    kinds = all_kinds()
    if not isinstance(family, Mapping):
        check_choice("family", family, ("auto", *kinds))
        return [family] * n_columns
    wanted = ["auto"] * n_columns
    for key, kind in family.items():
        if isinstance(kind, str) and kind in kinds and kinds[kind].compositional:
            raise ValueError(
                f"family[{key!r}] is {kind!r}, which describes whole rows; use 'poisson' for a column of counts, "
                f"or family={kind!r} for a table that has no other columns."
            )
        columns = [name for name, found in kinds.items() if not found.compositional]
        check_choice(f"family[{key!r}]", kind, ("auto", *columns))
        wanted[_position(key, names, n_columns)] = kind
    return wanted


def _position(key: Any, names: tuple[Any, ...] | None, n_columns: int) -> int:
    if names is not None and key in names:
        return names.index(key)
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < n_columns:
        return int(key)
    has = f"columns 0 to {n_columns - 1}" if names is None else f"columns {_some(names)}"
    raise ValueError(f"family names column {key!r}, but X has {has}.")


def _left_out(columns: Sequence[RawColumn], wanted: Sequence[str]) -> set[int]:
    """Return which columns that the user has not named to leave out: empty ones, and constant ones beside others.

    Where no column varies, constant ones are kept: all rows are alike then, and make one cluster.
    """
    values = {
        number: raw.n_values() for number, (raw, kind) in enumerate(zip(columns, wanted, strict=True)) if kind == "auto"
    }
    empty = {number for number, found in values.items() if found == 0}
    constant = {number for number, found in values.items() if found == 1}
    if len(empty) == len(columns):
        raise ValueError("X has no observed cell in any column; give it at least one column with values.")
    return empty | constant if len(empty | constant) < len(columns) else empty


def _warn_left_out(labels: Sequence[str]) -> None:
    shown = ", ".join(labels[:_SHOWN]) + (f", … ({len(labels)} in all)" if len(labels) > _SHOWN else "")
    warnings.warn(
        f"X: {shown} held one value only, or none, in all rows, and took no part in the fit. To leave columns out "
        "without this message, drop them or give them the family 'ignored'.",
        IgnoredColumnWarning,
        stacklevel=2,
    )


def _recognised(raw: RawColumn, *, in_array: bool) -> str:
    """Return the kind of a column; of several that recognise it, the one registered last."""
    for name, kind in reversed(all_kinds().items()):
        if (kind.in_arrays or not in_array) and kind.recognises(raw):
            return name
    types = _some(sorted({type(cell).__name__ for cell in raw.cells() if cell is not None}))
    raise ValueError(
        f"X: {raw.label} mixes values of types {types}; make them all numbers or all text, or give the column the "
        "family 'categorical'."
    )


def _check_holds(raw: RawColumn, kind: str) -> None:
    """Refuse text where a family needs numbers, and dates and numbers for each other."""
    observed = raw.values.dtype == object or not np.isnan(raw.values).all()
    if observed and raw.holds == "dates" and not kind_named(kind).dates:
        raise ValueError(f"X: {raw.label} is to be {kind}, but holds dates; give it the family 'date' when fitting.")
    if observed and raw.holds != "dates" and kind_named(kind).dates:
        raise ValueError(
            f"X: {raw.label} is to be {kind}, but holds {raw.holds}; make them dates, or give the column another "
            "family when fitting."
        )
    if not kind_named(kind).encodes and raw.values.dtype == object:
        row = next((row for row, cell in enumerate(raw.values) if cell is not None), None)
        if row is None:
            return
        raise ValueError(
            f"X: {raw.label} is to be {kind}, which takes numbers, but holds {raw.values[row]!r} in row {row}; make it "
            "numbers, or give it the family 'categorical' when fitting."
        )


def _as_numbers(raw: RawColumn, name: str, categories: tuple[Any, ...] | None) -> AnyArray:
    """Return a column as numbers; what a column that takes no part holds now does not matter."""
    kind = kind_named(name)
    if kind.ignores:
        text = raw.values.dtype == object or categories is not None
        return _codes(raw, categories or ()) if text else raw.values
    _check_holds(raw, name)
    if categories is None:
        return raw.values
    _warn_unseen(raw, categories)
    return _codes(raw, categories)


def _categories_of(raw: RawColumn, name: str, *, named: bool) -> tuple[Any, ...] | None:
    """Return the categories of a column of a kind, None where it has none."""
    kind = kind_named(name)
    if kind.ignores:
        text = raw.values.dtype == object
        return (_categories(raw, named=True) if raw.n_values() == 1 else ()) if text else None
    _check_holds(raw, name)
    if not kind.encodes:
        return None
    return _levels(raw) if kind.ordered else _categories(raw, named=named)


def _categories(raw: RawColumn, *, named: bool) -> tuple[Any, ...]:
    """Return the categories of a column, sorted; text with too many values must be named as categories."""
    cells = [cell for cell in raw.cells() if cell is not None]
    # Values of different types have no order among each other.
    found = tuple(sorted(set(cells), key=lambda value: (type(value).__name__, value)))
    if not named and len(found) > max(_MANY_CATEGORIES, len(cells) // 2):
        raise ValueError(
            f"X: {raw.label} has {len(found)} different values in {len(cells)} rows, such as {found[0]!r}, so it looks "
            "like names rather than categories; leave it out, or give it the family 'categorical'."
        )
    return found


def _levels(raw: RawColumn) -> tuple[Any, ...]:
    """Return the ordered categories of a column: those it declares, or its numbers."""
    if raw.levels is not None:
        return raw.levels
    if raw.values.dtype == object and any(cell is not None for cell in raw.values):
        raise ValueError(
            f"X: {raw.label} is to be ordinal, but its text has no order; make it an ordered categorical "
            "(pandas.Categorical(…, categories=[…], ordered=True), polars.Enum([…])), or give it the family "
            "'categorical'."
        )
    numbers = sorted({cell for cell in raw.cells() if cell is not None})
    return tuple(int(number) if number == int(number) else number for number in numbers)


def _codes(raw: RawColumn, categories: tuple[Any, ...]) -> FloatArray:
    """Return the codes of a column's cells, NaN where one is missing or of no category."""
    codes: dict[Any, float] = {category: code for code, category in enumerate(categories)}
    return np.array([codes.get(cell, np.nan) for cell in raw.cells()])


def _warn_unseen(raw: RawColumn, categories: tuple[Any, ...]) -> None:
    unseen = set(raw.cells()) - {*categories, None}
    if unseen:
        warnings.warn(
            f"X: {raw.label} has categories that it did not have when the model was fitted: "
            f"{_some(sorted(unseen, key=str))}. These cells are taken as missing.",
            UserWarning,
            stacklevel=2,
        )


def _some(values: Any) -> str:
    shown = ", ".join(repr(value) for value in values[:_SHOWN])
    return shown if len(values) <= _SHOWN else f"{shown}, … ({len(values)} in all)"
