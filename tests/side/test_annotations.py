"""Statements with an author: what is read and refused, and what rows, ids and other statements do to them."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sidelight.side import SideInformation
from sidelight.side.annotations import vocabularies
from sidelight.side.transforms import append

read = SideInformation.from_annotations
LABELS = {"row": [0, 0, 3, 4], "label": ["x", "y", "y", None], "annotator": ["Ann", "Ben", "Ann", "Ben"]}
LINKS = {"a": [1, 2], "b": [0, 3], "relation": ["same", "unsure"], "annotator": ["Cy", "Ann"]}


def statements(side):
    """Return all statements by name, sorted."""
    said = side.annotations
    ids = range(side.n_rows) if side.ids is None else side.ids.tolist()
    names = [*said.label_names.tolist(), None]
    labels = [
        (ids[row], names[code], said.annotators[author])
        for row, code, author in zip(said.label_rows, said.label_codes, said.label_annotators, strict=True)
    ]
    pairs = [
        (*sorted([ids[a], ids[b]]), relation, said.annotators[author])
        for (a, b), relation, author in zip(said.pairs.tolist(), said.relations, said.pair_annotators, strict=True)
    ]
    return sorted(labels, key=str), sorted(pairs, key=str)


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame])
def test_tables_are_read(make):
    side = read(5, labels=make(LABELS), links=make(LINKS))
    assert repr(side) == "SideInformation(5 rows: 4 labels by 2 annotators, 2 judged pairs by 2 annotators)"
    assert side.annotations.annotators.tolist() == ["Ann", "Ben", "Cy"]
    assert side.annotations.n_statements.tolist() == [2, 1, 1]
    assert side.label_names.tolist() == ["x", "y"]
    assert (side.labels == -1).all()
    assert side.mentioned.tolist() == [True, True, False, True, False]
    assert side.statements == {"annotators"}
    assert not side.is_empty
    assert pickle.loads(pickle.dumps(side)) == side


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": {"row": [0]}}, "labels has no column 'label' but 'row'; it needs row, label, annotator"),
        ({"labels": [(0, "x", "Ann")]}, "labels must be a table with the columns row, label, annotator, not list"),
        ({"labels": {**LABELS, "annotator": ["Ann"]}}, "labels['annotator'] has 1 values, but labels['row'] has 4"),
        ({"labels": {**LABELS, "annotator": ["Ann", None, "Ann", "Ben"]}}, "labels['annotator'] is empty at place 1"),
        (
            {"labels": {**LABELS, "row": [0, 0, 3, 9]}},
            "labels['row'][3] names row 9, but the 5 rows are numbered 0 to 4",
        ),
        ({"labels": {**LABELS, "label": [0.5, 1, 1, 1]}}, "looks continuous"),
        ({"links": {**LINKS, "relation": ["same", "maybe"]}}, "links['relation'][1] is 'maybe'; write 'same'"),
        ({"links": {**LINKS, "b": [1, 3]}}, "links[0] pairs row 1 with itself"),
        (
            {"links": {**LINKS, "confidence": [0.9, 0.3]}},
            "links['confidence'][1] is 0.3, but a confidence is above 0.5",
        ),
        ({"links": {**LINKS, "confidence": [0.9]}}, "links['confidence'] has 1 values"),
        ({"labels": LABELS, "certain": "Dora"}, "certain names 'Dora', who is not an annotator; use the names"),
        (
            {"labels": {"row": [0, 0], "label": ["x", "y"], "annotator": ["Ann", "Ben"]}, "certain": ["Ann", "Ben"]},
            "row 0 is both 'x' and 'y' to annotators who are certain",
        ),
    ],
)
def test_errors_name_the_place_and_the_remedy(options, words):
    with pytest.raises(ValueError) as caught:
        read(5, **options)
    assert words in str(caught.value)


def test_ids_are_found_and_absent_ones_are_counted():
    labels = {**LABELS, "row": ["a", "a", "d", "z"]}
    side = read(4, labels=labels, sample_id=list("abcd"))
    assert side.n_dropped == 1
    assert statements(side)[0] == [("a", "x", "Ann"), ("a", "y", "Ben"), ("d", "y", "Ann")]
    with pytest.warns(UserWarning, match="none of the 4 statements names ids of these 4 rows"):
        read(4, labels=labels, sample_id=[1, 2, 3, 4])


def test_rows_ids_and_pooling_keep_statements():
    ids = np.array(list("abcde"))
    labels = {**LABELS, "row": ids[LABELS["row"]]}
    links = {**LINKS, "a": ids[LINKS["a"]], "b": ids[LINKS["b"]]}
    side = read(5, labels=labels, links=links, sample_id=ids)
    assert statements(side.align(ids[::-1])) == statements(side)
    assert statements(side.restrict([3, 0])) == ([("a", "x", "Ann"), ("a", "y", "Ben"), ("d", "y", "Ann")], [])
    more = read(5, labels={"row": ["b"], "label": ["z"], "annotator": ["Dora"]}, sample_id=list("abcde"))
    both = side | more
    assert len(statements(both)[0]) == 5
    assert both.annotations.annotators.tolist() == ["Ann", "Ben", "Cy", "Dora"]
    assert both.as_links().annotations == both.annotations
    below = append(read(5, labels=LABELS), read(5, links=LINKS))
    assert below.annotations.pairs.tolist() == [[5, 6], [7, 8]]
    assert below.without_unused_names().label_names.tolist() == ["x", "y"]


def test_certain_annotators_make_certain_statements():
    side = read(5, labels=LABELS, links={**LINKS, "relation": ["same", "different"]}, certain=["Ann", "Cy"])
    assert side.labels.tolist() == [0, -1, -1, 1, -1]
    assert (side.must_link.tolist(), side.cannot_link.tolist()) == ([[0, 1]], [[2, 3]])
    assert side.annotations.annotators.tolist() == ["Ben"]
    everyone = read(5, labels={**LABELS, "row": [0, 1, 3, 4]}, links=LINKS, certain=["Ann", "Ben", "Cy"])
    assert everyone.annotations is None


def test_vocabularies_are_names_that_annotators_share():
    def side(*columns):
        rows = [(row, label, f"a{who}") for who, labels in enumerate(columns) for row, label in enumerate(labels)]
        frame = pd.DataFrame(rows, columns=["row", "label", "annotator"])
        return read(9, labels=frame)

    found = vocabularies(side("xyx", "yz", "pq", "rq").annotations, np.array([]))
    assert (found.of_annotator.tolist(), found.classes.tolist()) == ([0, 0, 1, 1], ["x", "y", "z"])
    # One name alone is a class that its annotator has met, not a vocabulary.
    found = vocabularies(side("xyx", "w").annotations, np.array([]))
    assert (found.of_annotator.tolist(), found.classes.tolist()) == ([0, 0], ["w", "x", "y"])
    # Names that are certain decide which vocabulary is that of the classes.
    found = vocabularies(side("xyx", "pq").annotations, np.array(["p", "o"]))
    assert (found.of_annotator.tolist(), found.classes.tolist()) == ([1, 0], ["o", "p", "q"])
