"""What the judged method of `quality.py` is held to, as far as the grid can show it."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from quality_summary import (
    ALL_LABELLED,
    LABELS_ONLY,
    NEAR,
    RAND,
    Grid,
    Standing,
    below_linear,
    contested,
    deficits,
    names,
    new_classes,
    standings,
    steps,
)

FEWEST = "2-per-class"


class Check(NamedTuple):
    """A demand, what was found, and whether it holds."""

    demand: str
    found: str
    holds: bool


def checks(grid: Grid) -> list[Check]:
    """Check every demand that the grid can show."""
    ranking = standings(grid)
    return [
        *scores(ranking),
        near_best(grid, ranking),
        worst_table(grid),
        log_loss(grid),
        calibration(grid),
        more_is_better(grid),
        *right_names(grid),
        *unlabelled_classes(grid),
    ]


def scores(ranking: list[Standing]) -> list[Check]:
    """Compare the mean of each situation with the best single peer and with hindsight."""
    over_best = {s.situation: s.lead - (0.01 if s.situation == FEWEST else 0.03) for s in ranking}
    over_hindsight = {s.situation: s.score - s.hindsight + (0.03 if s.situation == FEWEST else 0.01) for s in ranking}
    return [
        Check("mean ARI in every situation ≥ best single peer + .03 (2 per class: + .01)", *_margins(over_best)),
        Check("mean ARI in every situation ≥ hindsight − .01 (2 per class: − .03)", *_margins(over_hindsight)),
    ]


def _margins(margins: Mapping[str, float]) -> tuple[str, bool]:
    worst = min(margins, key=margins.__getitem__)
    enough = sum(margin >= 0 for margin in margins.values())
    text = f"in {enough} of {len(margins)} situations; margin at worst {margins[worst]:+.3f} ({worst})"
    return text, enough == len(margins)


def near_best(grid: Grid, ranking: list[Standing]) -> Check:
    """Count the cells where the judged method is the best one or close to it."""
    cells = contested(grid)
    share = float((cells[grid.judged] >= cells[grid.peers].max(axis=1) - NEAR).mean())
    tables = [len(grid.cells(RAND, s.situation)) for s in ranking]
    single = float(np.average([s.near_best_draws for s in ranking], weights=tables))
    found = f"{share:.0%} of the cells, means over draws; {single:.0%} of single draws"
    return Check("best or within .02 of the best in ≥ 70 % of the cells", found, share >= 0.7)


def worst_table(grid: Grid) -> Check:
    """Look for tables with a better peer."""
    worst = deficits(grid)
    found = (
        f"{(worst['deficit'] > 0.07).sum()} of {len(worst)} tables are, in some situation; worst "
        f"{worst['deficit'].iloc[0]:.3f} ({worst.index[0]}, {worst['situation'].iloc[0]})"
    )
    return Check("on no table more than .07 below the best peer", found, bool((worst["deficit"] <= 0.07).all()))


def log_loss(grid: Grid) -> Check:
    """Compare probabilities with those of logistic regression."""
    shares = {situation: below_linear(grid, situation) for situation in LABELS_ONLY}
    return Check(
        "log-loss no higher than that of logistic regression on ≥ 80 % of tables",
        ", ".join(f"{situation} {share:.0%}" for situation, share in shares.items()),
        min(shares.values()) >= 0.8,
    )


def calibration(grid: Grid) -> Check:
    """Look at the calibration error of each situation."""
    errors = grid.means("calibration error")[grid.judged].reindex(LABELS_ONLY)
    found = ", ".join(f"{situation} {error:.3f}" for situation, error in errors.items())
    return Check("mean calibration error ≤ .06", found, bool((errors <= 0.06).all()))


def more_is_better(grid: Grid) -> Check:
    """Look for tables where more statements lower the score."""
    costs = pd.concat(steps(grid), names=["less", "more", "set"])
    less, more, table = costs.idxmax()
    found = (
        f"{(costs > 0.01).sum()} of {len(costs)} do; worst {costs.max():.3f} ({table}, {less} → {more}); mean gain "
        f"{-costs.mean():.3f}"
    )
    return Check("no step to more statements costs more than .01 on any table", found, bool((costs <= 0.01).all()))


def right_names(grid: Grid) -> list[Check]:
    """Compare names with those of logistic regression and with the largest class."""
    named = {situation: names(grid, situation) for situation in ALL_LABELLED}
    behind = pd.concat({situation: found.linear - found.judged for situation, found in named.items()})
    below = pd.concat({situation: found.largest - found.judged for situation, found in named.items()})
    return [
        Check("right names ≥ logistic regression − .02, all classes labelled, on each table", *_most(behind, 0.02)),
        Check("right names ≥ share of the largest class, all classes labelled, on each table", *_most(below, 0.0)),
    ]


def _most(shortfalls: pd.Series, allowed: float) -> tuple[str, bool]:
    situation, table = shortfalls.idxmax()
    above = int((shortfalls > allowed).sum())
    text = f"{above} of {len(shortfalls)} cells below; worst shortfall {shortfalls.max():.3f} ({table}, {situation})"
    return text, above == 0


def unlabelled_classes(grid: Grid) -> list[Check]:
    """Look at the clusters that the judged method calls new."""
    found = new_classes(grid)
    called = found.called_new.stack()
    cover, purity = found.cover.mean(), found.purity.mean()
    return [
        Check(
            "new clusters cover ≥ 70 % of classes without labels, with purity ≥ .85 (tables with supervised ARI > .7)",
            f"cover {cover:.2f}, purity {purity:.2f} on {len(found.cover)} tables, {found.purity.isna().sum()} of them "
            f"without a new cluster",
            bool(cover >= 0.7 and purity >= 0.85),
        ),
        Check(
            "with all classes labelled ≤ 3 % of rows called new on average, ≤ 10 % on each table",
            f"mean {called.mean():.3f}, highest {called.max():.3f} ({called.idxmax()[0]}, {called.idxmax()[1]})",
            bool(called.mean() <= 0.03 and called.max() <= 0.1),
        ),
    ]
