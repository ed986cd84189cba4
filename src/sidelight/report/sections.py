"""The sections of the page."""

from sidelight._typing import FloatArray
from sidelight._wording import count, grouped, listed, percent
from sidelight.report.content import Content
from sidelight.report.markup import bar, bars, bullets, folded, paragraph, picture, swatch, table, text
from sidelight.report.pictures import Pictures
from sidelight.report.statements import MOST_BROKEN, StatementKind

_FEATURES_IN_TABLE = 15
# More columns than this are listed only when asked for.
_COLUMNS_SHOWN = 12
_CLUSTERS_IN_HISTOGRAMS = 8


def given_section(content: Content) -> str:
    """Return the table, its columns, the statements about its rows, and the notes."""
    kinds: dict[str, int] = {}
    for column in content.columns:
        kinds[column.kind] = kinds.get(column.kind, 0) + 1
    parts = [paragraph(f"A table of {count(content.n_rows, 'row')} and {count(content.n_columns, 'column')}.")]
    rows = [
        (
            text(column.name),
            text(column.kind),
            text(column.holds),
            percent(column.missing) if column.missing else "none",
        )
        for column in content.columns
    ]
    columns = table(("column", "kind", "holds", "missing"), rows, numbers=(3,))
    left = content.n_columns - len(content.columns)
    if left:
        columns += f'<p class="quiet">{text(count(left, "further column"))} not listed.</p>'
    summary = f"The columns ({listed([f'{number} × {kind}' for kind, number in kinds.items()])})"
    parts.append(columns if len(rows) <= _COLUMNS_SHOWN else folded(summary, columns))
    parts.append("<h3>Statements about the rows</h3>")
    lines = content.statements.lines
    parts.append(bullets(lines) if lines else paragraph("None: the clusters come from the table alone."))
    if content.notes:
        parts.append(f"<h3>Notes</h3>{bullets(content.notes)}")
    return "".join(parts)


def found_section(content: Content, pictures: Pictures, colours: FloatArray) -> str:
    """Return the clusters, their sizes and their picture."""
    largest = max(cluster.size for cluster in content.clusters)
    has_certainty = content.certainty is not None
    n_labels = sum(cluster.n_labels or 0 for cluster in content.clusters)
    rows = []
    for cluster, colour in zip(content.clusters, colours, strict=True):
        cells = [
            swatch(colour) + text(cluster.name),
            grouped(cluster.size),
            percent(cluster.size / content.n_rows),
            bar(cluster.size / largest, colour),
        ]
        if n_labels:
            named = cluster.n_labels or 0
            cells.extend((grouped(named), percent(named / n_labels)))
        if has_certainty:
            cells.append("–" if cluster.certainty is None else f"{cluster.certainty:.3f}")
        rows.append(cells)
    headings = ["cluster", "rows", "share", ""]
    headings += ["labels", "share of labels"] if n_labels else []
    headings += ["mean certainty"] if has_certainty else []
    sizes = table(headings, rows, numbers=(1, 2, *range(4, len(headings))))
    described = (
        "Rows coloured by cluster; the paler, the less certain. Rings mark labels, lines join linked rows, red marks "
        "broken statements."
    )
    course = (
        ""
        if pictures.convergence is None
        else folded(
            "The course of the fit", picture(pictures.convergence, "What the fit reached, iteration by iteration.")
        )
    )
    return paragraph(_course(content)) + sizes + picture(pictures.clusters, described) + course


def _course(content: Content) -> str:
    """Return the name of the model and whether its fit converged."""
    words = f"Fitted by {content.model}"
    if content.converged is None or content.n_iter is None:
        return f"{words}."
    if content.converged:
        return f"{words}, which converged after {count(content.n_iter, 'iteration')}."
    return (
        f"{words}, which was still changing after {count(content.n_iter, 'iteration')}: raise max_iter and fit again."
    )


def profiles_section(content: Content, pictures: Pictures, colours: FloatArray) -> str:
    """Return the profile of each cluster: in words, as a picture and as numbers, typical rows and histograms."""
    if content.profiles is None or pictures.profiles is None:
        words = "There is one cluster only, so there is no other to compare it with."
        return paragraph(words) + _histograms(content, colours)
    items = "".join(
        f"<dt>{text(cluster.name)}</dt><dd>"
        + (text("; ".join(cluster.words)) if cluster.words else "nothing sets its rows apart from the rest")
        + ".</dd>"
        for cluster in content.clusters
        if cluster.size
    )
    shown = content.profiles.most_telling(_FEATURES_IN_TABLE)
    rows = []
    for place, feature in enumerate(shown.features):
        values = shown.inside[:, place]
        scale = float(abs(values).max())
        cells = [feature.comparison.write_value(value, scale) for value in values.tolist()]
        rows.append([text(feature.name), *cells])
    columns = range(1, len(shown.names) + 1)
    weighed = (
        "Each row counts for a cluster by its probability."
        if shown.weighted_by != "clusters"
        else "Each row counts for its own cluster."
    )
    described = (
        "How far the rows of a cluster are from all others: red where they have more, blue where they have less. "
        "Written are standard deviations (sd) of numbers, percentage points (pp) of shares, and ratios of counts."
    )
    values_table = table(["mean or share", *shown.names], rows, numbers=list(columns))
    return (
        f"<dl>{items}</dl>"
        + _typical_rows(content, colours)
        + _histograms(content, colours)
        + picture(pictures.profiles, f"{described} {weighed}")
        + folded("The values behind the picture", values_table)
    )


def _typical_rows(content: Content, colours: FloatArray) -> str:
    """Return the most typical row of each cluster, with its cells."""
    rows = [
        [swatch(colour) + text(cluster.name), text(cluster.typical[0]), *map(text, cluster.typical[1])]
        for cluster, colour in zip(content.clusters, colours, strict=True)
        if cluster.typical is not None
    ]
    if not rows:
        return ""
    heading = "<h3>A typical row of each cluster</h3>"
    return heading + table(("cluster", "row", *content.shown_columns), rows)


def _histograms(content: Content, colours: FloatArray) -> str:
    """Return how the cells of the most telling columns are distributed in each cluster; the largest clusters only."""
    if not content.histograms:
        return ""
    order = sorted(range(len(content.clusters)), key=lambda number: -content.clusters[number].size)
    shown = sorted(number for number in order[:_CLUSTERS_IN_HISTOGRAMS] if content.clusters[number].size)
    rows = []
    for histogram in content.histograms:
        ends = text(histogram.bins[0].partition(" to ")[0]), text(histogram.bins[-1].rpartition(" to ")[2])
        between = f"{ends[0]} … {ends[1]}" if len(histogram.bins) > 1 else ends[0]
        cells = [
            bars(histogram.bins, histogram.counts[number].tolist(), colours[number], content.clusters[number].name)
            for number in shown
        ]
        rows.append([f'{text(histogram.column)}<div class="quiet">{between}</div>', *cells])
    headings = ("column", *(content.clusters[number].name for number in shown))
    words = "Shares of the rows of each cluster; hold the pointer over a bar to read it."
    if len(shown) < len(content.clusters):
        words += f" The {len(shown)} largest clusters are shown."
    return f'<h3>Columns by cluster</h3><p class="quiet">{text(words)}</p>' + table(headings, rows)


def certainty_section(content: Content, pictures: Pictures) -> str:
    """Return how certain the assignment is, and the least certain rows."""
    certainty = content.certainty
    if certainty is None:
        return paragraph(f"{content.model} puts every row in one cluster and gives no probabilities.")
    words = (
        f"The cluster of a row has a probability of {certainty.mean:.3f} on average; for {percent(certainty.sure)} of "
        "the rows it is .9 or more."
    )
    if not certainty.uses_statements:
        words += " These probabilities come from the model alone, without the statements about the rows."
    parts = [paragraph(words)]
    if pictures.membership is not None:
        described = (
            "Rows against clusters, sorted by cluster, the most certain at the top of each: the deeper the colour, the "
            "more probable. Where a cluster fades, other columns show where its rows might belong."
        )
        parts.append(picture(pictures.membership, described))
    if certainty.doubtful:
        rows = [
            (
                text(row.row),
                text(row.cluster),
                f"{row.probability:.3f}",
                text(row.next_best),
                f"{row.next_probability:.3f}",
                *map(text, row.cells),
            )
            for row in certainty.doubtful
        ]
        parts.append("<h3>The least certain rows</h3>")
        headings = ("row", "cluster", "probability", "next best", "probability", *content.shown_columns)
        parts.append(table(headings, rows, numbers=(2, 4)))
    else:
        parts.append(paragraph("No row is in doubt."))
    return "".join(parts)


def broken_section(content: Content) -> str:
    """Return the statements that the result breaks."""
    statements = content.statements
    if not statements.n_stated and content.annotators is not None:
        return paragraph("All statements are those of annotators, who may err: what is doubtful about them is below.")
    if not statements.n_stated:
        return paragraph("None: there are no statements about the rows.")
    if not statements.n_broken:
        return paragraph(f"None: the result respects {_all_of(statements.n_stated)}.")
    return paragraph(
        f"{grouped(statements.n_broken)} of {count(statements.n_stated, 'statement')}. Either the statement or "
        "the cluster may be wrong: these rows are worth a look."
    ) + "".join(_broken_kind(kind) for kind in statements.kinds if kind.n_broken)


def _all_of(number: int) -> str:
    return "the one statement" if number == 1 else f"all {grouped(number)} statements"


def _broken_kind(kind: StatementKind) -> str:
    rows = [(text(statement.rows), text(statement.statement), text(statement.found)) for statement in kind.broken]
    heading = f"<h3>{grouped(kind.n_broken)} of {text(count(kind.n_stated, kind.kind))}</h3>"
    left = kind.n_broken - len(rows)
    more = f'<p class="quiet">{grouped(left)} more not listed; the first {MOST_BROKEN} are.</p>' if left else ""
    return heading + table(("rows" if kind.kind.endswith("link") else "row", "statement", "result"), rows) + more


def next_section(content: Content) -> str:
    """Return how to say more about the rows, so that the next fit knows more."""
    if not content.next_steps:
        return paragraph("Label some rows, or say which belong together and which do not, and fit again.")
    words = (
        "If a cluster is not what you expect, a few judgements help more than a longer fit. These lines choose the "
        "pairs of rows whose answers, same class or not, would teach the most."
    )
    return paragraph(words) + f"<pre>{text(chr(10).join(content.next_steps))}</pre>"


def usage_section(content: Content) -> str:
    """Return how to assign new rows, and the parameters of the model."""
    return f"<pre>{text(chr(10).join(content.usage))}</pre>" + folded(
        "How the model was set up", f"<pre>{text(content.parameters)}</pre>"
    )
