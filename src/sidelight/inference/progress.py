"""What callbacks are told after every step, and a progress bar that is one of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Progress(NamedTuple):
    """What a callback is told after each step.

    Parameters
    ----------
    iteration : int
        Steps taken from this start, over all phases.
    objective : float
        Of the state before the step.
    change : float
        Its rise since the step before; infinite at the first step of a phase.
    phase : str
        "ascent", or what follows it: "pruning", "settling", "relaxing"; "round" for a round of experts.
    start : int
        1 for the first of ``n_init`` starts.
    most : int or None
        Rounds of experts at most; None for other steps.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import LabelledMixture
    >>> course = []
    >>> _ = LabelledMixture(3, n_init=1, random_state=0, callbacks=[course.append]).fit(load_iris().data)
    >>> course[0].iteration, course[0].phase
    (1, 'ascent')
    """

    iteration: int
    objective: float
    change: float
    phase: str = "ascent"
    start: int = 1
    most: int | None = None


Callback = Callable[[Progress], object]


@contextmanager
def progress_bar(description: str, total: int, *, scale: float = 1.0) -> Iterator[Callback]:
    """Show a bar on standard error while the block runs; yields the callback that moves it.

    The objective is shown multiplied by ``scale`` (per row, say).
    """
    # rich takes a tenth of a second to import, and only those who ask for a bar need it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("bound {task.fields[bound]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(description, total=total, bound="…")

        def move(progress: Progress) -> None:
            bound = f"{progress.objective * scale:.6g} ({progress.change * scale:+.2e})"
            bar.update(task, completed=progress.iteration, bound=bound)

        yield move
