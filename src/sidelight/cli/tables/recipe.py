"""How a table becomes what a model takes: learnt when fitting, kept as JSON, and applied to every later table."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.cli.errors import Refusal
from sidelight.cli.extras import arrow
from sidelight.cli.tables.columns import Found
from sidelight.cli.tables.files import TableFile, some
from sidelight.cli.tables.frames import as_frame_column, pandas_frame, refuse_infinite

_FORMAT = 1
_COUNTED = ("poisson", "bernoulli")


@dataclass(frozen=True)
class Column:
    """A column of the table and how it becomes numbers, which models other than the Bayesian one take.

    Parameters
    ----------
    name : str
    kind : {"gaussian", "poisson", "bernoulli", "categorical"}
    holds : {"numbers", "booleans", "text"}
    fill, mean, scale : float, optional
        What a missing number is replaced by, and how numbers are standardised.
    categories : tuple of str, optional
        Each becomes a column of zeros and ones.
    """

    name: str
    kind: str
    holds: str
    fill: float = 0.0
    mean: float = 0.0
    scale: float = 1.0
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Recipe:
    """How tables are read for a model.

    Parameters
    ----------
    model : str
        Its name on the command line.
    numbers_only : bool
        Whether it takes standardised numbers instead of the columns as they are.
    id_column, label_column : str, optional
    columns : tuple of Column
        Those that are used, in order.
    """

    model: str
    numbers_only: bool
    id_column: str | None
    label_column: str | None
    columns: tuple[Column, ...]

    def write(self, path: Path) -> None:
        """Write the recipe as JSON."""
        path.write_text(json.dumps({"format": _FORMAT, **asdict(self)}, ensure_ascii=False, indent=2), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Recipe":
        """Read a recipe."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            if stored.pop("format") != _FORMAT:
                raise Refusal(f"{path} was written by another version of sidelight; fit again with this one.")
            columns = [Column(**{**column, "categories": tuple(column["categories"])}) for column in stored["columns"]]
            return cls(**{**stored, "columns": tuple(columns)})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refusal(f"{path} is damaged ({error}); fit again.") from error

    def frame_for_model(self, frame: Any) -> Any:
        """Return the frame that the model takes, from one with the columns as they are."""
        return as_numbers(frame, self.columns) if self.numbers_only else frame


def learn_columns(found: Found) -> tuple[Column, ...]:
    """Write down what was found in a table."""
    return tuple(_learn(found.frame[name], name, kind) for name, kind in found.kinds.items())


def as_numbers(frame: Any, columns: Sequence[Column]) -> Any:
    """Return a frame of numbers: standardised, gaps filled, a column of zeros and ones for each category."""
    made = {}
    for column in columns:
        values = frame[column.name]
        if column.holds == "text":
            for category in column.categories:
                made[f"{column.name} = {category}"] = (values == category).to_numpy(dtype=float)
        else:
            numbers = _numbers(values)
            made[column.name] = (np.where(np.isnan(numbers), column.fill, numbers) - column.mean) / column.scale
    return pandas_frame(made)


def read_by_recipe(file: TableFile, recipe: Recipe) -> Any:
    """Return the columns that a recipe names as a frame, and refuse a table that lacks any or holds something else."""
    names = [column.name for column in recipe.columns]
    absent = [name for name in names if name not in file.header]
    if absent:
        raise Refusal(f"{file.path} lacks {len(absent)} column(s) that the model was fitted to: {some(absent)}.")
    pa = arrow()
    types = {"numbers": pa.float64(), "booleans": pa.bool_(), "text": pa.string()}
    table = file.read(names, {column.name: types[column.holds] for column in recipe.columns})
    if not table.num_rows:
        raise Refusal(f"{file.path} has a header but no rows.")
    frame = pandas_frame({name: as_frame_column(table.column(name)) for name in names})
    refuse_infinite(file, frame)
    for column in recipe.columns:
        if column.kind in _COUNTED and column.holds == "numbers":
            _refuse_no_count(file, column, frame[column.name].to_numpy())
    return frame


def _learn(values: Any, name: str, kind: str) -> Column:
    dtype = str(values.dtype)
    holds = "text" if dtype == "category" else "booleans" if dtype.startswith("bool") else "numbers"
    if holds == "text":
        return Column(name, kind, holds, categories=tuple(values.cat.categories))
    numbers = _numbers(values)
    fill = float(np.nanmedian(numbers))
    filled = np.where(np.isnan(numbers), fill, numbers)
    return Column(name, kind, holds, fill, float(filled.mean()), float(filled.std()) or 1.0)


def _numbers(values: Any) -> Any:
    return values.to_numpy(dtype=float, na_value=np.nan)


def _refuse_no_count(file: TableFile, column: Column, values: Any) -> None:
    largest = 1 if column.kind == "bernoulli" else np.inf
    wrong = np.flatnonzero(~np.isnan(values) & ((values < 0) | (values > largest) | (values != np.floor(values))))
    if len(wrong):
        row = int(wrong[0])
        wanted = "0 and 1" if column.kind == "bernoulli" else "counts 0, 1, 2, …"
        raise Refusal(
            f"{file.path}, {file.place(row)}: column {column.name!r} takes {wanted}, but holds {values[row]:g}; "
            "correct the cell, or empty it."
        )
