"""What a fit found, in words for people and in plain values for programs."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table

from sidelight._typing import FloatArray
from sidelight._version import __version__
from sidelight._wording import cluster_name, count, printable, some_listed
from sidelight.cli.fit_input import FitInput
from sidelight.cli.statements import LinksFile

if TYPE_CHECKING:
    from sidelight.metrics import Violations

# Columns that are left out, and annotators, that are named one by one.
_OMISSIONS_SAID = 20
_ANNOTATORS_SAID = 10
_LINKS_SAID = 5
_STATEMENTS = {"labels": "labels", "must": "must-links", "cannot": "cannot-links"}


class InputLines(NamedTuple):
    """What is said about the input: about the table and its columns, what is remarkable, and what is known of rows."""

    table: list[str]
    remarks: list[str]
    known: str


def input_lines(path: Path, given: FitInput) -> InputLines:
    """Say what was found in a table, which columns are left out, and what the side information is."""
    from sidelight.tables.kinds import all_kinds

    features, side = given.features, given.side
    lines = [f"{path}: {side.n_rows} rows."]
    for kind in all_kinds().values():
        columns = [
            _column(name, features.missing[name], side.n_rows)
            for name, its in features.kinds.items()
            if its == kind.name
        ]
        if columns:
            lines.append(f"{kind.plural}: {some_listed(columns)}")
    remarks = [f"left out: {name}, which {why}" for name, why in features.omissions[:_OMISSIONS_SAID]]
    if len(features.omissions) > _OMISSIONS_SAID:
        more = count(len(features.omissions) - _OMISSIONS_SAID, "more column")
        remarks.append(f"left out: {more}; summary.json says why")
    remarks.extend(_links_line(file) for file in given.links)
    remarks.extend(file.line for file in given.authored)
    known = "without labels and links (--label-column, --links)" if side.is_empty else f"known: {side.summary()}"
    return InputLines(lines, remarks, known)


def scale_lines(model: Any) -> list[str]:
    """Say which columns a model took on another scale."""
    columns: dict[str, list[str]] = {}
    for name, power in getattr(model, "column_powers_", {}).items():
        columns.setdefault(power.words, []).append(str(name))
    return [f"{words}: {some_listed(names)}" for words, names in columns.items()]


def trust_lines(model: Any) -> list[str]:
    """Say how well a model predicts labels that it has not seen, and which experts it relies on."""
    scores = getattr(model, "held_out_", None)
    if scores is None:
        return []
    lines = []
    if scores.n_labels:
        lines.append(
            f"labels it has not seen: {scores.accuracy:.0%} right (logistic regression {scores.linear_accuracy:.0%}, "
            f"always the largest class {scores.largest_class:.0%})"
        )
    if scores.n_links:
        n_doubtful = int(scores.doubtful_links.sum())
        lines.append(f"links that are probably wrong: {n_doubtful} of {scores.n_links}{_first_doubtful(model)}")
    total = sum(model.expert_weights_.values())
    trusted = sorted(model.expert_weights_.items(), key=lambda item: -item[1])
    return [*lines, "it relies on: " + ", ".join(f"{name} {weight / total:.0%}" for name, weight in trusted)]


def _first_doubtful(model: Any) -> str:
    """Return the first of the links that are probably wrong, in words; empty where there are none."""
    suspicions = model.violations_.suspicions
    ids = None if suspicions is None else suspicions.doubtful_ids
    if ids is None or not len(ids):
        return ""
    named = "; ".join(f"{first} and {second}" for first, second in ids[:_LINKS_SAID].tolist())
    return f": {named}{'; … (summary.json has all)' if len(ids) > _LINKS_SAID else ''}"


def annotator_lines(model: Any) -> list[str]:
    """Say how reliable each annotator is, as far as that was learned; the least reliable first."""
    found = sorted(getattr(model, "annotators_", []), key=lambda row: row.reliability)
    lines = [
        f"annotator {row.annotator}: {row.reliability:.0%} right ({row.low:.0%} to {row.high:.0%}, "
        f"{row.n_statements} statements){'; ' * bool(row.remark)}{row.remark}"
        for row in found[:_ANNOTATORS_SAID]
    ]
    left = len(found) - len(lines)
    return [*lines, f"{left} more annotators in summary.json"] if left else lines


def _learned(model: Any) -> dict[str, Any]:
    """Return what was learned about annotators as plain values; nothing where there are none."""
    report = getattr(model, "annotation_report_", None)
    if report is None:
        return {}
    return {
        "reliability": [_plain(row) for row in report.annotators],
        "agreement": {
            "labels_alpha": _number(report.label_alpha),
            "pairs_alpha": _number(report.pair_alpha),
            "pairs_of_annotators": [_plain(one) for one in report.agreement],
        },
        "n_doubtful": report.n_doubtful,
        "doubtful": [_plain(one) for one in report.doubtful],
        "ask_again": [_plain(one) for one in report.questions],
        "names": {
            str(who): {str(name): str(own) for name, own in names.items()} for who, names in report.names.items()
        },
    }


def _plain(record: Any) -> dict[str, Any]:
    return {name: _number(value) for name, value in record._asdict().items()}


def _number(value: Any) -> Any:
    """Return a value that JSON has: rounded, lists for tuples, None for what is not a number."""
    if isinstance(value, float):
        return round(value, 4) if np.isfinite(value) else None
    return [_number(part) for part in value] if isinstance(value, tuple) else value


def summarise(given: FitInput, model: Any, probability: FloatArray) -> dict[str, Any]:
    """Return what a fit found as plain values; the probability (n,) is that of the cluster of each row."""
    from sidelight.tables.kinds import kind_named

    features, violations = given.features, model.violations_
    # Noise, -1, is counted first.
    n_clusters = len(model.cluster_names_)
    sizes = np.bincount(model.labels_ + 1, minlength=n_clusters + 1)
    means = np.bincount(model.labels_ + 1, weights=probability, minlength=n_clusters + 1) / np.maximum(sizes, 1)
    numbers = range(-1 if hasattr(model, "noise_weight_") else 0, n_clusters)
    return {
        "sidelight": __version__,
        "rows": given.side.n_rows,
        "columns": {
            name: {"kind": kind_named(kind).plural, "missing": features.missing[name]}
            for name, kind in features.kinds.items()
        },
        "left_out": dict(features.omissions),
        **_violations(violations, given.links),
        **_doubtful_links(violations),
        "annotators": _annotators(given.links, model.labels_),
        **_learned(model),
        "clusters": [
            {
                "cluster": number,
                "name": cluster_name(model.cluster_names_, number),
                "rows": int(sizes[number + 1]),
                "mean_probability": round(float(means[number + 1]), 4),
            }
            for number in sorted(numbers, key=lambda number: number < 0)
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
        table.add_row(*(printable(str(cell)) for cell in cells))
    return Group(table, f"{_broken(summary)}written to {printable(str(output))}")


def _broken(summary: dict[str, Any]) -> str:
    """Return a line about the statements that the result breaks; empty where there are none."""
    stated, broken = summary["statements"], summary["broken"]
    n_stated = stated["labels"] + stated["must"] + stated["cannot"]
    if not n_stated and "reliability" in summary:
        return f"statements of annotators that are probably wrong: {summary['n_doubtful']}\n"
    if not n_stated:
        return ""
    parts = [f"{broken[kind]} of {stated[kind]} {noun}" for kind, noun in _STATEMENTS.items() if stated[kind]]
    return f"broken: {', '.join(parts)}\n"


def _column(name: str, n_missing: int, n: int) -> str:
    return f"{name} ({max(n_missing / n, 0.001):.1%} missing)" if n_missing else name


def _violations(violations: "Violations", links: Sequence[LinksFile]) -> dict[str, dict[str, int]]:
    """Return the numbers of statements of each kind, and of those that the result breaks."""
    return {
        "statements": {
            "labels": violations.n_labels,
            "must": violations.n_must_link,
            "cannot": violations.n_cannot_link,
            "unanswered": sum(file.n_unanswered for file in links),
        },
        "broken": {
            "labels": len(violations.labels),
            "must": len(violations.must_link),
            "cannot": len(violations.cannot_link),
        },
    }


def _doubtful_links(violations: "Violations") -> dict[str, list[dict[str, Any]]]:
    """Return the links that are probably wrong, the most suspicious first; nothing where that is not known."""
    suspicions = violations.suspicions
    if suspicions is None:
        return {}
    pairs = suspicions.doubtful if suspicions.doubtful_ids is None else suspicions.doubtful_ids
    links = zip(pairs.tolist(), suspicions.must_link, suspicions.wrong, strict=False)
    return {
        "doubtful_links": [
            {
                "id_a": str(a),
                "id_b": str(b),
                "relation": "must" if must else "cannot",
                "probably_wrong": _number(float(wrong)),
            }
            for (a, b), must, wrong in links
        ]
    }


def _links_line(file: LinksFile) -> str:
    n = len(file.judgements)
    unanswered = f"; {file.n_unanswered} unanswered and skipped" if file.n_unanswered else ""
    return f"{file.file.path}: {n} judged pair{'s' if n != 1 else ''}{unanswered}"


def _annotators(links: Sequence[LinksFile], labels: Any) -> dict[str, dict[str, int]]:
    """Return how many links each annotator gave, and how many of them the result breaks."""
    n_links: Counter[str] = Counter()
    n_broken: Counter[str] = Counter()
    for file in links:
        for one in file.judgements:
            if one.annotator:
                n_links[one.annotator] += 1
                together = labels[one.first] == labels[one.second] and (one.must or labels[one.first] >= 0)
                n_broken[one.annotator] += int(together != one.must)
    return {name: {"links": n_links[name], "broken": n_broken[name]} for name in sorted(n_links)}
