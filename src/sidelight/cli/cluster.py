"""Dask clusters that a fit can run on."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from sidelight._warnings import warn
from sidelight.cli.errors import Refusal, one_line

if TYPE_CHECKING:
    from sidelight.tables.parquet import ParquetTable

Found = TypeVar("Found")

LOCAL = "local"
# Seconds to wait for a scheduler.
_PATIENCE = 10
# 16 MB of floats: many partitions can be shared out evenly.
_CELLS_PER_PARTITION = 1 << 21
# What Dask keeps for its developers takes memory and time of processes that nobody will look into.
LOCAL_SETTINGS = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.low-level-log-length": 20,
}


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Work on the cluster at an address, or on worker processes of this machine, while the block runs."""
    if address is None:
        yield
        return
    try:
        distributed = import_module("distributed")
        import_module("dask.dataframe")
    except ImportError:
        raise Refusal("--cluster needs Dask: pip install 'sidelight[dask]'") from None
    with ExitStack() as stack:
        try:
            where: Any = address
            if address == LOCAL:
                stack.enter_context(import_module("dask").config.set(LOCAL_SETTINGS))
                where = stack.enter_context(distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0"))
            stack.enter_context(distributed.Client(where, timeout=_PATIENCE))
        except (OSError, ValueError) as error:
            raise Refusal(
                f"--cluster {address}: there is no scheduler ({one_line(error)}); name its address, as "
                "tcp://10.0.0.1:8786, or start one with dask scheduler; local uses this machine."
            ) from error
        yield


def on_cluster(table: "ParquetTable") -> Any:
    """Return a table in Parquet files as a Dask data frame: the same rows in the same order, read by the workers."""
    parts = table.parts(_CELLS_PER_PARTITION)
    return import_module("dask.dataframe").from_map(_frame, parts, meta=table.empty)


def _frame(part: "ParquetTable") -> Any:
    return part.frame()


def on_partitions(table: "ParquetTable", work: Callable[[Any], Found]) -> Iterator[Found]:
    """Work on the partitions of a table in Parquet files, on the cluster, and yield what is found in order.

    Warnings of the workers are given here, each once.
    """
    delayed = import_module("dask").delayed
    # Sent once: it may hold a model.
    sent = delayed(work, traverse=False, pure=False)
    futures = (
        import_module("distributed")
        .get_client()
        .compute([delayed(_worked)(sent, part) for part in on_cluster(table).to_delayed()])
    )
    given: set[str] = set()
    for number, future in enumerate(futures):
        futures[number] = None  # so that the cluster can forget it
        found, messages = future.result()
        for message in messages:
            if message not in given:
                warn(message)
        given.update(messages)
        yield found


def _worked(work: Callable[[Any], Found], part: Any) -> tuple[Found, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = work(part)
    return found, [str(one.message) for one in caught if issubclass(one.category, UserWarning)]


def bring_results(model: Any) -> None:
    """Replace what a model has of each row on the cluster by the same in the memory of this process."""
    for name in ("labels_", "_posterior", "noise_probability_"):
        if hasattr(model, name):
            setattr(model, name, getattr(model, name).compute())
    if getattr(model, "mixture_", None) is not None:
        bring_results(model.mixture_)
