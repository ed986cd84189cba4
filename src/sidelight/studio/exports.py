"""What leaves the studio: clusters and statements as files, in our words and in those of other tools."""

import csv
import io
import json
import multiprocessing
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.persistence import load
from sidelight.side import SideInformation
from sidelight.studio.fitting import Fit, Job, StudioClusters
from sidelight.studio.identity import Shown
from sidelight.studio.judging import LabelAnswer, PairAnswer
from sidelight.studio.ledger import Ledger, Pair
from sidelight.studio.pooling import Extra, pool
from sidelight.studio.table import StudioTable

_HASH_BYTES = 4


def clusters_csv(table: StudioTable, fit: Fit, names: dict[int, str]) -> str:
    """Return id, cluster, name and probability of every row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([table.settings.id_column, "cluster", "name", "probability"])
    keys = fit.keys[fit.places].tolist()
    rows = zip(table.ids.tolist(), keys, fit.certainty().tolist(), strict=True)
    writer.writerows([name, key, names[key], f"{sure:.4f}"] for name, key, sure in rows)
    return text.getvalue()


def statements_csv(table: StudioTable, answers: Sequence[PairAnswer], labels: Sequence[LabelAnswer]) -> str:
    """Return judged pairs as ``sidelight fit --links`` reads them: one line per pair, what the annotators say together.

    Links that were given when the project was started are among them.
    """
    side = pool(table.side, answers, Extra(labels, {}, (), ())).side
    authors: dict[Pair, list[str]] = {}
    for answer in answers:
        authors.setdefault(answer.pair, []).append(answer.annotator)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id_a", "id_b", "relation", "confidence", "annotator"])
    for relation, kind in (("must", "must_link"), ("cannot", "cannot_link")):
        sure = getattr(side, f"{kind}_confidence").tolist()
        for (first, second), confidence in zip(getattr(side, kind).tolist(), sure, strict=True):
            names = authors.get((min(first, second), max(first, second)), [])
            writer.writerow([table.ids[first], table.ids[second], relation, f"{confidence:.4g}", "; ".join(names)])
    return text.getvalue()


def answers_csv(table: StudioTable, ledger: Ledger) -> str:
    """Return every answer that counts: who said what about which rows, and when (seconds since 1970)."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id_a", "id_b", "answer", "annotator", "purpose", "saw_guess", "time"])
    for (first, second), given in ledger.answers():
        answer = given.answer
        writer.writerow(
            [
                table.ids[first],
                table.ids[second],
                answer.relation,
                given.annotator,
                answer.purpose,
                "yes" if answer.saw_guess else "no",
                f"{given.made:.3f}",
            ]
        )
    return text.getvalue()


def labels_csv(table: StudioTable, ledger: Ledger) -> str:
    """Return the labels of the table, without an annotator, and those that annotators gave in the studio."""
    names = [str(name) for name in table.side.label_names]
    labels = {(row, ""): names[code] for row, code in enumerate(table.side.labels.tolist()) if code >= 0}
    labels.update(ledger.label_answers())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([table.settings.id_column, "label", "annotator"])
    writer.writerows([table.ids[row], label, annotator] for (row, annotator), label in sorted(labels.items()))
    return text.getvalue()


def notes_csv(table: StudioTable, ledger: Ledger) -> str:
    """Return the notes on pairs and rows, with their authors."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["id_a", "id_b", "note", "annotator"])
    for annotator, note in ledger.notes():
        ids = [str(table.ids[row]) for row in note.rows]
        writer.writerow([ids[0], ids[1] if len(ids) > 1 else "", note.text, annotator])
    return text.getvalue()


def label_studio_json(table: StudioTable, ledger: Ledger) -> str:
    """Return the answers as tasks with annotations, as Label Studio imports them; the choice is "relation"."""
    tasks = []
    for pair, by_annotator in _by_pair(ledger):
        annotations = [
            {
                "completed_by": {"email": name, "first_name": name, "last_name": ""},
                "was_cancelled": relation == "unsure",
                "result": []
                if relation == "unsure"
                else [
                    {
                        "from_name": "relation",
                        "to_name": "pair",
                        "type": "choices",
                        "value": {"choices": [relation]},
                    }
                ],
            }
            for name, relation in by_annotator.items()
        ]
        tasks.append({"data": _rows_of(table, pair), "annotations": annotations})
    return json.dumps(tasks, ensure_ascii=False, indent=1)


def prodigy_jsonl(table: StudioTable, ledger: Ledger) -> str:
    """Return the answers as Prodigy keeps choices: a JSON object per line; unsure is "ignore"."""
    lines = []
    for pair, by_annotator in _by_pair(ledger):
        shown = _rows_of(table, pair)
        task = {
            "text": "Do these rows belong together?",
            "meta": shown,
            "options": [{"id": "same", "text": "same"}, {"id": "different", "text": "different"}],
            "_input_hash": _hashed(f"{shown['id_a']}\n{shown['id_b']}"),
            "_task_hash": _hashed(f"{shown['id_a']}\n{shown['id_b']}\nsame or different"),
            "_view_id": "choice",
        }
        for name, relation in by_annotator.items():
            decided = relation != "unsure"
            answered = {
                "accept": [relation] if decided else [],
                "answer": "accept" if decided else "ignore",
                "_annotator_id": name,
                "_session_id": name,
            }
            lines.append(json.dumps({**task, **answered}, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def _by_pair(ledger: Ledger) -> Iterator[tuple[Pair, dict[str, str]]]:
    found: dict[Pair, dict[str, str]] = {}
    for pair, given in ledger.answers():
        found.setdefault(pair, {})[given.annotator] = given.answer.relation
    return iter(found.items())


def _rows_of(table: StudioTable, pair: Pair) -> dict[str, Any]:
    first, second = pair
    return {
        "id_a": str(table.ids[first]),
        "id_b": str(table.ids[second]),
        "row_a": dict(zip(table.columns, table.row(first), strict=True)),
        "row_b": dict(zip(table.columns, table.row(second), strict=True)),
    }


def _hashed(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()
    return int.from_bytes(digest, "big", signed=True)


# --- the folder of a result ------------------------------------------------------------------------------------------


class Bundle(NamedTuple):
    """Everything that a folder of a result is written from."""

    table: StudioTable
    fit: Fit
    model: Any
    clusters: StudioClusters
    side: SideInformation


# Writes the folder of a result; a function that another process can import.
Packer = Callable[[Path, Bundle], None]


def result_archive(packer: Packer, table: StudioTable, fit: Fit, job: Job) -> bytes:
    """Return the folder of a result as a zip archive, written by a process of its own so that no answer waits."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_pack, args=(theirs, packer, table.parts(), fit, job), daemon=True)
    process.start()
    theirs.close()
    try:
        answer = ours.recv()
    except EOFError:
        answer = RuntimeError("the process that writes the export ended")
    finally:
        ours.close()
        process.join()
    if isinstance(answer, Exception):
        raise answer
    archive: bytes = answer
    return archive


def _pack(connection: Connection, packer: Packer, parts: dict[str, bytes], fit: Fit, job: Job) -> None:
    try:
        connection.send(_packed(packer, StudioTable.from_parts(parts), fit, job))
    except Exception as error:
        connection.send(RuntimeError(f"{type(error).__name__}: {error}"))


def _packed(packer: Packer, table: StudioTable, fit: Fit, job: Job) -> bytes:
    side = pool(table.side, job.answers, job.extra).side
    content = io.BytesIO()
    with tempfile.TemporaryDirectory() as place:
        saved = Path(place) / "saved"
        with zipfile.ZipFile(io.BytesIO(fit.model)) as archive:
            archive.extractall(saved)
        model = load(saved)
        shown = Shown(fit.keys, fit.places.astype("int64"), fit.posterior.astype(float))
        names = {view.key: job.names.get(view.key, view.name) for view in fit.clusters}
        clusters = StudioClusters(model).regrouped(
            shown, [names.get(key, f"cluster {key}") for key in fit.keys.tolist()], side
        )
        folder = Path(place) / "result"
        folder.mkdir()
        packer(folder, Bundle(table, fit, model, clusters, side))
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(folder.rglob("*")):
                archive.write(path, path.relative_to(folder))
    return content.getvalue()
