"""Independent fits: in parallel processes, with a progress bar, and the same results for any number of processes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state

from sidelight.side import SideInformation

Result = TypeVar("Result")


class Setting(NamedTuple):
    """An estimator, the parameter to choose, and the seed of every fit (None keeps the estimator's own)."""

    estimator: Any
    parameter: str
    seed: int | None

    def fit(self, candidate: Any, X: Any, side: SideInformation) -> Any:
        """Return a clone fitted with one value of the parameter."""
        model = clone(self.estimator).set_params(**{self.parameter: candidate})
        if self.seed is not None and "random_state" in model.get_params():
            model.set_params(random_state=self.seed)
        return model.fit(X) if side.is_empty else model.fit(X, side=side)


def seeds(random_state: Any, estimator: Any) -> tuple[int | None, int]:
    """Return a seed for the fits and one for the folds; without a ``random_state``, both come from the estimator's.

    All fits have the same seed, so that only the candidates differ.
    """
    if random_state is None:
        return None, int(check_random_state(estimator.get_params().get("random_state")).randint(2**31))
    random = check_random_state(random_state)
    return int(random.randint(2**31)), int(random.randint(2**31))


def combined_side(
    n: int, y: Any, must_link: Any, cannot_link: Any, side: SideInformation | None, sample_id: Any
) -> SideInformation:
    """Combine all statements about n rows, as ``fit`` does."""
    stated = SideInformation.build(n, y=y, must_link=must_link, cannot_link=cannot_link, sample_id=sample_id)
    if side is None:
        return stated
    if sample_id is not None:
        return stated.combine(side.align(sample_id))
    if side.n_rows != n:
        raise ValueError(f"side speaks of {side.n_rows} rows, but X has {n}; use side.align or side.restrict.")
    return stated.combine(side)


def run_all(tasks: Sequence[Callable[[], Result]], *, n_jobs: int | None, verbose: bool) -> list[Result]:
    """Run tasks, in parallel processes if asked, and return their results in order.

    Parameters
    ----------
    tasks : sequence of callable
    n_jobs : int, optional
        As in scikit-learn: None is one, -1 all cores.
    verbose : bool
        Whether to show a progress bar.
    """
    results = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(task)() for task in tasks)
    if not verbose:
        return list(results)
    with _progress_bar(len(tasks)) as shown:
        return list(shown(results))


@contextmanager
def _progress_bar(total: int) -> Iterator[Callable[[Iterable[Any]], Iterator[Any]]]:
    # rich takes a tenth of a second to import, and only a progress bar needs it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield lambda results: iter(bar.track(results, total=total, description="fits"))
