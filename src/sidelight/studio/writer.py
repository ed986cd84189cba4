"""One thread that writes events: those that arrive while a transaction runs share the next one."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import NamedTuple

from sidelight.studio.events import Action, Event
from sidelight.studio.ledger import Ledger
from sidelight.studio.store import Store, StoredFit

_MOST_AT_ONCE = 200


class Draft(NamedTuple):
    """An action that is not yet written. ``decide``, called with the ledger in the writer's turn, gives the action.

    It may refuse, by an exception; what it sees is everything that was written before.
    """

    key: str
    made: float
    annotator: str
    decide: Callable[[Ledger], Action]


class Receipt(NamedTuple):
    """An event on the disk; ``repeated`` where its key had been used before, so that nothing was written now."""

    event: Event
    repeated: bool


class KeyUsedError(ValueError):
    """A key that another annotator has used for another event."""


class _Waiting(NamedTuple):
    draft: Draft
    done: "Future[Receipt]"


class EventWriter:
    """Writes events to a store and then counts them in a ledger, in the order of their numbers.

    ``lock`` guards the ledger. A receipt is given after the transaction has ended: what it acknowledges is on the disk.
    """

    def __init__(self, store: Store, ledger: Ledger, lock: threading.RLock) -> None:
        self._store = store
        self._ledger = ledger
        self._lock = lock
        self._waiting: queue.SimpleQueue[_Waiting | StoredFit | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="event writer", daemon=True)
        self._thread.start()

    def write(self, draft: Draft) -> Receipt:
        """Write an event; returns when it is on the disk."""
        done: Future[Receipt] = Future()
        self._waiting.put(_Waiting(draft, done))
        return done.result()

    def add_fit(self, fit: StoredFit) -> None:
        """Write a fit, in its turn."""
        self._waiting.put(fit)

    def close(self) -> None:
        """Write what is waiting, and end."""
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            items = [self._waiting.get()]
            while len(items) < _MOST_AT_ONCE and not self._waiting.empty():
                items.append(self._waiting.get())
            left = [item for item in items if item is not None and not isinstance(item, StoredFit)]
            while left:
                batch, left = _one_of_each_annotator(left)
                self._write(batch)
            for item in items:
                if isinstance(item, StoredFit):
                    self._store.add_fit(item)
            if None in items:
                return

    def _write(self, batch: list[_Waiting]) -> None:
        """Write a batch in one transaction; where that fails, each on its own, so that one cannot fail the others."""
        try:
            self._write_together(batch)
        except Exception as error:
            if len(batch) == 1:
                batch[0][1].set_exception(error)
                return
            for one in batch:
                self._write([one])

    def _write_together(self, batch: list[_Waiting]) -> None:
        events: list[Event] = []
        new: dict[str, Event] = {}
        receipts: list[tuple[Future[Receipt], Receipt]] = []
        for draft, done in batch:
            if done.done():  # refused when the whole batch was tried
                continue
            with self._lock:
                known = self._ledger.with_key(draft.key) or new.get(draft.key)
                if known is not None and known.annotator != draft.annotator:
                    done.set_exception(KeyUsedError(f"the key {draft.key!r} was used by another annotator"))
                    continue
                if known is not None:
                    receipts.append((done, Receipt(known, repeated=True)))
                    continue
                try:
                    action = draft.decide(self._ledger)
                except Exception as refused:
                    done.set_exception(refused)
                    continue
                number = self._ledger.last_event + 1 + len(events)
            event = Event(number, draft.key, draft.made, draft.annotator, action)
            events.append(event)
            new[draft.key] = event
            receipts.append((done, Receipt(event, repeated=False)))
        if events:
            self._store.append(events)
        with self._lock:
            for event in events:
                self._ledger.take(event)
        for done, receipt in receipts:
            done.set_result(receipt)


def _one_of_each_annotator(waiting: list[_Waiting]) -> tuple[list[_Waiting], list[_Waiting]]:
    """Divide: an annotator's second action may depend on the first, which must be counted before it is decided."""
    seen: set[str] = set()
    now: list[_Waiting] = []
    later: list[_Waiting] = []
    for one in waiting:
        (later if one.draft.annotator in seen else now).append(one)
        seen.add(one.draft.annotator)
    return now, later
