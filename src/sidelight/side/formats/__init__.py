"""Files of statements with authors, as other programs write them: one file of this folder for each format.

A format is found by what a file holds, not by its name. It is said which one was found; what is doubtful is an error
with the line.
"""

from pathlib import Path
from types import ModuleType
from typing import Any

from sidelight.side.formats import cleanlab, crowdkit, dedupe, label_studio, native, prodigy, splink
from sidelight.side.formats.statements import (
    FormatError,
    LabelStatement,
    LinkStatement,
    ReadingOptions,
    Statements,
)
from sidelight.side.formats.text import text_of

# In the order in which they are tried: wide tables are what no other format is.
FORMATS: dict[str, ModuleType] = {
    module.name: module for module in (native, crowdkit, splink, label_studio, prodigy, dedupe, cleanlab)
}

__all__ = [
    "FORMATS",
    "FormatError",
    "LabelStatement",
    "LinkStatement",
    "ReadingOptions",
    "Statements",
    "format_of",
    "parse_statements",
    "read_statements",
    "write_statements",
]


def format_of(text: str) -> str | None:
    """Return the name of the format of a text, None where none fits.

    Parameters
    ----------
    text : str
        What a file holds.

    Returns
    -------
    str or None
        The name, as in ``FORMATS``.

    Examples
    --------
    >>> from sidelight.side.formats import format_of
    >>> format_of("unique_id_l,unique_id_r,clerical_match_score")
    'Splink'
    """
    return next((name for name, module in FORMATS.items() if module.recognises(text)), None)


def parse_statements(
    text: str, *, format: str | None = None, annotator: Any = "annotator", id_field: str | None = None
) -> Statements:
    r"""Read statements from the text of a file; see `read_statements`.

    Parameters
    ----------
    text : str
        What a file holds.
    format : str, optional
        Name of the format, where it is not to be found.
    annotator : optional
        The author of statements in a text that names none.
    id_field : str, optional
        The column or field that names the rows, where it is not the format's usual one.

    Returns
    -------
    Statements
        ``format`` and ``remarks`` say what was found.

    Raises
    ------
    FormatError
        With the line and what to do about it.

    Examples
    --------
    >>> from sidelight.side.formats import parse_statements
    >>> parse_statements("unique_id_l,unique_id_r,clerical_match_score\n1,2,0.9\n").links[0][:5]
    (1, 2, 'same', 'annotator', 0.9)
    """
    if not text.strip("\ufeff \t\r\n"):
        raise FormatError("the file is empty")
    if format is not None and format not in FORMATS:
        raise ValueError(f"format={format!r} is not known; choose {', '.join(map(repr, FORMATS))}, or None to find it")
    found = format or format_of(text)
    if found is None:
        raise FormatError(
            "this is none of the formats that are known: tables task,worker,label (crowd-kit), a column per annotator "
            "(cleanlab), unique_id_l,unique_id_r,clerical_match_score (Splink), row,label,annotator or "
            "a,b,relation,annotator; training JSON of dedupe, JSON of Label Studio, JSONL of Prodigy",
            1,
        )
    said: Statements = FORMATS[found].parse(text, ReadingOptions(annotator, id_field))
    if not said.labels and not said.links:
        raise FormatError(f"this is a file of {found} without any statement")
    return said


def read_statements(
    path: str | Path, *, format: str | None = None, annotator: Any = None, id_field: str | None = None
) -> Statements:
    r"""Read a file of statements with authors; its format is found by what it holds.

    Parameters
    ----------
    path : path
        A table of crowd-kit, cleanlab, Splink or of our own, training JSON of dedupe, JSON of Label Studio, JSONL of
        Prodigy; in UTF-8.
    format : str, optional
        Name of the format, where it is not to be found.
    annotator : optional
        The author of statements in a file that names none; the name of the file where absent.
    id_field : str, optional
        The column or field that names the rows, where it is not the format's usual one.

    Returns
    -------
    Statements
        ``format`` and ``remarks`` say what was found.

    Raises
    ------
    FormatError
        With the line and what to do about it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sidelight.side.formats import read_statements
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "answers.csv"
    ...     _ = path.write_text("id,Ann,Ben\n7,cat,\n8,dog,cat\n")
    ...     said = read_statements(path)
    >>> said.format, [(one.row, one.label, one.annotator) for one in said.labels]
    ('cleanlab', [(7, 'cat', 'Ann'), (8, 'dog', 'Ann'), (8, 'cat', 'Ben')])
    """
    path = Path(path)
    return parse_statements(
        text_of(path), format=format, annotator=path.stem if annotator is None else annotator, id_field=id_field
    )


def write_statements(statements: Statements, format: str | None = None) -> str:
    r"""Return statements as the text of a file; what a format cannot hold is refused, never dropped.

    Parameters
    ----------
    statements : Statements
        What is to be written.
    format : str, optional
        Name of the format; that of the statements where absent.

    Returns
    -------
    str
        The text.

    Examples
    --------
    >>> from sidelight.side.formats import parse_statements, write_statements
    >>> said = parse_statements("task,worker,label\n0,Ann,cat\n")
    >>> print(write_statements(said, "Prodigy").strip())
    {"id": 0, "_annotator_id": "Ann", "label": "cat", "answer": "accept"}
    """
    wanted = statements.format if format is None else format
    if wanted not in FORMATS:
        raise ValueError(f"format={wanted!r} is not known; choose {', '.join(map(repr, FORMATS))}")
    text: str = FORMATS[wanted].write(statements)
    return text
