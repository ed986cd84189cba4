"""CPU time per EM iteration of mclust's fourteen covariance structures, compared with R's mclust.

Both start from the same partition of the same table, with BLAS at one thread, and take the same number of iterations.
The time of mclust's iteration is the difference between a long run and a short one over the iterations between them, so
that its preparations do not count. Needs Rscript with the package mclust; without it only our times are shown.

    python benchmarks/structures.py [--rows N] [--iterations N]
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
for (structure in given[-(1:4)]) {
  cat(structure, (seconds(structure, iterations + 1) - seconds(structure, 1)) / iterations, "\n")
}
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


def their_seconds(X, start, iterations):
    """Return CPU seconds per iteration of mclust, by structure; nothing where there is no R or no mclust."""
    if shutil.which("Rscript") is None:
        print("Rscript is not here: only our times are shown.\n")
        return {}
    with tempfile.TemporaryDirectory() as folder:
        X.T.tofile(Path(folder) / "table")
        (start + 1).astype(np.int32).tofile(Path(folder) / "start")
        sizes = [str(number) for number in (*X.shape, iterations)]
        command = ["Rscript", "-e", MCLUST, folder, *sizes, *STRUCTURES]
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | threads)
    if done.returncode:
        print(f"mclust did not run, only our times are shown:\n{done.stderr}")
    return {name: float(seconds) for name, seconds in (line.split() for line in done.stdout.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--iterations", type=int, default=4)
    options = parser.parse_args()
    X, start = problem(options.rows)
    theirs = their_seconds(X, start, options.iterations)
    print(f"{options.rows} rows, {FEATURES} features, {COMPONENTS} components; CPU time per iteration")
    print(f"structure  ours ms  mclust ms  ratio (wanted {WANTED:g})")
    with threadpool_limits(1):
        for structure in STRUCTURES:
            mine = our_seconds(X, start, structure, options.iterations)
            other = theirs.get(structure)
            beside = "" if other is None else f"{other * 1e3:10.1f} {other / mine:6.1f}"
            print(f"{structure:>9} {mine * 1e3:8.1f} {beside}")


if __name__ == "__main__":
    main()
