"""CPU time per EM iteration of mclust's fourteen covariance structures, compared with R's mclust.

Both start from the same partition of the same table, with BLAS at one thread, and take the same number of iterations.
They take turns, and the ratios are those of median CPU times. The time of mclust's iteration is the difference between
a long run and a short one over the iterations between them, so that its preparations do not count. Needs Rscript with
the package mclust; without it only our times are shown.

    python benchmarks/structures.py [--rows N] [--iterations N] [--repeats N]
"""

import argparse
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from sidelight.couplings.independent import Independent
from sidelight.estimators.base.likelihood_gaussians import STRUCTURES
from sidelight.families.gaussian import CovariancePrior
from sidelight.inference.mixture import Mixture
from sidelight.inference.starts import component_means, state_given
from sidelight.kernels.loops import compiled
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import MaximumLikelihoodWeights

FEATURES, COMPONENTS = 10, 9
WANTED = 5.0

MCLUST = r"""
suppressPackageStartupMessages(library(mclust))
given <- commandArgs(trailingOnly = TRUE)
n <- as.integer(given[2]); d <- as.integer(given[3]); iterations <- as.integer(given[4])
X <- matrix(readBin(file.path(given[1], "table"), "double", n * d), n, d)
z <- unmap(readBin(file.path(given[1], "start"), "integer", n))
seconds <- function(structure, steps) {
  control <- emControl(itmax = c(steps, .Machine$integer.max), tol = c(0, sqrt(.Machine$double.eps)))
  sum(system.time(suppressWarnings(me(X, structure, z, control = control)))[1:2])
}
cat((seconds(given[5], iterations + 1) - seconds(given[5], 1)) / iterations, "\n")
"""


def problem(n):
    """Return a table of overlapping tilted clusters and the partition to start from, a tenth of it at random."""
    rng = np.random.default_rng(0)
    own = rng.integers(COMPONENTS, size=n)
    tilts = rng.normal(size=(COMPONENTS, FEATURES, FEATURES)) / np.sqrt(FEATURES)
    X = rng.normal(size=(COMPONENTS, FEATURES))[own] * 2
    for k in range(COMPONENTS):
        X[own == k] += rng.normal(size=(np.sum(own == k), FEATURES)) @ tilts[k]
    start = np.where(rng.uniform(size=n) < 0.1, rng.integers(COMPONENTS, size=n), own)
    return X, start


def our_seconds(X, start, structure, iterations):
    """Return CPU seconds per iteration of ours."""
    components, backend = np.arange(COMPONENTS), compiled()
    family = STRUCTURES[structure](X.mean(axis=0), CovariancePrior.scaled(X.var(axis=0), rows=0.0, fraction=0.0))
    weights, coupling = MaximumLikelihoodWeights(components), Independent(components, backend)
    mixture = Mixture(Rows(ArrayTable(X)), family, weights, coupling, (), backend)
    responsibilities = np.eye(COMPONENTS)[start]
    state = state_given(mixture, component_means(X, np.ones(len(X)), responsibilities), responsibilities)
    mixture.step(state)  # compiles
    begin = time.process_time()
    for _ in range(iterations):
        state, _ = mixture.step(state)
    return (time.process_time() - begin) / iterations


def their_seconds(folder, shape, structure, iterations):
    """Return CPU seconds per iteration of mclust on the table of a folder."""
    sizes = [str(number) for number in (*shape, iterations)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = ["Rscript", "-e", MCLUST, folder, *sizes, structure]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | threads)
    return float(done.stdout)


def mclust_is_here():
    """Say whether there is R with mclust."""
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(mclust)"], capture_output=True, check=False).returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--iterations", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    X, start = problem(options.rows)
    compared = mclust_is_here()
    if not compared:
        print("Rscript with mclust is not here: only our times are shown.\n")
    print(f"{options.rows} rows, {FEATURES} features, {COMPONENTS} components; CPU time per iteration")
    print(f"structure  ours ms  mclust ms  ratio (wanted {WANTED:g})")
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        X.T.tofile(Path(folder) / "table")
        (start + 1).astype(np.int32).tofile(Path(folder) / "start")
        for structure in STRUCTURES:
            mine, theirs = [], []
            for _ in range(options.repeats):
                mine.append(our_seconds(X, start, structure, options.iterations))
                if compared:
                    theirs.append(their_seconds(folder, X.shape, structure, options.iterations))
            ours, other = np.median(mine), np.median(theirs) if compared else None
            beside = "" if other is None else f"{other * 1e3:10.1f} {other / ours:6.1f}"
            print(f"{structure:>9} {ours * 1e3:8.1f} {beside}", flush=True)


if __name__ == "__main__":
    main()
