"""What a fit found, in words for people and in plain values for programs."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table

from sidelight._version import __version__
from sidelight.cli.statements.links import LinksFile
from sidelight.cli.tables.columns import Found
from sidelight.metrics import Violations
from sidelight.side import SideInformation

KINDS = {"gaussian": "numbers", "poisson": "counts", "bernoulli": "yes or no", "categorical": "categories"}


def found_lines(path: Path, found: Found, side: SideInformation, links: Sequence[LinksFile]) -> list[str]:
    """Say what was found in a table, what was left out, and what is known about its rows."""
    lines = [f"{path}: {side.n_rows} rows."]
    for kind, spoken in KINDS.items():
        columns = [_column(name, found, side.n_rows) for name, its in found.kinds.items() if its == kind]
        if columns:
            lines.append(f"{spoken}: {', '.join(columns)}")
    lines.extend(f"left out: {name}, which {why}" for name, why in found.left_out)
    lines.extend(_links_line(file) for file in links)
    lines.append("nothing is known about the rows" if side.is_empty else f"known: {_known(side)}")
    return lines


def summarise(found: Found, side: SideInformation, links: Sequence[LinksFile], model: Any) -> dict[str, Any]:
    """Return what a fit found as plain values."""
    broken: Violations = model.violations_
    posterior = model.posterior_
    certainty = posterior[np.arange(len(posterior)), model.labels_]
    sizes = np.bincount(model.labels_, minlength=len(model.cluster_names_))
    sure = np.bincount(model.labels_, weights=certainty, minlength=len(sizes)) / np.maximum(sizes, 1)
    return {
        "sidelight": __version__,
        "rows": side.n_rows,
        "columns": {name: {"kind": KINDS[kind], "missing": found.missing[name]} for name, kind in found.kinds.items()},
        "left_out": dict(found.left_out),
        "statements": {
            "labels": broken.n_labels,
            "must": broken.n_must_link,
            "cannot": broken.n_cannot_link,
            "unanswered": sum(file.n_open for file in links),
        },
        "broken": {
            "labels": len(broken.labels),
            "must": len(broken.must_link),
            "cannot": len(broken.cannot_link),
        },
        "annotators": _annotators(links, model.labels_),
        "clusters": [
            {"cluster": number, "name": str(name), "rows": int(size), "mean_probability": round(float(mean), 4)}
            for number, (name, size, mean) in enumerate(zip(model.cluster_names_, sizes, sure, strict=True))
        ],
        "converged": bool(model.converged_),
        "steps": int(model.n_iter_),
    }


def summary_table(summary: dict[str, Any], output: Path) -> RenderableType:
    """Return a table of the clusters, and where to find more."""
    table = Table()
    for heading in ("cluster", "name", "rows", "share", "mean probability"):
        table.add_column(heading, justify="left" if heading == "name" else "right")
    for cluster in summary["clusters"]:
        share = f"{cluster['rows'] / summary['rows']:.1%}"
        cells = cluster["cluster"], cluster["name"], cluster["rows"], share, f"{cluster['mean_probability']:.3f}"
        table.add_row(*(str(cell) for cell in cells))
    return Group(table, f"{_broken(summary)}\nwritten to {output}")


def _broken(summary: dict[str, Any]) -> str:
    stated, broken = summary["statements"], summary["broken"]
    n_stated = stated["labels"] + stated["must"] + stated["cannot"]
    if not n_stated:
        return "nothing was known about the rows"
    parts = [f"{broken[kind]} of {stated[kind]} {noun}" for kind, noun in _NOUNS.items() if stated[kind]]
    return f"broken: {', '.join(parts)}"


_NOUNS = {"labels": "labels", "must": "must-links", "cannot": "cannot-links"}


def _column(name: str, found: Found, n: int) -> str:
    missing = found.missing[name]
    return f"{name} ({max(missing / n, 0.001):.1%} missing)" if missing else name


def _known(side: SideInformation) -> str:
    return repr(side).partition(": ")[2].removesuffix(")")


def _links_line(file: LinksFile) -> str:
    n = len(file.judgements)
    unanswered = f"; {file.n_open} unanswered and skipped" if file.n_open else ""
    return f"{file.file.path}: {n} judged pair{'s' if n != 1 else ''}{unanswered}"


def _annotators(links: Sequence[LinksFile], labels: Any) -> dict[str, dict[str, int]]:
    """Return how many links each annotator gave, and how many of them the result breaks."""
    given: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    for file in links:
        for one in file.judgements:
            if one.annotator:
                given[one.annotator] += 1
                broken[one.annotator] += int((labels[one.first] == labels[one.second]) != one.must)
    return {name: {"links": given[name], "broken": broken[name]} for name in sorted(given)}
