"""Tables that do not fit into memory or on one machine: what a pass over Parquet files, and on a Dask cluster, costs.

    python benchmarks/large.py parquet [--rows 1000000 10000000] [--folder /tmp]
    python benchmarks/large.py cluster [--rows 10000000] [--workers 2]
    python benchmarks/large.py scheduler

Eight columns of floats, thirty clusters, a mixture of thirty Gaussians; on the cluster with full covariances, else with
those that BIC chooses, which are spheres here. CPU times are those of all processes, per row and pass; memory is
what the process has beyond what it had before the fit.

``parquet`` writes the table, about 64 MB for a million rows, and deletes it; each size is fitted in a process of its
own. ``cluster`` compares a pass of two threads of one process with a pass of worker processes. ``scheduler`` watches
the memory of the process that has the scheduler over 200 passes.
"""

import argparse
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from sidelight import LabelledMixture
from sidelight.inference.visits import Visit
from sidelight.tables.parquet import ParquetTable
from sidelight.tables.schema import Schema

COLUMNS, COMPONENTS, ROWS_PER_FILE = 8, 30, 1_000_000


def rows_of_part(number: int, n_rows: int) -> np.ndarray:
    """Return the rows of one part of the table."""
    centres = np.random.default_rng(0).normal(scale=6, size=(COMPONENTS, COLUMNS))
    random = np.random.default_rng((1, number))
    return centres[random.integers(COMPONENTS, size=n_rows)] + random.normal(size=(n_rows, COLUMNS))


def write_table(folder: Path, n_rows: int) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for number, start in enumerate(range(0, n_rows, ROWS_PER_FILE)):
        X = rows_of_part(number, min(ROWS_PER_FILE, n_rows - start))
        table = pa.table({f"x{column}": X[:, column] for column in range(COLUMNS)})
        pq.write_table(table, folder / f"part-{number}.parquet", compression="none", use_dictionary=False)


def memory() -> int:
    """Return the bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Peak:
    """The most memory that this process had since it was made, beyond what it had then."""

    def __init__(self) -> None:
        self._before = self._most = memory()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self._most = max(self._most, memory())
            time.sleep(0.005)

    @property
    def megabytes(self) -> float:
        """The memory, in millions of bytes."""
        return (self._most - self._before) / 1e6


class Passes:
    """CPU and wall-clock times of passes, without the first, in which loops are compiled."""

    def __init__(self, cpu: object = time.process_time) -> None:
        self._cpu, self._times = cpu, []

    def __call__(self, progress: object) -> None:
        """Note that a pass has ended."""
        self._times.append((self._cpu(), time.perf_counter()))

    def medians(self) -> tuple[float, float]:
        """Return the median times of CPU and wall clock, in seconds."""
        cpu, wall = np.median(np.diff(self._times, axis=0), axis=0)
        return float(cpu), float(wall)


def model(passes: Passes, n_passes: int, jobs: int = 1, covariances: str = "auto") -> LabelledMixture:
    return LabelledMixture(
        COMPONENTS,
        covariance_type=covariances,
        max_iter=n_passes,
        tol=0,
        init_params="k-means++",
        random_state=0,
        n_jobs=jobs,
        callbacks=[passes],
    )


def reading_time(table: ParquetTable) -> float:
    """Return the CPU seconds of going over a table without doing anything with it."""
    numbers, began = table.encoded(Schema.uniform("gaussian", COLUMNS)), time.process_time()
    for chunk in numbers.chunks():
        numbers.take(chunk)
        numbers.release(chunk)
    return time.process_time() - began


def fit_parquet(folder: Path, n_passes: int) -> None:
    """Print one line about a fit to a folder; the fit is that of a new process."""
    LabelledMixture(2, max_iter=200, random_state=0).fit(rows_of_part(0, 20_000))  # loads what a fit loads
    table = ParquetTable(folder)
    n_rows, passes, peak = table.shape[0], Passes(), Peak()
    began = time.process_time()
    fitted = model(passes, n_passes).fit(table)
    whole = time.process_time() - began
    # The first time may be slower, as a first pass is.
    reading = min(reading_time(table), reading_time(table))
    cpu, _ = passes.medians()
    print(
        f"{n_rows:>11,} rows: {cpu / n_rows * 1e9:4.0f} ns of CPU per row and pass, {reading / cpu:.0%} of it reading; "
        f"{peak.megabytes:4.0f} MB added; whole fit {whole / n_rows * 1e9:5.0f} ns per row; "
        f"labels_ {'in a file' if isinstance(fitted.labels_, np.memmap) else 'in memory'}",
        flush=True,
    )


def parquet(asked: argparse.Namespace) -> None:
    for n_rows in asked.rows or (1_000_000, 10_000_000):
        folder = Path(tempfile.mkdtemp(dir=asked.folder, prefix="sidelight-large-"))
        try:
            write_table(folder, n_rows)
            subprocess.run([sys.executable, __file__, "fit", str(folder), "--passes", str(asked.passes)], check=True)
        finally:
            shutil.rmtree(folder)


def cluster(asked: argparse.Namespace) -> None:
    import dask.array as da
    import psutil
    from distributed import Client, LocalCluster

    (n_rows,) = asked.rows or (10_000_000,)
    parts = [min(ROWS_PER_FILE, n_rows - start) for start in range(0, n_rows, ROWS_PER_FILE)]
    X = np.concatenate([rows_of_part(number, size) for number, size in enumerate(parts)])
    in_threads = Passes()
    threaded = model(in_threads, asked.passes, asked.workers, "full").fit(X)
    del X
    with (
        LocalCluster(n_workers=asked.workers, threads_per_worker=1, dashboard_address=":0") as local,
        Client(local) as client,
    ):
        processes = [psutil.Process(), *(psutil.Process(pid) for pid in client.run(os.getpid).values())]

        def cpu() -> float:
            return sum(sum(process.cpu_times()[:2]) for process in processes)

        from dask import delayed

        pieces = [
            da.from_delayed(delayed(rows_of_part)(number, size), (size, COLUMNS), float)
            for number, size in enumerate(parts)
        ]
        on_cluster, sent = Passes(cpu), []
        original = client.submit

        def submit(function: object, *given: object, **options: object) -> object:
            sent.extend(len(pickle.dumps(value)) for value in given if isinstance(value, Visit))
            return original(function, *given, **options)

        client.submit = submit
        fitted = model(on_cluster, asked.passes, covariances="full").fit(da.concatenate(pieces))
    (cpu_threads, wall_threads), (cpu_cluster, wall_cluster) = in_threads.medians(), on_cluster.medians()
    back = len(pickle.dumps(fitted.means_)) + len(pickle.dumps(fitted.covariances_))
    print(
        f"{n_rows:,} rows, a pass: {asked.workers} threads {cpu_threads:.2f} s of CPU, {wall_threads:.2f} s; "
        f"{asked.workers} worker processes {cpu_cluster:.2f} s of CPU, {wall_cluster:.2f} s; "
        f"ratio of CPU {cpu_cluster / cpu_threads:.2f}, of wall clock {wall_cluster / wall_threads:.2f}"
    )
    print(f"bytes per pass: {sent[-1]:,} of parameters to each worker, about {back:,} of statistics from each")
    print(f"largest difference of means {np.abs(fitted.means_ - threaded.means_).max():.1e}")


def scheduler(asked: argparse.Namespace) -> None:
    import dask.array as da
    from distributed import Client, LocalCluster

    sizes: list[int] = []
    with (
        LocalCluster(n_workers=asked.workers, threads_per_worker=1, dashboard_address=":0") as local,
        Client(local),
    ):
        table = da.from_array(rows_of_part(0, 40_000), chunks=(4_000, COLUMNS))
        model(Passes(), 200).set_params(callbacks=[lambda _: sizes.append(memory())]).fit(table)
        n_tasks = len(local.scheduler.tasks)
    for number in (1, 20, 50, 100, 150, 200):
        print(f"after pass {number:>3}: {sizes[number - 1] / 1e6:.1f} MB")
    print(f"tasks that the scheduler knows at the end: {n_tasks}")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["parquet", "cluster", "scheduler", "fit"])
    parser.add_argument("path", nargs="?", type=Path, help="the folder of fit, one line of parquet")
    parser.add_argument("--rows", nargs="+", type=int)
    parser.add_argument("--passes", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--folder", type=Path, help="where to write the table; the folder for temporary files by default"
    )
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # a few passes do not converge
    if asked.what == "fit":
        fit_parquet(asked.path, asked.passes)
    else:
        {"parquet": parquet, "cluster": cluster, "scheduler": scheduler}[asked.what](asked)


if __name__ == "__main__":
    main()
