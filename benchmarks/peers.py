"""CPU time and likelihood of whole fits, compared with R's mclust and with pomegranate, on the tables of fits.py.

All are told the number of components and fit full covariances (mclust: VVV), and are left at their defaults otherwise.
Fits take turns, one after the other on the same table, with one thread each. mclust runs in a process of its own, which
reads the table before the clock starts; it needs Rscript with the package mclust, and pomegranate must be installed.
What is not there is left out.

    python benchmarks/peers.py [--seed 103] [--tables 1 2 …]
"""

import argparse
import importlib.util
import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from fits import RECIPES, cpu_of_fit, drawn, methods
from sidelight.kernels.loops import compiled
from structures import mclust_is_here

MCLUST = r"""
suppressPackageStartupMessages(library(mclust))
given <- commandArgs(trailingOnly = TRUE)
n <- as.integer(given[2]); d <- as.integer(given[3]); k <- as.integer(given[4])
X <- matrix(readBin(file.path(given[1], "table"), "double", n * d), n, d)
set.seed(as.integer(given[5]))
seconds <- sum(system.time(fit <- Mclust(X, G = k, modelNames = "VVV", verbose = FALSE))[1:2])
cat(seconds, if (is.null(fit)) NA else fit$loglik / n, "\n")
"""
THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def fit_of_mclust(X: np.ndarray, k: int, seed: int) -> tuple[float, float]:
    """Return CPU seconds and log-likelihood per row; NaN where mclust finds no fit."""
    with tempfile.TemporaryDirectory() as folder:
        X.T.tofile(Path(folder) / "table")
        command = ["Rscript", "-e", MCLUST, folder, *(str(number) for number in (*X.shape, k, seed))]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | THREADS)
    seconds, score = done.stdout.split()
    return float(seconds), float("nan") if score == "NA" else float(score)


def fit_of_pomegranate(X: np.ndarray, k: int, seed: int) -> tuple[float, float]:
    """Return CPU seconds and log-likelihood per row; NaN where a covariance becomes singular."""
    import torch
    from pomegranate.distributions import Normal
    from pomegranate.gmm import GeneralMixtureModel

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    rows = torch.tensor(X, dtype=torch.float32)
    start = time.process_time()
    try:
        model = GeneralMixtureModel([Normal(covariance_type="full") for _ in range(k)], random_state=seed).fit(rows)
    except (RuntimeError, ValueError):
        return time.process_time() - start, float("nan")
    seconds = time.process_time() - start
    return seconds, float(model.log_probability(rows).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=103)
    parser.add_argument("--tables", type=int, nargs="*", help="numbers of tables, from 1; all by default")
    arguments = parser.parse_args()
    peers = {}
    if mclust_is_here():
        peers["mclust"] = fit_of_mclust
    if importlib.util.find_spec("pomegranate") is not None:
        peers["pomegranate"] = fit_of_pomegranate
    compiled()
    print("        kind     rows   d   K   ours s   " + "   ".join(f"{name} s, ratio, nats per row" for name in peers))
    with threadpool_limits(1):
        # The first fits load what is compiled.
        few = np.random.default_rng(0).normal(size=(200_000, 2))
        cpu_of_fit(methods(10, 0, bayesian=False)[0].set_params(max_iter=1), few)
        if "pomegranate" in peers:
            fit_of_pomegranate(few[:1000], 2, 0)
        for number in arguments.tables or range(1, len(RECIPES) + 1):
            recipe = RECIPES[number - 1]
            X = drawn(recipe, arguments.seed)
            ours = methods(recipe.k, arguments.seed, bayesian=False)[0]
            mine = cpu_of_fit(ours, X)
            score = ours.score(X)
            found = [peer(X, recipe.k, arguments.seed) for peer in peers.values()]
            theirs = "   ".join(
                f"{seconds:8.3f} {seconds / mine:7.1f} {score - other:+8.4f}" for seconds, other in found
            )
            print(f"{recipe.kind:>12} {recipe.n:8} {recipe.d:3} {recipe.k:3} {mine:8.3f}   {theirs}", flush=True)


if __name__ == "__main__":
    main()
