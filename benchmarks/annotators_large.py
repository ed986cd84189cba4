"""1.8 million labels of 500 annotators about 200 000 rows: CPU time and memory of a fit.

    python benchmarks/annotators_large.py [--rows 200000] [--annotators 500] [--per-row 9] [--model guided]

Ten Gaussian classes in eight columns; annotators err from 5 % to 40 % of the time, and one in twenty answers at random.
Printed are CPU seconds of reading the statements and of the fit, the peak of the memory of the process, the share of
the rows named right, and how far reliabilities are off.
"""

import argparse
import resource
import time

import numpy as np

from sidelight import BayesianMixture, EquivalenceMixture, GuidedMixture, SideInformation

N_CLASSES = 10


def main() -> None:
    """Draw the table, fit, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--annotators", type=int, default=500)
    parser.add_argument("--per-row", type=int, default=9)
    parser.add_argument("--model", choices=["guided", "bayesian", "equivalence"], default="guided")
    asked = parser.parse_args()
    rng = np.random.default_rng(0)
    truth = rng.integers(N_CLASSES, size=asked.rows)
    X = rng.normal(size=(asked.rows, 8)) + rng.normal(scale=2.0, size=(N_CLASSES, 8))[truth]
    errors = rng.uniform(0.05, 0.4, size=asked.annotators)
    errors[::20] = 0.9
    rows = np.repeat(np.arange(asked.rows), asked.per_row)
    authors = rng.integers(asked.annotators, size=len(rows))
    wrong = rng.random(len(rows)) < errors[authors]
    said = np.where(wrong, (truth[rows] + rng.integers(1, N_CLASSES, size=len(rows))) % N_CLASSES, truth[rows])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20

    start, clock = time.process_time(), time.perf_counter()
    side = SideInformation.from_annotations(asked.rows, labels={"row": rows, "label": said, "annotator": authors})
    read = time.process_time() - start
    models = {
        "guided": GuidedMixture(N_CLASSES, random_state=0),
        "bayesian": BayesianMixture(random_state=0),
        "equivalence": EquivalenceMixture(random_state=0),
    }
    model = models[asked.model].fit(X, side=side)
    spent, wall = time.process_time() - start, time.perf_counter() - clock
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    found = model.cluster_names_[model.labels_]
    off = [abs(row.reliability - (1 - errors[row.annotator])) for row in model.annotators_]
    random = sum(row.remark == "answers at random" for row in model.annotators_)
    print(f"{len(rows):,} labels of {asked.annotators} annotators about {asked.rows:,} rows, {asked.model}")
    print(f"read {read:.1f} s, read and fit {spent:.1f} s of CPU, {wall:.1f} s by the clock")
    print(f"memory: {before:.2f} GB with the table and the statements drawn, {peak:.2f} GB at most")
    print(
        f"right {np.mean(found.astype(str) == truth.astype(str)):.4f}, reliability off by {np.mean(off):.4f} on average"
    )
    print(f"{random} of {len(errors[::20])} who answer at random are remarked")


if __name__ == "__main__":
    main()
