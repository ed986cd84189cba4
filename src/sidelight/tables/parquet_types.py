"""Types of the columns of Parquet files: which go together, and which have room for the cells of all files."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

# The sort of a column that has no cells in a file.
_NO_CELLS = "null"


def arrow(part: str | None = None) -> Any:
    """Return pyarrow, or a part of it."""
    try:
        return import_module("pyarrow" if part is None else f"pyarrow.{part}")
    except ImportError as error:
        raise ImportError("Parquet files need pyarrow and pandas: pip install sidelight[table]") from error


class Place(NamedTuple):
    """A type of a column, and the first file that has it."""

    kind: Any
    file: Path


@dataclass
class SeenTypes:
    """The types that a column has in the files, each with the first file that has it."""

    kinds: dict[Any, Path] = field(default_factory=dict)

    def of_another_sort(self, kind: Any) -> Place | None:
        """Return a type that does not go together with another; columns without cells go with all."""
        sorts = {_NO_CELLS, sort_of(kind)}
        others = (Place(one, file) for one, file in self.kinds.items() if sort_of(one) not in sorts)
        return None if sort_of(kind) == _NO_CELLS else next(others, None)

    def common(self) -> Any:
        """Return the type that has room for the cells of all files."""
        kinds = [kind for kind in self.kinds if sort_of(kind) != _NO_CELLS]
        if len(kinds) < 2:
            return kinds[0] if kinds else next(iter(self.kinds))
        types = arrow().types
        if sort_of(kinds[0]) == "text":
            return arrow().large_string()
        whole = all(types.is_integer(kind) and not types.is_uint64(kind) for kind in kinds)
        return arrow().int64() if whole else arrow().float64()


def sort_of(kind: Any) -> str:
    """Return what an arrow type is to a table: types of one sort are converted into each other."""
    types = arrow().types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "numbers"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    return str(kind)


def without_index(metadata: dict[bytes, bytes]) -> tuple[dict[bytes, bytes], list[str]]:
    """Return what pandas notes about columns without what it says of an index, and the columns that are one."""
    if b"pandas" not in metadata:
        return metadata, []
    noted = json.loads(metadata[b"pandas"])
    index = [name for name in noted["index_columns"] if isinstance(name, str)]
    return {**metadata, b"pandas": json.dumps({**noted, "index_columns": []}).encode()}, index


def schema_of(first: Any, kinds: Mapping[str, Any], metadata: dict[bytes, bytes]) -> Any:
    """Return the schema of a table, of the first file but for the types that differ in others."""
    changed = {name for name, kind in kinds.items() if kind != first.field(name).type}
    if b"pandas" in metadata:
        noted = json.loads(metadata[b"pandas"])
        noted["columns"] = [one for one in noted["columns"] if one.get("name") not in changed]
        metadata = {**metadata, b"pandas": json.dumps(noted).encode()}
    return arrow().schema([first.field(name).with_type(kind) for name, kind in kinds.items()], metadata=metadata)


def refuse_nested(path: Path, schema: Any) -> None:
    """Refuse columns that hold lists or bytes."""
    types = arrow().types
    for column in schema:
        kind = column.type.value_type if types.is_dictionary(column.type) else column.type
        if any(is_of(kind) for is_of in (types.is_nested, types.is_binary, types.is_large_binary)):
            raise ValueError(
                f"{path}: column {column.name!r} holds {column.type}, which no family describes; leave it out with "
                "ParquetTable(…, columns=[…])."
            )
