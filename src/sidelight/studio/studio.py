"""The studio: an open project, the questions, the refits, and everything that a page or a program can ask for."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import IntArray
from sidelight.studio.dispatch import Dispatcher, Question
from sidelight.studio.events import Action, Answer, Label, Lock, Merge, Name, Note, Purpose, Relation, Undo, Unlock
from sidelight.studio.fitting import Fit, FitSummary, Job, fit_bytes, fit_from_bytes, packed
from sidelight.studio.identity import Identity
from sidelight.studio.judging import Judged
from sidelight.studio.ledger import Ledger, ordered
from sidelight.studio.people import People, label_answers, pair_answers, people_of
from sidelight.studio.pooling import Extra
from sidelight.studio.progress import Progress, measure
from sidelight.studio.regrouping import regrouped
from sidelight.studio.store import Store, StoredFit
from sidelight.studio.supervisor import Supervisor, WorkerStatus
from sidelight.studio.table import StudioTable
from sidelight.studio.worker import Opening, Start
from sidelight.studio.writer import Draft, EventWriter, Receipt

# A refit starts after this many new statements, or when none has come for these seconds.
_ENOUGH_NEW, _QUIET_SECONDS = 4, 3.0
_LEAST_QUESTIONS, _MOST_QUESTIONS = 20, 100
_MOST_SELECTION_QUESTIONS = 12
_MERGE_LINKS = 3
_LOCKED_EXAMPLES = 30
_PARTS = ("settings", "arrays", "cells", "features", "recipe")


class RefusedError(Exception):
    """A request that cannot be done; ``status`` is its HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class Undone(NamedTuple):
    """What an undo took back, and the question to ask again where it was an answer."""

    receipt: Receipt
    action: Action
    question: Question | None


class Selected(NamedTuple):
    """Some rows of the map: how many there are in each cluster, by key, and how many questions were prepared."""

    sizes: dict[int, int]
    n_questions: int


class Studio:
    """An open project with its writer and its worker. All methods may be called from several threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._parts = {name: store.part(name) or b"" for name in _PARTS}
        self.table = StudioTable.from_parts(self._parts)
        self._lock = threading.RLock()
        self._ledger = Ledger()
        for event in store.events():
            self._ledger.take(event)
        stored = store.fits()
        self._fits = [FitSummary(**_summary(fit.summary)) for fit in stored]
        self._fit: Fit | None = None
        if stored and stored[-1].content is not None:
            self._fit = fit_from_bytes(stored[-1].summary, stored[-1].content)
        self._model_of: tuple[Fit, Job] | None = None
        self._dispatcher = Dispatcher(self._ledger)
        if self._fit is not None:
            self._dispatcher.take(self._fit.prepared)
        self._shown: tuple[object, Fit] | None = None
        self._last_statement = 0.0
        self._failed_event = -1
        self._writer = EventWriter(store, self._ledger, self._lock)
        self._supervisor = Supervisor(self._start, self._next_job, self._take, self._give_up)

    def begin(self) -> None:
        """Start the worker."""
        self._supervisor.begin()

    def close(self) -> None:
        """Stop the worker, write what is waiting and close the project."""
        self._supervisor.close()
        self._writer.close()
        self._store.close()

    # --- the worker --------------------------------------------------------------------------------------------------

    def _start(self) -> Start:
        with self._lock:
            fit = self._fit
        if fit is None:
            return Start(self._parts, Identity(np.empty(0, dtype=np.int64), {}), None, wants_opening=True)
        return Start(self._parts, fit.identity, fit.points, wants_opening=False)

    def _next_job(self) -> Job | None:
        """Return a job where there is something new to learn, or no model to export yet."""
        with self._lock:
            event = self._ledger.last_event
            learnt = -1 if self._model_of is None else self._model_of[1].event
            if event in (learnt, self._failed_event):
                return None
            quiet = time.monotonic() - self._last_statement > _QUIET_SECONDS
            if self._model_of is not None and event - learnt < _ENOUGH_NEW and not quiet:
                return None
            aliases = self._ledger.aliases()
            locks = self._ledger.locks()
            names = self._ledger.names()
            extra = Extra(
                labels=label_answers(self._ledger),
                same_label=self._merged_labels(),
                merged=[pair for merge in self._ledger.merges() for pair in merge.links],
                blocks=[lock.typical for lock in locks.values() if len(lock.typical) > 1],
            )
            return Job(
                number=len(self._fits) + 1,
                event=event,
                answers=pair_answers(self._ledger),
                extra=extra,
                aliases=aliases,
                locks={key: lock.members for key, lock in locks.items()},
                names=names,
                n_questions=int(np.clip(20 * len(self._ledger.annotators), _LEAST_QUESTIONS, _MOST_QUESTIONS)),
            )

    def _merged_labels(self) -> dict[str, str]:
        """Return which labels count as which, after clusters that labels name were merged."""
        if self._fit is None:
            return {}
        of_key: dict[int, list[str]] = {}
        for label, key in self._fit.identity.of_label.items():
            of_key.setdefault(key, []).append(label)
        counts_as = {}
        for cluster, into in self._ledger.aliases().items():
            for label in of_key.get(cluster, []):
                if of_key.get(into):
                    counts_as[label] = of_key[into][0]
        return counts_as

    def _take(self, message: Opening | Fit, job: Job | None) -> None:
        if isinstance(message, Opening):
            with self._lock:
                if not self._dispatcher.ready:
                    self._dispatcher.take(message.prepared)
            return
        assert job is not None
        summary, content = fit_bytes(message)
        self._writer.add_fit(StoredFit(message.summary.number, time.time(), summary, content))
        with self._lock:
            self._fit = message
            self._fits.append(message.summary)
            self._model_of = (message, job)
            self._dispatcher.take(message.prepared)

    def _give_up(self, job: Job | None) -> None:
        """Remember what could not be fitted: it is tried again when there is something new."""
        self._failed_event = -1 if job is None else job.event

    @property
    def worker(self) -> WorkerStatus:
        """What the worker does."""
        return self._supervisor.status

    def latest_model(self) -> tuple[Fit, Job]:
        """Return the last fit with its model, and what it was made from."""
        with self._lock:
            if self._model_of is None:
                raise RefusedError(503, "The model is being fitted; try again when the first fit is there.")
            return self._model_of

    # --- what is shown -----------------------------------------------------------------------------------------------

    @property
    def fit(self) -> Fit | None:
        """The last fit, with clusters put together that were merged since; None before the first."""
        with self._lock:
            if self._fit is None:
                return None
            aliases = self._ledger.aliases()
            key = (self._fit.summary.number, tuple(sorted(aliases.items())))
            if self._shown is None or self._shown[0] != key:
                self._shown = (key, regrouped(self._fit, aliases))
            return self._shown[1]

    def fitted(self) -> Fit:
        """Return the last fit, or refuse before the first."""
        fit = self.fit
        if fit is None:
            raise RefusedError(503, "The first fit is not there yet; try again in a moment.")
        return fit

    @property
    def fits(self) -> list[FitSummary]:
        """All fits in figures."""
        with self._lock:
            return list(self._fits)

    def with_ledger(self, read: Callable[[Ledger], Any]) -> Any:
        """Return what a function reads from the ledger while nothing changes it."""
        with self._lock:
            return read(self._ledger)

    def name_of(self, key: int) -> str:
        """Return the name of a cluster, also of one that was merged: the one that was given, else that of the fit."""
        with self._lock:
            given, fit = self._ledger.names().get(key), self._fit
        if given is not None:
            return given
        view = None if fit is None else fit.cluster(key)
        return f"cluster {key}" if view is None else view.name

    def progress(self) -> Progress:
        """Return how far the work is."""
        with self._lock:
            return measure(self._ledger, self._fits, time.time())

    def people(self) -> People:
        """Return who answered what."""
        with self._lock:
            return people_of(self._ledger, Judged([], {}, []) if self._fit is None else self._fit.judged)

    # --- questions ---------------------------------------------------------------------------------------------------

    def questions(self, annotator: str, number: int) -> list[Question]:
        """Return the next questions of an annotator."""
        with self._lock:
            return self._dispatcher.next(annotator, number)

    @property
    def ready(self) -> bool:
        """Whether questions have been prepared."""
        with self._lock:
            return self._dispatcher.ready

    def guess(self, first: int, second: int) -> float:
        """Return the probability that two rows share a cluster."""
        self._check_pair(first, second)
        return self.fitted().chance_same(first, second)

    def split(self, annotator: str, key: int) -> int:
        """Ask an annotator what tells the rows of a cluster apart; return how many questions there are."""
        fit = self.fitted()
        self._check_cluster(fit, key)
        place = int(np.flatnonzero(fit.keys == key)[0])
        pairs = fit.prepared.splits.get(place, np.empty((0, 2), dtype=np.int64)).tolist()
        return self._wish(annotator, pairs, "split")

    def select(self, annotator: str, rows: Sequence[int], *, ask: bool) -> Selected:
        """Count the clusters of some rows, and prepare questions about them where ``ask``."""
        self._check_rows(rows)
        fit = self.fitted()
        chosen = np.unique(np.array(rows, dtype=np.int64))
        keys, sizes = np.unique(fit.keys[fit.places[chosen]], return_counts=True)
        asked = self._wish(annotator, _pairs_within(fit, chosen), "selection") if ask else 0
        return Selected(dict(zip(keys.tolist(), sizes.tolist(), strict=True)), asked)

    def _wish(self, annotator: str, pairs: Sequence[Sequence[int]], purpose: Purpose) -> int:
        with self._lock:
            return self._dispatcher.wish(annotator, [(first, second) for first, second in pairs], purpose)

    # --- events ------------------------------------------------------------------------------------------------------

    def _write(self, key: str, annotator: str, decide: Callable[[Ledger], Action]) -> Receipt:
        receipt = self._writer.write(Draft(key, time.time(), annotator, decide))
        self._last_statement = time.monotonic()
        return receipt

    def answer(
        self,
        key: str,
        annotator: str,
        first: int,
        second: int,
        relation: Relation,
        purpose: Purpose = "informative",
        saw_guess: bool = False,
    ) -> Receipt:
        """Write an answer."""
        self._check_pair(first, second)
        fit = self.fit
        chance = None if fit is None else round(fit.chance_same(first, second), 4)
        low, high = ordered(first, second)
        answer = Answer(low, high, relation, purpose, saw_guess, chance)
        return self._write(key, annotator, lambda _: answer)

    def label(self, key: str, annotator: str, rows: Sequence[int], label: str) -> Receipt:
        """Write a label for some rows."""
        self._check_rows(rows)
        return self._write(key, annotator, lambda _: Label(tuple(dict.fromkeys(rows)), label))

    def note(self, key: str, annotator: str, rows: Sequence[int], text: str) -> Receipt:
        """Write a note on some rows."""
        self._check_rows(rows)
        return self._write(key, annotator, lambda _: Note(tuple(rows), text))

    def rename(self, key: str, annotator: str, cluster: int, name: str) -> Receipt:
        """Name a cluster."""
        self._check_cluster(self.fitted(), cluster)
        return self._write(key, annotator, lambda _: Name(cluster, name))

    def merge(self, key: str, annotator: str, into: int, cluster: int) -> Receipt:
        """Say that a cluster is a part of another."""
        if into == cluster:
            raise RefusedError(409, "A cluster cannot be merged with itself; choose two.")

        def decide(ledger: Ledger) -> Action:
            fit = self.fitted()
            one, other = self._check_cluster(fit, into), self._check_cluster(fit, cluster)
            links = zip(one.typical[:_MERGE_LINKS], other.typical[:_MERGE_LINKS], strict=False)
            return Merge(into, cluster, tuple(ordered(first, second) for first, second in links if first != second))

        return self._write(key, annotator, decide)

    def lock(self, key: str, annotator: str, cluster: int) -> Receipt:
        """Keep the rows of a cluster where they are."""

        def decide(ledger: Ledger) -> Action:
            fit = self.fitted()
            self._check_cluster(fit, cluster)
            members = fit.members(cluster)
            surest = members[np.argsort(-fit.certainty()[members], kind="stable")[:_LOCKED_EXAMPLES]]
            return Lock(cluster, packed(members, self.table.n_rows), tuple(surest.tolist()))

        return self._write(key, annotator, decide)

    def unlock(self, key: str, annotator: str, cluster: int) -> Receipt:
        """Let the rows of a cluster move again."""

        def decide(ledger: Ledger) -> Action:
            if cluster not in ledger.locks():
                raise RefusedError(409, f"Cluster {cluster} is not locked.")
            return Unlock(cluster)

        return self._write(key, annotator, decide)

    def undo(self, key: str, annotator: str) -> Undone:
        """Take back the last action of an annotator that counts."""
        taken: list[Action] = []

        def decide(ledger: Ledger) -> Action:
            last = ledger.last_of(annotator)
            if last is None:
                raise RefusedError(409, "There is nothing left to undo.")
            taken.append(last.action)
            return Undo(last.number)

        receipt = self._write(key, annotator, decide)
        if not taken:  # the key had been used before
            return Undone(receipt, receipt.event.action, None)
        question = None
        if isinstance(taken[0], Answer):
            question = Question(taken[0].first, taken[0].second, taken[0].purpose)
            with self._lock:
                self._dispatcher.put_back(annotator, question)
        return Undone(receipt, taken[0], question)

    # --- checks ------------------------------------------------------------------------------------------------------

    def _check_rows(self, rows: Sequence[int]) -> None:
        wrong = [row for row in rows if not 0 <= row < self.table.n_rows]
        if wrong:
            raise RefusedError(404, f"There is no row {wrong[0]}; rows go from 0 to {self.table.n_rows - 1}.")

    def _check_pair(self, first: int, second: int) -> None:
        self._check_rows((first, second))
        if first == second:
            raise RefusedError(409, f"Row {first} is paired with itself; name two rows.")

    @staticmethod
    def _check_cluster(fit: Fit, key: int) -> Any:
        view = fit.cluster(key)
        if view is None:
            keys = ", ".join(str(one.key) for one in fit.clusters)
            raise RefusedError(404, f"There is no cluster {key}; there are {keys}.")
        return view


def _summary(stored: str) -> dict[str, Any]:
    import json

    return dict(json.loads(stored))


def _pairs_within(fit: Fit, rows: IntArray) -> list[tuple[int, int]]:
    """Return questions about a selection: its least certain rows, each with one of its own, clusters mixed."""
    if len(rows) < 2:
        return []
    certainty = fit.certainty()[rows]
    doubtful = rows[np.argsort(certainty, kind="stable")[:_MOST_SELECTION_QUESTIONS]]
    partners = np.random.default_rng(len(rows)).permutation(rows)
    found: list[tuple[int, int]] = []
    for at, row in enumerate(doubtful.tolist()):
        partner = int(partners[at % len(partners)])
        if partner == row:
            partner = int(partners[(at + 1) % len(partners)])
        pair = ordered(row, partner)
        if partner != row and pair not in found:
            found.append(pair)
    return found
