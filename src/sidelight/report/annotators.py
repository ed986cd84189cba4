"""What the page says about annotators: how reliable each is, which statements are doubtful, and whom to ask again."""

from typing import Any

from sidelight._wording import count, percent
from sidelight.report.markup import folded, paragraph, table, text

_LISTED = 20
_MOST_PAIRS = 30


def annotators_part(report: Any) -> str:
    """Return tables of annotators, doubtful statements and questions; nothing without annotators."""
    if report is None:
        return ""
    rows = [
        (
            text(row.annotator),
            percent(row.reliability),
            f"{percent(row.low)} to {percent(row.high)}",
            str(row.n_statements),
            text(row.remark),
        )
        for row in sorted(report.annotators, key=lambda row: row.reliability)
    ]
    headings = ("annotator", "right", "with a probability of 95 % between", "statements", "remarkable")
    reliability = table(headings, rows, numbers=(1, 2, 3))
    parts = ["<h3>How reliable annotators are</h3>"]
    parts.append(reliability if len(rows) <= _LISTED else folded(count(len(rows), "annotator"), reliability))
    parts.append(_agreement(report))
    parts.append(_names(report))
    parts.append(_doubtful(report))
    parts.append(_questions(report))
    return "".join(parts)


def _agreement(report: Any) -> str:
    if not report.agreement:
        return paragraph("Annotators have not judged the same rows or pairs, so there is no agreement to count.")
    rows = [
        (
            text(one.first),
            text(one.second),
            str(one.n_common),
            percent(one.observed),
            percent(one.expected),
            f"{one.kappa:.2f}",
        )
        for one in report.agreement[:_MOST_PAIRS]
    ]
    headings = ("annotator", "and", "judged by both", "agree", "by chance", "beyond chance (κ)")
    return folded("How often annotators agree", table(headings, rows, numbers=(2, 3, 4, 5)))


def _names(report: Any) -> str:
    rows = [(text(who), text(name), text(own)) for who, names in report.names.items() for name, own in names.items()]
    return "<h3>Names of their own</h3>" + table(("annotator", "says", "means"), rows) if rows else ""


def _doubtful(report: Any) -> str:
    if not report.doubtful:
        return paragraph("No statement of an annotator is more probably wrong than right.")
    rows = [
        (text(_rows(one.rows)), text(one.annotator), text(one.said), text(one.likely), _odds(one.odds))
        for one in report.doubtful[:_LISTED]
    ]
    left = report.n_doubtful - len(rows)
    more = f'<p class="quiet">{count(left, "further statement")} not listed.</p>' if left > 0 else ""
    headings = ("rows", "annotator", "said", "likely", "odds that it is wrong")
    return "<h3>Statements that are probably wrong</h3>" + table(headings, rows, numbers=(4,)) + more


def _questions(report: Any) -> str:
    if not report.questions:
        return ""
    rows = [(text(_rows(one.rows)), text(one.annotator)) for one in report.questions[:_LISTED]]
    return folded("What to ask again, and whom", table(("rows", "annotator"), rows))


def _rows(rows: tuple[Any, ...]) -> str:
    return " – ".join(map(str, rows))


def _odds(odds: float) -> str:
    return f"{odds:.0f} to 1" if odds < 1000 else "more than 1000 to 1"
