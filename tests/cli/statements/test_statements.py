"""Files of judged pairs, labels, and what they say together."""

import numpy as np
import pytest

from sidelight.cli.errors import Refusal
from sidelight.cli.statements import combine, read_all_links, read_links, row_labels
from sidelight.cli.tables.files import open_table

IDS = np.array(["a", "b", "c", "d", "7"])
ROWS = {name: row for row, name in enumerate(IDS.tolist())}


def read(folder, text, confidence=1.0):
    path = folder / "links.csv"
    path.write_text(text, encoding="utf-8")
    return read_links(path, ROWS, folder / "table.csv", "utf-8", confidence)


def test_words_confidences_and_annotators(tmp_path):
    file = read(
        tmp_path,
        "id_a,id_b,relation,confidence,annotator,remark\n"
        "a,b,must,,Ada,x\n"
        "b,c,Different,0.9,Ben,\n"
        " c , d ,SAME,1,,\n"
        "a,7,cannot-link,0.75,Ada,\n",
        confidence=0.95,
    )
    assert [(one.first, one.second, one.must) for one in file.judgements] == [
        (0, 1, True),
        (1, 2, False),
        (2, 3, True),
        (0, 4, False),
    ]
    assert [one.confidence for one in file.judgements] == [0.95, 0.9, 1.0, 0.75]
    assert [one.annotator for one in file.judgements] == ["Ada", "Ben", "", "Ada"]
    assert file.n_unanswered == 0


def test_unanswered_pairs_are_counted(tmp_path):
    file = read(tmp_path, "id_a,id_b,relation\na,b,\nb,c,?\nc,d,must\nnobody,d,\n")
    assert len(file.judgements) == 1
    assert file.n_unanswered == 3


FAULTS = {
    "unknown id": (
        "id_a,id_b,relation\na,b,must\na,x,must\n",
        r"links.csv, line 3: no row of .*table.csv has the id 'x'",
    ),
    "no id": ("id_a,id_b,relation\n,b,must\n", "line 2: id_a is empty"),
    "unknown word": ("id_a,id_b,relation\na,b,perhaps\n", "line 2: the relation 'perhaps' is not known; write must"),
    "itself": ("id_a,id_b,relation\na,a,must\n", "line 2: 'a' is paired with itself"),
    "half": ("id_a,id_b,relation,confidence\na,b,must,0.5\n", "line 2: the confidence '0.5'.* above 0.5"),
    "more than one": ("id_a,id_b,relation,confidence\na,b,must,1.2\n", "the confidence '1.2'"),
    "no number": ("id_a,id_b,relation,confidence\na,b,must,high\n", "the confidence 'high'"),
    "no column": ("id_a,id_c,relation\na,b,must\n", "no column 'id_b'.* did you mean"),
}


@pytest.mark.parametrize(("text", "told"), FAULTS.values(), ids=FAULTS)
def test_what_means_nothing_is_told_with_its_line(tmp_path, text, told):
    with pytest.raises(Refusal, match=told):
        read(tmp_path, text)


def table(folder, text):
    path = folder / "table.csv"
    path.write_text(text, encoding="utf-8")
    return open_table(path)


def test_labels_and_links_together(tmp_path):
    file = read(tmp_path, "id_a,id_b,relation,confidence\na,b,must,\nb,c,cannot,0.8\n")
    side = combine(5, ["x", None, None, "y", None], [file], IDS)
    assert side.statements == {"labels", "must_link", "cannot_link", "confidence"}
    assert side.must_link.tolist() == [[0, 1]]
    assert side.cannot_link_confidence.tolist() == [0.8]
    assert side.label_names.tolist() == ["x", "y"]


def test_contradictions_name_ids_and_lines(tmp_path):
    first, second = tmp_path / "links.csv", tmp_path / "answers.csv"
    first.write_text("id_a,id_b,relation\na,b,must\nb,c,must\n", encoding="utf-8")
    second.write_text("id_a,id_b,relation\nc,d,must\nd,a,cannot\n", encoding="utf-8")
    files = read_all_links(
        [open_table(path, "utf-8") for path in (first, second)], table(tmp_path, "id\na\n"), IDS, 1.0
    )
    with pytest.raises(Refusal) as refusal:
        combine(5, None, files, IDS)
    told = refusal.value.message
    assert "'a'–'b'–'c'–'d' must link, but 'a'–'d' cannot" in told
    for place in ("links.csv line 2", "links.csv line 3", "answers.csv line 2", "answers.csv line 3"):
        assert place in told
    doubtful = read_all_links(
        [open_table(path, "utf-8") for path in (first, second)], table(tmp_path, "id\na\n"), IDS, 0.9
    )
    assert len(combine(5, None, doubtful, IDS).cannot_link) == 1


def test_labels_that_links_join_are_told(tmp_path):
    file = read(tmp_path, "id_a,id_b,relation\na,d,must\n")
    with pytest.raises(Refusal, match=r"'a' \(label 'x'\).*'d' \(label 'y'\).*line 2"):
        combine(5, ["x", None, None, "y", None], [file], IDS)


def test_labels_of_a_column(tmp_path):
    file = table(
        tmp_path, "id,segment,none,price\n" + "".join(f"{i},{'x' if i < 3 else ''},,{i}\n" for i in range(200))
    )
    rows = file.read(file.header)
    assert row_labels(file, rows, "segment")[:4] == ["x", "x", "x", None]
    with pytest.raises(Refusal, match="column 'none' has no label in any row"):
        row_labels(file, rows, "none")
    with pytest.raises(Refusal, match="'price' has 200 different values in 200 rows"):
        row_labels(file, rows, "price")
