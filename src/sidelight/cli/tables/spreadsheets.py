"""Spreadsheets: the first sheet of an .xlsx file as a table."""

from pathlib import Path
from typing import Any

from sidelight._warnings import warn
from sidelight.cli.errors import Refusal, one_line
from sidelight.cli.extras import arrow, check_spreadsheets, pandas
from sidelight.cli.tables.arrow_columns import MISSING_WORDS

_MISSING_WORDS = frozenset(MISSING_WORDS)


def read_spreadsheet(path: Path, stored: Path) -> tuple[Any, dict[int, Any]]:
    """Return the first sheet as an arrow table; its first line that holds anything has the names of the columns.

    Words such as NA are missing there; columns that have such words are also returned as text with them, by number.
    """
    check_spreadsheets(path)
    try:
        with pandas().ExcelFile(stored, engine="openpyxl") as book:
            names = book.sheet_names
            sheet = pandas().read_excel(
                book, sheet_name=0, header=None, dtype=object, keep_default_na=False, na_values=[""]
            )
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
    columns, words = [], {}
    for number in range(sheet.shape[1]):
        cells = sheet.iloc[1:, number].tolist()
        known = [None if cell in _MISSING_WORDS else cell for cell in cells]
        columns.append(_typed(known))
        if known != cells and any(cell in _MISSING_WORDS for cell in cells):
            words[number] = _as_text(cells)
    return arrow().Table.from_arrays(columns, names=[str(name).strip() for name in header]), words


def _typed(cells: list[Any]) -> Any:
    """Return cells as an arrow array of the type that they have in common; as text where they have none."""
    pa = arrow()
    try:
        return pa.array(cells, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return _as_text(cells)


def _as_text(cells: list[Any]) -> Any:
    missing = pandas().isna(cells)
    text = arrow().string()
    return arrow().array([None if gone else str(cell) for cell, gone in zip(cells, missing, strict=True)], text)
