"""Small tables for notebooks."""

from collections.abc import Iterable, Sequence
from html import escape


def html_table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with a caption; everything in it is plain text.

    Examples
    --------
    >>> html_table("1 & 2", ["a"], [[1]])
    '<table><caption>1 &amp; 2</caption><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(f'<td>{escape(str(cell))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
