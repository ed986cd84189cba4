"""The table of a project: its features for the model, and its cells as they are shown."""

import io
import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import numpy as np

from sidelight._typing import FloatArray
from sidelight.side import SideInformation

IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}
# Longer texts are cut where they are shown.
MOST_CHARACTERS = 4000
# Two numbers that differ by less than this part of a standard deviation are shown as alike.
_ALIKE = 0.25
# How far apart cells count that are not numbers, to order columns by.
_CATEGORY, _ONE_MISSING, _TEXT = 1.0, 0.4, 0.3
_LOOKED_AT = 200
_SIDE = ("labels", "label_names", "must_link", "cannot_link", "must_link_confidence", "cannot_link_confidence")


@dataclass(frozen=True)
class Settings:
    """What the user asked for when the project was started.

    ``kinds`` are the kinds of the features, ``sources`` the columns of the table that they come from; ``images`` is the
    only folder that files are served from.
    """

    title: str
    id_column: str
    label_column: str | None
    kinds: dict[str, str]
    sources: dict[str, str]
    clusters: int | None = None
    only_known_classes: bool = False
    seed: int = 0
    images: str | None = None
    notes: tuple[str, ...] = ()


class Difference(NamedTuple):
    """A column of two rows: the two cells, how far they are apart, and where numbers lie in the range of the column.

    ``images`` says which of the cells name an image that can be shown.
    """

    column: str
    cells: tuple[str, str]
    alike: bool
    distance: float
    places: tuple[float, float] | None
    images: tuple[bool, bool]


class _Numbers(NamedTuple):
    values: FloatArray
    low: float
    high: float
    deviation: float

    def place(self, row: int) -> float:
        """Return where a value lies between the low and the high end of its column, from 0 to 1."""
        return float(np.clip((self.values[row] - self.low) / (self.high - self.low), 0, 1))


@dataclass(frozen=True, eq=False)
class StudioTable:
    """A table with everything that was given with it.

    Parameters
    ----------
    settings : Settings
    ids : (n,) str
        Names of the rows, all different.
    cells : pyarrow.Table
        All columns but the ids, as text.
    features : pandas.DataFrame
        What the model takes.
    positions : (n, d)
        The features as standardised numbers.
    side : SideInformation
        The labels and links given when the project was started.
    recipe : bytes
        How later tables become features; the studio hands it on.
    """

    settings: Settings
    ids: Any
    cells: Any
    features: Any
    positions: FloatArray
    side: SideInformation
    recipe: bytes

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.ids)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are shown."""
        return list(self.cells.column_names)

    # --- in and out of a project -------------------------------------------------------------------------------------

    def parts(self) -> dict[str, bytes]:
        """Return the table as bytes, by the names of the parts of a project."""
        import pyarrow

        side = {name: getattr(self.side, name) for name in _SIDE}
        side["label_names"] = np.array(side["label_names"], dtype=str)
        arrays = io.BytesIO()
        np.savez_compressed(
            arrays, ids=np.asarray(self.ids, dtype=str), positions=self.positions.astype(np.float32), **side
        )
        return {
            "settings": json.dumps(asdict(self.settings), ensure_ascii=False).encode(),
            "arrays": arrays.getvalue(),
            "cells": _arrow_bytes(self.cells),
            "features": _arrow_bytes(pyarrow.Table.from_pandas(self.features)),
            "recipe": self.recipe,
        }

    @classmethod
    def from_parts(cls, parts: dict[str, bytes]) -> "StudioTable":
        """Return the table that `parts` wrote."""
        stored = json.loads(parts["settings"])
        settings = Settings(**{**stored, "notes": tuple(stored["notes"])})
        with np.load(io.BytesIO(parts["arrays"]), allow_pickle=False) as arrays:
            n = len(arrays["ids"])
            side = SideInformation(
                n_rows=n,
                blocks=np.full(n, -1),
                block_names=np.empty(0, dtype=np.int64),
                **{name: arrays[name] for name in _SIDE},
            )
            ids, positions = arrays["ids"], arrays["positions"].astype(float)
        features = _arrow_table(parts["features"]).to_pandas()
        return cls(settings, ids, _arrow_table(parts["cells"]), features, positions, side, parts["recipe"])

    # --- cells to show -----------------------------------------------------------------------------------------------

    def row(self, number: int) -> list[str]:
        """Return the cells of a row as text, long ones cut."""
        return [shortened(column[number].as_py() or "") for column in self.cells.columns]

    def compare(self, first: int, second: int) -> list[Difference]:
        """Return the columns of two rows, the most different first, alike ones last."""
        rows = zip(self.columns, self.row(first), self.row(second), strict=True)
        found = [self._difference(name, a, b, first, second) for name, a, b in rows]
        return sorted(found, key=lambda one: (one.alike, -one.distance))

    def _difference(self, name: str, a: str, b: str, first: int, second: int) -> Difference:
        images = (self.image(first, name) is not None, self.image(second, name) is not None)
        numbers = self._numbers.get(name)
        if numbers is not None and a and b:
            distance = abs(float(numbers.values[first] - numbers.values[second])) / numbers.deviation
            places = (numbers.place(first), numbers.place(second))
            return Difference(name, (a, b), distance < _ALIKE, distance, places, images)
        if a == b:
            return Difference(name, (a, b), True, 0.0, None, images)
        distance = _ONE_MISSING if not (a and b) else _CATEGORY if name in self._clustered_by else _TEXT
        return Difference(name, (a, b), False, distance, None, images)

    @cached_property
    def _clustered_by(self) -> frozenset[str]:
        return frozenset(self.settings.sources.get(name, name) for name in self.settings.kinds)

    @cached_property
    def _numbers(self) -> dict[str, _Numbers]:
        """The columns of numbers that vary, by their names in the table."""
        found = {}
        for name in self.features.columns:
            column = self.features[name]
            if column.dtype.kind not in "iuf":
                continue
            values = column.to_numpy(dtype=float)
            seen = values[np.isfinite(values)]
            if len(seen) and seen.std() > 0:
                low, high = np.quantile(seen, (0.01, 0.99))
                if low == high:
                    low, high = seen.min(), seen.max()
                found[self.settings.sources.get(name, name)] = _Numbers(values, low, high, float(seen.std()))
        return found

    # --- images ------------------------------------------------------------------------------------------------------

    @cached_property
    def image_columns(self) -> frozenset[str]:
        """Columns whose cells are names of image files."""
        if self.settings.images is None:
            return frozenset()
        found = []
        for name, column in zip(self.columns, self.cells.columns, strict=True):
            cells = [cell for cell in column.slice(0, _LOOKED_AT).to_pylist() if cell]
            if cells and sum(_local_name(cell) is not None for cell in cells) > len(cells) / 2:
                found.append(name)
        return frozenset(found)

    def image(self, row: int, column: str) -> Path | None:
        """Return the image file that a cell names, None where it names none inside the folder for images."""
        if column not in self.image_columns or self.settings.images is None:
            return None
        name = _local_name(self.cells[column][row].as_py() or "")
        if name is None:
            return None
        folder = Path(self.settings.images).resolve()
        try:
            path = (folder / name).resolve()
            inside = path.is_relative_to(folder) and path.is_file()
        except (OSError, ValueError):
            return None
        # The file that a link leads to is served under its own ending, not under that of the link.
        return path if inside and path.suffix.lower() in IMAGES else None


def shortened(text: str) -> str:
    """Return a text that can be shown; a long one is cut, and says so."""
    if len(text) <= MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]}… ({len(text)} characters)"


def _local_name(cell: str) -> str | None:
    """Return the path that a cell names, None where it is not an image of a local file."""
    try:
        parts = urlsplit(cell)
    except ValueError:
        return None
    name = unquote(parts.path) if parts.scheme == "file" else cell
    if (parts.scheme not in ("", "file")) or Path(name).suffix.lower() not in IMAGES:
        return None
    return name


def _arrow_bytes(table: Any) -> bytes:
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_file(sink, table.schema, options=pyarrow.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _arrow_table(stored: bytes) -> Any:
    import pyarrow

    return pyarrow.ipc.open_file(pyarrow.BufferReader(stored)).read_all().combine_chunks()
