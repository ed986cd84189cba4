"""The report of `quality.py`, as Markdown and as a figure."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from quality_checks import checks
from quality_methods import LINEAR, METHODS
from quality_summary import (
    ALL_LABELLED,
    LABELS_ONLY,
    RAND,
    UNLABELLED,
    Grid,
    below_linear,
    contested,
    deficits,
    new_classes,
    standings,
    steps,
)
from situations import FURTHER, SITUATIONS


def report(grid: Grid, path: Path | None) -> None:
    """Print the report; store it with the figure if there is a path, to which the endings are added."""
    if grid.trials.empty:
        print("no draw is complete yet")
        return
    text = markdown(grid)
    print(text)
    if path is not None:
        path.with_suffix(".md").write_text(text, encoding="utf-8")
        draw(grid, path.with_suffix(".png"))


def markdown(grid: Grid) -> str:
    """Return the report of what was run."""
    parts = [introduction(grid), f"## All methods\n\n{all_methods(grid)}"]
    is_whole = grid.situations == list(SITUATIONS) and LINEAR in grid.methods
    if grid.is_judged:
        parts += [ranking(grid), worst_tables(grid)]
    if is_whole:
        parts.append(probabilities(grid))
    if grid.is_judged and is_whole:
        parts = [introduction(grid), demands(grid), *parts[1:], new(grid), more(grid)]
    return "\n".join([*parts, costs(grid)])


def renewed(page: str, grid: Grid) -> str:
    """Return a page with its table of all methods, the one that begins with the same columns, made anew."""
    table = all_methods(grid)
    start = page.index(table.partition("\n")[0])
    return page[:start] + table + page[page.index("\n\n", start) + 1 :]


def rows_of(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def number(value: float, bold: bool = False) -> str:
    """Return a score with three decimals, nothing where there is none."""
    if np.isnan(value):
        return ""
    return f"**{value:.3f}**" if bold else f"{value:.3f}"


def title(situation: str) -> str:
    """Return the name of a situation in words."""
    return SITUATIONS[situation].title


# --- parts ------------------------------------------------------------------------------------------------------------


def introduction(grid: Grid) -> str:
    """Say what was measured."""
    draws = ", ".join(map(str, grid.draws))
    tables = set(grid.trials["set"])
    option, heading = (" --further", "Quality on further tables") if tables <= set(FURTHER) else ("", "Quality")
    missing = [name for name in METHODS if name not in grid.methods]
    left_out = f" Left out, without trials of all these draws: {', '.join(missing)}." if missing else ""
    return (
        f"# {heading}\n\n"
        f"`python benchmarks/quality.py{option}`: {len(tables)} tables with at most 1000 rows, "
        f"{len(grid.situations)} situations, draws {draws}. Scores are adjusted Rand indices on rows in no statement, "
        "means over draws and tables. Methods other than GuidedMixture and BayesianMixture receive the true number of "
        "classes where they need one; a method that raises an error scores 0 there. A cell is a table in a "
        f"situation.{left_out}\n"
    )


def demands(grid: Grid) -> str:
    """Show what the judged method is held to."""
    lines = [[c.demand, c.found, "holds" if c.holds else "does not hold"] for c in checks(grid)]
    return f"## What {grid.judged} is held to\n\n" + rows_of(["demand", "found", ""], lines)


def all_methods(grid: Grid) -> str:
    """Show the means of all methods in all situations, and hindsight."""
    means = grid.means(RAND)
    best = means.max(axis=1)
    lines = [
        [name, *(number(means.loc[s, name], bool(means.loc[s, name] == best[s])) for s in grid.situations)]
        for name in grid.methods
    ]
    theirs = [name for name in grid.methods if METHODS[name].package == "scikit-learn"]
    if theirs:
        hindsight = grid.cells(RAND)[theirs].max(axis=1).groupby(level="situation").mean()
        lines.append(
            ["hindsight (best of scikit-learn for each table)", *(number(hindsight[s]) for s in grid.situations)]
        )
    return rows_of(["method", *map(title, grid.situations)], lines)


def ranking(grid: Grid) -> str:
    """Show the judged method beside the best ones, situation by situation."""
    header = [
        *("situation", grid.judged, "best of ours", "best of scikit-learn", "hindsight", "− best single"),
        *("− hindsight", "best or within .02", "of single draws"),
    ]
    lines = [
        [
            title(s.situation),
            number(s.score),
            *(f"{s.means[name]:.3f} {name}" if name else "" for name in (s.best_of_ours, s.best_of_scikit_learn)),
            number(s.hindsight),
            f"{s.lead:+.3f}",
            f"{s.score - s.hindsight:+.3f}",
            f"{s.near_best:.0%}",
            f"{s.near_best_draws:.0%}",
        ]
        for s in standings(grid)
    ]
    return f"## {grid.judged} and the best\n\n" + rows_of(header, lines)


def worst_tables(grid: Grid) -> str:
    """Show for each table the situation with the largest deficit."""
    lines = [
        [str(name), title(row["situation"]), number(row["score"]), f"{row['best']:.3f} {row['peer']}",
         f"{row['deficit']:+.3f}"]
        for name, row in deficits(grid).iterrows()
    ]  # fmt: skip
    header = ["table", "worst situation", grid.judged, "best peer", "deficit"]
    return "## Where it loses most, table by table\n\n" + rows_of(header, lines)


def probabilities(grid: Grid) -> str:
    """Show log-loss, calibration error and right names of methods that have them."""
    parts = ["## Probabilities and names\n\nOn unmentioned rows of classes with a label.\n"]
    for measure in ("log-loss", "calibration error", "names right"):
        means = grid.means(measure)
        having = [name for name in grid.methods if means[name].notna().any()]
        lines = [[name, *(number(means.loc[s, name]) for s in LABELS_ONLY)] for name in having]
        if measure == "log-loss" and grid.is_judged:
            shares = (f"{below_linear(grid, s):.0%}" for s in LABELS_ONLY)
            lines.append([f"tables where {grid.judged} ≤ {LINEAR}", *shares])
        parts.append(rows_of([measure, *map(title, LABELS_ONLY)], lines))
    return "\n".join(parts)


def new(grid: Grid) -> str:
    """Show how classes without labels are found, and how often rows are called new where all classes have labels."""
    found = new_classes(grid)
    shares = grid.means("called new")[grid.judged]
    lines = [[str(t), number(found.cover[t]), number(found.purity[t]) or "no new cluster"] for t in found.cover.index]
    lines.append(["mean", number(found.cover.mean()), number(found.purity.mean())])
    called = ", ".join(f"{title(s)} {shares[s]:.3f}" for s in [*ALL_LABELLED, UNLABELLED])
    return (
        f"## Classes without labels\n\n{title(UNLABELLED)}: the share of their rows that {grid.judged} puts into new "
        "clusters, and the purity of these, on tables where a method of scikit-learn with 30 % of the labels is above "
        f".7.\n\n{rows_of(['table', 'cover', 'purity'], lines)}\nShare of rows called new: {called}.\n"
    )


def more(grid: Grid) -> str:
    """Show what more statements gain, and where they cost."""
    lines = []
    for (less, richer), lost in steps(grid).items():
        costly = lost[lost > 0.01].sort_values(ascending=False)
        text = ", ".join(f"{name} {value:.3f}" for name, value in costly.items())
        lines.append([f"{title(less)} → {title(richer)}", f"{-lost.mean():+.3f}", str(len(costly)), text])
    return (
        "## More statements\n\nGain on rows that neither situation mentions; the richer one has the statements of the "
        "other.\n\n" + rows_of(["step", "mean gain", "tables that lose more than .01", "loss"], lines)
    )


def costs(grid: Grid) -> str:
    """Show errors and CPU time."""
    lines = []
    for name in grid.methods:
        its_own = grid.trials[grid.trials["method"] == name]
        seconds = its_own["CPU seconds"]
        where = its_own.loc[seconds.idxmax()]
        lines.append([
            name, f"{its_own['gave up'].sum():.0f} of {len(its_own)}", f"{seconds.median():.2f}",
            f"{seconds.mean():.2f}", f"{seconds.max():.1f} ({where['set']}, {where['situation']})",
        ])  # fmt: skip
    header = ["method", "errors", "CPU seconds: median", "mean", "highest"]
    return "## Errors and time\n\n" + rows_of(header, lines)


# --- figure -----------------------------------------------------------------------------------------------------------


def draw(grid: Grid, path: Path) -> None:
    """Draw the mean of every method in every situation, and the judged method against the best peer of each table."""
    figure = Figure(figsize=(13, 6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, 2 if grid.is_judged else 1, squeeze=False)[0]
    heat(panels[0], grid.means(RAND).T)
    if grid.is_judged:
        lead(panels[1], grid)
    for axes in panels:
        axes.spines[:].set_visible(False)
    figure.savefig(path, dpi=110, metadata={"Software": None})


def heat(axes: Axes, scores: pd.DataFrame) -> None:
    """Draw methods × situations."""
    values = scores.to_numpy()
    axes.imshow(values, aspect="auto", cmap="YlGnBu", vmin=0, vmax=0.8)
    for row, column in np.ndindex(values.shape):
        value = values[row, column]
        if np.isfinite(value):
            colour = "w" if value > 0.5 else "k"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
    axes.set_yticks(range(len(scores)), scores.index, fontsize=8)
    axes.set_xticks(range(len(scores.columns)), map(title, scores.columns), fontsize=8, rotation=40, ha="right")
    axes.set_title("mean adjusted Rand index on unmentioned rows", fontsize=9)


def lead(axes: Axes, grid: Grid) -> None:
    """Draw a point for each table: the judged method minus the best of all peers there."""
    cells = contested(grid)
    ahead = cells[grid.judged] - cells[grid.peers].max(axis=1)
    shared = [situation for situation in grid.situations if situation in ahead.index]
    for place, situation in enumerate(shared):
        values = np.sort(ahead.loc[situation].to_numpy())
        spread = np.linspace(-0.25, 0.25, len(values)) if len(values) > 1 else np.zeros(1)
        axes.scatter(place + spread, values, s=12, color="#1f6fb2")
        axes.plot([place - 0.3, place + 0.3], [values.mean()] * 2, color="k", linewidth=1)
    axes.axhline(0, color="#9aa0a6", linewidth=0.8)
    axes.axhline(-0.07, color="#9aa0a6", linewidth=0.8, linestyle=":")
    axes.set_xticks(range(len(shared)), map(title, shared), fontsize=8, rotation=40, ha="right")
    axes.set_title(f"{grid.judged} minus the best peer of each table (bars: means; dotted: −.07)", fontsize=9)
