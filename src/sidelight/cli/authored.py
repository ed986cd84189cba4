"""Files of statements with authors who may err, in the formats of other programs: ``--labels`` and ``--links``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sidelight._typing import AnyArray
from sidelight.cli.errors import Refusal
from sidelight.cli.statements import LinksFile

if TYPE_CHECKING:
    from sidelight.side import SideInformation
    from sidelight.side.formats import Statements

_JSON = frozenset({".json", ".jsonl", ".ndjson"})


class AuthoredFile(NamedTuple):
    """A file, what it says, and what is worth knowing about it."""

    path: Path
    said: "Statements"

    @property
    def line(self) -> str:
        """Say which format was found, and how much it says."""
        parts = []
        for noun, statements in (("label", self.said.labels), ("judged pair", self.said.links)):
            if statements:
                authors = len({one.annotator for one in statements})
                parts.append(
                    f"{len(statements)} {noun}{'s' * (len(statements) != 1)} by {authors} "
                    f"annotator{'s' * (authors != 1)}"
                )
        remarks = "".join(f"; {remark}" for remark in self.said.remarks)
        return f"{self.path}: read as {self.said.format}, {', '.join(parts)}{remarks}"


def read_authored(path: Path, option: str, id_column: str | None) -> AuthoredFile:
    """Read a file of statements with authors; ``option`` is the one it was given by.

    Ids are looked for in a field of the name of the table's id column first.
    """
    from sidelight.side.formats import FormatError, format_of, parse_statements

    text = _text(path)
    found = format_of(text)
    named = id_column if found in ("cleanlab", "Label Studio", "Prodigy", "dedupe") and id_column else None
    tries = [named, None] if named is not None else [None]
    for number, field in enumerate(tries):
        try:
            said = parse_statements(text, annotator=path.stem, id_field=field)
            break
        except FormatError as error:
            # A file may call ids by its format's usual name, or not have them: complain about that.
            if number == len(tries) - 1:
                raise Refusal(f"{path}, {error}." if error.line else f"{path}: {error}.") from error
    kind, other = ("labels", "--links") if option == "--labels" else ("links", "--labels")
    if not getattr(said, kind):
        raise Refusal(f"{path} holds no {kind} but {'judged pairs' if kind == 'labels' else 'labels'}; use {other}.")
    return AuthoredFile(path, said)


def is_json(path: Path) -> bool:
    """Say whether a file is JSON by its name."""
    return path.suffix.lower() in _JSON


def has_authored_pairs(header: Sequence[str]) -> bool:
    """Say whether a table has the columns of Splink's pairs or of our own with authors, and not id_a,id_b,relation."""
    names = set(header)
    return {"unique_id_l", "unique_id_r"} <= names or {"a", "b", "relation", "annotator"} <= names


def _text(path: Path) -> str:
    from sidelight.side.formats import FormatError
    from sidelight.side.formats.text import text_of

    try:
        return text_of(path)
    except FormatError as error:
        raise Refusal(f"{path}, {error}.") from error
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror or error}.") from error


def with_authors(
    side: "SideInformation",
    files: Sequence[AuthoredFile],
    links: Sequence[LinksFile],
    ids: AnyArray | None,
    table: Path,
    certain: Sequence[str],
) -> "SideInformation":
    """Add statements with authors to side information; ``links`` are judgements in tables id_a,id_b,relation."""
    from sidelight.side import SideInformation

    if not files and not links:
        if certain:
            raise Refusal(
                f"--certain-annotator {certain[0]}: there are no statements of annotators who may err; give --labels, "
                "or --links with --learn-annotators, or leave it out."
            )
        return side
    names = range(side.n_rows) if ids is None else ids.tolist()
    rows: dict[str, int] = dict(zip(map(str, names), range(side.n_rows), strict=True))
    labels: dict[str, list[Any]] = {"row": [], "label": [], "annotator": []}
    pairs: dict[str, list[Any]] = {"a": [], "b": [], "relation": [], "annotator": [], "confidence": []}
    for file in files:
        for stated in file.said.labels:
            labels["row"].append(_row_of(stated.row, rows, table, file, stated.line))
            labels["label"].append(None if stated.label is None else str(stated.label))
            labels["annotator"].append(str(stated.annotator))
        for judged in file.said.links:
            pairs["a"].append(_row_of(judged.a, rows, table, file, judged.line))
            pairs["b"].append(_row_of(judged.b, rows, table, file, judged.line))
            pairs["relation"].append(judged.relation)
            pairs["annotator"].append(str(judged.annotator))
            pairs["confidence"].append(judged.confidence)
    for table_file in links:
        for one in table_file.judgements:
            pairs["a"].append(one.first)
            pairs["b"].append(one.second)
            pairs["relation"].append("same" if one.must else "different")
            pairs["annotator"].append(one.annotator or table_file.file.path.stem)
            pairs["confidence"].append(one.confidence)
    if not labels["row"] and not pairs["a"]:
        return side
    try:
        authored = SideInformation.from_annotations(
            side.n_rows,
            labels=labels if labels["row"] else None,
            links=pairs if pairs["a"] else None,
            certain=list(certain),
        )
    except ValueError as error:
        raise Refusal(f"the statements of annotators: {error}.") from error
    # What is learned about statements names rows by their ids.
    return replace(side.combine(authored), ids=ids)


def _row_of(name: Any, rows: Mapping[str, int], table: Path, file: AuthoredFile, line: int) -> int:
    if str(name) not in rows:
        raise Refusal(
            f"{file.path}, line {line}: no row of {table} has the id {name!r}; correct it or remove the line."
        )
    return rows[str(name)]
