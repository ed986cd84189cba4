"""Prodigy's JSONL: one JSON object per line, with the answer accept, reject or ignore.

An accepted label, or the option accepted in the choice interface, is a label; "ignore" is "unsure". Rejecting one of
two labels names the other; where a file has one label, rejecting it names "not" and the label. With three labels and
more a rejected one leaves the class open, and is refused.
"""

import json
from typing import Any, NamedTuple

from sidelight.side.formats.statements import FormatError, LabelStatement, ReadingOptions, Statements
from sidelight.side.formats.text import first_item, is_name, json_items

name = "Prodigy"
holds = frozenset({"labels"})
_ANSWERS = ("accept", "reject", "ignore")
_NOT = "not "


class _Answered(NamedTuple):
    row: Any
    label: Any
    answer: str
    annotator: Any
    line: int


def recognises(text: str) -> bool:
    """Say whether the first line is an object with an answer."""
    task = first_item(text)
    return isinstance(task, dict) and "answer" in task and text.lstrip("\ufeff \t\r\n")[:1] == "{"


def parse(text: str, options: ReadingOptions) -> Statements:
    """Read one statement from each line."""
    answered = [_answered(task, options, line) for line, task in json_items(text)]
    names = list(dict.fromkeys(one.label for one in answered if one.label is not None))
    labels = tuple(LabelStatement(one.row, _label(one, names), one.annotator, one.line) for one in answered)
    remarks = []
    if any(one.answer == "reject" for one in answered):
        other = (
            f"names the other of {names[0]!r} and {names[1]!r}" if len(names) > 1 else f"says {_NOT + str(names[0])!r}"
        )
        remarks.append(f"a rejected label {other}")
    return Statements(name, labels=labels, remarks=tuple(remarks))


def _answered(task: Any, options: ReadingOptions, line: int) -> _Answered:
    if not isinstance(task, dict):
        raise FormatError("a line is an object with a label and an answer", line)
    answer = task.get("answer")
    if answer not in _ANSWERS:
        raise FormatError(f"the answer is {answer!r}; it must be accept, reject or ignore", line)
    author = task.get("_annotator_id", task.get("_session_id", options.annotator))
    if not is_name(author):
        raise FormatError(f"the annotator is {author!r}; name who answered", line)
    label = task.get("label")
    if "options" in task or isinstance(task.get("accept"), list):
        label, answer = _chosen(task, answer, line)
    if label is not None and not is_name(label):
        raise FormatError(f"the label is {label!r}; a label is a text or a number", line)
    if answer != "ignore" and label is None:
        raise FormatError("there is no label to accept or reject", line)
    return _Answered(_row(task, options, line), label, answer, author, line)


def _chosen(task: dict[str, Any], answer: str, line: int) -> tuple[Any, str]:
    """Return the option of the choice interface, where rejecting a task leaves its class open."""
    accepted = task.get("accept", [])
    if answer != "accept" or not accepted:
        return None, "ignore"
    if not isinstance(accepted, list) or len(accepted) > 1:
        raise FormatError(f"the options {accepted!r} are accepted; a row has one label, so accept exactly one", line)
    return accepted[0], "accept"


def _row(task: dict[str, Any], options: ReadingOptions, line: int) -> Any:
    field = options.id_field or "id"
    meta = task.get("meta")
    for place in (task, meta if isinstance(meta, dict) else {}):
        if field in place:
            if not is_name(place[field]):
                raise FormatError(f"the {field} is {place[field]!r}; name the row", line)
            return place[field]
    raise FormatError(
        f"neither the task nor its meta has a field {field!r} with the id of the row; name it with id_field",
        line,
    )


def _label(one: _Answered, names: list[Any]) -> Any:
    if one.answer == "ignore":
        return None
    if one.answer == "accept":
        return one.label
    if len(names) > 2:
        raise FormatError(
            f"{one.label!r} is rejected, but with {len(names)} labels that leaves the class open; use the choice "
            "interface, or leave rejected answers out",
            one.line,
        )
    if len(names) == 1:
        return f"{_NOT}{one.label}"
    return names[1] if one.label == names[0] else names[0]


def write(statements: Statements) -> str:
    """Write one line for each statement."""
    if statements.links:
        raise FormatError("Prodigy's answers are labels; write pairs in another format")
    names = {one.label for one in statements.labels if one.label is not None}
    lines = []
    for one in statements.labels:
        line: dict[str, Any] = {"id": one.row, "_annotator_id": one.annotator, "label": one.label, "answer": "accept"}
        if one.label is None:
            line |= {"answer": "ignore"}
        elif isinstance(one.label, str) and one.label.startswith(_NOT) and len(names) <= 2:
            line |= {"label": one.label.removeprefix(_NOT), "answer": "reject"}
        lines.append(json.dumps(line, ensure_ascii=False))
    return "\n".join(lines) + "\n"
