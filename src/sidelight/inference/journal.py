"""Checkpoints: every pass of a fit is kept on disk, so that a fit that was killed goes on from there.

A fit is a program that draws its random numbers from one generator, and whose only long work are passes over the table.
So what is kept is what the passes gave, in order, and the state of the generator at the beginning. A fit that begins
with these runs through the same program, takes from the disk what it finds there, and ends with the same bytes.

Files appear whole or not at all. They hold arrays and sidelight's own records; nothing else is read from them.
"""

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sidelight.exceptions import ForeignFileError
from sidelight.files.whole import whole_file

Found = TypeVar("Found")

_PROTOCOL = 5
_BEGINNING = "beginning"
# What pickled arrays are made of.
_ARRAYS = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy._core.numeric", "_frombuffer"),
}


class Journal:
    """The passes of one fit, in a folder.

    Parameters
    ----------
    folder : str or Path
        Made where it does not exist.
    fingerprint : str
        Of table, side information and parameters; a folder with passes of another fit is refused.
    random : RandomState
        The generator of the fit as it begins.

    Attributes
    ----------
    random : RandomState
        The generator to use: in the state that the first run began with.
    n_remembered : int
        How many passes were found in the folder so far.
    """

    def __init__(self, folder: str | Path, fingerprint: str, random: np.random.RandomState) -> None:
        self._folder, self._number, self.n_remembered = Path(folder), 0, 0
        self._folder.mkdir(parents=True, exist_ok=True)
        beginning = self._folder / _BEGINNING
        if beginning.exists():
            found = read_record(beginning)
            if found["fingerprint"] != fingerprint:
                raise ValueError(
                    f"checkpoint: {self._folder} holds passes of another fit: its table, its statements, its "
                    "parameters or the version of sidelight differ. Name another folder, or delete this one to begin "
                    "anew."
                )
            random = np.random.RandomState()
            random.set_state(found["random"])
        else:
            write_record(beginning, {"fingerprint": fingerprint, "random": random.get_state(legacy=False)})
        self.random = random

    def remembered(self, work: Callable[[], Found]) -> Found:
        """Return what the next pass gives: from the folder, or from work whose result is then kept there."""
        path = self._folder / f"pass-{self._number:06d}"
        self._number += 1
        if path.exists():
            self.n_remembered += 1
        else:
            write_record(path, work())
        # Also what was just computed is read again: arrays have the same layout in every run.
        return read_record(path)


def write_record(path: Path, record: Any) -> None:
    """Write a record, whole or not at all."""
    with whole_file(path, "wb") as file:
        pickle.dump(record, file, _PROTOCOL)


def read_record(path: Path) -> Any:
    """Read a record that was written here."""
    try:
        return _Records(io.BytesIO(path.read_bytes())).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError, ValueError) as error:
        raise ForeignFileError(f"{path} is not a checkpoint of sidelight ({error}); delete the folder.") from error


class _Records(pickle.Unpickler):
    """Reads arrays and classes of sidelight, and refuses all else: a file from elsewhere must not run code."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class that may be in a record."""
        if (module, name) in _ARRAYS:
            return super().find_class(module, name)
        if module.startswith("sidelight.") and "." not in name:
            found = super().find_class(module, name)
            # What a module of sidelight imports from elsewhere is not sidelight's.
            if isinstance(found, type) and found.__module__.startswith("sidelight."):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a checkpoint")
