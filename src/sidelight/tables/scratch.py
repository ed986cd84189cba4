"""Arrays that are as long as a table which does not fit into memory: in a file that goes when they go."""

import tempfile
from typing import Any

import numpy as np

from sidelight._typing import AnyArray
from sidelight.tables.table import ArrayTable


def scratch_array(shape: tuple[int, ...], dtype: Any) -> AnyArray:
    """Return an array of zeros that is mapped to a file without a name, in the folder for temporary files.

    The system removes the file when the array is gone, also if the process is killed.
    """
    with tempfile.TemporaryFile(prefix="sidelight-") as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)


def give_back(array: AnyArray, rows: slice) -> None:
    """Let the system write rows of a mapped array out and take their memory; nothing happens to one in memory."""
    ArrayTable(array.reshape(len(array), -1)).release(rows)
