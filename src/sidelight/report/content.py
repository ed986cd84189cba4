"""The values that the report shows, before they are written as a page."""

from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, IntArray
from sidelight._version import __version__
from sidelight._wording import NOISE
from sidelight.couplings.annotators import AnnotatorReport
from sidelight.describe.assignment import (
    Certainty,
    certainty_of,
    clusters_of,
    has_probabilities,
    names_of,
    noise_of,
    posterior_of,
)
from sidelight.describe.columns import ColumnSummary, column_summaries
from sidelight.describe.examples import (
    Histogram,
    Sample,
    cluster_histograms,
    draw_sample,
    telling_columns,
    typical_rows,
    written_cells,
)
from sidelight.describe.profiles import Profiles, cluster_profiles, profile_words
from sidelight.describe.table import FittedTable, fitted_table
from sidelight.report.statements import Statements, read_statements
from sidelight.side import SideInformation
from sidelight.side.parsing.columns import as_vector

_SURE = 0.9
_DOUBTFUL_SHOWN = 15
# Features to name for each cluster: fewer where there are many clusters.
_MANY_CLUSTERS = 8
_WORDS_EACH = 4
_WORDS_OF_MANY = 2
_DOUBTFUL_BELOW = 0.999
# Columns whose cells are shown of typical and of uncertain rows, and as histograms.
_COLUMNS_OF_EXAMPLES = 6


class ClusterSummary(NamedTuple):
    """A cluster: its name, its size, the mean certainty of its rows (None without probabilities), and its profile.

    ``n_labels`` is the number of labels that name it, None where there are no labels; ``typical`` are the name of its
    most typical row and that row's cells.
    """

    name: str
    size: int
    certainty: float | None
    words: list[str]
    n_labels: int | None = None
    typical: tuple[str, list[str]] | None = None


class DoubtfulRow(NamedTuple):
    """An uncertain row: its name, its cluster and the next best one, with their probabilities, and its cells."""

    row: str
    cluster: str
    probability: float
    next_best: str
    next_probability: float
    cells: list[str]


class CertaintySummary(NamedTuple):
    """How certain the assignment is: mean probability, share of rows at .9 or more, and the least certain rows."""

    mean: float
    sure: float
    doubtful: list[DoubtfulRow]
    uses_statements: bool


class Content(NamedTuple):
    """Everything the report shows."""

    title: str
    notes: list[str]
    n_rows: int
    n_columns: int
    columns: list[ColumnSummary]
    statements: Statements
    model: str
    parameters: str
    converged: bool | None
    n_iter: int | None
    clusters: list[ClusterSummary]
    certainty: CertaintySummary | None
    profiles: Profiles | None
    histograms: list[Histogram]
    shown_columns: list[str]
    next_steps: list[str]
    usage: list[str]
    version: str
    annotators: AnnotatorReport | None


def read_content(
    model: Any,
    X: Any,
    side: SideInformation | None,
    ids: Any,
    title: str,
    notes: Any,
    usage: Any,
    next_steps: Any,
) -> Content:
    """Gather everything the report shows; see :func:`sidelight.report.html_report`."""
    table = fitted_table(model, X)
    row_names = _row_names(ids, side, table.n_rows)
    clusters = clusters_of(model, table)
    names = names_of(model, clusters)
    certainty = certainty_of(model, table, clusters) if has_probabilities(model) else None
    by_cluster = None if certainty is None else certainty.by_cluster(clusters, len(names))
    sizes = np.bincount(clusters, minlength=len(names))
    profiles = cluster_profiles(model, X) if np.count_nonzero(sizes) > 1 else None
    words = _words(profiles, len(names))
    shown = telling_columns(table, profiles, _COLUMNS_OF_EXAMPLES)
    sample = draw_sample(table, clusters, shown) if shown else None
    typical = _typical(table, sample, len(names), row_names)
    labels = _labels_by_cluster(side, names)
    return Content(
        title=title,
        notes=list(dict.fromkeys(str(note) for note in notes)),
        n_rows=table.n_rows,
        n_columns=len(table.names),
        columns=column_summaries(table),
        statements=read_statements(model, side, clusters, names, row_names),
        model=type(model).__name__,
        parameters=repr(model) if hasattr(model, "get_params") else "",
        converged=getattr(model, "converged_", None),
        n_iter=getattr(model, "n_iter_", None),
        clusters=[
            ClusterSummary(
                name,
                int(sizes[cluster]),
                float(by_cluster[cluster]) if by_cluster is not None and sizes[cluster] else None,
                words.get(cluster, []),
                None if labels is None else labels[cluster],
                typical[cluster],
            )
            for cluster, name in enumerate(names)
        ],
        certainty=None if certainty is None else _certainty(certainty, model, table, clusters, names, row_names, shown),
        profiles=profiles,
        histograms=[] if sample is None else cluster_histograms(table, sample, len(names)),
        shown_columns=[table.names[column] for column in shown],
        next_steps=_next_steps(model) if next_steps is None else [str(line) for line in next_steps],
        usage=_usage(model) if usage is None else [str(line) for line in usage],
        version=__version__,
        annotators=getattr(model, "annotation_report_", None),
    )


def align_side(side: SideInformation | None, ids: Any, n: int) -> SideInformation | None:
    """Return the side information of the rows of the table, matched by ids where both have them."""
    if side is None:
        return None
    if not isinstance(side, SideInformation):
        raise TypeError(
            f"side must be a SideInformation, not {type(side).__name__}; make one with SideInformation.build."
        )
    if side.ids is not None and ids is not None:
        return side.align(ids)
    if side.n_rows != n:
        raise ValueError(
            f"side has {side.n_rows} rows, but X has {n}; pass ids (and build side with sample_id) so that rows "
            "are found by name."
        )
    return side


def _row_names(ids: Any, side: SideInformation | None, n: int) -> AnyArray | None:
    if ids is not None:
        return as_vector(ids, "ids", n)
    return None if side is None else side.ids


def _certainty(
    certainty: Certainty,
    model: Any,
    table: FittedTable,
    clusters: IntArray,
    names: list[str],
    row_names: AnyArray | None,
    shown: list[int],
) -> CertaintySummary:
    """Return how certain the assignment is on average, and the least certain rows."""
    values = certainty.values
    few = min(_DOUBTFUL_SHOWN, len(values))
    rows = np.sort(np.argpartition(values, few - 1)[:few])
    rows = rows[np.argsort(values[rows], kind="stable")]
    rows = rows[values[rows] < _DOUBTFUL_BELOW]
    doubtful = []
    if len(rows) and len(names) > 1:
        posterior = posterior_of(model, table, rows).copy()
        posterior[np.arange(len(rows)), clusters[rows]] = -1.0
        written = written_cells(table, rows.tolist(), shown)
        for row, others, cells in zip(rows.tolist(), posterior, written, strict=True):
            other, own = int(others.argmax()), names[clusters[row]]
            called = _row_name(row, row_names)
            doubtful.append(DoubtfulRow(called, own, float(values[row]), names[other], float(others[other]), cells))
    return CertaintySummary(float(values.mean()), float((values >= _SURE).mean()), doubtful, certainty.uses_statements)


def _row_name(row: int, row_names: AnyArray | None) -> str:
    return str(row) if row_names is None else str(row_names[row])


def _typical(
    table: FittedTable, sample: Sample | None, n_clusters: int, row_names: AnyArray | None
) -> list[tuple[str, list[str]] | None]:
    """Return the most typical row of each cluster, its name and cells."""
    if sample is None:
        return [None] * n_clusters
    rows = typical_rows(table, sample, n_clusters)
    known = [row for row in rows if row is not None]
    written = dict(zip(known, written_cells(table, known, sample.columns), strict=True))
    return [None if row is None else (_row_name(row, row_names), written[row]) for row in rows]


def _labels_by_cluster(side: SideInformation | None, names: list[str]) -> list[int] | None:
    """Return how many rows have the name of each cluster as their label; None where no row has a label."""
    if side is None or not (side.labels >= 0).any():
        return None
    numbers = np.bincount(side.labels[side.labels >= 0], minlength=len(side.label_names))
    by_name = {str(name): int(number) for name, number in zip(side.label_names, numbers, strict=True)}
    return [by_name.get(name, 0) for name in names]


def _next_steps(model: Any) -> list[str]:
    """Return the lines of Python that ask about more pairs of rows."""
    if not has_probabilities(model):
        return []
    return [
        "from sidelight.asking import informative_pairs",
        "",
        "questions = informative_pairs(model, X)  # the pairs of rows whose answers would teach the most",
        "# judge each pair, add what you found to must_link and cannot_link, and fit again",
    ]


def _words(profiles: Profiles | None, n_clusters: int) -> dict[int, list[str]]:
    """Return the words for each cluster that has rows, by its number."""
    if profiles is None:
        return {}
    most = _WORDS_EACH if n_clusters <= _MANY_CLUSTERS else _WORDS_OF_MANY
    return {
        cluster: profile_words(profiles, place, most=most) for place, cluster in enumerate(profiles.clusters.tolist())
    }


def _usage(model: Any) -> list[str]:
    """Return the lines of Python that assign new rows with a saved model."""
    lines = [
        "import sidelight",
        "",
        'model = sidelight.load("model")  # the folder that sidelight.save(model, "model") wrote',
        "clusters = model.predict(new_rows)  # a table with the same columns",
        "names = model.cluster_names_[clusters]",
    ]
    if noise_of(model) is not None:
        lines[-1] = f'names = [model.cluster_names_[cluster] if cluster >= 0 else "{NOISE}" for cluster in clusters]'
    if hasattr(model, "predict_proba"):
        lines.append("certainty = model.predict_proba(new_rows).max(axis=1)")
    return lines
