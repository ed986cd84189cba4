"""Part of ``large.py``: a pass on a Dask cluster compared with threads, and the memory of the scheduler."""

import argparse
import os
import socket
import struct
from pathlib import Path

import numpy as np

from large_table import COLUMNS, ROWS_PER_FILE, Passes, model, rows_of_part

# Where struct tcp_info has the bytes that the other side has acknowledged, and those received from it.
_ACKNOWLEDGED, _RECEIVED, _TCP_INFO_BYTES = 120, 128, 232
_WATCHED = (1, 20, 50, 100, 150, 200)


def wire_bytes() -> tuple[int, int]:
    """Return the bytes received and sent on the open TCP connections of this process, as the system counts them."""
    received = sent = 0
    for file in list(Path("/proc/self/fd").iterdir()):
        try:
            if not str(file.readlink()).startswith("socket:"):
                continue
            with socket.socket(fileno=os.dup(int(file.name))) as connection:
                info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO_BYTES)
        except OSError:  # closed meanwhile, or not TCP
            continue
        sent += struct.unpack_from("Q", info, _ACKNOWLEDGED)[0]
        received += struct.unpack_from("Q", info, _RECEIVED)[0]
    return received, sent


class WireCounts:
    """Bytes on the connections of the workers after passes, without the first."""

    def __init__(self, client: object) -> None:
        self._client, self._counts = client, []

    def __call__(self, progress: object) -> None:
        """Note that a pass has ended."""
        self._counts.append(list(self._client.run(wire_bytes).values()))

    def per_pass(self) -> tuple[float, float]:
        """Return the bytes that a worker received and sent in a pass, the median of passes and mean of workers."""
        received, sent = np.median(np.diff(self._counts, axis=0), axis=0).mean(axis=0)
        return float(received), float(sent)


def cluster(asked: argparse.Namespace) -> None:
    """Compare threads with worker processes, and print what goes over the wire."""
    import dask.array as da
    import psutil
    from dask import delayed
    from distributed import Client, LocalCluster

    (n_rows,) = asked.rows or (10_000_000,)
    parts = [min(ROWS_PER_FILE, n_rows - start) for start in range(0, n_rows, ROWS_PER_FILE)]
    X = np.concatenate([rows_of_part(number, size) for number, size in enumerate(parts)])
    in_threads = Passes()
    threaded = model(in_threads, asked.passes, asked.workers, "full").fit(X)
    one_thread = Passes()
    model(one_thread, asked.passes, 1, "full").fit(X)
    del X
    with (
        LocalCluster(n_workers=asked.workers, threads_per_worker=1, dashboard_address=":0") as local,
        Client(local) as client,
    ):
        workers = [psutil.Process(pid) for pid in client.run(os.getpid).values()]

        def cpu() -> tuple[float, float]:
            own, *others = (sum(process.cpu_times()[:2]) for process in (psutil.Process(), *workers))
            return own, sum(others)

        pieces = [
            da.from_delayed(delayed(rows_of_part)(number, size), (size, COLUMNS), float)
            for number, size in enumerate(parts)
        ]
        table = da.concatenate(pieces)
        here, there = Passes(lambda: cpu()[0]), Passes(lambda: cpu()[1])
        fitted = model(here, asked.passes, covariances="full").set_params(callbacks=[here, there]).fit(table)
        counts = WireCounts(client)
        model(counts, asked.passes, covariances="full").fit(table)
    (cpu_threads, wall_threads), (cpu_here, wall_cluster) = in_threads.medians(), here.medians()
    _, wall_one = one_thread.medians()
    cpu_there, _ = there.medians()
    cpu_cluster = cpu_here + cpu_there
    received, sent = counts.per_pass()
    print(
        f"{n_rows:,} rows, a pass: {asked.workers} threads {cpu_threads:.2f} s of CPU, {wall_threads:.2f} s on the "
        f"clock; one thread {wall_one:.2f} s on the clock; {asked.workers} worker processes {cpu_cluster:.2f} s of CPU "
        f"({cpu_there:.2f} s of the workers, {cpu_here:.2f} s of client and scheduler), {wall_cluster:.2f} s"
    )
    print(
        f"ratio of CPU to threads {cpu_cluster / cpu_threads:.2f}; of wall clock to that of one thread, divided by "
        f"{asked.workers}, {wall_cluster / wall_one * asked.workers:.2f}, to that of threads "
        f"{wall_cluster / wall_threads:.2f}"
    )
    print(f"bytes per pass and worker, counted by the system: {received:,.0f} received, {sent:,.0f} sent")
    print(f"largest difference of means {np.abs(fitted.means_ - threaded.means_).max():.1e}")


def scheduler(asked: argparse.Namespace) -> None:
    """Watch the memory of a scheduler that is a process of its own."""
    import dask.array as da
    import psutil
    from distributed import Client
    from distributed.deploy.subprocess import SubprocessCluster

    sizes: list[int] = []
    with (
        SubprocessCluster(
            n_workers=asked.workers,
            threads_per_worker=1,
            scheduler_kwargs={"dashboard_address": ":0"},
            worker_kwargs={"dashboard_address": ":0"},
        ) as local,
        Client(local) as client,
    ):
        table = da.from_array(rows_of_part(0, 40_000), chunks=(4_000, COLUMNS))
        n_passes = max(*_WATCHED, asked.passes)

        process = psutil.Process(client.run_on_scheduler(os.getpid))

        def watch(progress: object) -> None:
            sizes.append(process.memory_info().rss)

        model(Passes(), n_passes).set_params(callbacks=[watch]).fit(table)
    for number in sorted({*_WATCHED, *range(200, n_passes + 1, 200)}):
        print(f"after pass {number:>4}: {sizes[number - 1] / 1e6:.1f} MB")
