"""CPU time of BayesianMixture with ``covariance_type="auto"``, as a multiple of one fit with full covariances.

    python benchmarks/structure_search.py [--sets iris wine …] [--repeats 3]

The two fits take turns, with BLAS at one thread; the ratio is that of median CPU times. Both have the same number of
components to start from (those of the default), columns on their own scales and the same random state. At most 3000
rows are taken. The first fit of a table compiles what is to be compiled and is not counted. See told_nothing.py for the
tables; of those with more than a hundred columns "auto" compares no structures.
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from sidelight import BayesianMixture
from told_nothing import table

SETS = (
    *("iris", "wine", "glass", "thyroid", "ecoli", "liver", "seeds", "vehicle", "yeast", "segment", "satimage"),
    *("pendigits", "letter", "ionosphere", "sonar", "penguins"),
)
WANTED = 4.0


def cpu_seconds(X: pd.DataFrame, covariance_type: str) -> float:
    """Return the CPU time of a fit."""
    start = time.process_time()
    BayesianMixture(covariance_type=covariance_type, power=False, random_state=0).fit(X)
    return time.process_time() - start


def main() -> None:
    """Fit in turns, print a line for each table and the ratios together."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    ratios = []
    print(f"{'table':24s} rows  full s  auto s  ratio (wanted: at most {WANTED:g})")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked.sets:
            X, _ = table(name, 0)
            cpu_seconds(X, "auto")
            times = [[cpu_seconds(X, kind) for kind in ("full", "auto")] for _ in range(asked.repeats)]
            full, auto = np.median(times, axis=0)
            ratios.append(auto / full)
            print(f"{name:24s} {len(X):5d} {full:7.2f} {auto:7.2f} {ratios[-1]:6.2f}", flush=True)
    over = int(np.sum(np.array(ratios) > WANTED))
    print(
        f"median ratio {np.median(ratios):.2f}, largest {max(ratios):.2f}, above {WANTED:g} on {over} of {len(ratios)}"
    )


if __name__ == "__main__":
    main()
