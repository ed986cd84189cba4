"""Training files of dedupe: pairs of whole records under "match" and "distinct", without authors.

Records must carry a field with the id of their row; dedupe keeps fields that its model does not use.
"""

import json
from typing import Any

from sidelight._wording import some_listed
from sidelight.side.formats.statements import FormatError, LinkStatement, ReadingOptions, Statements
from sidelight.side.formats.text import is_name

name = "dedupe"
holds = frozenset({"links"})
_RELATIONS = {"match": "same", "distinct": "different"}
_IDS = ("id", "Id", "ID", "row", "unique_id")


def recognises(text: str) -> bool:
    """Say whether this is an object with lists of matches and of distinct pairs."""
    if text.lstrip("\ufeff \t\r\n")[:1] != "{":
        return False
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except json.JSONDecodeError:
        return '"distinct"' in text and '"match"' in text
    return isinstance(value, dict) and any(key in value for key in _RELATIONS)


def parse(text: str, options: ReadingOptions) -> Statements:
    """Read pairs; both lists may be empty, and other keys are refused."""
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except json.JSONDecodeError as error:
        raise FormatError(f"this is not JSON ({error.msg})", error.lineno) from error
    if not isinstance(value, dict):
        raise FormatError("this is not an object with lists of pairs, match and distinct", 1)
    unknown = [key for key in value if key not in _RELATIONS]
    if unknown:
        raise FormatError(
            f"the key {unknown[0]!r} is not known; dedupe writes match and distinct", _line(text, unknown[0])
        )
    links = []
    for key, pairs in value.items():
        line = _line(text, key)
        if not isinstance(pairs, list):
            raise FormatError(f"{key} is not a list of pairs", line)
        for number, pair in enumerate(pairs, 1):
            records = pair.get("__value__") if isinstance(pair, dict) else pair
            place = f"{key}, pair {number}"
            if not isinstance(records, list) or len(records) != 2 or not all(isinstance(r, dict) for r in records):
                raise FormatError(f"{place}: a pair is two records; this is {json.dumps(pair)[:60]}", line)
            a, b = (_id_of(record, options, place, line) for record in records)
            if a == b:
                raise FormatError(f"{place}: {a!r} is paired with itself; remove the pair", line)
            links.append(LinkStatement(a, b, _RELATIONS[key], options.annotator, 1.0, line))
    return Statements(name, links=tuple(links), remarks=(f"the author of all pairs is {options.annotator!r}",))


def _line(text: str, key: str) -> int:
    return text.count("\n", 0, max(text.find(json.dumps(key)), 0)) + 1


def _id_of(record: dict[str, Any], options: ReadingOptions, place: str, line: int) -> Any:
    wanted = (options.id_field,) if options.id_field is not None else _IDS
    for field in wanted:
        found = record.get(field)
        if isinstance(found, dict):
            found = found.get("__value__")
        if is_name(found):
            return found
    raise FormatError(
        f"{place}: a record has no field {' or '.join(map(repr, wanted))} with the id of its row, only "
        f"{some_listed([repr(one) for one in record])}; name the field that has it",
        line,
    )


def write(statements: Statements) -> str:
    """Write pairs whose records have an id and nothing else; dedupe knows one author, and nothing unsure."""
    if statements.labels:
        raise FormatError("dedupe's training files hold pairs only; write labels in another format")
    if len({one.annotator for one in statements.links}) > 1:
        raise FormatError("dedupe's training files have one author; write a file for each annotator")
    if any(one.relation == "unsure" or one.confidence < 1 for one in statements.links):
        raise FormatError("dedupe's training files hold certain pairs only; leave unsure ones out")
    found = {
        key: [
            {"__class__": "tuple", "__value__": [{"id": one.a}, {"id": one.b}]}
            for one in statements.links
            if one.relation == relation
        ]
        for key, relation in (("distinct", "different"), ("match", "same"))
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"
