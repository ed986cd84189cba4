"""Who runs the passes over a table."""

from sidelight.inference.executors.dask import Cluster
from sidelight.inference.executors.threads import Threads
from sidelight.inference.protocols import Executor
from sidelight.tables.dask import DaskTable
from sidelight.tables.table import Table


def executor_for(table: Table, n_jobs: int | None) -> Executor:
    """Return the cluster that has the table; threads of this process, as many as ``n_jobs`` says, for any other."""
    threads = Threads.for_jobs(n_jobs)
    return Cluster(table, threads) if isinstance(table, DaskTable) else threads
