"""Purity on rows without a link: default EquivalenceMixture compared with GM-PR in the settings of Yu et al.

    python benchmarks/link_quality.py [--draws 20] [--sets thyroid …] [--starts 1 5] [--wrong 0.1] [--quick]

Links are random pairs with their true relation. "trivial" puts all rows in one cluster. With --wrong, a fraction of
the links is reversed, and links with a confidence are compared with certain links on the draws in which the certain
links do not contradict each other. For the other figures of the paper see `sidelight reproduce yu`.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from sidelight import EquivalenceMixture, PairwiseMixture, SideInformation
from sidelight.exceptions import InfeasibleError
from sidelight.metrics import purity_score
from sidelight.reproduce.yu.methods import AS_PUBLISHED, table
from sidelight.side import ContradictionError, Links, draw_links

LINKS = {
    "haberman": (16, 64, 128, 256),
    "thyroid": (16, 64, 128, 256),
    "digits 1 2 3": (16, 64, 128, 256),
    "digits 4 5 6 7": (16, 64, 128, 256),
    "COIL-20 15": (1000,),
}
WRONG_LINKS = {
    "haberman": (64, 128),
    "thyroid": (64, 128),
    "digits 1 2 3": (64, 256),
    "digits 4 5 6 7": (64, 256),
    "COIL-20 15": (1000,),
}
CONFIDENCE = 0.9


class Case(NamedTuple):
    """A table, its classes, and the components per class that Yu et al. give it."""

    X: np.ndarray
    y: np.ndarray
    components_per_class: int

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(np.unique(self.y))


def main() -> None:
    """Compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed of the first draw")
    parser.add_argument("--sets", nargs="+", choices=LINKS, default=list(LINKS))
    parser.add_argument("--starts", nargs="+", type=int, default=[1])
    parser.add_argument("--wrong", type=float, default=0.0, help="fraction of links that are reversed")
    parser.add_argument("--quick", action="store_true", help="three draws, two numbers of links")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + (3 if asked.quick else asked.draws))
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked.sets:
            case = Case(*table(name), components_per_class=3 if name.startswith("COIL") else 1)
            for n_links in (WRONG_LINKS if asked.wrong else LINKS)[name][: 2 if asked.quick else None]:
                if asked.wrong:
                    print(
                        f"{name:15} {n_links:5} links  {compare_wrong(case, n_links, seeds, asked.wrong)}", flush=True
                    )
                    continue
                for n_init in asked.starts:
                    row = compare(case, n_links, seeds, n_init)
                    print(f"{name:15} {n_links:5} links {n_init:2} starts  {row}", flush=True)


def compare(case: Case, n_links: int, seeds: range, n_init: int) -> str:
    """Return means and standard deviations; GM-PR also with one component per class where the paper has more."""
    scores: dict[str, list[float]] = {}
    for seed, side in sides(case, n_links, seeds):
        rows = ~side.mentioned
        scores.setdefault("trivial", []).append(purity_score(case.y, np.zeros(len(case.y)), rows=rows))
        for components in sorted({case.components_per_class, 1}, reverse=True):
            given = PairwiseMixture(
                case.n_classes, components_per_class=components, n_init=n_init, random_state=seed, **AS_PUBLISHED
            )
            name = "GM-PR" if components == case.components_per_class else "GM-PR, 1 component"
            scores.setdefault(name, []).append(purity_of(given, case, side, rows))
        ours = EquivalenceMixture(case.n_classes, n_init=n_init, random_state=seed)
        scores.setdefault("EquivalenceMixture", []).append(purity_of(ours, case, side, rows))
    gain = np.mean(scores["EquivalenceMixture"]) - np.mean(scores["GM-PR"])
    return "  ".join(f"{name} {spread(values)}" for name, values in scores.items()) + f"  gain {gain:+.3f}"


def compare_wrong(case: Case, n_links: int, seeds: range, wrong: float) -> str:
    """Return purities with certain links and with a confidence, and the number of draws that each can fit."""
    certain, relaxed, everywhere = [], [], []
    for seed in seeds:
        drawn = draw_links(case.y, n_links, wrong=wrong, random_state=seed)
        side = side_of(case, drawn)
        rows = ~side.mentioned
        unsure = EquivalenceMixture(case.n_classes, link_confidence=CONFIDENCE, random_state=seed)
        everywhere.append(purity_of(unsure, case, side, rows))
        try:
            certain.append(purity_of(EquivalenceMixture(case.n_classes, random_state=seed), case, side, rows))
        except (ContradictionError, InfeasibleError):
            continue
        relaxed.append(everywhere[-1])
    gain = np.mean(relaxed) - np.mean(certain) if certain else np.nan
    return (
        f"certain {spread(certain)} on {len(certain)} draws  confidence {CONFIDENCE} {spread(relaxed)} on these, "
        f"{spread(everywhere)} on all {len(everywhere)}  gain {gain:+.3f}"
    )


def purity_of(model: Any, case: Case, side: SideInformation, rows: np.ndarray) -> float:
    """Fit, and return the purity on some rows."""
    return purity_score(case.y, model.fit(case.X, side=side).labels_, rows=rows)


def sides(case: Case, n_links: int, seeds: range) -> Iterator[tuple[int, SideInformation]]:
    """Draw links, for every seed."""
    for seed in seeds:
        yield seed, side_of(case, draw_links(case.y, n_links, random_state=seed))


def side_of(case: Case, drawn: Links) -> SideInformation:
    """Return drawn links as side information."""
    return SideInformation.build(len(case.y), must_link=drawn.must_link, cannot_link=drawn.cannot_link)


def spread(values: list[float]) -> str:
    """Return mean and standard deviation."""
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}" if values else "none"


if __name__ == "__main__":
    main()
