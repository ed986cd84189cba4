"""Part of ``large.py``: a pass of Spark's GaussianMixture and one of sidelight, on the same files in one run."""

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from large_table import COLUMNS, COMPONENTS, Passes, model, rows_of_part, write_table

# Fits of Spark with fewer and with more passes: what they differ by is the cost of the passes between.
_FEWER = 3


def spark(asked: argparse.Namespace) -> None:
    """Compare CPU per pass and likelihood after the same number of passes; full covariances."""
    (n_rows,) = asked.rows or (1_000_000,)
    n_passes = max(asked.passes, 3 * _FEWER)
    folder = Path(tempfile.mkdtemp(dir=asked.folder, prefix="sidelight-large-"))
    try:
        write_table(folder, n_rows)
        in_threads = Passes()
        fitted = model(in_threads, n_passes, asked.workers, "full").fit(folder)
        ours, _ = in_threads.medians()
        theirs, weights, means, covariances = spark_pass(folder, n_passes, asked.workers)
    finally:
        shutil.rmtree(folder)
    held_out = rows_of_part(10**6, 100_000)
    print(
        f"{n_rows:,} rows from Parquet, {COMPONENTS} full covariances, CPU of a pass: Spark {theirs:.2f} s (table "
        f"cached in memory), sidelight {ours:.2f} s (reading included), {asked.workers} threads each; Spark takes "
        f"{theirs / ours:.1f} times as much"
    )
    print(
        f"mean log density of 100,000 further rows after {n_passes} passes: Spark "
        f"{mean_log_density(held_out, weights, means, covariances):.4f}, sidelight "
        f"{mean_log_density(held_out, fitted.weights_, fitted.means_, fitted.covariances_):.4f}"
    )


def spark_pass(folder: Path, n_passes: int, n_threads: int) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """Return the CPU seconds of a pass of Spark, and the weights, means and covariances after all passes."""
    import psutil
    from pyspark.ml.clustering import GaussianMixture
    from pyspark.ml.feature import VectorAssembler
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{n_threads}]")
        .config("spark.driver.memory", "6g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    try:
        names = [f"x{column}" for column in range(COLUMNS)]
        table = VectorAssembler(inputCols=names, outputCol="features").transform(session.read.parquet(str(folder)))
        table = table.select("features").cache()
        table.count()
        (java,) = (one for one in psutil.Process().children(recursive=True) if "java" in one.name())

        def fit(passes: int) -> tuple[float, object]:
            before = sum(java.cpu_times()[:2])
            found = GaussianMixture(k=COMPONENTS, maxIter=passes, tol=0.0, seed=0).fit(table)
            return sum(java.cpu_times()[:2]) - before, found

        fit(_FEWER)  # the virtual machine compiles what runs often
        few, _ = fit(_FEWER)
        many, last = fit(n_passes)
        rows = last.gaussiansDF.collect()
        return (
            (many - few) / (n_passes - _FEWER),
            np.array(last.weights),
            np.array([row["mean"].toArray() for row in rows]),
            np.array([row["cov"].toArray() for row in rows]),
        )
    finally:
        session.stop()


def mean_log_density(X: np.ndarray, weights: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> float:
    """Return the mean log density of rows under a mixture of Gaussians, by SciPy for both."""
    parts = zip(weights, means, covariances, strict=True)
    joint = [np.log(weight) + multivariate_normal(mean, spread).logpdf(X) for weight, mean, spread in parts]
    return float(logsumexp(joint, axis=0).mean())
