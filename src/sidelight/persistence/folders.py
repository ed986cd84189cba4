"""Files in a folder that is there whole or not at all, with the checksums that show it."""

import glob
import hashlib
import os
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path

from sidelight.exceptions import ForeignFileError

CHECKSUMS = "SHA256SUMS"
REMEDY = "take a copy that is whole, or save the model again"


def write_folder(folder: Path, files: Mapping[str, bytes], *, replace: bool) -> None:
    """Write files and their checksums to a folder.

    They are written to a folder beside it, ``<name>.unfinished-…``, which is renamed when it is complete. A folder that
    it replaces is moved out of its way first, as ``<name>.replaced-…``, and deleted last. Whoever is stopped on the way
    thus leaves the old folder or the new one, under its own name or one of these.

    Parameters
    ----------
    folder : Path
    files : mapping from name to content
    replace : bool
        Whether the folder is there, to be replaced.
    """
    mark = uuid.uuid4().hex[:8]
    unfinished = folder.with_name(f"{folder.name}.unfinished-{mark}")
    replaced = folder.with_name(f"{folder.name}.replaced-{mark}")
    unfinished.mkdir()
    try:
        for name, content in {**files, CHECKSUMS: _checksums(files)}.items():
            _write_through(unfinished / name, content)
        if replace:
            folder.rename(replaced)
        unfinished.rename(folder)
    except BaseException:
        if replaced.exists():
            replaced.rename(folder)
        shutil.rmtree(unfinished)
        raise
    if replace:
        shutil.rmtree(replaced)


def read_file(folder: Path, name: str) -> bytes:
    """Return the content of a file of a folder, which must be the one that was written."""
    recorded = _recorded(folder)
    path = folder / name
    if name not in recorded:
        raise ForeignFileError(f"{folder / CHECKSUMS} has no checksum of {name}; {REMEDY}.")
    content = _content(path)
    if hashlib.sha256(content).hexdigest() != recorded[name]:
        raise ForeignFileError(f"{path} has been changed or damaged: it does not match {CHECKSUMS}; {REMEDY}.")
    return content


def left_behind(folder: Path) -> list[str]:
    """Return the names of folders that an interrupted replacement of this one has left."""
    return sorted(path.name for path in folder.parent.glob(f"{glob.escape(folder.name)}.replaced-*"))


def _write_through(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _checksums(files: Mapping[str, bytes]) -> bytes:
    """Return the checksums as ``sha256sum --check`` reads them."""
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    return "".join(lines).encode("ascii")


def _recorded(folder: Path) -> dict[str, str]:
    content = _content(folder / CHECKSUMS)
    try:
        pairs = [line.split("  ") for line in content.decode("ascii").splitlines()]
        recorded = {name: checksum for checksum, name in pairs}
    except ValueError:
        recorded = {}
    if "".join(f"{recorded[name]}  {name}\n" for name in sorted(recorded)).encode("ascii") != content or not recorded:
        raise ForeignFileError(f"{folder / CHECKSUMS} is not as sidelight writes it; {REMEDY}.")
    return recorded


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise ForeignFileError(
            f"{path} is missing, so {path.parent} is no whole saved model; give the folder that sidelight.save wrote, "
            "or a copy that is whole."
        ) from None
    except IsADirectoryError:
        raise ForeignFileError(f"{path} is a folder, so {path.parent} is no saved model.") from None
