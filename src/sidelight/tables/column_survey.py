"""A first look at a table with columns of several kinds: where it lies, and whether every cell suits its column."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse

from sidelight._typing import AnyArray, IntArray
from sidelight.inference.rows import CHUNK_ROWS, Rows
from sidelight.tables.kinds import kind_named
from sidelight.tables.schema import Columns
from sidelight.tables.survey import Survey, survey, survey_incomplete, survey_sparse

# The survey finds what does not fit into other kinds.
_CHECKED = ("bernoulli", "poisson", "multinomial")


def survey_columns(rows: Rows, columns: Columns) -> Survey:
    """Survey an encoded table, NaN for missing cells, and refuse the first cell that its column's family cannot take.

    Parameters
    ----------
    rows : Rows
        Dense or CSR.
    columns : Columns
    """
    found = _survey(rows)
    if found.first_bad is not None:
        row, column = found.first_bad
        value = rows.X[row, column]
        where = f"row {row}, {columns.label(column)}"
        if np.isfinite(value):
            raise ValueError(f"X contains {value} in {where}, too large to square; rescale the column.")
        found_cell = "NaN" if np.isnan(value) else "infinity"
        raise ValueError(f"X contains {found_cell} in {where}; correct it, or leave the row or column out.")
    for kind in map(kind_named, _CHECKED):
        numbers = columns.of_kind(kind.name)
        misfit = _first_misfit(rows.X, numbers, kind.misfits) if len(numbers) else None
        if misfit is not None:
            row, column = misfit
            value = rows.X[row, column]
            raise ValueError(
                f"X contains {value:g} in row {row}, {columns.label(column)}, which is {kind.name} and takes "
                f"{kind.takes}; correct it, or give the column another family."
            )
    return found


def _survey(rows: Rows) -> Survey:
    if issparse(rows.X):
        return survey_sparse(rows)
    found = survey(rows)
    # Most tables are whole, and looked through more quickly.
    return found if found.first_bad is None else survey_incomplete(rows)


def _first_misfit(table: Any, columns: IntArray, is_bad: Callable[[AnyArray], AnyArray]) -> tuple[int, int] | None:
    """Return the place of the first bad cell in some columns, None where there is none."""
    for start in range(0, table.shape[0], CHUNK_ROWS):
        block = table[start : start + CHUNK_ROWS]
        if issparse(block):
            bad = np.flatnonzero(is_bad(block.data))
            if bad.size:
                row = int(np.searchsorted(block.indptr, bad[0], side="right")) - 1
                return start + row, int(block.indices[bad[0]])
        else:
            found = np.argwhere(is_bad(block[:, columns]))
            if found.size:
                return start + int(found[0, 0]), int(columns[found[0, 1]])
    return None
