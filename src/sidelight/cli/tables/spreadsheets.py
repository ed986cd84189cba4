"""Spreadsheets: the first sheet of an .xlsx file as a table."""

from pathlib import Path
from typing import Any

from sidelight._warnings import warn
from sidelight.cli.errors import Refusal, one_line
from sidelight.cli.extras import arrow, check_spreadsheets, pandas


def read_spreadsheet(path: Path, stored: Path) -> Any:
    """Return the first sheet as an arrow table; its first line that holds anything has the names of the columns."""
    check_spreadsheets(path)
    try:
        with pandas().ExcelFile(stored, engine="openpyxl") as book:
            names = book.sheet_names
            sheet = pandas().read_excel(book, sheet_name=0, header=None, dtype=object)
    except MemoryError:
        raise
    except Exception as error:  # an archive of XML that was changed or cut off can end in errors of many types
        raise Refusal(
            f"{path} cannot be read as a spreadsheet: {one_line(error)}; save it again as .xlsx, or give it the ending "
            "of what it is (.csv, say)."
        ) from error
    if len(names) > 1:
        warn(f"{path} has {len(names)} sheets; the first one, {names[0]!r}, is read.")
    sheet = sheet.dropna(how="all").dropna(how="all", axis=1)
    if not len(sheet):
        raise Refusal(f"{path} is empty; its first sheet needs a line with the names of the columns, and rows.")
    header = sheet.iloc[0]
    if header.isna().any():
        place = int(header.isna().to_numpy().argmax()) + 1
        raise Refusal(f"{path}: column {place} of the header has no name; give every column one.")
    columns = [_typed(sheet.iloc[1:, number].tolist()) for number in range(sheet.shape[1])]
    return arrow().Table.from_arrays(columns, names=[str(name).strip() for name in header])


def _typed(cells: list[Any]) -> Any:
    """Return cells as an arrow array of the type that they have in common; as text where they have none."""
    pa = arrow()
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        missing = pandas().isna(cells)
        return pa.array([None if gone else str(cell) for cell, gone in zip(cells, missing, strict=True)], pa.string())
