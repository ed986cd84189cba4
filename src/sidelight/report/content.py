"""What the report says, before it is written as a page."""

from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight._version import __version__
from sidelight.describe.assignment import certainty_of, clusters_of, has_probabilities, names_of, posterior_of
from sidelight.describe.columns import ColumnSummary, column_summaries
from sidelight.describe.table import Table, table_of
from sidelight.plots import Profiles, cluster_profiles, profile_words
from sidelight.report.statements import Statements, read_statements
from sidelight.side import SideInformation
from sidelight.side.parsing import as_vector

_SURE = 0.9
_DOUBTFUL_SHOWN = 15
# Features to speak of for each cluster: fewer where there are many clusters to read about.
_MANY_CLUSTERS = 8
_WORDS_EACH = 4
_WORDS_OF_MANY = 2
_DOUBTFUL_BELOW = 0.999


class ClusterSummary(NamedTuple):
    """A cluster: its name, size, how sure its rows are (None where the model does not say), and what makes it."""

    name: str
    size: int
    certainty: float | None
    words: list[str]


class DoubtfulRow(NamedTuple):
    """A row that might be elsewhere: its name, its cluster and the next best, with their probabilities."""

    row: str
    cluster: str
    probability: float
    next_best: str
    next_probability: float


class Sureness(NamedTuple):
    """How sure the model is.

    Parameters
    ----------
    mean : float
        Mean probability of the rows' clusters.
    sure : float
        Share of rows whose cluster has probability .9 or more.
    doubtful : list of DoubtfulRow
        The least certain rows.
    uses_statements : bool
        Whether the probabilities use what is known about the rows.
    """

    mean: float
    sure: float
    doubtful: list[DoubtfulRow]
    uses_statements: bool


class Content(NamedTuple):
    """Everything the report says."""

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
    sureness: Sureness | None
    profiles: Profiles | None
    usage: list[str]
    version: str


def read_content(
    model: Any,
    X: Any,
    side: SideInformation | None,
    ids: Any,
    title: str,
    notes: Any,
    usage: Any,
) -> Content:
    """Find out what is to be said; see :func:`sidelight.report.html_report`."""
    table = table_of(model, X)
    row_names = _row_names(ids, side, table.n_rows)
    clusters = clusters_of(model, table)
    names = names_of(model, clusters)
    sureness, by_cluster = _sureness(model, table, clusters, names, row_names)
    sizes = np.bincount(clusters, minlength=len(names))
    profiles = cluster_profiles(model, X) if np.count_nonzero(sizes) > 1 else None
    words = _words(profiles, len(names))
    return Content(
        title=title,
        notes=[str(note) for note in notes],
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
            )
            for cluster, name in enumerate(names)
        ],
        sureness=sureness,
        profiles=profiles,
        usage=_usage(model) if usage is None else [str(line) for line in usage],
        version=__version__,
    )


def align_side(side: SideInformation | None, ids: Any, n: int) -> SideInformation | None:
    """Return what is known about the rows of the table, found by their ids where both sides give them."""
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
            f"side speaks of {side.n_rows} rows, but X has {n}; pass ids (and build side with sample_id) so that rows "
            "are found by name."
        )
    return side


def _row_names(ids: Any, side: SideInformation | None, n: int) -> AnyArray | None:
    if ids is not None:
        return as_vector(ids, "ids", n)
    return None if side is None else side.ids


def _sureness(
    model: Any, table: Table, clusters: IntArray, names: list[str], row_names: AnyArray | None
) -> tuple[Sureness | None, FloatArray | None]:
    """Return how sure the model is, in all and of each cluster; None where it does not say."""
    if not has_probabilities(model):
        return None, None
    values, uses_statements = certainty_of(model, table, clusters)
    sums = np.bincount(clusters, weights=values, minlength=len(names))
    by_cluster = sums / np.maximum(np.bincount(clusters, minlength=len(names)), 1)
    few = min(_DOUBTFUL_SHOWN, len(values))
    rows = np.sort(np.argpartition(values, few - 1)[:few])
    rows = rows[np.argsort(values[rows], kind="stable")]
    rows = rows[values[rows] < _DOUBTFUL_BELOW]
    doubtful = []
    if len(rows) and len(names) > 1:
        posterior = posterior_of(model, table, rows).copy()
        posterior[np.arange(len(rows)), clusters[rows]] = -1.0
        for row, others in zip(rows.tolist(), posterior, strict=True):
            called = str(row) if row_names is None else str(row_names[row])
            other = int(others.argmax())
            own = names[clusters[row]]
            doubtful.append(DoubtfulRow(called, own, float(values[row]), names[other], float(others[other])))
    return Sureness(float(values.mean()), float((values >= _SURE).mean()), doubtful, uses_statements), by_cluster


def _words(profiles: Profiles | None, n_clusters: int) -> dict[int, list[str]]:
    """Return what makes each cluster that has rows, by its number."""
    if profiles is None:
        return {}
    most = _WORDS_EACH if n_clusters <= _MANY_CLUSTERS else _WORDS_OF_MANY
    return {
        cluster: profile_words(profiles, place, most=most) for place, cluster in enumerate(profiles.clusters.tolist())
    }


def _usage(model: Any) -> list[str]:
    """Return the lines of Python that place new rows with a saved model."""
    lines = [
        "import sidelight",
        "",
        'model = sidelight.load("model")  # the folder that sidelight.save(model, "model") wrote',
        "clusters = model.predict(new_rows)  # a table with the same columns",
        "names = model.cluster_names_[clusters]",
    ]
    if hasattr(model, "predict_proba"):
        lines.append("certainty = model.predict_proba(new_rows).max(axis=1)")
    return lines
