"""Part of ``large.py``: a pass on a Dask cluster compared with threads, and the memory of the scheduler."""

import argparse
import multiprocessing
import os
import socket
import struct
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from large_table import COLUMNS, ROWS_PER_FILE, Passes, model, rows_of_part
from large_turns import PassesInTurn, Turns
from sidelight.cli.cluster import LOCAL_SETTINGS

# Where struct tcp_info has the bytes that the other side has acknowledged, and those received from it.
_ACKNOWLEDGED, _RECEIVED, _TCP_INFO_BYTES = 120, 128, 232
_WATCHED = (1, 50, 100, 200, 400)


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


def part_sizes(n_rows: int) -> list[int]:
    return [min(ROWS_PER_FILE, n_rows - start) for start in range(0, n_rows, ROWS_PER_FILE)]


def fit_in_memory(turns: Turns, number: int, n_threads: int, n_rows: int, n_passes: int, results: Any) -> None:
    """Fit in threads of this process, and send the times of a pass, and the means."""
    warnings.simplefilter("ignore")  # a few passes do not converge
    X = np.concatenate([rows_of_part(*part) for part in enumerate(part_sizes(n_rows))])
    turns.wait(number)
    passes = PassesInTurn(turns, number, lambda: (time.process_time(),))
    fitted = model(passes, n_passes, n_threads, "full").fit(X)
    results.put((passes.medians(), fitted.means_))
    turns.hand_on()


def cluster(asked: argparse.Namespace) -> None:
    """Compare threads with worker processes, which take turns, and print what goes over the wire."""
    import dask
    import dask.array as da
    import psutil
    from distributed import Client, LocalCluster

    (n_rows,) = asked.rows or (10_000_000,)
    context = multiprocessing.get_context("spawn")
    turns, results = Turns(context, 3), context.SimpleQueue()
    for number, n_threads in enumerate((1, asked.workers)):
        given = turns, number, n_threads, n_rows, asked.passes, results
        context.Process(target=fit_in_memory, args=given).start()  # daemons have one thread for joblib
    with (
        dask.config.set(LOCAL_SETTINGS if asked.local else {}),
        LocalCluster(n_workers=asked.workers, threads_per_worker=1, dashboard_address=":0") as local,
        Client(local) as client,
    ):
        workers = [psutil.Process(pid) for pid in client.run(os.getpid).values()]

        def cpu() -> tuple[float, float, float]:
            """Return CPU seconds: of the workers' tasks, of their main threads, and of client and scheduler."""
            tasks = loops = 0.0
            for worker in workers:
                times = {one.id: one.user_time + one.system_time for one in worker.threads()}
                loops += times.pop(worker.pid)
                tasks += sum(times.values())
            return tasks, loops, time.process_time()

        pieces = [
            da.from_delayed(dask.delayed(rows_of_part)(number, size), (size, COLUMNS), float)
            for number, size in enumerate(part_sizes(n_rows))
        ]
        table = da.concatenate(pieces)
        turns.wait(2)
        passes = PassesInTurn(turns, 2, cpu)
        fitted = model(passes, asked.passes, covariances="full").fit(table)
        turns.hand_on()
        # They end in turn.
        ((_, wall_one), _), ((cpu_threads, wall_threads), means) = results.get(), results.get()
        counts = WireCounts(client)
        model(counts, asked.passes, covariances="full").fit(table)
    tasks, loops, here, wall_cluster = passes.medians()
    cpu_cluster = tasks + loops + here
    received, sent = counts.per_pass()
    print(
        f"{n_rows:,} rows, a pass: {asked.workers} threads {cpu_threads:.2f} s of CPU, {wall_threads:.2f} s on the "
        f"clock; one thread {wall_one:.2f} s on the clock; {asked.workers} worker processes {cpu_cluster:.2f} s of CPU "
        f"({tasks:.2f} s of their tasks, {loops:.2f} s of Dask in the workers, {here:.2f} s of client and scheduler), "
        f"{wall_cluster:.2f} s on the clock"
    )
    print(
        f"ratio of CPU to threads {cpu_cluster / cpu_threads:.2f}; of wall clock to that of one thread, divided by "
        f"{asked.workers}, {wall_cluster / wall_one * asked.workers:.2f}, to that of threads "
        f"{wall_cluster / wall_threads:.2f}"
    )
    print(f"bytes per pass and worker, counted by the system: {received:,.0f} received, {sent:,.0f} sent")
    print(f"largest difference of means {np.abs(fitted.means_ - means).max():.1e}")


def scheduler(asked: argparse.Namespace) -> None:
    """Watch the memory of a scheduler that is a process of its own."""
    import dask
    import dask.array as da
    import psutil
    from distributed import Client
    from distributed.deploy.subprocess import SubprocessCluster

    sizes: list[int] = []
    if asked.local:
        with dask.config.set(LOCAL_SETTINGS):
            # Where processes of such a cluster look for settings.
            os.environ["DASK_INTERNAL_INHERIT_CONFIG"] = dask.config.serialize(dask.config.config)
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
