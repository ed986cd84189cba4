"""Statements of annotators that come in files, as events: from then on they are answers like any other."""

from itertools import groupby

from sidelight.side.annotations import SAME, UNSURE, Annotations
from sidelight.studio.events import Action, Answer, Event, Label, Relation


def imported_events(annotations: Annotations, made: float) -> list[Event]:
    """Return the statements as the first events of a project; labels of one annotator and name are one event."""
    names = [str(name) for name in annotations.annotators.tolist()]
    found: list[tuple[str, Action]] = []
    labels = sorted(
        (author, code, row)
        for row, code, author in zip(
            annotations.label_rows.tolist(),
            annotations.label_codes.tolist(),
            annotations.label_annotators.tolist(),
            strict=True,
        )
        if code >= 0
    )
    for (author, code), group in groupby(labels, key=lambda one: one[:2]):
        rows = dict.fromkeys(row for _, _, row in group)
        found.append((names[author], Label(tuple(rows), str(annotations.label_names[code]))))
    judgements = zip(
        annotations.pairs.tolist(),
        annotations.relations.tolist(),
        annotations.pair_annotators.tolist(),
        annotations.pair_confidence.tolist(),
        strict=True,
    )
    for (first, second), relation, author, confidence in judgements:
        said: Relation = "unsure" if relation == UNSURE else "same" if relation == SAME else "different"
        found.append((names[author], Answer(first, second, said, "imported", confidence=confidence)))
    return [
        Event(number, f"imported-{number}", made, author, action) for number, (author, action) in enumerate(found, 1)
    ]
