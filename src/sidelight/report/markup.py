"""Pieces of HTML; all text from outside is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

_BARS_WIDTH, _BARS_HEIGHT = 112, 40
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


def bars(names: Sequence[str], counts: Sequence[int], colour: Sequence[float], of: str) -> str:
    """Return a small histogram; the pointer over a bar shows its name and the rows that it stands for."""
    total, most = max(sum(counts), 1), max(*counts, 1)
    width = _BARS_WIDTH / len(counts)
    drawn = []
    for place, (name, number) in enumerate(zip(names, counts, strict=True)):
        high = _BARS_HEIGHT * number / most
        told = text(f"{of}, {name}: {number} of {total} rows ({100 * number / total:.0f} %)")
        left = f'x="{place * width:.1f}" width="{max(width - 1, 1):.1f}"'
        # The invisible bar of full height makes low ones easy to point at.
        drawn.append(
            f'<g><title>{told}</title><rect {left} y="0" height="{_BARS_HEIGHT}" fill="transparent"/>'
            f'<rect {left} y="{_BARS_HEIGHT - high:.1f}" height="{high:.1f}" fill="{_rgb(colour)}"/></g>'
        )
    size = f'viewBox="0 0 {_BARS_WIDTH} {_BARS_HEIGHT}" width="{_BARS_WIDTH}" height="{_BARS_HEIGHT}"'
    label = text(f"histogram of {of}")
    return f'<svg class="bars" {size} role="img" aria-label="{label}">{"".join(drawn)}</svg>'


def _rgb(colour: Sequence[float]) -> str:
    return f"rgb({','.join(str(round(255 * part)) for part in colour)})"
