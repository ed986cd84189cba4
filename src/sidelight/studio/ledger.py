"""What the events together say at this moment: the projection of the log, kept up to date event by event."""

from collections.abc import Iterator
from typing import NamedTuple

from sidelight.studio.events import Action, Answer, Event, Label, Lock, Merge, Name, Note, Undo, Unlock

Pair = tuple[int, int]


def ordered(first: int, second: int) -> Pair:
    """Return a pair of rows in their order in the table."""
    return (first, second) if first < second else (second, first)


class Given(NamedTuple):
    """An answer that counts: who gave it, when, and the event it came with."""

    annotator: str
    event: int
    made: float
    answer: Answer


class Ledger:
    """Everything that was said and not undone.

    Events are taken in the order of their numbers. The result depends on the log alone, so that a restarted server
    has the same ledger as the one that was killed.
    """

    def __init__(self) -> None:
        self.last_event = 0
        self._keys: dict[str, Event] = {}
        self._live: dict[int, Event] = {}
        self._of_kind: dict[str, dict[int, Event]] = {}
        self._of_annotator: dict[str, list[int]] = {}
        self._answers: dict[Pair, dict[str, Given]] = {}
        self._labels: dict[int, str] | None = None
        self.n_answers = 0
        self.n_undone: dict[str, int] = {}
        self.first_seen: dict[str, float] = {}

    def take(self, event: Event) -> None:
        """Count an event."""
        self.last_event = event.number
        self._keys[event.key] = event
        self.first_seen.setdefault(event.annotator, event.made)
        if isinstance(event.action, Undo):
            self._cancel(event.action.event, event.annotator)
            return
        self._live[event.number] = event
        self._of_kind.setdefault(event.action.kind, {})[event.number] = event
        self._labels = None if isinstance(event.action, Label) else self._labels
        self._of_annotator.setdefault(event.annotator, []).append(event.number)
        if isinstance(event.action, Answer):
            pair = ordered(event.action.first, event.action.second)
            by_annotator = self._answers.setdefault(pair, {})
            self.n_answers += event.annotator not in by_annotator
            by_annotator[event.annotator] = Given(event.annotator, event.number, event.made, event.action)

    def _cancel(self, number: int, annotator: str) -> None:
        event = self._live.pop(number, None)
        if event is None:
            return
        del self._of_kind[event.action.kind][number]
        self._labels = None if isinstance(event.action, Label) else self._labels
        self._of_annotator[annotator].remove(number)
        self.n_undone[annotator] = self.n_undone.get(annotator, 0) + 1
        if isinstance(event.action, Answer):
            self._answer_again(ordered(event.action.first, event.action.second), annotator)

    def _answer_again(self, pair: Pair, annotator: str) -> None:
        """Let the annotator's answer before the one that was undone count again, where there is one."""
        by_annotator = self._answers[pair]
        del by_annotator[annotator]
        for number in reversed(self._of_annotator[annotator]):
            event = self._live[number]
            if isinstance(event.action, Answer) and ordered(event.action.first, event.action.second) == pair:
                by_annotator[annotator] = Given(annotator, number, event.made, event.action)
                return
        self.n_answers -= 1
        if not by_annotator:
            del self._answers[pair]

    # --- what counts -------------------------------------------------------------------------------------------------

    def with_key(self, key: str) -> Event | None:
        """Return the event that came with a key before."""
        return self._keys.get(key)

    def last_of(self, annotator: str) -> Event | None:
        """Return the last event of an annotator that counts."""
        numbers = self._of_annotator.get(annotator)
        return self._live[numbers[-1]] if numbers else None

    @property
    def annotators(self) -> list[str]:
        """Names of those who did something, in the order of their first event."""
        return list(self.first_seen)

    def events(self, annotator: str | None = None) -> Iterator[Event]:
        """Yield the events that count, the last first."""
        if annotator is None:
            return reversed(self._live.values())
        return (self._live[number] for number in reversed(self._of_annotator.get(annotator, [])))

    def answers_about(self, pair: Pair) -> dict[str, Given]:
        """Return the answers about a pair, by annotator."""
        return self._answers.get(pair, {})

    def answers(self) -> Iterator[tuple[Pair, Given]]:
        """Yield the answers that count, one per pair and annotator."""
        for pair, by_annotator in self._answers.items():
            for given in by_annotator.values():
                yield pair, given

    def _events(self, *kinds: str) -> Iterator[Event]:
        """Yield the events of some kinds that count, in order."""
        found = [event for kind in kinds for event in self._of_kind.get(kind, {}).values()]
        return iter(sorted(found, key=lambda event: event.number))

    def _actions(self, *kinds: str) -> Iterator[Action]:
        return (event.action for event in self._events(*kinds))

    def labels(self) -> dict[int, str]:
        """Return the labels by row; of two labels for a row the later one is shown."""
        if self._labels is None:
            labels = (action for action in self._actions("label") if isinstance(action, Label))
            self._labels = {row: action.label for action in labels for row in action.rows}
        return self._labels

    def label_answers(self) -> dict[tuple[int, str], str]:
        """Return the label that each annotator gave to each row, by row and annotator; the last one counts."""
        return {
            (row, event.annotator): event.action.label
            for event in self._events("label")
            if isinstance(event.action, Label)
            for row in event.action.rows
        }

    def notes(self) -> list[tuple[str, Note]]:
        """Return the notes with their authors, in order."""
        return [(event.annotator, event.action) for event in self._events("note") if isinstance(event.action, Note)]

    def names(self) -> dict[int, str]:
        """Return the names that were given to clusters."""
        return {action.cluster: action.name for action in self._actions("name") if isinstance(action, Name)}

    def merges(self) -> list[Merge]:
        """Return the merges, in order."""
        return [action for action in self._actions("merge") if isinstance(action, Merge)]

    def aliases(self) -> dict[int, int]:
        """Return the cluster that each merged cluster belongs to now."""
        into: dict[int, int] = {}
        for merge in self.merges():
            target = into.get(merge.into, merge.into)
            if target == merge.cluster:
                continue
            into[merge.cluster] = target
            into = {cluster: target if part == merge.cluster else part for cluster, part in into.items()}
        return into

    def locks(self) -> dict[int, Lock]:
        """Return the locks by cluster."""
        locked: dict[int, Lock] = {}
        for action in self._actions("lock", "unlock"):
            if isinstance(action, Lock):
                locked[action.cluster] = action
            elif isinstance(action, Unlock):
                locked.pop(action.cluster, None)
        return locked
