"""The schema of a table: what each of its columns is, learned when a model is fitted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight._warnings import warn
from sidelight.exceptions import IgnoredColumnWarning
from sidelight.tables.frame import RawColumn, raw_columns, sampled_columns
from sidelight.tables.kinds import Categories, ColumnKind, all_kinds, kind_named
from sidelight.tables.power import Powers
from sidelight.tables.text_dates import looks_like_dates
from sidelight.tables.validation import SHOWN, as_frame, check_choice, column_label, column_names, some_of

# What estimators take as ``family``: a kind for all columns, "auto", or a mapping from columns to kinds.
FamilyChoice = str | Mapping[Any, str]

# Text with more values than this, most of them met only once, is not a set of categories.
_MANY_CATEGORIES = 20


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
    categories: Categories
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
    its columns it recognises (:meth:`~sidelight.tables.kinds.ColumnKind.recognises`). Text is categorical, booleans are
    Bernoulli, floats are Gaussian or atoms, categories with an order are ordinal and dates are dates. Integers that are
    0 and 1 only are Bernoulli; others are what has most evidence: counts (Poisson, or negative binomial where they vary
    more) if they start at 0 and are small, ordinal if they have few values, and Gaussian. Floats that are whole numbers
    of few values are taken for integers. Arrays of objects or strings are taken column by column, as frames are. Of
    large arrays of numbers some rows are looked at. More than 20 columns of counts, or more than 100 atoms, become
    Gaussian (:attr:`~sidelight.tables.kinds.ColumnKind.most_columns`).

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
    asked = {name: kind for name, kind in all_kinds().items() if kind.in_arrays or not in_array}
    open_ones = [number for number, kind in enumerate(wanted) if kind == "auto" and number not in left_out]
    recognised = _recognised_together([columns[number] for number in open_ones], asked)
    kinds = ["ignored" if number in left_out else kind for number, kind in enumerate(wanted)]
    for number, found in zip(open_ones, recognised, strict=True):
        kinds[number] = found
    categories, usual, refused = [], [], []
    for raw, found, kind in zip(columns, kinds, wanted, strict=True):
        try:
            categories.append(_categories_of(raw, found, named=kind != "auto"))
        except ValueError as error:
            refused.append(str(error))
        else:
            usual.append(kind_named(found).usual_value(raw))
    if refused:
        raise ValueError(_together(refused))
    if left_out:
        _warn_left_out([raw.label for number, raw in enumerate(columns) if number in left_out])
    return Schema(names, tuple(kinds), tuple(categories), None if set(usual) == {None} else tuple(usual))


def _together(refused: Sequence[str]) -> str:
    """Return what is wrong with several columns as one message, a line for each."""
    more = [f"… ({len(refused)} columns in all)"] if len(refused) > SHOWN else []
    return "\n".join([*refused[:SHOWN], *more])


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
    has = f"columns 0 to {n_columns - 1}" if names is None else f"columns {some_of(names)}"
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
    shown = ", ".join(labels[:SHOWN]) + (f", … ({len(labels)} in all)" if len(labels) > SHOWN else "")
    warn(
        f"X: {shown} held one value only, or none, in all rows, and took no part in the fit. To leave columns out "
        "without this message, drop them or give them the family 'ignored'.",
        IgnoredColumnWarning,
    )


def _recognised_together(columns: Sequence[RawColumn], asked: Mapping[str, ColumnKind]) -> list[str]:
    """Return the kinds of columns; where a kind recognises more than it may, these are what they were in an array."""
    found = [_recognised(raw, asked) for raw in columns]
    limits = {name: kind.most_columns for name, kind in asked.items() if kind.most_columns is not None}
    counts = Counter(limits[name] for name in found if name in limits)
    crowded = {limit for limit, count in counts.items() if count > limit}
    if not crowded:
        return found
    numbers = {name: kind for name, kind in asked.items() if kind.in_arrays and kind.most_columns not in crowded}
    return [
        _recognised(raw, numbers) if limits.get(name) in crowded else name
        for raw, name in zip(columns, found, strict=True)
    ]


def _recognised(raw: RawColumn, asked: Mapping[str, ColumnKind]) -> str:
    """Return the kind of a column; of several that recognise it, the one registered last."""
    for name, kind in reversed(list(asked.items())):
        if kind.recognises(raw):
            return name
    types = some_of(sorted({type(cell).__name__ for cell in raw.cells() if cell is not None}))
    raise ValueError(
        f"X: {raw.label} mixes values of types {types}; make them all numbers or all text, or give the column the "
        "family 'categorical'."
    )


def check_holds(raw: RawColumn, kind: str) -> None:
    """Refuse text where a family needs numbers, and dates and numbers for each other."""
    observed = raw.values.dtype == object or not np.isnan(raw.values).all()
    if observed and raw.holds == "dates" and not kind_named(kind).dates:
        raise ValueError(f"X: {raw.label} is to be {kind}, but holds dates; give it the family 'date' when fitting.")
    if observed and raw.holds != "dates" and kind_named(kind).dates:
        raise ValueError(
            f"X: {raw.label} is to be {kind}, but holds {raw.holds}; make them dates (pandas.to_datetime with their "
            "format), or give the column another family when fitting."
        )
    if not kind_named(kind).encodes and raw.values.dtype == object:
        row = next((row for row, cell in enumerate(raw.values) if cell is not None), None)
        if row is None:
            return
        raise ValueError(
            f"X: {raw.label} is to be {kind}, which takes numbers, but holds {raw.values[row]!r} in row {row}; make it "
            "numbers, or give it the family 'categorical' when fitting."
        )


def _categories_of(raw: RawColumn, name: str, *, named: bool) -> tuple[Any, ...] | None:
    """Return the categories of a column of a kind, None where it has none."""
    kind = kind_named(name)
    if kind.ignores:
        text = raw.values.dtype == object
        return (_categories(raw, named=True) if raw.n_values() == 1 else ()) if text else None
    check_holds(raw, name)
    if not kind.encodes:
        return None
    return _levels(raw) if kind.ordered else _categories(raw, named=named)


def _categories(raw: RawColumn, *, named: bool) -> tuple[Any, ...]:
    """Return the categories of a column, sorted; text with too many values must be named as categories."""
    cells = raw.cells()
    n_observed = len(cells) - cells.count(None)
    # Values of different types have no order among each other.
    found = tuple(sorted(set(cells) - {None}, key=lambda value: (type(value).__name__, value)))
    if not named and looks_like_dates(found):
        raise ValueError(
            f"X: {raw.label} holds text that looks like dates, such as {found[0]!r}; make it dates "
            "(pandas.to_datetime with their format, or str.to_datetime of a polars column), leave it out, or give it "
            "the family 'categorical'."
        )
    if not named and len(found) > max(_MANY_CATEGORIES, n_observed // 2):
        raise ValueError(
            f"X: {raw.label} has {len(found)} different values in {n_observed} rows, such as {found[0]!r}, so it looks "
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
