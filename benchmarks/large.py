"""Tables that do not fit into memory or on one machine: what a pass over Parquet files, and on a Dask cluster, costs.

    python benchmarks/large.py parquet [--rows 1000000 10000000] [--folder /tmp]
    python benchmarks/large.py cluster [--rows 10000000] [--workers 2] [--local]
    python benchmarks/large.py scheduler [--passes 400] [--local]
    python benchmarks/large.py batches [--rows 5000000]
    python benchmarks/large.py kills [--kills 20]
    python benchmarks/large.py spark [--rows 1000000]

Eight columns of floats, thirty clusters, a mixture of thirty Gaussians; on the cluster and beside Spark with full
covariances, else with those that BIC chooses, which are spheres here. CPU times are those of all processes, per row and
pass; memory is what the process has beyond what it had before the fit.

``parquet`` writes the table, about 64 MB for a million rows, and deletes it; each size is fitted in a process of its
own. ``cluster`` compares a pass of two threads of one process with a pass of worker processes, in turn, and prints the
bytes that the system counted on the workers' connections. ``scheduler`` watches the memory of the scheduler, a process
of its own, over 400 passes. Both take Dask as it comes, or with the settings of ``sidelight fit --cluster local``.
``batches`` counts full passes with and without the steps on batches that come first, on clusters that overlap.
``kills`` kills the client of a fit on a cluster at random moments, and looks whether the fit ends as if it was left
alone. ``spark`` compares with GaussianMixture of Spark, on the same files in one run; it needs PySpark and Java.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from large_cluster import cluster, scheduler
from large_kills import fit_as_client, kills
from large_spark import spark
from large_table import COLUMNS, COMPONENTS, Passes, Peak, model, rows_of_part, write_table
from sidelight import LabelledMixture
from sidelight.tables.parquet import ParquetTable
from sidelight.tables.schema import Schema


def reading_time(table: ParquetTable) -> float:
    """Return the CPU seconds of going over a table without doing anything with it."""
    numbers, began = table.encoded(Schema.uniform("gaussian", COLUMNS)), time.process_time()
    for chunk in numbers.chunks():
        numbers.take(chunk)
        numbers.release(chunk)
    return time.process_time() - began


def fit_parquet(asked: argparse.Namespace) -> None:
    """Print one line about a fit to a folder; the fit is that of a new process."""
    LabelledMixture(2, max_iter=200, random_state=0).fit(rows_of_part(0, 20_000))  # loads what a fit loads
    table = ParquetTable(asked.path)
    n_rows, passes, peak = table.shape[0], Passes(), Peak()
    began = time.process_time()
    fitted = model(passes, asked.passes).fit(table)
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


class WithoutBatches(LabelledMixture):
    """A mixture that passes over all rows from the beginning."""

    def _batch_rows(self, n_rows: int, n_columns: int) -> int:
        return 0


def batches(asked: argparse.Namespace) -> None:
    (n_rows,) = asked.rows or (5_000_000,)
    random = np.random.default_rng(0)
    centres = random.normal(scale=1.5, size=(COMPONENTS, COLUMNS))
    X = np.concatenate([centres[random.integers(COMPONENTS, size=part)] for part in [n_rows // 10] * 10])
    X += random.normal(size=X.shape)
    for kind in (WithoutBatches, LabelledMixture):
        steps: list[object] = []
        fitted = kind(COMPONENTS, covariance_type="full", tol=asked.tol, random_state=0, callbacks=[steps.append])
        began = time.process_time()
        fitted.fit(X)
        print(
            f"{len(X):,} rows, tol {asked.tol:g}, {kind.__name__}: {len(steps)} passes, "
            f"{time.process_time() - began:.1f} s of CPU, bound {fitted.lower_bound_:.5f} per row",
            flush=True,
        )


_PARTS = {
    "parquet": parquet,
    "cluster": cluster,
    "scheduler": scheduler,
    "batches": batches,
    "kills": kills,
    "spark": spark,
    # What the others start as processes of their own.
    "fit": fit_parquet,
    "client": fit_as_client,
}


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=_PARTS)
    parser.add_argument("path", nargs="?", type=Path, help="of fit, a line of parquet, or of client, a fit of kills")
    parser.add_argument("--address", help="of the cluster of client")
    parser.add_argument("--rows", nargs="+", type=int)
    parser.add_argument("--passes", type=int, default=4)
    parser.add_argument("--tol", type=float, default=1e-3, help="of the fits of batches")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--local", action="store_true", help="a cluster with the settings of --cluster local")
    parser.add_argument(
        "--folder", type=Path, help="where to write the table; the folder for temporary files by default"
    )
    asked = parser.parse_args()
    warnings.simplefilter("ignore")  # a few passes do not converge
    _PARTS[asked.what](asked)


if __name__ == "__main__":
    main()
