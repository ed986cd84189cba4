"""Threads: the pass brings its own, and keeps BLAS to one so that two layers do not get in each other's way."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from queue import SimpleQueue
from typing import TypeVar

import joblib
from threadpoolctl import ThreadpoolController

Worker = TypeVar("Worker")
Part = TypeVar("Part")
Result = TypeVar("Result")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS uses one thread."""
    return _controller().limit(limits=1, user_api="blas")


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's ``n_jobs`` stands for: None is one, -1 all cores."""
    return int(joblib.effective_n_jobs(n_jobs))


def share_out(
    work: Callable[[Worker, Part], Result], parts: Sequence[Part], hire: Callable[[], Worker], n_threads: int
) -> Iterator[Result]:
    """Work on every part, in threads if there are several, and yield the results in the order of the parts.

    Parameters
    ----------
    work : callable
        Takes a worker, which no other thread uses meanwhile, and a part.
    parts : sequence
    hire : callable
        Makes a worker; there is one for each thread.
    n_threads : int
    """
    n_threads = max(min(n_threads, len(parts)), 1)
    idle: SimpleQueue[Worker] = SimpleQueue()
    for _ in range(n_threads):
        idle.put(hire())

    def task(part: Part) -> Result:
        worker = idle.get()
        try:
            return work(worker, part)
        finally:
            idle.put(worker)

    if n_threads == 1:
        yield from map(task, parts)
    else:
        with ThreadPoolExecutor(n_threads) as threads:
            yield from threads.map(task, parts)
