"""A summary as a table: in the terminal, as CSV, in Markdown."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sidelight.files.whole import whole_file
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Cell, ReferenceValue, Summary

if TYPE_CHECKING:
    from rich.table import Table

HEADINGS = (
    "method",
    "draws",
    "paper",
    "derived",
    "mean",
    "sd",
    "best",
    "free mean",
    "free sd",
    "one cluster",
    "one cluster free",
    "best in sidelight",
    "its free mean",
    "its free sd",
)
# One cluster for everything, on all rows and on the rows of the column before it, whose classes may be less balanced.
_TRIVIAL, _TRIVIAL_THERE = "one cluster", "one cluster there"


class Row(NamedTuple):
    """A published method in a setting: the paper's number, ours, that of one cluster, and the best of sidelight."""

    setting: tuple[str, ...]
    method: str
    draws: int
    printed: ReferenceValue | None
    derived: ReferenceValue | None
    cell: Cell
    trivial: Cell
    best_name: str
    best_cell: Cell
    measures: tuple[str, ...]

    @property
    def cells(self) -> list[str]:
        """The cells of the CSV, under the names of the settings and HEADINGS."""
        every, free = self.measures[:2]
        numbers = [
            self.cell.mean(every),
            self.cell.sd(every),
            self.cell.best(every),
            self.cell.mean(free),
            self.cell.sd(free),
            self.trivial.mean(every),
            self.trivial.mean(free),
        ]
        return [
            *self.setting,
            self.method,
            str(self.draws),
            _printed(self.printed),
            _printed(self.derived),
            *(f"{number:.4f}" for number in numbers),
            self.best_name,
            f"{self.best_cell.mean(free):.4f}",
            f"{self.best_cell.sd(free):.4f}",
        ]


def rows_of(summary: Summary) -> list[Row]:
    """Return the rows of a summary, one for each published method; other methods appear only as the best."""
    experiment = summary.experiment
    rows = []
    for setting in summary.settings:
        best = summary.best_of_ours(setting)
        for method in experiment.published:
            if (setting, method) not in summary.cells:
                continue
            cell = summary.cells[setting, method]
            rows.append(
                Row(
                    setting=tuple(str(value) for value in setting),
                    method=method,
                    draws=len(cell.values[experiment.measures[0]]),
                    printed=experiment.printed.get((setting, method)),
                    derived=experiment.derived.get((setting, method)),
                    cell=cell,
                    trivial=summary.cells[setting, ONE_CLUSTER],
                    best_name=best,
                    best_cell=summary.cells[setting, best],
                    measures=experiment.measures,
                )
            )
    return rows


def write_csv(summary: Summary, path: Path) -> None:
    """Write the rows; the same summary gives the same bytes."""
    with whole_file(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*summary.experiment.varied, *HEADINGS])
        writer.writerows(row.cells for row in rows_of(summary))


def terminal_table(summary: Summary) -> "Table":
    """Return the rows for the terminal, with the main columns; CSV and page have the rest."""
    from rich.table import Table

    every, free = summary.experiment.measures[:2]
    table = Table(title=f"{summary.experiment.name}: {summary.experiment.title}", title_justify="left")
    for name in (*summary.experiment.varied, "method"):
        table.add_column(name)
    headings = ("paper", every, "best", _TRIVIAL, free, _TRIVIAL_THERE, "best in sidelight", "")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "best in sidelight" else "right")
    for row in rows_of(summary):
        table.add_row(
            *row.setting,
            row.method,
            "" if row.printed is None else f"{row.printed.value:g}",
            _spread(row.cell, every),
            f"{row.cell.best(every):.3f}",
            f"{row.trivial.mean(every):.3f}",
            _spread(row.cell, free),
            f"{row.trivial.mean(free):.3f}",
            row.best_name,
            _spread(row.best_cell, free),
        )
    return table


def markdown_table(summary: Summary) -> str:
    """Return the rows in Markdown."""
    headings, lines = compact(summary)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (headings, ["---"] * len(headings), *lines))


def compact(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return headings and cells of a table to read: means with standard deviations, empty columns left out."""
    every, free = summary.experiment.measures[:2]
    others = summary.experiment.measures[2:]
    headings = [
        *summary.experiment.varied,
        "method",
        "paper",
        "found before",
        every,
        "best",
        _TRIVIAL,
        free,
        _TRIVIAL_THERE,
        *others,
        "best in sidelight (" + free + ")",
    ]
    lines = [
        [
            *row.setting,
            row.method,
            _printed(row.printed),
            _printed(row.derived),
            _spread(row.cell, every),
            f"{row.cell.best(every):.3f}",
            f"{row.trivial.mean(every):.3f}",
            _spread(row.cell, free),
            f"{row.trivial.mean(free):.3f}",
            *(_spread(row.cell, name) for name in others),
            f"{row.best_name} {_spread(row.best_cell, free)}",
        ]
        for row in rows_of(summary)
    ]
    kept = [place for place in range(len(headings)) if any(line[place] for line in lines)]
    return [headings[place] for place in kept], [[line[place] for place in kept] for line in lines]


def _spread(cell: Cell, measure: str) -> str:
    return f"{cell.mean(measure):.3f} ± {cell.sd(measure):.3f}"


def _printed(number: ReferenceValue | None) -> str:
    if number is None:
        return ""
    return f"{number.value:g} (best)" if number.is_best else f"{number.value:g}"
