"""Files of statements with authors at the command line: found by content, said aloud, errors with file and line."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris

from sidelight.cli.main import main
from sidelight.side.formats import parse_statements, write_statements

X, Y = load_iris(return_X_y=True, as_frame=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = X.iloc[::2].copy()
    frame.insert(0, "plant", [f"p{row}" for row in frame.index])
    frame.to_csv("iris.csv", index=False)
    rng = np.random.default_rng(0)
    lines = ["task,worker,label"]
    for row in rng.permutation(frame.index)[:40]:
        for worker in rng.choice(["Ann", "Ben", "Cy"], 2, replace=False):
            wrong = rng.random() < (0.9 if worker == "Cy" else 0.1)
            lines.append(f"p{row},{worker},{NAMES[(Y[row] + wrong * rng.integers(3)) % 3]}")
    (tmp_path / "answers.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["fit", "iris.csv", "--id-column", "plant", "--no-report", *arguments])


@pytest.mark.parametrize("model", ["bayesian"])
def test_annotators_are_learned_and_said(folder, model):
    (folder / "pairs.csv").write_text(
        "unique_id_l,unique_id_r,clerical_match_score,annotator\np0,p2,1,Ann\np0,p148,0.1,Ann\n"
    )
    done = run("--labels", "answers.csv", "--links", "pairs.csv", "--model", model, "-o", "result", "--json")
    assert done.exit_code == 0, done.output
    summary = json.loads((folder / "result" / "summary.json").read_text(encoding="utf-8"))
    assert [row["annotator"] for row in summary["reliability"]] == ["Ann", "Ben", "Cy"]
    worst = min(summary["reliability"], key=lambda row: row["reliability"])
    assert worst["annotator"] == "Cy"
    assert worst["low"] < worst["reliability"] < worst["high"]
    assert summary["doubtful"][0]["rows"][0].startswith("p")
    assert {"annotator", "rows", "gain"} <= set(summary["ask_again"][0])
    assert summary["agreement"]["pairs_of_annotators"]
    for words in (
        "answers.csv: read as crowd-kit, 80 labels by 3 annotators",
        "pairs.csv: read as Splink, 2 judged pairs by 1 annotator",
        "annotator Cy: ",
        "statements of annotators that are probably wrong",
    ):
        assert words in done.stderr


def test_the_report_shows_annotators(folder):
    arguments = ["fit", "iris.csv", "--id-column", "plant", "--labels", "answers.csv", "--model", "equivalence"]
    done = CliRunner().invoke(main, [*arguments, "-o", "result"])
    assert done.exit_code == 0, done.output
    page = (folder / "result" / "report.html").read_text(encoding="utf-8")
    for words in ("How reliable annotators are", "How often annotators agree", "What to ask again, and whom"):
        assert words in page
    assert "80 labels by 3 annotators, who may err" in page


@pytest.mark.parametrize("name", ["cleanlab", "Label Studio", "Prodigy", "sidelight"])
def test_every_format_of_labels_is_taken(folder, name):
    said = parse_statements((folder / "answers.csv").read_text())
    (folder / "other").write_text(write_statements(said, name), encoding="utf-8")
    first, second = (
        run("--labels", file, "--model", "bayesian", "-o", file + ".result", "--json")
        for file in ("answers.csv", "other")
    )
    assert second.exit_code == 0, second.output
    assert f"other: read as {name}" in second.stderr
    assert json.loads(first.stdout)["reliability"] == json.loads(second.stdout)["reliability"]


def test_a_table_of_links_is_learned_on_request_and_certain_annotators_are_believed(folder):
    rng = np.random.default_rng(1)
    pairs = pd.DataFrame(rng.choice(X.index[::2], (40, 2)), columns=["id_a", "id_b"]).query("id_a != id_b")
    same = Y[pairs.id_a].to_numpy() == Y[pairs.id_b].to_numpy()
    pairs["relation"] = np.where(same, "same", "different")
    pairs["annotator"] = ["Ann", "Ben"] * (len(pairs) // 2) + ["Ann"] * (len(pairs) % 2)
    for column in ("id_a", "id_b"):
        pairs[column] = "p" + pairs[column].astype(str)
    pairs.to_csv("links.csv", index=False)
    common = ("--links", "links.csv", "--model", "bayesian", "--json")
    plain = json.loads(run(*common, "-o", "plain").stdout)
    assert "reliability" not in plain
    learned = json.loads(run(*common, "--learn-annotators", "-o", "learned").stdout)
    assert [row["annotator"] for row in learned["reliability"]] == ["Ann", "Ben"]
    certain = json.loads(run(*common, "--learn-annotators", "--certain-annotator", "Ann", "-o", "certain").stdout)
    assert [row["annotator"] for row in certain["reliability"]] == ["Ben"]
    assert certain["statements"]["must"] + certain["statements"]["cannot"] > 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("task,worker,label\np0,,setosa\n", "answers.csv, line 2: worker is empty"),
        (
            "task,worker,label\np0,Ann,setosa\np1,Ann,setosa\n",
            "answers.csv, line 3: no row of iris.csv has the id 'p1'",
        ),
        ("hello\n", "none of the formats"),
        ("", "the file is empty"),
        ("a,b,relation,annotator\np0,p2,same,Ann\n", "holds no labels but judged pairs; use --links"),
        ('[{"data": {"id": "p0"}, "annotations": [3]}]', "line 1: an annotation is an object"),
    ],
)
def test_a_bad_file_is_an_error_with_its_line(folder, text, words):
    (folder / "answers.csv").write_text(text)
    done = run("--labels", "answers.csv", "-o", "result")
    assert done.exit_code == 2
    assert words in done.stderr
    assert "Traceback" not in done.output
    assert not (folder / "result").exists()


def test_labels_need_ids_unless_lines_are_rows(folder):
    arguments = ["fit", "iris.csv", "--ignore", "plant", "--no-report", "--model", "bayesian"]
    done = CliRunner().invoke(main, [*arguments, "--labels", "answers.csv", "-o", "result"])
    assert done.exit_code == 2
    assert "say with --id-column" in done.stderr
    wide = ["Ann,Ben", *(f"{name},{name}" for name in NAMES[Y[::2]])]
    (folder / "wide.csv").write_text("\n".join(wide) + "\n")
    done = CliRunner().invoke(main, [*arguments, "--labels", "wide.csv", "-o", "result"])
    assert done.exit_code == 0, done.output
    assert "lines are the rows of the table, in order" in done.stderr


def test_models_that_cannot_use_annotators_say_so(folder):
    done = run("--labels", "answers.csv", "--model", "labelled", "-o", "result")
    assert done.exit_code == 2
    assert "cannot use statements of annotators who may err" in done.stderr


def test_pairs_of_dedupe_are_taken(folder):
    pairs = {"match": [[{"plant": "p0"}, {"plant": "p2"}]], "distinct": [[{"plant": "p0"}, {"plant": "p148"}]]}
    (folder / "training.json").write_text(json.dumps(pairs))
    done = run("--links", "training.json", "--model", "bayesian", "-o", "result", "--json")
    assert done.exit_code == 0, done.output
    assert "read as dedupe, 2 judged pairs by 1 annotator; the author of all pairs is 'training'" in done.stderr
