"""Every format: what is read, round trips without loss, broken files with their lines, and the tools themselves."""

import io
import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.side.formats import (
    FORMATS,
    FormatError,
    LabelStatement,
    LinkStatement,
    Statements,
    format_of,
    parse_statements,
    read_statements,
    write_statements,
)


def task(number, annotations, **data):
    return {"id": number, "data": data, "annotations": annotations}


def choice(label, by, **more):
    result = {"from_name": "sentiment", "to_name": "text", "type": "choices", "value": {"choices": [label]}}
    return {"id": 7, "completed_by": by, "result": [result], "was_cancelled": False, "ground_truth": False, **more}


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


# A file of each format, in the shape that its documentation shows, and what it says.
EXAMPLES = {
    "sidelight": ("row,label,annotator\n3,cat,Ann\n3,,Ben\n", [(3, "cat", "Ann"), (3, None, "Ben")], []),
    "crowd-kit": (
        "task,worker,label\nt1,w1,1\nt1,w2,0\nt2,w1,1\n",
        [("t1", 1, "w1"), ("t1", 0, "w2"), ("t2", 1, "w1")],
        [],
    ),
    "cleanlab": (
        ",annotator_1,annotator_2\n0,0,\n1,2,1\n",
        [(0, 0, "annotator_1"), (1, 2, "annotator_1"), (1, 1, "annotator_2")],
        [],
    ),
    "Splink": (
        "unique_id_l,source_dataset_l,unique_id_r,source_dataset_r,clerical_match_score\n"
        "0,fake,1,fake,1.0\n0,fake,4,fake,0.0\n2,fake,4,fake,0.75\n2,fake,5,fake,0.5\n",
        [],
        [
            (0, 1, "same", "annotator", 1.0),
            (0, 4, "different", "annotator", 1.0),
            (2, 4, "same", "annotator", 0.75),
            (2, 5, "unsure", "annotator", 1.0),
        ],
    ),
    "dedupe": (
        json.dumps(
            {
                "distinct": [
                    {"__class__": "tuple", "__value__": [{"id": "1", "name": "A"}, {"id": "2", "name": None}]}
                ],
                "match": [{"__class__": "tuple", "__value__": [{"id": "1", "name": "A"}, {"id": "3", "name": "a"}]}],
            }
        ),
        [],
        [("1", "2", "different", "annotator", 1.0), ("1", "3", "same", "annotator", 1.0)],
    ),
    "Label Studio": (
        json.dumps(
            [
                task(
                    1, [choice("Positive", 1), choice("Negative", {"id": 2, "email": "b@x.org"})], text="Good.", id="r1"
                ),
                task(2, [choice("Neutral", 1, was_cancelled=True)], text="So so.", id="r2"),
            ],
            indent=1,
        ),
        [("r1", "Positive", 1), ("r1", "Negative", "b@x.org"), ("r2", None, 1)],
        [],
    ),
    "Prodigy": (
        lines(
            {"text": "A", "meta": {"id": 1}, "label": "economy", "answer": "accept", "_annotator_id": "test-ann"},
            {"text": "B", "meta": {"id": 2}, "label": "economy", "answer": "reject", "_annotator_id": "test-ann"},
            {"text": "C", "meta": {"id": 3}, "label": "economy", "answer": "ignore", "_session_id": "test-ben"},
        ),
        [(1, "economy", "test-ann"), (2, "not economy", "test-ann"), (3, None, "test-ben")],
        [],
    ),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_file_is_recognised_and_read(name, tmp_path):
    text, labels, links = EXAMPLES[name]
    assert format_of(text) == name
    said = parse_statements(text)
    assert said.format == name
    assert [one[:3] for one in said.labels] == labels
    assert [one[:5] for one in said.links] == links
    (tmp_path / "answers.txt").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    again = read_statements(tmp_path / "answers.txt", annotator="annotator")
    assert said.same_statements(again)


def test_every_format_has_an_example():
    assert set(EXAMPLES) == set(FORMATS)


texts = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=6).filter(
    lambda text: not text.lstrip("-").isdigit() and not text.startswith("not ")
)
names = st.one_of(texts, st.integers(0, 50))


def of_one_type(strategy_of_type):
    return st.one_of(strategy_of_type(st.integers(0, 50)), strategy_of_type(texts))


@st.composite
def labelled(draw, unsure=True, repeated=True):
    rows, said, authors = (draw(st.sampled_from([texts, st.integers(0, 50)])) for _ in range(3))
    authors = texts.filter(lambda text: text not in ("id", "row", "task")) if not repeated else authors
    label = st.one_of(st.none(), said) if unsure else said
    keys = st.tuples(rows, authors)
    found = draw(st.lists(keys, min_size=1, max_size=8, unique=not repeated))
    return Statements("any", labels=tuple(LabelStatement(row, draw(label), author) for row, author in found))


@st.composite
def linked(draw, plain=False):
    row = draw(st.sampled_from([texts, st.integers(0, 50)]))
    author = st.just("annotator") if plain else draw(st.sampled_from([texts, st.integers(0, 50)]))
    found = []
    for _ in range(draw(st.integers(1, 6))):
        a, b = draw(row), draw(row)
        if a == b:
            continue
        relation = draw(st.sampled_from(["same", "different"] + ([] if plain else ["unsure"])))
        sure = 1.0 if plain or relation == "unsure" else draw(st.sampled_from([1.0, 0.9, 0.75, 0.6]))
        found.append(LinkStatement(a, b, relation, draw(author), sure))
    return Statements("any", links=tuple(found))


@pytest.mark.parametrize("name", ["sidelight", "crowd-kit", "Label Studio", "Prodigy"])
@settings(max_examples=60, deadline=None)
@given(said=labelled())
def test_labels_survive_a_round_trip(name, said):
    found = parse_statements(write_statements(said, name))
    assert found.format == name
    # Label Studio keeps the annotations of a row together.
    order = (lambda part: sorted(part, key=lambda one: str(one.row))) if name == "Label Studio" else tuple
    assert [one[:3] for one in order(found.labels)] == [one[:3] for one in order(said.labels)]


@settings(max_examples=60, deadline=None)
@given(said=labelled(unsure=False, repeated=False))
def test_wide_tables_survive_a_round_trip(said):
    found = parse_statements(write_statements(said, "cleanlab"), format="cleanlab")
    assert {one[:3] for one in found.labels} == {one[:3] for one in said.labels}
    assert len(found.labels) == len(said.labels)


@pytest.mark.parametrize("name", ["sidelight", "Splink"])
@settings(max_examples=60, deadline=None)
@given(said=linked())
def test_pairs_survive_a_round_trip(name, said):
    if not said.links:
        return
    found = parse_statements(write_statements(said, name))
    assert found.format == name
    for one, other in zip(found.links, said.links, strict=True):
        assert one[:4] == other[:4]
        assert one.confidence == pytest.approx(other.confidence, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(said=linked(plain=True))
def test_dedupe_survives_a_round_trip(said):
    if not said.links:
        return
    found = parse_statements(write_statements(said, "dedupe"))
    assert sorted(map(str, (one[:5] for one in found.links))) == sorted(map(str, (one[:5] for one in said.links)))


LABEL = Statements("any", labels=(LabelStatement(0, "a", "Ann"),))
LINK = Statements("any", links=(LinkStatement(0, 1, "same", "Ann"),))


@pytest.mark.parametrize(
    ("said", "name", "words"),
    [
        (LINK, "crowd-kit", "labels only"),
        (LINK, "cleanlab", "labels only"),
        (LABEL, "Splink", "pairs only"),
        (LABEL, "dedupe", "pairs only"),
        (LINK, "Label Studio", "labels"),
        (LINK, "Prodigy", "labels"),
        (LABEL._replace(links=LINK.links), "sidelight", "two files"),
        (Statements("any", labels=(LabelStatement(0, None, "Ann"),)), "cleanlab", "unsure"),
        (LABEL._replace(labels=LABEL.labels * 2), "cleanlab", "two labels"),
        (LINK._replace(links=(*LINK.links, LinkStatement(0, 2, "same", "Ben"))), "dedupe", "one author"),
        (Statements("any", links=(LinkStatement(0, 1, "unsure", "Ann"),)), "dedupe", "certain pairs only"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(said, name, words):
    with pytest.raises(FormatError, match=words):
        write_statements(said, name)


def studio(*tasks):
    return json.dumps(list(tasks), indent=1)


# Ten broken files of each format: the line that is named, and words of the complaint.
BROKEN = {
    "sidelight": [
        ("row,label,annotator\n1,a,\n", 2, "annotator is empty"),
        ("row,label,annotator\n1,a,Ann\n,a,Ann\n", 3, "row is empty"),
        ("row,label,annotator\n1,a\n", 2, "2 cells"),
        ("row,label,annotator,label\n1,a,Ann,b\n", 1, "two columns are called 'label'"),
        ('row,label,annotator\n1,"a,Ann\n', 2, "not a table"),
        ("a,b,relation,annotator\n1,2,perhaps,Ann\n", 2, "'perhaps' is not known"),
        ("a,b,relation,annotator\n1,1,same,Ann\n", 2, "paired with itself"),
        ("a,b,relation,annotator,confidence\n1,2,same,Ann,0.4\n", 2, "above 0.5"),
        ("a,b,relation,annotator,confidence\n1,2,same,Ann,sure\n", 2, "must be a number"),
        ("a,b,relation,annotator\n1,2,same,Ann\n1,,same,Ann\n", 3, "b is empty"),
    ],
    "crowd-kit": [
        ("task,worker,label\n1,,a\n", 2, "worker is empty"),
        ("task,worker,label\n1,w,a\n,w,a\n", 3, "task is empty"),
        ("task,worker,label\n1,w\n", 2, "2 cells"),
        ("task,worker,label\n1,w,a,b\n", 2, "4 cells"),
        ("task,worker,task,label\n1,w,1,a\n", 1, "two columns are called 'task'"),
        ('task,worker,label\n1,w,"a\n', 2, "not a table"),
        ("task,worker\n1,w\n", 1, "no column 'label'"),
        ("task,label\n1,a\n", 1, "no column 'worker'"),
        ("worker,label\nw,a\n", 1, "no column 'task'"),
        ("task,worker,label\n", None, "without any statement"),
    ],
    "cleanlab": [
        ("id,Ann,Ben\n1,a,b\n1,a,b\n", 3, "stands in line 2 already"),
        ("id,Ann,Ben\n,a,b\n", 2, "id is empty"),
        ("id,Ann,Ben\n1,a\n", 2, "2 cells"),
        ("id,Ann,Ben\n1,a,b,c\n", 2, "4 cells"),
        ("id,Ann,Ann\n1,a,b\n", 1, "two columns are called 'Ann'"),
        ("id,Ann,\n1,a,b\n", 1, "has no name"),
        ("id,Ann,Ben\n1,,\n", 2, "no cell holds a label"),
        ("id,Ann,Ben\n", 2, "no cell holds a label"),
        ('id,Ann,Ben\n1,"a,b\n', 2, "not a table"),
        ("id\n1\n", 1, "no column of an annotator"),
    ],
    "Splink": [
        ("unique_id_l,unique_id_r\n1,2\n", 1, "no column 'clerical_match_score'"),
        ("unique_id_l,unique_id_r,clerical_match_score\n1,2,yes\n", 2, "'yes' must be a number"),
        ("unique_id_l,unique_id_r,clerical_match_score\n1,2,1.5\n", 2, "from 0 to 1"),
        ("unique_id_l,unique_id_r,clerical_match_score\n1,2,\n", 2, "from 0 to 1"),
        ("unique_id_l,unique_id_r,clerical_match_score\n1,2,nan\n", 2, "from 0 to 1"),
        ("unique_id_l,unique_id_r,clerical_match_score\n1,1,1\n", 2, "paired with itself"),
        ("unique_id_l,unique_id_r,clerical_match_score\n1,2,1\n,2,1\n", 3, "unique_id_l is empty"),
        ("unique_id_l,unique_id_r,clerical_match_score,source_dataset_l\n1,2,1,x\n", 1, "only one of the columns"),
        ("unique_id_l,unique_id_r,clerical_match_score\n1,2\n", 2, "2 cells"),
        ("unique_id_l,unique_id_r,clerical_match_score\n", None, "without any statement"),
    ],
    "dedupe": [
        ('{"match": [], "distinct": []}', None, "without any statement"),
        ('{"match": [], "distinct": [],\n "uncertain": []}', 2, "'uncertain' is not known"),
        ('{"distinct": [],\n "match": [[{"id": 1}]]}', 2, "two records"),
        ('{"distinct": [],\n "match": [[{"id": 1}, 2]]}', 2, "two records"),
        ('{"distinct": [],\n "match": [[{"name": "A"}, {"name": "B"}]]}', 2, "no field 'id'"),
        ('{"distinct": [],\n "match": [[{"id": 1}, {"id": 1}]]}', 2, "paired with itself"),
        ('{"distinct": [],\n "match": [[{"id": 1}, {"id": null}]]}', 2, "no field 'id'"),
        ('{"distinct": [],\n "match": 3}', 2, "not a list of pairs"),
        ('{"distinct": [],\n "match": [}', 2, "not JSON"),
        ('{"distinct": [],\n "match": [{"__class__": "tuple"}]}', 2, "two records"),
    ],
    "Label Studio": [
        (studio(task(1, [choice("a", None)], id=1)), 2, "who completed it"),
        (
            studio(task(1, [{**choice("a", 1), "result": [{"type": "rectanglelabels", "value": {}}]}])),
            2,
            "'rectanglelabels'",
        ),
        (
            studio(task(1, [{**choice("a", 1), "result": [{"type": "choices", "value": {"choices": ["a", "b"]}}]}])),
            2,
            "exactly one",
        ),
        (
            studio(task(1, [{**choice("a", 1), "result": [{"type": "choices", "value": {"choices": []}}]}])),
            2,
            "exactly one",
        ),
        (studio(task(1, [{**choice("a", 1), "result": choice("a", 1)["result"] * 2}])), 2, "answers 2 questions"),
        (studio(task(1, "a", id=1)), 2, "JSON-MIN"),
        (studio(task(1, [choice("a", 1)], id=1), {"data": {}, "annotations": [choice("a", 1)]}), 28, "neither an id"),
        (studio(task(1, [choice("a", 1)], id=1), 5), 28, "an object with data"),
        (studio(task(1, [choice("a", 1)], id=1))[:-1], 28, "a comma or the end"),
        (studio(task(1, [], id=1)), None, "without any statement"),
    ],
    "Prodigy": [
        (lines({"id": 1, "label": "a", "answer": "yes"}), 1, "accept, reject or ignore"),
        (lines({"id": 1, "label": "a", "answer": "accept"}, {"id": 2, "label": "a"}), 2, "the answer is None"),
        (lines({"label": "a", "answer": "accept"}), 1, "a field 'id'"),
        (lines({"id": 1, "answer": "accept"}), 1, "no label"),
        (lines({"id": 1, "label": ["a"], "answer": "accept"}), 1, "a text or a number"),
        (lines({"id": 1, "options": [], "accept": ["a", "b"], "answer": "accept"}), 1, "exactly one"),
        (lines({"id": 1, "label": "a", "answer": "accept"}) + "{\n", 2, "not JSON"),
        (lines({"id": 1, "label": "a", "answer": "accept"}, 7), 2, "an object with a label"),
        (
            lines(*({"id": n, "label": name, "answer": "accept"} for n, name in enumerate("abc")))
            + lines({"id": 9, "label": "a", "answer": "reject"}),
            4,
            "leaves the class open",
        ),
        (lines({"id": None, "label": "a", "answer": "accept"}), 1, "name the row"),
    ],
}


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [(name, *case) for name, cases in BROKEN.items() for case in cases],
)
def test_a_broken_file_is_an_error_with_its_line(name, text, line, words):
    with pytest.raises(FormatError, match=words) as caught:
        parse_statements(text, format=name)
    assert caught.value.line == line
    if line is not None:
        assert str(caught.value).startswith(f"line {line}: ")


def test_every_format_has_ten_broken_files():
    assert {name: len(cases) for name, cases in BROKEN.items()} == dict.fromkeys(FORMATS, 10)


@pytest.mark.parametrize("text", ["", "\n\n", "hello", "[1, 2]", '{"a": 1}', "id_a;id_b\n1;2\n", "\ufeff"])
def test_what_is_no_format_is_refused(text):
    with pytest.raises(FormatError):
        parse_statements(text)


def test_a_file_in_another_encoding_is_refused_with_its_line(tmp_path):
    (tmp_path / "latin.csv").write_bytes("task,worker,label\n1,w,ü\n".encode("latin-1"))
    with pytest.raises(FormatError, match="line 2: the file is not in UTF-8"):
        read_statements(tmp_path / "latin.csv")


def test_unknown_formats_are_refused():
    with pytest.raises(ValueError, match="format='xml' is not known; choose 'sidelight'"):
        parse_statements("a", format="xml")
    with pytest.raises(ValueError, match="format='xml' is not known"):
        write_statements(LABEL, "xml")


def test_ids_of_several_datasets_are_joined_as_splink_does():
    text = (
        "unique_id_l,source_dataset_l,unique_id_r,source_dataset_r,clerical_match_score\n"
        "1,left,1,right,1.0\n2,left,3,right,0.0\n"
    )
    assert [one[:2] for one in parse_statements(text).links] == [
        ("left-__-1", "right-__-1"),
        ("left-__-2", "right-__-3"),
    ]


def test_statements_become_side_information():
    side = parse_statements(EXAMPLES["crowd-kit"][0]).side(2, sample_id=["t1", "t2"])
    assert side.annotations.annotators.tolist() == ["w1", "w2"]
    assert side.annotations.label_rows.tolist() == [0, 0, 1]


# --- the tools themselves, where they are installed -------------------------------------------------------------------


# crowd-kit uses what the newest pandas warns about.
@pytest.mark.filterwarnings("ignore")
def test_crowd_kit_reads_what_is_written():
    aggregation = pytest.importorskip("crowdkit.aggregation", reason="crowd-kit is not installed")
    pd = pytest.importorskip("pandas")
    said = Statements("any", labels=tuple(LabelStatement(n % 4, n % 2, f"w{n % 3}") for n in range(12)))
    frame = pd.read_csv(io.StringIO(write_statements(said, "crowd-kit")))
    assert sorted(aggregation.MajorityVote().fit_predict(frame).index) == [0, 1, 2, 3]


def test_cleanlab_reads_what_is_written():
    multiannotator = pytest.importorskip("cleanlab.multiannotator", reason="cleanlab is not installed")
    pd = pytest.importorskip("pandas")
    labels = (LabelStatement(row, label, author) for row, author, label in [(0, "A", 0), (0, "B", 0), (1, "A", 1)])
    frame = pd.read_csv(io.StringIO(write_statements(Statements("any", labels=tuple(labels)), "cleanlab")), index_col=0)
    np.testing.assert_array_equal(multiannotator.get_majority_vote_label(frame), [0, 1])


def test_dedupe_reads_what_is_written_and_the_other_way_round():
    serializer = pytest.importorskip("dedupe.serializer", reason="dedupe is not installed")
    found = serializer.read_training(io.StringIO(write_statements(LINK, "dedupe")))
    assert [[record["id"] for record in pair] for pair in found["match"]] == [[0, 1]]
    out = io.StringIO()
    serializer.write_training({"match": [({"id": "x"}, {"id": "y"})], "distinct": []}, out)
    assert parse_statements(out.getvalue()).links[0][:3] == ("x", "y", "same")


def test_splink_measures_accuracy_by_the_labels_that_are_written():
    splink = pytest.importorskip("splink", reason="Splink is not installed")
    pd = pytest.importorskip("pandas")
    from splink import comparison_library

    said = Statements("any", links=tuple(LinkStatement(0, n, ("same", "different")[n % 2], "Ann") for n in range(1, 6)))
    database = splink.DuckDBAPI()
    if not hasattr(database, "register"):
        pytest.skip("Splink before version 5 takes tables in another way")
    records = pd.DataFrame({"unique_id": range(6), "name": list("aabbab"), "place": list("xxyyxy")})
    columns = [comparison_library.ExactMatch(name) for name in ("name", "place")]
    rules = [splink.block_on("name")]
    settings = splink.SettingsCreator(
        link_type="dedupe_only", comparisons=columns, blocking_rules_to_generate_predictions=rules
    )
    linker = splink.Linker(database.register(records), settings)
    labels = database.register(pd.read_csv(io.StringIO(write_statements(said, "Splink"))))
    table = linker.evaluation.accuracy_analysis_from_labels_table(labels, output_type="table")
    assert table.as_pandas_dataframe()[["p", "n"]].iloc[0].tolist() == [2, 3]


def test_label_studio_takes_the_annotations_that_are_written():
    interface = pytest.importorskip("label_studio_sdk.label_interface", reason="label-studio-sdk is not installed")
    choices = '<Choices name="choice" toName="row"><Choice value="a"/></Choices>'
    config = f'<View><Text name="row" value="$id"/>{choices}</View>'
    (task,) = json.loads(write_statements(LABEL, "Label Studio"))
    label_studio = interface.LabelInterface(config)
    for annotation in task["annotations"]:
        assert label_studio.validate_annotation(annotation)
        annotation["result"][0]["value"]["choices"] = ["unknown"]
        assert not label_studio.validate_annotation(annotation)


def test_a_file_with_a_hole_is_refused_at_its_first_zero_byte(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("task,worker,label\n0,Ann,cat\n")
    os.truncate(path, 20 << 30)
    with pytest.raises(FormatError, match="line 3: the file holds zero bytes"):
        read_statements(path)
