"""The mean field of ClassMixture: descent of its free energy at many link strengths, and the cost of many labels.

    python benchmarks/class_mixture.py strengths [--seeds 4]
    python benchmarks/class_mixture.py labels [--rows 3000]

For the quality of the classes see ``sidelight reproduce zhao``.
"""

import argparse
import time
import tracemalloc
import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sidelight import ClassMixture, SideInformation
from sidelight.couplings.class_penalty.mean_field import MeanField
from sidelight.couplings.class_penalty.pair_sums import PairSums
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.reproduce.zhao.clouds import eight_in_three
from sidelight.reproduce.zhao.methods import linked
from sidelight.side import draw_labels

# --- descent ---------------------------------------------------------------------------------------------------------


def measure_strengths(seeds: range) -> None:
    """Print the largest relative rise of the free energy over all steps, and the smallest step size η."""
    print(
        "| pairs | D | steps | largest relative rise, parallel | sequential | smallest η |\n|---|---|---|---|---|---|"
    )
    for name in ("30 % in pairs", "30 % labelled"):
        for strength in (0.1, 0.5, 1, 2, 4, 8, 16, 32):
            rises, least, n_steps = {True: 0.0, False: 0.0}, 1.0, 0
            for seed in seeds:
                made = eight_in_three(6.0, seed)
                side = (
                    linked(made.y, seed)
                    if name == "30 % in pairs"
                    else SideInformation.build(800, y=draw_labels(made.y, fraction=0.3, random_state=seed))
                )
                pairs = PairSums.stated(side, None)
                field = MeanField(pairs, strength)
                random = np.random.RandomState(seed)
                scores = random.normal(scale=3, size=(len(pairs.weights), 8, 3))
                for sequential in (True, False):
                    joint, steps = field.at(scores, scores), np.ones(pairs.groups.max() + 1)
                    for _ in range(30):
                        before = joint.energy.sum()
                        if sequential:
                            joint = field.sweep(scores, joint)
                        else:
                            joint, steps = field.damped_step(scores, joint, np.minimum(2 * steps, 1.0))
                            least = min(least, float(steps.min()))
                        rises[sequential] = max(rises[sequential], (joint.energy.sum() - before) / abs(before))
                        n_steps += 1
            print(
                f"| {name} | {strength} | {n_steps} | {rises[False]:.1e} | {rises[True]:.1e} | {least:.2g} |",
                flush=True,
            )


def measure_labels(n_labelled: int) -> None:
    """Print CPU time and memory of fits that use all pairs of many labelled rows."""
    for n in (n_labelled // 4, n_labelled):
        made = eight_in_three(6.0, 0)
        random = np.random.RandomState(0)
        rows = random.randint(len(made.X), size=2 * n)
        X = made.X[rows] + 0.1 * random.normal(size=(2 * n, 2))
        y = np.where(np.arange(2 * n) < n, made.y[rows], -1)
        for updates in ("parallel", "sequential"):
            start = time.process_time()
            model = ClassMixture(8, init_params="kmeans", updates=updates, random_state=0).fit(X, y)
            seconds = time.process_time() - start
            print(
                f"{n} labelled of {2 * n} rows ({n * (n - 1) // 2} pairs), {updates}: {seconds:.2f} s CPU, "
                f"{model.n_iter_} steps, {model.n_classes_} classes, {model.violations_}"
            )
        tracemalloc.start()
        ClassMixture(8, init_params="kmeans", random_state=0).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"  peak {peak / 1e6:.0f} MB; one {n} × {n} matrix would be {8 * n * n / 1e6:.0f} MB")


def main() -> None:
    """Read the command line and run the part it names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = parser.add_subparsers(dest="part", required=True)
    strengths = parts.add_parser("strengths", help="descent of the mean field at many strengths")
    strengths.add_argument("--seeds", type=int, default=4)
    labels = parts.add_parser("labels", help="cost of all pairs of many labelled rows")
    labels.add_argument("--rows", type=int, default=3000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    with one_blas_thread():
        if arguments.part == "labels":
            measure_labels(arguments.rows)
        else:
            measure_strengths(range(arguments.seeds))


if __name__ == "__main__":
    main()
