"""How a table becomes what a model takes: learnt when fitting, stored as JSON, and applied to every later table."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._warnings import warn
from sidelight.cli.errors import Refusal
from sidelight.cli.extras import arrow
from sidelight.cli.tables.asked import as_dates, logarithms, text_numbers
from sidelight.cli.tables.columns import as_frame_column, in_order, pandas_frame, refuse_infinite
from sidelight.cli.tables.features import Features, feature_name
from sidelight.cli.tables.files import TableFile, some
from sidelight.cli.tables.written_numbers import stored_style

_FORMAT = 1
_HOLDS = ("numbers", "booleans", "text", "dates")
_DAY = np.timedelta64(1, "D")


@dataclass(frozen=True)
class Column:
    """A column of the table and how it becomes numbers, for models that take only numbers.

    Parameters
    ----------
    name : str
    kind : str
        As ``family=`` calls it.
    holds : {"numbers", "booleans", "text", "dates"}
    fill, mean, scale : float, optional
        The value for missing numbers, and how numbers are standardised.
    categories : tuple of str, optional
        Each becomes a column of zeros and ones; where they have an order they become their places in it.
    written : str, optional
        How numbers or dates are written, where that is not the usual way (see `NumberStyle.stored`, `WrittenDates`).
    log : bool, optional
        Whether numbers are taken as logarithms.
    """

    name: str
    kind: str
    holds: str
    fill: float = 0.0
    mean: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] = ()
    written: str = ""
    log: bool = False

    @property
    def feature(self) -> str:
        """What the column is called in a frame."""
        return feature_name(self.name, log=self.log)

    @property
    def has_order(self) -> bool:
        """Whether it holds text with an order."""
        return self.holds == "text" and self.kind == "ordinal"


@dataclass(frozen=True)
class Recipe:
    """How tables are read for a model, by its name on the command line; the columns are the features, in order.

    With ``numbers_only`` it takes standardised numbers and not columns of every kind.
    """

    model: str
    numbers_only: bool
    id_column: str | None
    label_column: str | None
    columns: tuple[Column, ...]

    def write(self, path: Path) -> None:
        """Write the recipe as JSON."""
        path.write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        """Return the recipe as JSON."""
        return json.dumps({"format": _FORMAT, **asdict(self)}, ensure_ascii=False, indent=2)

    @classmethod
    def read(cls, path: Path) -> "Recipe":
        """Read a recipe."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored.pop("format") != _FORMAT:
                raise Refusal(f"{path} was written by another version of sidelight; fit again with this one.")
            columns = [Column(**{**column, "categories": tuple(column["categories"])}) for column in stored["columns"]]
            _check_stored(stored, columns)
            return cls(**{**stored, "columns": tuple(columns)})
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
            raise Refusal(f"{path} is damaged ({error}); fit again.") from error

    def frame_for_model(self, frame: Any) -> Any:
        """Return the frame that the model takes, from one with the columns of the table."""
        return as_numbers(frame, self.columns) if self.numbers_only else frame


def _check_stored(stored: Mapping[str, Any], columns: Sequence[Column]) -> None:
    """Refuse, by a ValueError, what no recipe that was written holds."""
    from sidelight.tables.kinds import all_kinds

    texts = (
        stored["model"],
        *(column.name for column in columns),
        *(c for column in columns for c in column.categories),
    )
    optional = (stored["id_column"], stored["label_column"])
    if not columns or not all(isinstance(text, str) for text in texts):
        raise ValueError("a name in it is not text")
    if not all(text is None or isinstance(text, str) for text in optional) or type(stored["numbers_only"]) is not bool:
        raise ValueError("an entry is of another type")
    for column in columns:
        numbers = (column.fill, column.mean, column.scale)
        if not isinstance(column.written, str) or type(column.log) is not bool:
            raise ValueError("an entry is of another type")
        if column.written and column.holds != "dates":
            stored_style(column.written)
        if column.kind not in all_kinds() or column.holds not in _HOLDS:
            raise ValueError(f"column {column.name!r} is of no known kind")
        if not all(type(number) in (int, float) and np.isfinite(number) for number in numbers) or not column.scale:
            raise ValueError(f"column {column.name!r} has a scale that is not a number")


def recipe_columns(frame: Any, features: Features) -> tuple[Column, ...]:
    """Return how each column of a frame becomes numbers, from its values and its kind."""
    columns = (_column(frame[name], name, kind) for name, kind in features.kinds.items())
    sources = ((column, features.sources[column.name]) for column in columns)
    return tuple(
        replace(column, name=source, log=column.name != source, written=features.written.get(source, ""))
        for column, source in sources
    )


def as_numbers(frame: Any, columns: Sequence[Column]) -> Any:
    """Return a frame of numbers: standardised, missing cells filled, a column of zeros and ones for each category."""
    made = {}
    for column in columns:
        values = frame[column.feature]
        if column.holds == "text" and not column.has_order:
            for category in column.categories:
                made[f"{column.name} = {category}"] = (values == category).to_numpy(dtype=float)
        else:
            numbers = _numbers(values)
            made[column.feature] = (np.where(np.isnan(numbers), column.fill, numbers) - column.mean) / column.scale
    return pandas_frame(made)


def check_recipe_columns(file: TableFile, recipe: Recipe) -> None:
    """Refuse a file that lacks columns of a recipe."""
    names = [column.name for column in recipe.columns]
    absent = [name for name in names if name not in file.header]
    if absent:
        raise Refusal(f"{file.path} lacks {len(absent)} column(s) that the model was fitted to: {some(absent)}.")


def recipe_frame(file: TableFile, table: Any, recipe: Recipe) -> Any:
    """Return the columns of a recipe as a frame, from a table that was read; cells that do not fit are refused."""
    if not table.num_rows:
        raise Refusal(f"{file.path} has a header but no rows.")
    frame = pandas_frame({column.feature: _cells(file, table[column.name], column) for column in recipe.columns})
    refuse_infinite(file, frame)
    for column in recipe.columns:
        if column.holds == "numbers":
            _refuse_misfits(file, column, frame[column.feature].to_numpy())
    return frame


def _cells(file: TableFile, stored: Any, column: Column) -> Any:
    """Return a column of a file for a frame, read as the column of the recipe was."""
    if column.holds == "dates":
        return as_frame_column(as_dates(file, stored, column.name, _form(stored, column))[0])
    if column.has_order:
        text = arrow("compute").utf8_trim_whitespace(file.convert(stored, column.name, arrow().string()))
        _warn_unseen(column, text)
        return in_order(text, column.categories)
    if column.holds == "numbers" and column.written and arrow().types.is_string(stored.type):
        numbers = text_numbers(
            file, file.convert(stored, column.name, stored.type).to_pylist(), column.name, stored_style(column.written)
        )
    else:
        types = {"numbers": arrow().float64(), "booleans": arrow().bool_(), "text": arrow().string()}
        numbers = as_frame_column(file.convert(stored, column.name, types[column.holds]))
    return logarithms(file, column.name, numbers) if column.log else numbers


def _form(stored: Any, column: Column) -> str:
    """Return how dates are written in a file: the recipe says it, unless the file has dates that are none of text."""
    types = arrow().types
    return "" if types.is_date(stored.type) or types.is_timestamp(stored.type) else column.written


def _warn_unseen(column: Column, text: Any) -> None:
    unseen = sorted({cell for cell in text.to_pylist() if cell is not None} - set(column.categories))
    if unseen:
        warn(
            f"column {column.name!r} has categories that it did not have when the model was fitted: {some(unseen)}. "
            "These cells are taken as missing.",
        )


def _column(values: Any, name: str, kind: str) -> Column:
    holds = _holds(values)
    categories = tuple(values.cat.categories) if holds == "text" else ()
    if holds == "text" and kind != "ordinal":
        return Column(name, kind, holds, categories=categories)
    numbers = _numbers(values)
    fill = float(np.nanmedian(numbers))
    filled = np.where(np.isnan(numbers), fill, numbers)
    return Column(name, kind, holds, fill, float(filled.mean()), float(filled.std()) or 1.0, categories)


def _holds(values: Any) -> str:
    dtype = str(values.dtype)
    if dtype == "category":
        return "text"
    if dtype.startswith("datetime"):
        return "dates"
    return "booleans" if dtype.startswith("bool") else "numbers"


def _numbers(values: Any) -> Any:
    """Return a column as numbers, NaN for missing cells: dates as days since 1970, ordered categories as places."""
    holds = _holds(values)
    if holds == "text":
        return np.where(values.cat.codes < 0, np.nan, values.cat.codes.to_numpy(dtype=float))
    if holds == "dates":
        days = values.to_numpy()
        return np.where(np.isnat(days), np.nan, (days - np.datetime64(0, "D")) / _DAY)
    return values.to_numpy(dtype=float, na_value=np.nan)


def _refuse_misfits(file: TableFile, column: Column, values: Any) -> None:
    """Refuse numbers that the kind of their column does not take."""
    from sidelight.tables.kinds import kind_named

    kind = kind_named(column.kind)
    misfits = np.flatnonzero(kind.misfits(values))
    if len(misfits):
        row = int(misfits[0])
        raise Refusal(
            f"{file.path}, {file.place(row)}: column {column.name!r} takes {kind.takes}, but holds {values[row]:g}; "
            "correct the cell, or empty it."
        )
