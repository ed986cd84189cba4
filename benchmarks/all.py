"""CPU seconds of a fit of every estimator, on tables of three sizes.

Tables are Gaussian clusters that overlap a little; one row in fifty has a label, and there are as many links between
other rows, for estimators that take them. Each fit has a process of its own, which is stopped after ``--limit`` seconds
of CPU; loading modules and compiled code is not counted. The settings are the defaults, with the number of clusters
told.

    python benchmarks/all.py [--sizes small middle large] [--estimators NAME …] [--limit 60]
"""

import argparse
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

import sidelight

SIZES = {"small": (2_000, 10), "middle": (20_000, 20), "large": (200_000, 8)}
N_CLUSTERS = 6
ONE_IN = 50
# The parameters by which estimators are told the number of clusters.
NUMBERS = ("n_clusters", "n_components", "n_classes", "n_processes")


def table(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows, all positive, and their clusters."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(N_CLUSTERS, d)) * 4 / np.sqrt(2 * d) + 10
    own = rng.integers(N_CLUSTERS, size=n)
    return centres[own] + rng.normal(size=(n, d)), own


def statements(model: object, own: np.ndarray) -> dict[str, object]:
    """Return labels and links of the kinds that an estimator takes, as arguments of ``fit``."""
    chosen = np.random.default_rng(1).permutation(len(own))[: 3 * (len(own) // ONE_IN)].reshape(3, -1)
    given: dict[str, object] = {}
    if "labels" in model.takes:
        given["y"] = np.full(len(own), -1)
        given["y"][chosen[0]] = own[chosen[0]]
    pairs = chosen[1:].T
    same = own[pairs[:, 0]] == own[pairs[:, 1]]
    if "must_link" in model.takes:
        given["must_link"] = pairs[same]
    if "cannot_link" in model.takes:
        given["cannot_link"] = pairs[~same]
    return given


def fit(name: str, size: str, limit: int) -> float:
    """Return the CPU seconds of a fit."""
    estimator = dict(sidelight.all_estimators())[name]
    parameters = estimator().get_params()
    told = next((parameter for parameter in NUMBERS if parameter in parameters), None)
    model = estimator(**({} if told is None else {told: N_CLUSTERS}), random_state=0)
    warnings.simplefilter("ignore")
    small, own = table(300, SIZES[size][1])
    model.fit(small, **statements(model, own))
    X, own = table(*SIZES[size])
    spent = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (spent + limit, spent + limit + 1))
    start = time.process_time()
    model.fit(X, **statements(model, own))
    return time.process_time() - start


def measured(name: str, size: str, limit: int) -> str:
    """Return the seconds of a fit in a process of its own, or why there are none."""
    command = [sys.executable, __file__, "--one", name, size, "--limit", str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        return f"> {limit}"
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1][:60]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="*", choices=SIZES, default=list(SIZES))
    parser.add_argument("--estimators", nargs="*", default=[name for name, _ in sidelight.all_estimators()])
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds of a fit")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(f"{fit(*arguments.one, arguments.limit):.2f}")
        return
    print(f"{'CPU seconds':>32} " + " ".join(f"{'{} x {}'.format(*SIZES[size]):>14}" for size in arguments.sizes))
    for name in arguments.estimators:
        print(f"{name:>32} ", end="", flush=True)
        for size in arguments.sizes:
            print(f"{measured(name, size, arguments.limit):>14} ", end="", flush=True)
        print()


if __name__ == "__main__":
    main()
