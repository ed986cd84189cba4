"""Label Studio's JSON export: tasks with several annotations each, of which Choices are labels."""

import json
from typing import Any

from sidelight.side.formats.statements import FormatError, LabelStatement, ReadingOptions, Statements
from sidelight.side.formats.text import first_item, is_name, json_items

name = "Label Studio"
holds = frozenset({"labels"})


def recognises(text: str) -> bool:
    """Say whether the first item is a task with data and annotations."""
    task = first_item(text)
    return isinstance(task, dict) and "data" in task and ("annotations" in task or "completions" in task)


def parse(text: str, options: ReadingOptions) -> Statements:
    """Read the choice of every annotation; a task that an annotator skipped is "unsure".

    Rows go by the field ``id`` of the data (or the one that is named), and by the number of the task where the data
    have none.
    """
    labels: list[LabelStatement] = []
    controls: dict[str, int] = {}
    by_task = 0
    for line, task in json_items(text):
        if not isinstance(task, dict) or not isinstance(task.get("data"), dict):
            raise FormatError("a task is an object with data and annotations", line)
        row, own = _row(task, options, line)
        by_task += not own
        annotations = task.get("annotations", [])
        if not isinstance(annotations, list):
            raise FormatError("annotations are a list; export as JSON, not as JSON-MIN", line)
        for annotation in annotations:
            if not isinstance(annotation, dict):
                raise FormatError(f"an annotation is an object; this is {json.dumps(annotation)[:40]}", line)
            control, label = _choice(annotation, line)
            if control is not None:
                controls.setdefault(control, line)
            labels.append(LabelStatement(row, label, _author(annotation, line), line))
    if by_task and by_task < len({one.row for one in labels}):
        raise FormatError("some tasks have an id in their data and some have none; give all of them one")
    if len(controls) > 1:
        first, second = list(controls)[:2]
        raise FormatError(
            f"choices come from several questions, {first!r} and {second!r}; export the project with one of them",
            controls[second],
        )
    remarks = ("rows are named by the numbers of the tasks",) if by_task else ()
    return Statements(name, labels=tuple(labels), remarks=remarks)


def _row(task: dict[str, Any], options: ReadingOptions, line: int) -> tuple[Any, bool]:
    field = options.id_field or "id"
    if field in task["data"]:
        if not is_name(task["data"][field]):
            raise FormatError(f"the {field} in data is {task['data'][field]!r}; name the row", line)
        return task["data"][field], True
    if options.id_field is not None:
        raise FormatError(f"data has no field {field!r} with the id of the row", line)
    if not is_name(task.get("id")):
        raise FormatError("the task has neither an id in its data nor one of its own", line)
    return task["id"], False


def _author(annotation: dict[str, Any], line: int) -> Any:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        by = by.get("email") or by.get("id")
    if not is_name(by):
        raise FormatError("an annotation does not say who completed it (completed_by)", line)
    return by


def _choice(annotation: dict[str, Any], line: int) -> tuple[str | None, Any]:
    """Return the question and the answer; None where the annotator skipped the task."""
    results = annotation.get("result", [])
    if not isinstance(results, list):
        raise FormatError("the result of an annotation is a list", line)
    if annotation.get("was_cancelled") or not results:
        return None, None
    found = []
    for result in results:
        value = result.get("value", {}) if isinstance(result, dict) else {}
        if not isinstance(result, dict) or result.get("type") != "choices":
            kind = result.get("type") if isinstance(result, dict) else result
            raise FormatError(f"a result is of type {kind!r}; only choices are labels", line)
        choices = value.get("choices")
        if not isinstance(choices, list) or len(choices) != 1 or not is_name(choices[0]):
            raise FormatError(f"an annotation chooses {choices!r}; a row has one label, so choose exactly one", line)
        found.append((str(result.get("from_name", "choice")), choices[0]))
    if len(found) > 1:
        raise FormatError(f"an annotation answers {len(found)} questions; export the project with one of them", line)
    return found[0]


def write(statements: Statements) -> str:
    """Write tasks that Label Studio imports with their annotations."""
    if statements.links:
        raise FormatError("Label Studio's choices are labels; write pairs in another format")
    tasks: dict[Any, list[dict[str, Any]]] = {}
    for one in statements.labels:
        result = [
            {"from_name": "choice", "to_name": "row", "type": "choices", "value": {"choices": [one.label]}},
        ]
        tasks.setdefault(one.row, []).append(
            {
                "completed_by": one.annotator,
                "was_cancelled": one.label is None,
                "result": [] if one.label is None else result,
            }
        )
    found = [
        {"id": number, "data": {"id": row}, "annotations": annotations}
        for number, (row, annotations) in enumerate(tasks.items(), 1)
    ]
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"
