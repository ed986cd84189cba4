"""Part of ``large.py``: a pass of Spark's GaussianMixture and one of sidelight, on the same files in one run.

GaussianMixture of ``pyspark.ml`` starts where it likes; the older one of ``pyspark.mllib`` takes a start. So passes are
timed with the first, and likelihoods compared with both.
"""

import argparse
import shutil
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.cluster import kmeans_plusplus

from large_table import COLUMNS, COMPONENTS, Passes, model, rows_of_part, write_table

# Fits of Spark with fewer and with more passes: what they differ by is the cost of the passes between.
_FEWER = 3


class Gaussians(NamedTuple):
    """Weights (k,), means (k, d) and covariances (k, d, d)."""

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray


def spark(asked: argparse.Namespace) -> None:
    """Compare CPU per pass and likelihood after the same number of passes; full covariances."""
    (n_rows,) = asked.rows or (1_000_000,)
    n_passes = max(asked.passes, 3 * _FEWER)
    held_out, start = rows_of_part(10**6, 100_000), start_of(rows_of_part(0, min(n_rows, 20_000)))
    folder = Path(tempfile.mkdtemp(dir=asked.folder, prefix="sidelight-large-"))
    try:
        write_table(folder, n_rows)
        in_threads = Passes()
        own = model(in_threads, n_passes, asked.workers, "full").fit(folder)
        ours, _ = in_threads.medians()
        given = {"means_init": start.means, "precisions_init": np.linalg.inv(start.covariances)}
        told = model(Passes(), n_passes, asked.workers, "full").set_params(**given, weights_init=start.weights)
        told.fit(folder)
        theirs, their_own, their_told = spark_fits(folder, start, n_passes, asked.workers)
    finally:
        shutil.rmtree(folder)
    print(
        f"{n_rows:,} rows from Parquet, {COMPONENTS} full covariances, CPU of a pass: Spark {theirs:.2f} s (table "
        f"cached in memory), sidelight {ours:.2f} s (reading included), {asked.workers} threads each; Spark takes "
        f"{theirs / ours:.1f} times as much"
    )
    for name, found, fitted in (("starts of their own", their_own, own), ("the same start", their_told, told)):
        also = Gaussians(fitted.weights_, fitted.means_, fitted.covariances_)
        print(
            f"mean log density of 100,000 further rows after {n_passes} passes from {name}: Spark "
            f"{mean_log_density(held_out, found):.4f}, sidelight {mean_log_density(held_out, also):.4f}"
        )


def start_of(X: np.ndarray) -> Gaussians:
    """Return a start: rows that are far from each other, and the covariances of all rows."""
    means, _ = kmeans_plusplus(X, COMPONENTS, random_state=0)
    return Gaussians(
        np.full(COMPONENTS, 1 / COMPONENTS), means, np.broadcast_to(np.cov(X.T), (COMPONENTS, COLUMNS, COLUMNS))
    )


def spark_fits(folder: Path, start: Gaussians, n_passes: int, n_threads: int) -> tuple[float, Gaussians, Gaussians]:
    """Return the CPU seconds of a pass of Spark, and what it finds from a start of its own and from the given one."""
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
        read = session.read.parquet(str(folder))
        table = VectorAssembler(inputCols=names, outputCol="features").transform(read).select("features").cache()
        table.count()
        (java,) = (one for one in psutil.Process().children(recursive=True) if "java" in one.name())

        def fit(passes: int) -> tuple[float, Any]:
            before = sum(java.cpu_times()[:2])
            found = GaussianMixture(k=COMPONENTS, maxIter=passes, tol=0.0, seed=0).fit(table)
            return sum(java.cpu_times()[:2]) - before, found

        fit(_FEWER)  # the virtual machine compiles what runs often
        few, _ = fit(_FEWER)
        many, last = fit(n_passes)
        rows = last.gaussiansDF.collect()
        own = Gaussians(
            np.array(last.weights),
            np.array([row["mean"].toArray() for row in rows]),
            np.array([row["cov"].toArray() for row in rows]),
        )
        table.unpersist()
        return (many - few) / (n_passes - _FEWER), own, from_start(read.rdd.map(list), start, n_passes)
    finally:
        session.stop()


def from_start(rows: Any, start: Gaussians, n_passes: int) -> Gaussians:
    """Return what the older GaussianMixture of Spark finds from a start, in an RDD of rows."""
    from pyspark.mllib.clustering import GaussianMixture
    from pyspark.mllib.linalg import DenseMatrix, DenseVector
    from pyspark.mllib.stat.distribution import MultivariateGaussian

    gaussians = [
        MultivariateGaussian(DenseVector(mean), DenseMatrix(COLUMNS, COLUMNS, covariance.ravel(order="F")))
        for mean, covariance in zip(start.means, start.covariances, strict=True)
    ]
    # A model of Spark is made by fits only; these are the parts of it that are looked at.
    initial = SimpleNamespace(k=COMPONENTS, weights=start.weights.tolist(), gaussians=gaussians)
    found = GaussianMixture.train(
        rows, COMPONENTS, convergenceTol=0.0, maxIterations=n_passes, seed=0, initialModel=initial
    )
    return Gaussians(
        np.array(found.weights),
        np.array([one.mu.toArray() for one in found.gaussians]),
        np.array([one.sigma.toArray() for one in found.gaussians]),
    )


def mean_log_density(X: np.ndarray, mixture: Gaussians) -> float:
    """Return the mean log density of rows under a mixture of Gaussians, by SciPy for both."""
    joint = [
        np.log(weight) + multivariate_normal(mean, covariance).logpdf(X)
        for weight, mean, covariance in zip(*mixture, strict=True)
    ]
    return float(logsumexp(joint, axis=0).mean())
