"""A progress bar for the loop."""

from collections.abc import Iterator
from contextlib import contextmanager

from sidelight.inference.loop import Callback, Progress


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
