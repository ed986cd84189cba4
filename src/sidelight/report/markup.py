"""Pieces of HTML; all text from outside is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

# Control characters are not allowed in HTML.
_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), "�")


def text(words: object) -> str:
    """Return words as escaped HTML."""
    return escape(str(words).translate(_CONTROL).encode("utf-8", "replace").decode("utf-8"), quote=True)


def paragraph(words: object) -> str:
    """Return a paragraph of plain words."""
    return f"<p>{text(words)}</p>"


def bullets(lines: Iterable[object]) -> str:
    """Return a list of plain lines."""
    return f"<ul>{''.join(f'<li>{text(line)}</li>' for line in lines)}</ul>"


def picture(address: str, described: str) -> str:
    """Return a picture with its description, as caption and as alternative text."""
    return f'<figure><img src="{address}" alt="{text(described)}"><figcaption>{text(described)}</figcaption></figure>'


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[int] = ()) -> str:
    """Return a table; cells are HTML, headings are plain words, columns of numbers are aligned to the right."""
    kinds = [' class="number"' if column in numbers else "" for column in range(len(headings))]
    head = "".join(f"<th{kind}>{text(heading)}</th>" for heading, kind in zip(headings, kinds, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{kind}>{cell}</td>' for cell, kind in zip(row, kinds, strict=True))}</tr>" for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def folded(summary: str, content: str) -> str:
    """Return content that opens on a click."""
    return f"<details><summary>{text(summary)}</summary>{content}</details>"


def section(name: str, heading: str, content: str) -> str:
    """Return a section with its own address on the page."""
    return f'<section id="{name}"><h2>{text(heading)}</h2>{content}</section>'


def swatch(colour: Sequence[float]) -> str:
    """Return a spot of colour (red, green, blue)."""
    return f'<span class="swatch" style="background:{_rgb(colour)}"></span>'


def bar(share: float, colour: Sequence[float]) -> str:
    """Return a bar as long as a share."""
    return f'<span class="bar"><span style="width:{100 * share:.1f}%;background:{_rgb(colour)}"></span></span>'


def _rgb(colour: Sequence[float]) -> str:
    return f"rgb({','.join(str(round(255 * part)) for part in colour)})"
