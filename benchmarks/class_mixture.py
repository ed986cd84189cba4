"""How well ClassMixture finds classes, and what many labels cost.

    python benchmarks/class_mixture.py table --data FOLDER [--seeds 20]
    python benchmarks/class_mixture.py synthetic [--seeds 20]
    python benchmarks/class_mixture.py strengths [--seeds 4]
    python benchmarks/class_mixture.py labels [--rows 3000]

``table`` is table 1 of Zhao and Miller: 30 % of the rows in random disjoint pairs, standardised, reduced by principal
components. The folder of data sets can also be named by the environment variable SIDELIGHT_DATA.
"""

import argparse
import os
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score, pairwise_distances, pairwise_distances_argmin
from sklearn.preprocessing import StandardScaler

from sidelight import ClassMixture, SideInformation
from sidelight.couplings.class_penalty import ClassMemory, ClassPenalty
from sidelight.couplings.mean_field import MeanField
from sidelight.couplings.pair_sums import PairSums
from sidelight.estimators.beginnings import Sample
from sidelight.estimators.class_allocation import Allocation
from sidelight.inference.mixture import MixtureState
from sidelight.inference.threads import one_blas_thread
from sidelight.metrics import purity_accuracy_score
from sidelight.side import draw_labels, draw_links

_FRACTION = 0.3


class Printed(NamedTuple):
    """A data set of table 1: file, dimensions (None as they are), components, classes, ρ with full and tied."""

    file: str
    d: int | None
    n_components: int
    n_classes: int
    full: float
    tied: float


TABLE = {
    "ecoli": Printed("ecoli", 5, 5, 3, 0.8525, 0.8742),
    "liver": Printed("liver", None, 2, 2, 0.6946, 0.7221),
    "pima": Printed("pima", 6, 3, 2, 0.7103, 0.7410),
    "breast cancer": Printed("breast_cancer_wisconsin", 4, 5, 2, 0.9446, 0.9635),
    "ionosphere": Printed("ionosphere", 15, 3, 2, 0.8884, 0.8041),
}


class Watched(ClassMixture):
    """Remembers β, which the estimator has no further use for."""

    def _settle(self, penalty: ClassPenalty, state: MixtureState, sample: Sample) -> Allocation:
        memory: ClassMemory = state.coupled
        self.allocation = np.exp(memory.log_allocation)
        return super()._settle(penalty, state, sample)


def read(folder: Path, printed: Printed) -> tuple[np.ndarray, np.ndarray]:
    """Read a table and its classes; the six classes of ecoli at membranes are one, as in the paper."""
    frame = pd.read_csv(folder / f"{printed.file}.csv.gz", dtype={"target": str})
    y = frame["target"].to_numpy()
    if printed.file == "ecoli":
        y = np.where(np.isin(y, ["cp", "pp"]), y, "membrane")
    X = StandardScaler().fit_transform(frame.drop(columns="target").to_numpy(float))
    return (X if printed.d is None else PCA(printed.d, random_state=0).fit_transform(X)), y


def linked(y: np.ndarray, seed: int) -> SideInformation:
    """Link 30 % of the rows in random disjoint pairs."""
    links = draw_links(y, round(_FRACTION * len(y) / 2), disjoint=True, random_state=seed)
    return SideInformation.build(len(y), must_link=links.must_link, cannot_link=links.cannot_link)


def measure_table(folder: Path, seeds: range) -> None:
    print(
        "| data | covariances | ρ (paper, difference) | ρ of one class | ARI, unlinked | classes right | by β > .05 |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, printed in TABLE.items():
        X, y = read(folder, printed)
        trivial = purity_accuracy_score(y, np.zeros(len(y)))
        for covariance_type, paper in (("full", printed.full), ("tied", printed.tied)):
            found = []
            for seed in seeds:
                side = linked(y, seed)
                model = Watched(printed.n_components, covariance_type=covariance_type, random_state=seed)
                labels = model.fit(X, side=side).labels_
                free = ~side.mentioned
                n_not_zero = int((model.allocation > 0.05).any(axis=0).sum())
                found.append(
                    (
                        purity_accuracy_score(y, labels),
                        adjusted_rand_score(y[free], labels[free]),
                        model.n_classes_ == printed.n_classes,
                        n_not_zero == printed.n_classes,
                    )
                )
            scores = np.array(found, dtype=float)
            rho, ari, right, not_zero = scores.mean(axis=0)
            print(
                f"| {name} | {covariance_type} | {rho:.3f} ± {scores[:, 0].std(ddof=1):.3f} ({paper:.3f}, "
                f"{rho - paper:+.3f}) | {trivial:.3f} | {ari:.3f} | {right:.0%} | {not_zero:.0%} |",
                flush=True,
            )


# --- synthetic -------------------------------------------------------------------------------------------------------


class Made(NamedTuple):
    """Rows of round components of unit width and equal size, their classes, the centres and the centres' classes."""

    X: np.ndarray
    classes: np.ndarray
    centres: np.ndarray
    allocation: np.ndarray

    @property
    def best(self) -> np.ndarray:
        """The classes that the true components would give the rows."""
        return self.allocation[pairwise_distances_argmin(self.X, self.centres)]

    def components_found(self, means: np.ndarray) -> bool:
        """Whether there is one mean within one width of each centre, and no other."""
        return len(means) == len(self.centres) and bool(
            np.all(np.sort(pairwise_distances_argmin(self.centres, means)) == np.arange(len(means)))
            and np.all(pairwise_distances(self.centres, means).min(axis=1) < 1)
        )


def figure_one(seed: int, spacing: float) -> Made:
    """Draw three components in a row, of which the outer two are one class."""
    centres, allocation = spacing * np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), np.array([0, 1, 0])
    X, components = make_blobs([100, 100, 100], centers=centres, cluster_std=1.0, random_state=seed)
    return Made(X, allocation[components], centres, allocation)


def eight_in_three(seed: int, spacing: float) -> Made:
    """Draw eight components on a grid, put into three classes at random."""
    random = np.random.RandomState(seed)
    centres = spacing * np.array([(i, j) for i in range(3) for j in range(3)])[:8]
    X, components = make_blobs(800, centers=centres, cluster_std=1.0, random_state=random)
    allocation = random.permutation([0, 0, 0, 1, 1, 1, 2, 2])
    return Made(X, allocation[components], centres, allocation)


def measure_synthetic(seeds: range) -> None:
    """Print in how many draws components, classes (as the true components give them) and their number are found."""
    print("| draw | spacing | K | components | classes | number of classes | all |\n|---|---|---|---|---|---|---|")
    for name, draw, spacing in (
        ("figure 1", figure_one, 5.0),
        ("figure 1", figure_one, 4.0),
        ("8 in 3", eight_in_three, 6.0),
        ("8 in 3", eight_in_three, 4.5),
    ):
        for given in (True, False):
            found = []
            for seed in seeds:
                made = draw(seed, spacing)
                n_components = len(made.centres) if given else None
                model = ClassMixture(n_components, random_state=seed).fit(made.X, side=linked(made.classes, seed))
                found.append(
                    (
                        made.components_found(model.means_),
                        adjusted_rand_score(made.best, model.labels_) > 0.85,
                        model.n_classes_ == len(np.unique(made.classes)),
                    )
                )
            counts = np.array(found)
            cells = " | ".join(str(int(n)) for n in (*counts.sum(axis=0), counts.all(axis=1).sum()))
            print(f"| {name} | {spacing} | {'given' if given else 'BIC'} | {cells} |", flush=True)


# --- descent ---------------------------------------------------------------------------------------------------------


def measure_strengths(seeds: range) -> None:
    """Print the largest rise of free energy over all steps, relative, and the mean number of halvings per step."""
    print(
        "| pairs | D | steps | largest relative rise, parallel | sequential | smallest η |\n|---|---|---|---|---|---|"
    )
    for name in ("30 % in pairs", "30 % labelled"):
        for strength in (0.1, 0.5, 1, 2, 4, 8, 16, 32):
            rises, least, n_steps = {True: 0.0, False: 0.0}, 1.0, 0
            for seed in seeds:
                made = eight_in_three(seed, 6.0)
                side = (
                    linked(made.classes, seed)
                    if name == "30 % in pairs"
                    else SideInformation.build(800, y=draw_labels(made.classes, fraction=0.3, random_state=seed))
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
    """Print CPU and memory of fits in which all pairs of many labelled rows take part."""
    for n in (n_labelled // 4, n_labelled):
        made = eight_in_three(0, 6.0)
        random = np.random.RandomState(0)
        rows = random.randint(len(made.X), size=2 * n)
        X = made.X[rows] + 0.1 * random.normal(size=(2 * n, 2))
        y = np.where(np.arange(2 * n) < n, made.classes[rows], -1)
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
    table = parts.add_parser("table", help="table 1 of the paper")
    table.add_argument("--data", type=Path, default=os.environ.get("SIDELIGHT_DATA"), help="folder of the data sets")
    synthetic = parts.add_parser("synthetic", help="components and classes of made-up tables")
    strengths = parts.add_parser("strengths", help="descent of the mean field at many strengths")
    for part, number in ((table, 20), (synthetic, 20), (strengths, 4)):
        part.add_argument("--seeds", type=int, default=number)
        part.add_argument("--first-seed", type=int, default=0)
    labels = parts.add_parser("labels", help="what all pairs of many labelled rows cost")
    labels.add_argument("--rows", type=int, default=3000)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    with one_blas_thread():
        if arguments.part == "labels":
            measure_labels(arguments.rows)
            return
        seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
        if arguments.part == "synthetic":
            measure_synthetic(seeds)
        elif arguments.part == "strengths":
            measure_strengths(seeds)
        elif arguments.data is None:
            raise SystemExit("table needs --data, or SIDELIGHT_DATA in the environment")
        else:
            measure_table(Path(arguments.data), seeds)


if __name__ == "__main__":
    main()
