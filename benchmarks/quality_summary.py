"""Numbers that `quality_report.py` shows: a method that is judged by the stored trials of `quality.py`, and its peers.

A cell is a table in a situation, with means over draws. The best single peer of a situation is the method with the
highest mean over tables; hindsight is the mean of the best score that a method of scikit-learn has on each table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from quality_methods import LINEAR, METHODS
from sidelight.reproduce.framework.experiment import Trial
from situations import SITUATIONS

RAND, RAND_BEFORE = "rand, unmentioned rows", "rand, still unmentioned rows"
NEAR = 0.02
SUPERVISED = 0.7
LABELS_ONLY = [name for name, wanted in SITUATIONS.items() if wanted.has_labels and not wanted.has_links]
ALL_LABELLED = [name for name in LABELS_ONLY if not SITUATIONS[name].third_unlabelled]
UNLABELLED = next(name for name, wanted in SITUATIONS.items() if wanted.third_unlabelled)


@dataclass(frozen=True)
class Grid:
    """Trials of draws that all methods have completed, one row each, and the method that is judged."""

    trials: pd.DataFrame
    judged: str

    @property
    def draws(self) -> list[int]:
        """The draws, in order."""
        return sorted(self.trials["draw"].unique().tolist())

    @property
    def methods(self) -> list[str]:
        """The methods, in the order of METHODS."""
        present = set(self.trials["method"].unique())
        return [name for name in METHODS if name in present]

    @property
    def situations(self) -> list[str]:
        """The situations, in the order of SITUATIONS."""
        present = set(self.trials["situation"].unique())
        return [name for name in SITUATIONS if name in present]

    @property
    def peers(self) -> list[str]:
        """All methods but the judged one."""
        return [name for name in self.methods if name != self.judged]

    @property
    def is_judged(self) -> bool:
        """Whether the judged method has been run, and others to compare it with."""
        return self.judged in self.methods and len(self.methods) > 1

    def cells(self, measure: str, situation: str | None = None) -> pd.DataFrame:
        """Return means over draws, (situation, set) × method, or set × method in one situation."""
        wanted = self.trials if situation is None else self.trials[self.trials["situation"] == situation]
        index = ["situation", "set"] if situation is None else "set"
        found = wanted.pivot_table(measure, index, "method", aggfunc="mean", dropna=False, observed=True)
        return found.reindex(columns=self.methods).dropna(how="all")

    def means(self, measure: str) -> pd.DataFrame:
        """Return means over tables and draws, situation × method."""
        return self.cells(measure).groupby(level="situation").mean().reindex(self.situations).dropna(how="all")


def completed(results: Mapping[Trial, Mapping[str, float]], wanted: Sequence[Trial], judged: str) -> Grid:
    """Return the draws and methods with the most trials without a gap, on draws of the judged method if it has any.

    A method that lacks trials of one of these draws is left out: means over different draws cannot be compared.
    """
    have: dict[str, set[int]] = {}
    for name in METHODS:
        asked = {trial.seed for trial in wanted if trial.method == name}
        have[name] = asked - {trial.seed for trial in wanted if trial.method == name and trial not in results}
    possible = sorted(have[judged] or set().union(*have.values()))
    subsets = [set(draws) for n in range(len(possible), 0, -1) for draws in combinations(possible, n)]
    draws = max(subsets, key=lambda draws: len(draws) * sum(draws <= its for its in have.values()), default=set())
    kept = [trial for trial in wanted if trial.seed in draws and draws <= have[trial.method]]
    rows = [(*trial.setting, trial.method, trial.seed, *results[trial].values()) for trial in kept]
    measures = list(results[kept[0]]) if kept else []
    return Grid(pd.DataFrame(rows, columns=["set", "situation", "method", "draw", *measures]), judged)


# --- the adjusted Rand index ------------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """The judged method in one situation, and what it is compared with."""

    situation: str
    score: float
    best_of_ours: str
    best_of_scikit_learn: str
    best: str
    means: pd.Series
    hindsight: float
    near_best: float
    near_best_draws: float

    @property
    def lead(self) -> float:
        """The score above that of the best single peer."""
        return self.score - float(self.means[self.best])


def contested(grid: Grid) -> pd.DataFrame:
    """Return the scores of the cells that the judged method shares with a peer."""
    cells = grid.cells(RAND)
    return cells[cells[grid.judged].notna() & cells[grid.peers].notna().any(axis=1)]


def standings(grid: Grid) -> list[Standing]:
    """Compare the judged method with its peers, situation by situation."""
    shared = set(contested(grid).index.get_level_values("situation"))
    return [standing(grid, situation) for situation in grid.situations if situation in shared]


def standing(grid: Grid, situation: str) -> Standing:
    """Compare the judged method with its peers in a situation."""
    cells = grid.cells(RAND, situation)
    peers = cells[grid.peers].dropna(axis=1, how="all")
    means = peers.mean()
    theirs = [name for name in peers if METHODS[name].package == "scikit-learn"]
    ours = [name for name in peers if name not in theirs]
    single = grid.trials[grid.trials["situation"] == situation].pivot(
        index=["set", "draw"], columns="method", values=RAND
    )
    return Standing(
        situation,
        float(cells[grid.judged].mean()),
        str(means[ours].idxmax()) if ours else "",
        str(means[theirs].idxmax()) if theirs else "",
        str(means.idxmax()),
        means,
        float(peers[theirs].max(axis=1).mean()),
        float((cells[grid.judged] >= peers.max(axis=1) - NEAR).mean()),
        float((single[grid.judged] >= single[list(peers)].max(axis=1) - NEAR).mean()),
    )


def deficits(grid: Grid) -> pd.DataFrame:
    """Return for each table the situation where the judged method is furthest below the best peer."""
    cells = contested(grid)
    peers = cells[grid.peers]
    found = pd.DataFrame(
        {"score": cells[grid.judged], "peer": peers.idxmax(axis=1), "best": peers.max(axis=1)}
    ).reset_index()
    found["deficit"] = found["best"] - found["score"]
    worst = found.loc[found.groupby("set")["deficit"].idxmax()]
    return worst.sort_values("deficit", ascending=False, kind="stable").set_index("set")


def steps(grid: Grid) -> dict[tuple[str, str], pd.Series]:
    """Return what more statements cost the judged method on each table, on rows that neither situation mentions."""
    found = {}
    for less, wanted in SITUATIONS.items():
        if wanted.more in grid.situations and less in grid.situations:
            before, after = grid.cells(RAND_BEFORE, less), grid.cells(RAND, str(wanted.more))
            found[less, str(wanted.more)] = before[grid.judged] - after[grid.judged]
    return found


# --- names, probabilities, new classes --------------------------------------------------------------------------------


def below_linear(grid: Grid, situation: str) -> float:
    """Return the share of tables where the judged method's log-loss is no higher than that of logistic regression."""
    cells = grid.cells("log-loss", situation)
    return float((cells[grid.judged] <= cells[LINEAR]).mean())


class Names(NamedTuple):
    """Right names by table: of the judged method, of logistic regression, and the share of the largest class."""

    judged: pd.Series
    linear: pd.Series
    largest: pd.Series


def names(grid: Grid, situation: str) -> Names:
    """Return the shares of right names in a situation."""
    cells, largest = grid.cells("names right", situation), grid.cells("largest class", situation)
    return Names(cells[grid.judged], cells[LINEAR], largest[LINEAR])


class NewClasses(NamedTuple):
    """How classes without labels are found, by table, and how many rows are called new where all have labels."""

    cover: pd.Series
    purity: pd.Series
    called_new: pd.DataFrame


def new_classes(grid: Grid) -> NewClasses:
    """Return cover and purity on the tables that the best method of scikit-learn tells apart, given 30 % of labels."""
    theirs = [name for name in grid.methods if METHODS[name].package == "scikit-learn"]
    supervised = grid.cells(RAND, "30%")[theirs].max(axis=1)
    clear = supervised.index[supervised > SUPERVISED]
    cover, purity = (grid.cells(measure, UNLABELLED).reindex(columns=grid.methods) for measure in ("cover", "purity"))
    called = {situation: grid.cells("called new", situation)[grid.judged] for situation in ALL_LABELLED}
    kept = [name for name in clear if name in cover.index]
    return NewClasses(cover[grid.judged].reindex(kept), purity[grid.judged].reindex(kept), pd.DataFrame(called))
