"""Questions about informative pairs compared with questions about random pairs: adjusted Rand index after each round.

    python benchmarks/asking.py [--sets iris wine …] [--models bayesian equivalence] [--draws 20] [--first 0]
                                [--rounds 5] [--pairs 20]

Each round asks about some pairs, takes the true answers (same or different) and fits the model again with all answers
so far. One arm asks about `informative_pairs`, the other about random pairs; both start from the same fit. Scores are
taken on the rows without a link, which differ between the arms; "common rows" compares both arms on the rows that have
a link in neither.

"mnist" holds the digits 1, 2 and 3 in two principal components, "digits" the same three digits of scikit-learn's set.
"""

import argparse
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from sidelight import BayesianMixture, EquivalenceMixture, SideInformation
from sidelight.asking import informative_pairs
from sidelight.datasets import load
from sidelight.reproduce.yu.methods import table

SETS = ("iris", "wine", "mnist", "digits")
MODELS: dict[str, Callable[[int], Any]] = {
    "bayesian": lambda seed: BayesianMixture(random_state=seed),
    "equivalence": lambda seed: EquivalenceMixture(n_classes=3, random_state=seed),
}
Chooser = Callable[[Any, SideInformation, int], np.ndarray]


class Case(NamedTuple):
    """A table and its classes."""

    X: np.ndarray
    y: np.ndarray


class Outcome(NamedTuple):
    """The clusters after a round, and the rows without a link."""

    labels: np.ndarray
    unlinked: np.ndarray


def main() -> None:
    """Compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed of the first draw")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=20, help="number of pairs in each round")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.draws)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in asked.models:
            for name in asked.sets:
                case = case_of(name)
                compare(f"{name:7} {model:12}", case, MODELS[model], seeds, asked.rounds, asked.pairs)


def compare(title: str, case: Case, make: Callable[[int], Any], seeds: range, rounds: int, n_pairs: int) -> None:
    """Print means and standard deviations of both arms and of their difference, round by round."""
    scores = np.array([draw(case, make, seed, rounds, n_pairs) for seed in seeds])
    for number in range(rounds):
        asked, at_random, asked_common, random_common = scores[:, number].T
        print(
            f"{title} round {number + 1}  asked {spread(asked)}  random {spread(at_random)}  "
            f"difference {spread(asked - at_random)}  common rows {spread(asked_common - random_common)}",
            flush=True,
        )


def draw(case: Case, make: Callable[[int], Any], seed: int, rounds: int, n_pairs: int) -> list[tuple[float, ...]]:
    """Return the scores of both arms after every round: on their own rows, and on the common ones."""
    random = np.random.default_rng(seed)

    def informative(model: Any, side: SideInformation, number: int) -> np.ndarray:
        state = seed * rounds + number
        return informative_pairs(model.posterior_, side, n_pairs=n_pairs, X=case.X, random_state=state).pairs

    def at_random(model: Any, side: SideInformation, number: int) -> np.ndarray:
        return np.array([random.choice(len(case.y), 2, replace=False) for _ in range(n_pairs)])

    scores = []
    for asked, drawn in zip(
        *(arm(case, make(seed), choose, rounds) for choose in (informative, at_random)), strict=True
    ):
        common = asked.unlinked & drawn.unlinked
        scores.append(
            (
                score(case, asked.labels, asked.unlinked),
                score(case, drawn.labels, drawn.unlinked),
                score(case, asked.labels, common),
                score(case, drawn.labels, common),
            )
        )
    return scores


def arm(case: Case, model: Any, choose: Chooser, rounds: int) -> list[Outcome]:
    """Ask, answer and fit, round after round."""
    side = SideInformation.build(len(case.y))
    model.fit(case.X)
    outcomes = []
    for number in range(rounds):
        pairs = choose(model, side, number)
        same = case.y[pairs[:, 0]] == case.y[pairs[:, 1]]
        side = side | SideInformation.build(len(case.y), must_link=pairs[same], cannot_link=pairs[~same])
        model.fit(case.X, side=side)
        outcomes.append(Outcome(model.labels_.copy(), ~side.mentioned))
    return outcomes


def score(case: Case, labels: np.ndarray, rows: np.ndarray) -> float:
    """Return the adjusted Rand index on some rows."""
    return float(adjusted_rand_score(case.y[rows], labels[rows]))


def spread(values: np.ndarray) -> str:
    """Return mean and standard deviation."""
    return f"{np.mean(values):+.3f} ± {np.std(values):.3f}"


def case_of(name: str) -> Case:
    """Return a data set."""
    if name == "mnist":
        return Case(*table("digits 1 2 3"))
    X, y, _ = load(name)
    chosen = np.isin(y, (1, 2, 3)) if name == "digits" else np.ones(len(y), dtype=bool)
    return Case(np.asarray(X, dtype=float)[chosen], y[chosen])


if __name__ == "__main__":
    main()
