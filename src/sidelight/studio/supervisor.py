"""Keeps a worker process busy, and starts another when it ends."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from sidelight.studio.fitting import Fit, Job
from sidelight.studio.worker import Failure, Message, Opening, Start, run

_PAUSE = 0.1
# After so many deaths without a fit between them, the next start waits longer.
_LONGEST_WAIT = 60.0
# Inner libraries take one thread each: the second core answers people.
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class WorkerStatus(NamedTuple):
    """What the worker does: "starting", "fitting", "idle" or "restarting"; and what happened to the last one."""

    state: str
    trouble: str | None
    restarts: int
    process: int | None
    since: float


class Supervisor:
    """Runs the worker process from a thread of the server.

    ``next_job`` gives the next job, or None while there is nothing new to learn; ``take`` receives what the worker
    sends; ``give_up`` hears of jobs that failed; ``start`` says what a new worker begins with.
    """

    def __init__(
        self,
        start: Callable[[], Start],
        next_job: Callable[[], Job | None],
        take: Callable[[Opening | Fit, Job | None], None],
        give_up: Callable[[Job | None], None],
    ) -> None:
        self._start = start
        self._next_job = next_job
        self._take = take
        self._give_up = give_up
        self._stop = threading.Event()
        self._status = WorkerStatus("starting", None, 0, None, time.time())
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)

    def begin(self) -> None:
        """Start the first worker."""
        self._thread.start()

    def close(self) -> None:
        """Stop the worker."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    @property
    def status(self) -> WorkerStatus:
        """What the worker does."""
        return self._status

    def _set(self, state: str, **changed: Any) -> None:
        self._status = self._status._replace(state=state, since=time.time(), **changed)

    def _run(self) -> None:
        deaths = 0
        while not self._stop.is_set():
            process, connection = self._started()
            fitted = self._serve(process, connection)
            connection.close()
            if self._stop.is_set():
                process.kill()
                process.join()
                return
            process.join(5)
            deaths = 1 if fitted else deaths + 1
            how = f"signal {-process.exitcode}" if (process.exitcode or 0) < 0 else f"exit code {process.exitcode}"
            trouble = f"The refit process ended unexpectedly ({how}); another was started. No answer is lost."
            self._set("restarting", trouble=trouble, restarts=self._status.restarts + 1, process=None)
            self._stop.wait(min(2.0 ** (deaths - 1) - 1, _LONGEST_WAIT))

    def _started(self) -> tuple[Any, Connection]:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=run, args=(theirs, self._start()), name="sidelight refit", daemon=True)
        before = {name: os.environ.get(name) for name in _ONE_THREAD}
        os.environ.update(_ONE_THREAD)
        try:
            process.start()
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
        theirs.close()
        self._set("starting", process=process.pid)
        return process, ours

    def _serve(self, process: Any, connection: Connection) -> bool:
        """Give the worker jobs until it ends or the studio closes; say whether it made a fit."""
        job: Job | None = None
        fitted = False
        try:
            while not self._stop.is_set():
                if job is None and (job := self._next_job()) is not None:
                    connection.send(job)
                    self._set("fitting")
                if connection.poll(_PAUSE):
                    message: Message = connection.recv()
                    if isinstance(message, Failure):
                        self._set("idle", trouble=f"The last refit failed: {message.reason}.")
                        self._give_up(job)
                        job = None
                        continue
                    self._take(message, job)
                    if isinstance(message, Fit):
                        job, fitted = None, True
                        self._set("idle", trouble=None)
                elif not process.is_alive():
                    return fitted
        except (EOFError, OSError):
            return fitted
        return fitted
