"""Part of ``large.py``: the table, the model, and what watches a fit."""

import os
import threading
import time
from pathlib import Path

import numpy as np

from sidelight import LabelledMixture

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


def model(passes: object, n_passes: int, jobs: int = 1, covariances: str = "auto") -> LabelledMixture:
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
