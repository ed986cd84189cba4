"""The folder that a fit writes and later commands read, with the pool of rows that ``ask`` chooses questions from."""

import csv
import json
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.cli.errors import Refusal, refusing
from sidelight.cli.extras import arrow
from sidelight.cli.tables.files import TableFile
from sidelight.cli.tables.recipe import Recipe
from sidelight.files.whole import recover

if TYPE_CHECKING:
    from sidelight.side import SideInformation

CLUSTERS = "clusters.csv"
REPORT = "report.html"
RECIPE = "recipe.json"
_MODEL = "model"
_SUMMARY = "summary.json"
# What reading files that were changed or cut off can end with.
_DAMAGES = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    IndexError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    SyntaxError,
    csv.Error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
_POOL = "askable"
_NUMBERS = ("posterior", "positions")
_SIDE = ("labels", "label_names", "must_link", "cannot_link", "must_link_confidence", "cannot_link_confidence")


class Pool(NamedTuple):
    """Some rows of the table that was fitted, kept with the result so that ``ask`` needs nothing else.

    Parameters
    ----------
    ids : (m,) str
    posterior : (m, clusters)
        Of the fitted model, given the side information.
    positions : (m, d)
        Where the rows are, as standardised numbers.
    side : SideInformation
        About these rows.
    doubtful : (k, 2)
        Links among them that are more probably wrong than right, the most suspicious first.
    columns, values : list of str, list of list of str
        Names of the columns that are shown; the cells of each row, as they stand in the table.
    """

    ids: AnyArray
    posterior: FloatArray
    positions: FloatArray
    side: "SideInformation"
    doubtful: IntArray
    columns: list[str]
    values: list[list[str]]


class PoolRows(NamedTuple):
    """Which rows of a table are in the pool, and their cells (see `Pool`)."""

    rows: IntArray
    columns: list[str]
    values: list[list[str]]


def choose_rows(side: "SideInformation", seed: int, *, most: int = 20_000) -> IntArray:
    """Return the rows of the pool: all of a table of ``most`` rows, of a larger one those with statements and more."""
    if side.n_rows <= most:
        return np.arange(side.n_rows)
    others = np.flatnonzero(~side.mentioned)
    room = min(max(most - int(side.mentioned.sum()), 0), len(others))
    drawn = np.random.default_rng(seed).choice(others, room, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(side.mentioned), drawn]))


def doubtful_links(model: Any, rows: IntArray) -> IntArray:
    """Return the links that a model finds more probably wrong than right, as places (k, 2) among some rows."""
    suspicions = getattr(getattr(model, "violations_", None), "suspicions", None)
    if suspicions is None:
        return np.empty((0, 2), dtype=np.int64)
    pairs = suspicions.doubtful
    place = np.searchsorted(rows, pairs).clip(max=len(rows) - 1)
    return place[(rows[place] == pairs).all(axis=1)]


def pool_rows(file: TableFile, table: Any, columns: Sequence[str], rows: IntArray) -> PoolRows:
    """Return rows of a table that was read, their cells as they stand in it; columns without a text are left out."""
    columns = [name for name in columns if _has_text(table[name].type)]
    texts = (file.convert(table[name], name, arrow().string()).take(rows).to_pylist() for name in columns)
    return PoolRows(rows, list(columns), [[cell or "" for cell in row] for row in zip(*texts, strict=True)])


def _has_text(kind: Any) -> bool:
    """Say whether cells of an arrow type can be shown: lists, structs and bytes cannot."""
    types = arrow().types
    shapeless = (types.is_nested, types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
    return not any(is_of(kind) for is_of in shapeless)


def write_pool(pool: Pool, folder: Path) -> None:
    """Write the rows and their side information."""
    side = {name: getattr(pool.side, name) for name in _SIDE}
    side["label_names"] = np.array(side["label_names"], dtype=str)
    numbers = {name: getattr(pool, name).astype(np.float32) for name in _NUMBERS}
    np.savez(folder / "statements.npz", ids=pool.ids, doubtful=pool.doubtful, **numbers, **side)
    with (folder / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(pool.columns)
        writer.writerows(pool.values)


def read_pool(folder: Path) -> Pool:
    """Read the pool of a result."""
    from sidelight.side import SideInformation

    try:
        with (folder / "statements.npz").open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in ("ids", *_NUMBERS, *_SIDE)}
            # Results of earlier versions do not say which links are doubtful.
            doubtful = stored["doubtful"] if "doubtful" in stored else np.empty((0, 2), dtype=np.int64)
        with (folder / "rows.csv").open(encoding="utf-8", newline="") as text:
            columns, *values = list(csv.reader(text))
        posterior, positions = (arrays[name].astype(float) for name in _NUMBERS)
        n = len(posterior)
        side = SideInformation(
            n_rows=n,
            blocks=np.full(n, -1),
            block_names=np.empty(0, dtype=np.int64),
            **{name: arrays[name] for name in _SIDE},
        )
        ids = arrays["ids"].astype(str)
        pool = Pool(ids, _normalised(posterior), positions, side, doubtful, columns, values)
        _check_shapes(pool)
    except _DAMAGES as error:
        raise Refusal(f"{folder} is damaged ({error}); fit again.") from error
    return pool


def _normalised(posterior: FloatArray) -> FloatArray:
    """Return probabilities that sum to one to the last digit, which they do not if they were rounded."""
    totals = posterior.sum(axis=1, keepdims=True)
    if not ((posterior >= 0).all() and (np.abs(totals - 1) < 1e-3).all()):
        raise ValueError("its probabilities do not sum to one")
    return posterior / totals


def _check_shapes(pool: Pool) -> None:
    """Refuse, by a ValueError, a pool whose parts are not of the same rows."""
    n = len(pool.posterior)
    same = pool.ids.shape == (n,) and pool.positions.ndim == 2 and len(pool.positions) == len(pool.values) == n
    if not same or any(len(row) != len(pool.columns) for row in pool.values):
        raise ValueError("its parts have different numbers of rows")
    if pool.side.labels.shape != (n,) or (pool.side.labels >= len(pool.side.label_names)).any():
        raise ValueError("its labels are of other rows")
    if not np.isfinite(pool.positions).all():
        raise ValueError("its positions are not numbers")
    rows = pool.doubtful
    if rows.shape != (len(rows), 2) or rows.dtype.kind != "i" or ((rows < 0) | (rows >= n)).any():
        raise ValueError("its doubtful links are of other rows")


class Result(NamedTuple):
    """A result that was read."""

    folder: Path
    recipe: Recipe
    summary: dict[str, Any]

    def model(self) -> Any:
        """Read the fitted model."""
        from sidelight.persistence import load

        with refusing(f"{self.folder / _MODEL}"):
            return load(self.folder / _MODEL)

    def pool(self) -> Pool:
        """Read the rows that questions are chosen from."""
        return read_pool(self.folder / _POOL)


def is_result(folder: Path) -> bool:
    """Say whether a folder holds what a fit wrote."""
    return (folder / RECIPE).is_file() and (folder / _SUMMARY).is_file()


def open_result(folder: Path) -> Result:
    """Read what a fit wrote, except the model; what a run that was killed had moved away is put back first."""
    recover(folder)
    if not folder.is_dir():
        raise Refusal(f"{folder} is not a folder; name the one that sidelight fit wrote with -o.")
    if not is_result(folder):
        raise Refusal(f"{folder} holds no result; name the folder that sidelight fit wrote with -o.")
    recipe = Recipe.read(folder / RECIPE)
    try:
        summary = dict(json.loads((folder / _SUMMARY).read_text(encoding="utf-8")))
    except (ValueError, TypeError, RecursionError) as error:
        raise Refusal(f"{folder / _SUMMARY} is damaged ({error}); fit again.") from error
    return Result(folder, recipe, summary)


def write_result(folder: Path, *, model: Any, recipe: Recipe, pool: Pool, summary: dict[str, Any]) -> None:
    """Write everything except the table of clusters and the report to a folder."""
    from sidelight.persistence import write_model

    write_model(model, folder / _MODEL)
    recipe.write(folder / RECIPE)
    (folder / _POOL).mkdir()
    write_pool(pool, folder / _POOL)
    (folder / _SUMMARY).write_text(json.dumps(summary, ensure_ascii=False, indent=2), encoding="utf-8")
