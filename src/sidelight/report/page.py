"""The report as one HTML page that needs no other file."""

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from sidelight._wording import count, grouped, listed, percent
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.plots.figures import cluster_colours, require_matplotlib
from sidelight.report.annotators import annotators_part
from sidelight.report.content import Content, align_side, read_content
from sidelight.report.markup import section, text
from sidelight.report.pictures import Pictures, draw_pictures
from sidelight.report.sections import (
    broken_section,
    certainty_section,
    found_section,
    given_section,
    next_section,
    profiles_section,
    usage_section,
)
from sidelight.side import SideInformation

# The page may show the pictures it contains, and load nothing else.
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
# Address, short and full heading.
_SECTIONS = (
    ("given", "Given", "What was given"),
    ("found", "Found", "What was found"),
    ("profiles", "Profiles", "What makes each cluster"),
    ("certainty", "Certainty", "How certain it is"),
    ("statements", "Broken statements", "Statements the result breaks"),
    ("next", "Next", "What to do next"),
    ("usage", "New rows", "Using the model on new rows"),
)


def html_report(
    model: Any,
    X: Any,
    *,
    side: SideInformation | None = None,
    ids: Any = None,
    title: str = "What clustering found",
    notes: Iterable[str] = (),
    usage: Iterable[str] | None = None,
    next_steps: Iterable[str] | None = None,
) -> str:
    """Return a report on a fitted model as one HTML page.

    The page needs no network and no other file: open it by double click, print it, send it. The same input gives the
    same bytes.

    Parameters
    ----------
    model : fitted estimator
        It has been fitted to the table.
    X : (n, d) array, sparse array or data frame
        The table it was fitted to.
    side : SideInformation, optional
        The labels, links and blocks given. Without it, the statements are counted, but not all of them can be quoted.
    ids : (n,) column, optional
        Names of the rows in the report; by default those of ``side``, or row numbers from 0. Where both are given,
        the rows of ``side`` are found by their ids.
    title : str
        The heading of the page.
    notes : iterable of str
        Further remarks on the data, such as columns that were left out.
    usage : iterable of str, optional
        Lines that show how to assign new rows; by default lines of Python that load a saved model.
    next_steps : iterable of str, optional
        Lines that show how to say more about the rows; by default lines of Python that choose pairs to ask about.

    Returns
    -------
    str
        To be written to a file as UTF-8.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import LabelledMixture
    >>> X = load_iris().data
    >>> page = html_report(LabelledMixture(3, random_state=0).fit(X), X, title="Iris")
    >>> page.startswith("<!DOCTYPE html>"), "150 rows" in page
    (True, True)
    """
    require_matplotlib()
    rows = len(model.labels_) if hasattr(model, "labels_") else X.shape[0]
    known = align_side(side, ids, rows)
    # Its matrices are small: more threads of BLAS would wait for each other, which takes time of the processor.
    with one_blas_thread():
        content = read_content(model, X, known, ids, title, notes, usage, next_steps)
        pictures = draw_pictures(model, X, known, content.profiles)
    return write_page(content, pictures)


def write_page(content: Content, pictures: Pictures) -> str:
    """Return the page."""
    colours = cluster_colours(len(content.clusters))
    bodies = (
        given_section(content),
        found_section(content, pictures, colours),
        profiles_section(content, pictures, colours),
        certainty_section(content, pictures),
        broken_section(content) + annotators_part(content.annotators),
        next_section(content),
        usage_section(content),
    )
    sections = "\n".join(
        section(name, heading, body) for (name, _, heading), body in zip(_SECTIONS, bodies, strict=True)
    )
    links = " ".join(f'<a href="#{name}">{text(short)}</a>' for name, short, _ in _SECTIONS)
    style = files("sidelight.report").joinpath("style.css").read_text(encoding="utf-8")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(content.title)}</title>
<link rel="icon" href="data:,">
<style>
{style}</style>
</head>
<body>
<header>
<h1>{text(content.title)}</h1>
{_lead(content)}
<nav>{links}</nav>
</header>
<main>
{sections}
</main>
<footer>Written by sidelight {text(content.version)}.</footer>
</body>
</html>
"""


def _lead(content: Content) -> str:
    """Return the first sentence of the page and its key figures."""
    filled = [cluster for cluster in content.clusters if cluster.size]
    names = [cluster.name for cluster in filled]
    shown = listed(names) if len(names) <= 8 else f"{', '.join(names[:7])} and {len(names) - 7} more"
    words = f"{count(content.n_rows, 'row')} fall into {count(len(filled), 'cluster')}: {shown}."
    tiles = [
        ("", grouped(content.n_rows), "row" if content.n_rows == 1 else "rows"),
        ("", grouped(len(filled)), "cluster" if len(filled) == 1 else "clusters"),
    ]
    if content.certainty is not None:
        tiles.append(("", percent(content.certainty.sure), "of the rows at probability .9 or more"))
    statements = content.statements
    if statements.n_stated:
        kind = "broken" if statements.n_broken else ""
        tiles.append((kind, grouped(statements.n_broken), f"of {count(statements.n_stated, 'statement')} broken"))
    items = "".join(
        f'<li class="{kind}"><b>{text(number)}</b><span>{text(what)}</span></li>' for kind, number, what in tiles
    )
    return f'<p class="lead">{text(words)}</p><ul class="tiles">{items}</ul>'
