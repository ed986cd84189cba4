"""What annotators do, as events that are only ever appended: answers, labels, notes, names, merges, locks, undo."""

import json
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal, NamedTuple

Relation = Literal["same", "different", "unsure"]
# Why a question was asked: it teaches the model most, it repeats another annotator's, the annotator's own answer to it
# is doubtful, it is a random check, or the annotator wished it (within a cluster or a selection); "imported" answers
# came in a file when the project was started.
Purpose = Literal["informative", "repeat", "again", "check", "split", "selection", "imported"]


@dataclass(frozen=True)
class Answer:
    """Whether two rows belong together.

    ``chance_same`` is what the fit that asked believed before, ``confidence`` how sure an imported answer is.
    """

    kind: ClassVar[str] = "answer"
    first: int
    second: int
    relation: Relation
    purpose: Purpose = "informative"
    saw_guess: bool = False
    chance_same: float | None = None
    confidence: float = 1.0


@dataclass(frozen=True)
class Label:
    """A label for some rows."""

    kind: ClassVar[str] = "label"
    rows: tuple[int, ...]
    label: str


@dataclass(frozen=True)
class Note:
    """A remark on a pair of rows, or on one."""

    kind: ClassVar[str] = "note"
    rows: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class Name:
    """A name for a cluster."""

    kind: ClassVar[str] = "name"
    cluster: int
    name: str


@dataclass(frozen=True)
class Merge:
    """A cluster is a part of another; ``links`` are pairs of their typical rows, which say so to the model."""

    kind: ClassVar[str] = "merge"
    into: int
    cluster: int
    links: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Lock:
    """The rows of a cluster stay in it; ``members`` is a bit for each row of the table, base64 of packed bits."""

    kind: ClassVar[str] = "lock"
    cluster: int
    members: str
    typical: tuple[int, ...]


@dataclass(frozen=True)
class Unlock:
    """The rows of a cluster may move again."""

    kind: ClassVar[str] = "unlock"
    cluster: int


@dataclass(frozen=True)
class Undo:
    """An earlier event of the same annotator does not count."""

    kind: ClassVar[str] = "undo"
    event: int


Action = Answer | Label | Note | Name | Merge | Lock | Unlock | Undo
_ACTIONS: dict[str, type[Action]] = {
    action.kind: action for action in (Answer, Label, Note, Name, Merge, Lock, Unlock, Undo)
}


class Event(NamedTuple):
    """An action of an annotator; ``key`` is chosen by the client, so that sending it twice does not count twice."""

    number: int
    key: str
    made: float
    annotator: str
    action: Action


def written(action: Action) -> str:
    """Return an action as JSON."""
    return json.dumps(asdict(action), ensure_ascii=False)


def read(kind: str, payload: str) -> Action:
    """Return the action that `written` wrote."""
    stored = json.loads(payload)
    for name, value in stored.items():
        if isinstance(value, list):
            stored[name] = tuple(tuple(part) if isinstance(part, list) else part for part in value)
    return _ACTIONS[kind](**stored)
