"""Keep BLAS to one thread: the pass brings its own, and two layers of threads get in each other's way."""

from contextlib import AbstractContextManager
from functools import cache

import joblib
from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[object]:
    """Return a context in which BLAS uses one thread."""
    return _controller().limit(limits=1, user_api="blas")


def thread_count(n_jobs: int | None) -> int:
    """Return the number of threads that scikit-learn's ``n_jobs`` stands for: None is one, -1 all cores."""
    return int(joblib.effective_n_jobs(n_jobs))
