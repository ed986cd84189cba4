"""From the studio's objects to what the interface answers."""

import time

from sidelight._wording import count
from sidelight.studio.api import models
from sidelight.studio.colours import colour_of
from sidelight.studio.dispatch import Question
from sidelight.studio.events import Action, Answer, Event, Label, Lock, Merge, Name, Note, Undo, Unlock
from sidelight.studio.fitting import ClusterView, Fit
from sidelight.studio.ledger import Ledger
from sidelight.studio.studio import Studio
from sidelight.studio.writer import Receipt

_MOST_STATEMENTS = 2000


def receipt_view(receipt: Receipt) -> models.ReceiptView:
    """Return a receipt."""
    return models.ReceiptView(event=receipt.event.number, repeated=receipt.repeated)


def labels_of(studio: Studio, ledger: Ledger) -> dict[int, str]:
    """Return the labels of rows: those of the table, and those given in the studio."""
    side = studio.table.side
    names = [str(name) for name in side.label_names]
    found = {row: names[side.labels[row]] for row in (side.labels >= 0).nonzero()[0].tolist()}
    return {**found, **ledger.labels()}


def question_view(studio: Studio, question: Question) -> models.QuestionView:
    """Return a question with the cells of its rows."""
    table = studio.table
    given, notes = studio.with_ledger(lambda ledger: (ledger.labels(), ledger.notes()))
    pair = {question.first, question.second}
    return models.QuestionView(
        first=question.first,
        second=question.second,
        id_a=str(table.ids[question.first]),
        id_b=str(table.ids[question.second]),
        purpose=question.purpose,
        label_a=_label(studio, given, question.first),
        label_b=_label(studio, given, question.second),
        notes=[
            models.NoteView(annotator=author, text=note.text) for author, note in notes if pair.issuperset(note.rows)
        ],
        cells=[
            models.CellView(
                column=one.column,
                a=one.cells[0],
                b=one.cells[1],
                alike=one.alike,
                places=None if one.places is None else list(one.places),
                image_a=one.images[0],
                image_b=one.images[1],
            )
            for one in table.compare(question.first, question.second)
        ],
    )


def _label(studio: Studio, given: dict[int, str], row: int) -> str | None:
    side = studio.table.side
    if row in given:
        return given[row]
    return str(side.label_names[side.labels[row]]) if side.labels[row] >= 0 else None


def questions_view(studio: Studio, annotator: str, number: int) -> models.QuestionsView:
    """Return the next questions of an annotator."""
    questions = studio.questions(annotator, number)
    return models.QuestionsView(ready=studio.ready, questions=[question_view(studio, one) for one in questions])


def state_view(studio: Studio) -> models.StateView:
    """Return what changes."""
    fit, worker = studio.fit, studio.worker
    event, n_answers = studio.with_ledger(lambda ledger: (ledger.last_event, ledger.n_answers))
    return models.StateView(
        fit=0 if fit is None else fit.summary.number,
        event=event,
        learnt=0 if fit is None else fit.summary.event,
        ready=studio.ready,
        n_answers=n_answers,
        worker=models.WorkerView(
            state=worker.state,
            seconds=round(time.time() - worker.since, 1),
            trouble=worker.trouble,
            restarts=worker.restarts,
            process=worker.process,
        ),
    )


def row_view(studio: Studio, row: int) -> models.RowView:
    """Return a row."""
    table, fit = studio.table, studio.fit
    given: dict[int, str] = studio.with_ledger(lambda ledger: ledger.labels())
    return models.RowView(
        row=row,
        id=str(table.ids[row]),
        cells=[list(one) for one in zip(table.columns, table.row(row), strict=True)],
        images=sorted(table.image_columns),
        label=_label(studio, given, row),
        cluster=None if fit is None else int(fit.keys[fit.places[row]]),
        certainty=None if fit is None else float(fit.posterior[row, fit.places[row]]),
    )


def clusters_view(studio: Studio) -> models.ClustersView:
    """Return the clusters of the last fit, with the names and locks of this moment."""
    fit = studio.fit
    if fit is None:
        return models.ClustersView(fit=0, clusters=[])
    names, locks = studio.with_ledger(lambda ledger: (ledger.names(), ledger.locks()))
    return models.ClustersView(
        fit=fit.summary.number,
        clusters=[_card(studio, fit, view, names.get(view.key, view.name), view.key in locks) for view in fit.clusters],
    )


def _card(studio: Studio, fit: Fit, view: ClusterView, name: str, locked: bool) -> models.ClusterCard:
    return models.ClusterCard(
        key=view.key,
        name=name,
        colour=colour_of(view.key),
        size=view.size,
        share=view.size / studio.table.n_rows,
        certainty=min(view.certainty, 1.0),
        locked=locked,
        n_labels=view.n_labels,
        words=view.words,
        histograms=[
            models.HistogramView(column=column, bins=bins, inside=inside, all=total)
            for column, bins, inside, total in view.histograms
        ],
        typical=[_example(studio, fit, row) for row in view.typical],
        doubtful=[_example(studio, fit, row) for row in view.doubtful],
    )


def _example(studio: Studio, fit: Fit, row: int) -> models.ExampleView:
    table = studio.table
    return models.ExampleView(
        row=row,
        id=str(table.ids[row]),
        certainty=min(float(fit.posterior[row, fit.places[row]]), 1.0),
        cells=[list(one) for one in zip(table.columns, table.row(row), strict=True)],
    )


def statements_view(studio: Studio) -> models.StatementsView:
    """Return links and labels to draw, broken ones first."""
    fit = studio.fit
    broken = set() if fit is None else {tuple(sorted(pair)) for pair in fit.broken_links}
    broken_labels = set() if fit is None else set(fit.broken_labels)
    side = studio.table.side
    links: dict[tuple[int, int], bool] = {}
    for pairs, same in ((side.must_link.tolist(), True), (side.cannot_link.tolist(), False)):
        links.update({(min(pair), max(pair)): same for pair in pairs})
    answers, labels = studio.with_ledger(lambda ledger: (list(ledger.answers()), labels_of(studio, ledger)))
    links.update({pair: one.answer.relation == "same" for pair, one in answers if one.answer.relation != "unsure"})
    found = [
        models.StatementView(first=pair[0], second=pair[1], same=same, label=None, broken=pair in broken)
        for pair, same in links.items()
    ]
    found.extend(
        models.StatementView(first=row, second=None, same=True, label=label, broken=row in broken_labels)
        for row, label in labels.items()
    )
    found.sort(key=lambda one: not one.broken)
    return models.StatementsView(statements=found[:_MOST_STATEMENTS])


def progress_view(studio: Studio) -> models.ProgressView:
    """Return how far the work is."""
    progress, ids, fit = studio.progress(), studio.table.ids, studio.fit
    figures = progress._asdict()
    figures["recent"] = models.AgreementView(**progress.recent._asdict())
    figures["checks"] = models.AgreementView(**progress.checks._asdict())
    fits = [
        models.FitView(
            **{name: value for name, value in one._asdict().items() if name in models.FitView.model_fields},
            share_moved=one.n_moved / one.n_rows,
        )
        for one in studio.fits
    ]
    contradictions = [] if fit is None else fit.contradictions
    return models.ProgressView(
        **figures, fits=fits, contradictions=[[str(ids[first]), str(ids[second])] for first, second in contradictions]
    )


def people_view(studio: Studio) -> models.PeopleView:
    """Return who answered what."""
    people, ids = studio.people(), studio.table.ids
    return models.PeopleView(
        people=[models.PersonView(**person._asdict()) for person in people.people],
        concords=[models.ConcordView(**one._asdict()) for one in people.concords],
        disagreements=[
            models.DisagreementView(
                first=one.pair[0],
                second=one.pair[1],
                id_a=str(ids[one.pair[0]]),
                id_b=str(ids[one.pair[1]]),
                relations=one.relations,
            )
            for one in people.disagreements
        ],
        doubts=[
            models.DoubtView(
                first=one.pair[0],
                second=one.pair[1],
                id_a=str(ids[one.pair[0]]),
                id_b=str(ids[one.pair[1]]),
                annotator=one.annotator,
                said=one.said,
                odds=one.odds,
            )
            for one in people.doubts
        ],
    )


def event_view(studio: Studio, event: Event) -> models.EventView:
    """Return an event in words."""
    return models.EventView(
        event=event.number,
        time=event.made,
        annotator=event.annotator,
        kind=event.action.kind,
        words=action_words(studio, event.action),
    )


def action_words(studio: Studio, action: Action) -> str:
    """Say what was done."""
    ids = studio.table.ids
    match action:
        case Answer():
            return f"{action.relation}: {ids[action.first]} and {ids[action.second]}"
        case Label():
            rows = str(ids[action.rows[0]]) if len(action.rows) == 1 else count(len(action.rows), "row")
            return f"label {action.label}: {rows}"
        case Note():
            return f"note on {' and '.join(str(ids[row]) for row in action.rows)}: {action.text}"
        case Name():
            return f"named a cluster {action.name}"
        case Merge():
            return f"merged {studio.name_of(action.cluster)} into {studio.name_of(action.into)}"
        case Lock():
            return f"locked {studio.name_of(action.cluster)}"
        case Unlock():
            return f"unlocked {studio.name_of(action.cluster)}"
        case Undo():
            return f"took back event {action.event}"
