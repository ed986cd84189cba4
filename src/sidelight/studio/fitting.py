"""One refit: from the statements to clusters as they are shown, their map, and the questions to ask next."""

import base64
import io
import json
import tempfile
import time
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from sidelight import GuidedMixture
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight._wording import count
from sidelight.describe.examples import cluster_histograms, draw_sample, telling_columns, typical_rows
from sidelight.describe.profiles import Profiles, cluster_profiles, profile_words
from sidelight.describe.table import fitted_table
from sidelight.metrics import Violations, violations
from sidelight.persistence import write_model
from sidelight.side import SideInformation
from sidelight.studio.choosing import Prepared, prepare
from sidelight.studio.identity import Identity, Shown, match, shown_clusters
from sidelight.studio.judging import Doubt, Judged, PairAnswer, Reliability
from sidelight.studio.plane import place_rows
from sidelight.studio.pooling import Extra, pool
from sidelight.studio.table import StudioTable

_COLUMNS_SHOWN = 5
_EXAMPLES = 5
# How many links that are probably wrong are named.
_MOST_DOUBTFUL = 10
# A cluster is compared with the others on a sample of this many rows.
_ROWS_COMPARED = 20_000


class Job(NamedTuple):
    """What a refit is made from.

    ``event`` is the last event that counts; ``aliases`` are of merged clusters, ``locks`` the members of locked ones,
    ``names`` those that annotators gave; ``n_questions`` is how many to prepare.
    """

    number: int
    event: int
    answers: Sequence[PairAnswer]
    extra: Extra
    aliases: Mapping[int, int]
    locks: Mapping[int, str]
    names: Mapping[int, str]
    n_questions: int


class ClusterView(NamedTuple):
    """A cluster as it is shown; histograms are (column, bins, counts inside, counts of all rows)."""

    key: int
    name: str
    size: int
    certainty: float
    words: list[str]
    histograms: list[tuple[str, list[str], list[int], list[int]]]
    typical: list[int]
    doubtful: list[int]
    n_labels: int


class FitSummary(NamedTuple):
    """A fit in figures, kept with the project for good."""

    number: int
    event: int
    n_rows: int
    n_clusters: int
    n_moved: int
    appeared: list[int]
    vanished: list[int]
    certainty: float
    held_out_accuracy: float | None
    n_labels: int
    link_error: float
    n_links: int
    n_broken: int
    gain_of_next: float
    seconds: float
    doubts: list[str]


class Fit(NamedTuple):
    """A refit, ready to be shown.

    Parameters
    ----------
    summary : FitSummary
    identity : Identity
        Of the clusters before merging.
    keys : (k,)
        Of the shown clusters.
    places : (n,)
        The place of each row's cluster among them.
    posterior : (n, k) float32
    points : (n, 2) float32
        Where rows are on the map, within −1 and 1.
    clusters : list of ClusterView
    prepared : Prepared
        Questions.
    broken_links : list of pairs
        Statements that the clusters break.
    broken_labels : list of int
    contradictions : list of pairs
        Answers that contradict each other.
    judged : Judged
        How reliable annotators are.
    model : bytes
        The folder of the model as a zip archive; empty for a fit that was read from a store.
    """

    summary: FitSummary
    identity: Identity
    keys: IntArray
    places: IntArray
    posterior: AnyArray
    points: AnyArray
    clusters: list[ClusterView]
    prepared: Prepared
    broken_links: list[tuple[int, int]]
    broken_labels: list[int]
    contradictions: list[tuple[int, int]]
    judged: Judged
    model: bytes

    def chance_same(self, first: int, second: int) -> float:
        """Return the probability that two rows share a cluster."""
        return float(np.clip(self.posterior[first] @ self.posterior[second], 0.0, 1.0))

    def certainty(self) -> FloatArray:
        """Return the probability of the cluster of each row."""
        return np.take_along_axis(self.posterior, self.places[:, None], axis=1)[:, 0]

    def cluster(self, key: int) -> ClusterView | None:
        """Return the cluster with a key."""
        return next((cluster for cluster in self.clusters if cluster.key == key), None)

    def members(self, key: int) -> IntArray:
        """Return the rows of a cluster."""
        return np.flatnonzero(self.keys[self.places] == key)


class StudioClusters(BaseEstimator):
    """The clusters of a fitted model as the studio shows them: named, merged and locked.

    Everything that is not about clusters is asked of the model.
    """

    def __init__(self, model: Any = None) -> None:
        self.model = model

    def regrouped(self, shown: Shown, names: Sequence[str], side: SideInformation) -> "StudioClusters":
        """Take over the shown clusters."""
        self.labels_ = shown.places.astype(np.int32)
        self.posterior_ = shown.posterior
        self.cluster_names_ = np.array(names, dtype=object)
        self.n_clusters_ = len(names)
        self.violations_: Violations = violations(side, self.labels_)
        return self

    def fit(self, X: Any) -> "StudioClusters":
        """Return the clusters as they are: they are fitted already."""
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)


def refit(table: StudioTable, job: Job, before: Identity, points: FloatArray | None) -> tuple[Fit, StudioClusters]:
    """Fit to everything that was said; ``before`` and ``points`` are of the fit before."""
    began = time.perf_counter()
    settings = table.settings
    pooled = pool(table.side, job.answers, job.extra)
    model = GuidedMixture(
        settings.clusters,
        new_classes=False if settings.only_known_classes and (pooled.side.labels >= 0).any() else "auto",
        family=settings.kinds,
        random_state=settings.seed,
        n_jobs=1,
        keep_posterior=True,
    )
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        model.fit(table.features, side=pooled.side)
    label_names = {str(name) for name in pooled.side.label_names}
    names = [str(name) for name in model.cluster_names_]
    labels = model.labels_.astype(np.int64)
    matched = match(before, labels, names, [name in label_names for name in names])
    locked = {key: _unpacked(members, table.n_rows) for key, members in job.locks.items()}
    shown = shown_clusters(matched.keys, np.asarray(model.posterior_), labels, job.aliases, locked)
    of_label = {key: label for label, key in matched.identity.of_label.items()}
    shown_names = [job.names.get(key, of_label.get(key, f"cluster {key}")) for key in shown.keys.tolist()]
    clusters = StudioClusters(model).regrouped(shown, shown_names, pooled.side)
    suspicions = model.violations_.suspicions
    doubtful = np.empty((0, 2), dtype=np.int64) if suspicions is None else suspicions.doubtful
    prepared = prepare(
        shown.posterior, pooled.side, table.positions, shown.places, doubtful, job.n_questions, settings.seed
    )
    broken = clusters.violations_
    held_out = model.held_out_
    summary = FitSummary(
        number=job.number,
        event=job.event,
        n_rows=table.n_rows,
        n_clusters=len(np.unique(shown.places)),
        n_moved=_moved(before, job.aliases, shown),
        appeared=sorted(set(shown.keys.tolist()) - _keys_before(before, job.aliases)),
        vanished=sorted(_keys_before(before, job.aliases) - set(shown.keys.tolist())),
        certainty=float(np.take_along_axis(shown.posterior, shown.places[:, None], axis=1).mean()),
        held_out_accuracy=None if held_out is None or np.isnan(held_out.accuracy) else float(held_out.accuracy),
        n_labels=int((pooled.side.labels >= 0).sum()),
        link_error=float(model.link_error_),
        n_links=len(pooled.side.must_link) + len(pooled.side.cannot_link),
        n_broken=broken.total,
        gain_of_next=prepared.gain_of(20),
        seconds=round(time.perf_counter() - began, 2),
        doubts=[
            _in_studio(str(one.message), model, table.ids) for one in doubts if issubclass(one.category, UserWarning)
        ],
    )
    # A saved model answers in the words of the studio; parts of a merged cluster have its name.
    by_key = dict(zip(shown.keys.tolist(), shown_names, strict=True))
    model.cluster_names_ = np.array([by_key[job.aliases.get(key, key)] for key in matched.keys.tolist()], dtype=object)
    fit = Fit(
        summary=summary,
        identity=matched.identity,
        keys=shown.keys,
        places=shown.places.astype(np.int32),
        posterior=shown.posterior.astype(np.float32),
        points=place_rows(clusters, table.features, shown.places, points),
        clusters=_views(table, clusters, shown, shown_names, pooled.side),
        prepared=prepared,
        broken_links=[tuple(pair) for pair in np.concatenate([broken.must_link, broken.cannot_link]).tolist()],
        broken_labels=broken.labels.tolist(),
        contradictions=pooled.contradictions,
        judged=pooled.judged,
        model=_archive(model),
    )
    return fit, clusters


def _in_studio(warning: str, model: GuidedMixture, ids: AnyArray) -> str:
    """Return a warning of the model for a reader of the page: links that are probably wrong are named."""
    doubt = "" if model.held_out_ is None else model.held_out_.link_doubt
    suspicions = model.violations_.suspicions
    if not doubt or suspicions is None or not warning.startswith(doubt):
        return warning
    pairs = [f"{ids[first]} and {ids[second]}" for first, second in suspicions.doubtful[:_MOST_DOUBTFUL].tolist()]
    more = "; …" if len(suspicions.doubtful) > len(pairs) else "."
    return f"{doubt} Check these pairs again: {'; '.join(pairs)}{more}"


def _keys_before(before: Identity, aliases: Mapping[int, int]) -> set[int]:
    return {aliases.get(key, key) for key in np.unique(before.keys).tolist()}


def _moved(before: Identity, aliases: Mapping[int, int], shown: Shown) -> int:
    """Return how many rows are in another cluster than before; all of them in the first fit."""
    if not len(before.keys):
        return len(shown.places)
    known, inverse = np.unique(before.keys, return_inverse=True)
    was = np.array([aliases.get(key, key) for key in known.tolist()], dtype=np.int64)[inverse]
    return int((was != shown.keys[shown.places]).sum())


def packed(rows: IntArray, n_rows: int) -> str:
    """Return some rows as a bit for each row of the table."""
    bits = np.zeros(n_rows, dtype=bool)
    bits[rows] = True
    return base64.b64encode(np.packbits(bits).tobytes()).decode()


def _unpacked(members: str, n_rows: int) -> IntArray:
    bits = np.unpackbits(np.frombuffer(base64.b64decode(members), dtype=np.uint8), count=n_rows)
    return np.flatnonzero(bits)


def _views(
    table: StudioTable, clusters: StudioClusters, shown: Shown, names: Sequence[str], side: SideInformation
) -> list[ClusterView]:
    """Describe each cluster: what makes it, how its columns are distributed, its typical and least certain rows."""
    described = fitted_table(clusters, table.features)
    sizes = np.bincount(shown.places, minlength=len(names))
    several = np.count_nonzero(sizes) > 1
    profiles = cluster_profiles(clusters, table.features) if several else None
    words = _words(profiles)
    columns = telling_columns(described, profiles, _COLUMNS_SHOWN)
    sample = draw_sample(described, shown.places, columns) if columns else None
    histograms = [] if sample is None else cluster_histograms(described, sample, len(names))
    central = [None] * len(names) if sample is None else typical_rows(described, sample, len(names))
    certainty = np.take_along_axis(shown.posterior, shown.places[:, None], axis=1)[:, 0]
    labelled = side.labels >= 0
    views = []
    for place, (key, name) in enumerate(zip(shown.keys.tolist(), names, strict=True)):
        rows = np.flatnonzero(shown.places == place)
        if not len(rows):
            continue
        views.append(
            ClusterView(
                key=key,
                name=name,
                size=len(rows),
                certainty=float(certainty[rows].mean()),
                words=words.get(place, []),
                histograms=[
                    (one.column, list(one.bins), one.counts[place].tolist(), one.counts.sum(axis=0).tolist())
                    for one in histograms
                ],
                typical=_most_typical(table.positions, rows, central[place]),
                doubtful=rows[np.argsort(certainty[rows], kind="stable")[:_EXAMPLES]].tolist(),
                n_labels=int((labelled & (shown.places == place)).sum()),
            )
        )
    return sorted(views, key=lambda view: view.key)


def _words(profiles: Profiles | None) -> dict[int, list[str]]:
    if profiles is None:
        return {}
    return {int(cluster): profile_words(profiles, at) for at, cluster in enumerate(profiles.clusters.tolist())}


def _most_typical(positions: FloatArray, rows: IntArray, central: int | None) -> list[int]:
    """Return the rows of a cluster that are nearest to its middle; the one with the usual values first."""
    sample = rows[np.linspace(0, len(rows) - 1, min(len(rows), _ROWS_COMPARED)).astype(np.int64)]
    middle = np.median(positions[sample], axis=0)
    nearest = sample[np.argsort(np.square(positions[sample] - middle).sum(axis=1), kind="stable")]
    first = [] if central is None else [central]
    return list(dict.fromkeys([*first, *nearest[:_EXAMPLES].tolist()]))[:_EXAMPLES]


def _archive(model: Any) -> bytes:
    """Return the folder of a saved model as a zip archive."""
    packed_up = io.BytesIO()
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(packed_up, "w", zipfile.ZIP_STORED) as archive:
        folder = Path(place) / "model"
        write_model(model, folder)
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return packed_up.getvalue()


# --- a fit in a store ------------------------------------------------------------------------------------------------


def fit_bytes(fit: Fit) -> tuple[str, bytes]:
    """Return a fit without its model, for a store: its summary as JSON, and everything else."""
    arrays: dict[str, AnyArray] = {
        "identity": fit.identity.keys.astype(np.int32),
        "keys": fit.keys,
        "places": fit.places,
        "posterior": fit.posterior.astype(np.float16),
        "points": fit.points,
    }
    words = {
        "of_label": dict(fit.identity.of_label),
        "next_key": fit.identity.next_key,
        "clusters": [view._asdict() for view in fit.clusters],
        "prepared": fit.prepared.as_lists(),
        "broken_links": fit.broken_links,
        "broken_labels": fit.broken_labels,
        "contradictions": fit.contradictions,
        "people": fit.judged.people,
        "doubts": fit.judged.doubts,
    }
    content = io.BytesIO()
    arrays["words"] = np.frombuffer(json.dumps(words).encode(), dtype=np.uint8)
    np.savez_compressed(content, allow_pickle=False, **arrays)
    return json.dumps(fit.summary._asdict()), content.getvalue()


def fit_from_bytes(summary: str, content: bytes) -> Fit:
    """Return the fit that `fit_bytes` wrote."""
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    words = json.loads(arrays["words"].tobytes())
    return Fit(
        summary=FitSummary(**json.loads(summary)),
        identity=Identity(arrays["identity"].astype(np.int64), words["of_label"], words["next_key"]),
        keys=arrays["keys"],
        places=arrays["places"],
        posterior=arrays["posterior"].astype(np.float32),
        points=arrays["points"],
        clusters=[
            ClusterView(**{**view, "histograms": [tuple(one) for one in view["histograms"]]})
            for view in words["clusters"]
        ],
        prepared=Prepared.from_lists(words["prepared"]),
        broken_links=[(first, second) for first, second in words["broken_links"]],
        broken_labels=words["broken_labels"],
        contradictions=[(first, second) for first, second in words["contradictions"]],
        judged=_judged_from(words),
        model=b"",
    )


def _judged_from(words: Mapping[str, Any]) -> Judged:
    people = [Reliability(*one) for one in words.get("people", [])]
    doubts = [Doubt((pair[0], pair[1]), *rest) for pair, *rest in words.get("doubts", [])]
    return Judged(people, {}, doubts)


def fit_sentence(summary: FitSummary) -> str:
    """Return what a fit found in a sentence."""
    if summary.number == 1:
        return f"first fit: {count(summary.n_clusters, 'cluster')}"
    return f"fit {summary.number}: {count(summary.n_moved, 'row')} moved, {count(summary.n_clusters, 'cluster')}"
