"""Plain arrays in one .npz file: equal arrays give equal bytes, and every size is checked before it is used."""

import io
import math
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from sidelight._typing import AnyArray
from sidelight.exceptions import ForeignFileError

_SUFFIX = ".npy"
# Booleans, integers, floats, complex numbers, times and bytes: what every NumPy reads alike.
_PLAIN_KINDS = "biufcMmS"
# Longer ones are of another length on another machine.
_LONGEST = {"f": 8, "c": 16}  # bytes
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Say whether arrays of a type can be stored, with the same meaning on every machine."""
    return dtype.kind in _PLAIN_KINDS and dtype.itemsize <= _LONGEST.get(dtype.kind, math.inf)


def pack(arrays: Mapping[str, AnyArray]) -> bytes:
    """Return arrays as a .npz file; equal arrays give equal bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            # A ZipInfo of its own carries no time of day.
            with archive.open(zipfile.ZipInfo(name + _SUFFIX), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)
    return buffer.getvalue()


def unpack(content: bytes) -> dict[str, AnyArray]:
    """Return the arrays of a .npz file.

    Entries are not compressed, so that none takes more room than the file itself, and an array is made only where the
    size that its header declares is the size that is there.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _refuse_bombs(entries, len(content))
            return {_name(entry): _read(entry.filename, archive.read(entry)) for entry in entries}
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as problem:
        raise ForeignFileError(f"it is not a whole .npz file ({problem})") from problem


def _name(entry: zipfile.ZipInfo) -> str:
    if not entry.filename.endswith(_SUFFIX):
        raise ForeignFileError(f"it holds {entry.filename!r}, which is not an array")
    return entry.filename.removesuffix(_SUFFIX)


def _refuse_bombs(entries: list[zipfile.ZipInfo], size: int) -> None:
    for entry in entries:
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size != entry.compress_size:
            raise ForeignFileError(f"{entry.filename!r} in it is compressed, which saved models never are")
    if len({entry.filename for entry in entries}) != len(entries):
        raise ForeignFileError("it holds two arrays of one name")
    if sum(entry.file_size for entry in entries) > size:
        raise ForeignFileError("its entries declare more bytes than it has")


def _read(name: str, content: bytes) -> AnyArray:
    stream = io.BytesIO(content)
    try:
        shape, _, dtype = _HEADERS[np.lib.format.read_magic(stream)](stream)
    except (ValueError, KeyError) as problem:
        raise ForeignFileError(f"{name!r} in it does not begin as an array does") from problem
    if not is_plain(dtype):
        raise ForeignFileError(f"{name!r} in it is of type {dtype}, which saved models never have")
    if not dtype.itemsize or math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ForeignFileError(f"{name!r} in it declares a shape of {shape}, but is of another size")
    stream.seek(0)
    array: AnyArray = np.lib.format.read_array(stream, allow_pickle=False)
    return array
