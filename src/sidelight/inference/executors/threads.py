"""Threads: a pass brings its own, and keeps BLAS to one so that two layers do not get in each other's way."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, reduce
from operator import add
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from sidelight.tables.table import Rows

if TYPE_CHECKING:
    from sidelight.inference.protocols import Evaluator
    from sidelight.inference.visits import PassSums, Visit

Worker = TypeVar("Worker")
Part = TypeVar("Part")
Result = TypeVar("Result")

# Parts that each thread may be ahead of whoever takes the results.
_AHEAD = 4


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS uses one thread."""
    return _controller().limit(limits=1, user_api="blas")


@dataclass(frozen=True)
class Threads:
    """Run the parts of a pass in threads of this process.

    Parameters
    ----------
    n_threads : int
        The results are the same for any number.
    """

    n_threads: int = 1

    @classmethod
    def for_jobs(cls, n_jobs: int | None) -> "Threads":
        """Return the threads that scikit-learn's ``n_jobs`` stands for: None is one, -1 all cores."""
        return cls(thread_count(n_jobs))

    def total(self, visit: "Visit", rows: Rows) -> "PassSums":
        """Visit all chunks of the rows and return what they add up to."""

        def sums(evaluator: "Evaluator[Any]", chunk: slice) -> "PassSums":
            return visit.sums(evaluator, rows, chunk)

        return reduce(add, self.run(sums, rows.chunks(), visit.evaluator))

    def run(
        self, work: Callable[[Worker, Part], Result], parts: Sequence[Part], make_worker: Callable[[], Worker]
    ) -> Iterator[Result]:
        """Work on every part and yield the results in the order of the parts.

        Parameters
        ----------
        work : callable
            Takes a worker, which no other thread uses meanwhile, and a part.
        parts : sequence
        make_worker : callable
            Makes a worker; there is one for each thread.
        """
        n_threads = max(min(self.n_threads, len(parts)), 1)
        idle: SimpleQueue[Worker] = SimpleQueue()
        for _ in range(n_threads):
            idle.put(make_worker())

        def task(part: Part) -> Result:
            worker = idle.get()
            try:
                return work(worker, part)
            finally:
                idle.put(worker)

        if n_threads == 1:
            yield from map(task, parts)
            return
        with ThreadPoolExecutor(n_threads) as threads:
            waiting: deque[Future[Result]] = deque()
            for part in parts:
                # No more results than this wait to be taken: those of a large table would fill the memory.
                if len(waiting) == _AHEAD * n_threads:
                    yield waiting.popleft().result()
                waiting.append(threads.submit(task, part))
            while waiting:
                yield waiting.popleft().result()


ONE_THREAD = Threads()


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's ``n_jobs`` stands for: None is one, -1 all cores."""
    return int(joblib.effective_n_jobs(n_jobs))
