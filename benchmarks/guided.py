"""What a fit of GuidedMixture costs: CPU seconds and memory, by the number of rows.

    python benchmarks/guided.py [--rows 600 10000] [--columns 20]

Ten overlapping groups of rows with five classes, a tenth of the rows labelled, at most 1000. Memory is the highest of
the process beyond what it had before the fit, as a multiple of the table.
"""

import argparse
import resource
import time

import numpy as np
from threadpoolctl import threadpool_limits

from sidelight import GuidedMixture


def problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a table, its classes, and the labels that are known, -1 elsewhere."""
    random = np.random.default_rng(0)
    group = random.integers(10, size=n_rows)
    table = 1.5 * random.normal(size=(10, n_columns))[group] + random.normal(size=(n_rows, n_columns))
    labelled = random.permutation(n_rows)[: min(n_rows // 10, 1000)]
    known = np.full(n_rows, -1)
    known[labelled] = group[labelled] // 2
    return table, group // 2, known


def main() -> None:
    """Print a line for each number of rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", nargs="+", type=int, default=[600, 10_000])
    parser.add_argument("--columns", type=int, default=20)
    asked = parser.parse_args()
    with threadpool_limits(1):
        # Compiled loops are loaded before anything is measured.
        GuidedMixture(random_state=0).fit(*problem(200, asked.columns)[::2])
        for n_rows in asked.rows:
            X, y, known = problem(n_rows, asked.columns)
            before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
            model = GuidedMixture(random_state=0).fit(X, known)
            seconds = time.process_time() - start
            memory = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / X.nbytes
            right = np.mean(model.labels_[known < 0] == y[known < 0])
            print(
                f"{n_rows} × {asked.columns}: {seconds:.1f} s of CPU, {memory:.1f} times the table, {right:.3f} right"
            )


if __name__ == "__main__":
    main()
