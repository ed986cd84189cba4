"""Failures end with one sentence and a code that means something."""

import io
import json
import os
import re
import shutil
import subprocess
import sys

import click
import numpy as np
import pytest
from click.testing import CliRunner

from sidelight.cli.errors import Commands, refusing
from sidelight.cli.main import main
from sidelight.cli.output import output_text

TABLE = "id,x,y,segment\n" + "".join(f"{i},{i % 7}.5,{i * i % 11}.25,{'a' if i == 3 else ''}\n" for i in range(40))


def fitted(folder, table, *options, name="table.csv"):
    (folder / name).write_bytes(table)
    output = folder / "result"
    return CliRunner().invoke(main, ["fit", str(folder / name), "-o", str(output), "--no-report", *options])


WRONG = {
    "empty": (b"", (), "is empty"),
    "one column, the id": (b"id\n1\n2\n", ("--id-column", "id"), "no column to cluster by"),
    "an id twice": (
        TABLE.encode() + b"7,1,1,\n",
        ("--id-column", "id", "--links", "links.csv"),
        "'7'.*twice, in line 9 and line 42",
    ),
    "an id of many letters": (TABLE.encode() + b"7" * 5000 + b",1,1,\n", ("--id-column", "id"), "5000 characters long"),
    "a huge cell": (TABLE.encode() + b'99,"' + b"x" * (17 << 20) + b'",1,"\n', (), "16 million characters"),
    "not an encoding of text": (TABLE.encode(), ("--encoding", "base64"), "--encoding base64 is not known"),
    "a name that is no encoding": (TABLE.encode(), ("--encoding", "\0"), "is not known"),
    "not in the encoding that is named": (TABLE.encode(), ("--encoding", "utf-16"), "is not utf-16: .*--encoding"),
    "a confidence that is not a number": (TABLE.encode(), ("--confidence", "nan"), "--confidence nan must be"),
    "no such column": (TABLE.encode(), ("--id-column", "key"), "no column 'key', which --id-column names"),
    "infinity": (TABLE.encode() + b"99,inf,1,\n", (), "line 42: column 'x' is infinite"),
    "mixed encodings": (TABLE.encode() + b"99,1,1,\xe9t\xe9\n", (), "line 42 is not utf-8"),
    "cut off": (TABLE.encode() + b"99,1", (), "line 42 has 2 cells.*cut off"),
    "no labels": (TABLE.replace("a\n", "\n").encode(), ("--label-column", "segment"), "no label in any row"),
    "links without ids": (TABLE.encode(), ("--links", "links.csv"), "--id-column"),
    "a header alone": (b"x,y", (), "has a header but no rows"),
    "a single row": (b"x,y\n1,2\n", (), "has a single row; clusters need several"),
    "a title above the header": (
        b"Sales of 2020\n\nx,y\n1,2\n",
        (),
        "line 3 .*if line 1 is a title or a remark, remove",
    ),
    "a remark below the rows": (TABLE.encode() + b"Total: 40\n", (), "line 42 has 1 cell.* remark; .*remove the line"),
    "cut by spaces": (b"x y\n" + b"".join(b"%d 1\n" % row for row in range(40)), (), "read as a single column"),
    "a spreadsheet by another name": (b"PK\x03\x04\x14\0", (), "is not CSV but a spreadsheet .*ending .xlsx"),
    "Parquet by another name": (b"PAR1\x15\0", (), "is not CSV but Parquet; give it the ending .parquet"),
    "UTF-16": (TABLE.encode("utf-16"), (), "is written in UTF-16; say so with --encoding utf-16"),
    "annotators to learn without links": (
        TABLE.encode(),
        ("--learn-annotators",),
        "--learn-annotators is about .*links",
    ),
    "a certain annotator of nothing": (
        TABLE.encode(),
        ("--certain-annotator", "Ann"),
        "--certain-annotator Ann: there are no statements of annotators",
    ),
    "a checkpoint that is a file": (
        TABLE.encode(),
        ("--model", "bayesian", "--checkpoint", __file__),
        "--checkpoint .* is a file; give it the name of a folder",
    ),
    "no links file": (TABLE.encode(), ("--id-column", "id", "--links", "gone.csv"), "gone.csv does not exist"),
}


@pytest.mark.parametrize(("table", "options", "told"), WRONG.values(), ids=WRONG)
def test_wrong_files_give_one_sentence_and_leave_nothing(tmp_path, table, options, told):
    result = fitted(tmp_path, table, *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith("Error: ")
    assert re.search(told, sentence)
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


@pytest.mark.parametrize(
    ("option", "told"),
    [(("--seed", "-1"), "'--seed': -1 is not in the range 0"), (("--jobs", "0"), "'--jobs': 0 threads do nothing")],
)
def test_numbers_that_options_cannot_be_are_told_with_the_option(tmp_path, option, told):
    result = fitted(tmp_path, TABLE.encode(), *option)
    assert result.exit_code == 2
    assert told in result.stderr


def test_files_of_other_kinds(tmp_path):
    assert "cannot be read as Parquet" in fitted(tmp_path, b"hello", name="table.parquet").stderr
    assert "save it as .xlsx or as CSV" in fitted(tmp_path, b"PK", name="table.ods").stderr
    assert "give it the ending of what it is" in fitted(tmp_path, TABLE.encode(), name="table.xlsx").stderr
    assert "is JSON, not a table" in fitted(tmp_path, b'[{"x": 1}]', name="table.json").stderr
    (tmp_path / "empty").mkdir()
    empty = CliRunner().invoke(main, ["fit", str(tmp_path / "empty"), "-o", str(tmp_path / "out")])
    assert "holds no file whose name ends in .parquet" in empty.stderr


@pytest.mark.parametrize(("absent", "remedy"), [("pyarrow", "sidelight[table]"), ("matplotlib", "sidelight[plot]")])
def test_what_is_not_installed_is_told(tmp_path, monkeypatch, absent, remedy):
    monkeypatch.setitem(sys.modules, absent, None)
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    result = CliRunner().invoke(main, ["fit", str(tmp_path / "table.csv"), "-o", str(tmp_path / "result")])
    assert result.exit_code == 2
    assert f"pip install '{remedy}'" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["predict", "{folder}/gone", "{folder}/table.csv"], "is not a folder"),
        (["predict", "{folder}", "{folder}/table.csv"], "holds no result"),
        (["ask", "{folder}"], "holds no result"),
        (["compare", "{folder}/table.csv", "{folder}/gone.csv"], "gone.csv does not exist"),
    ],
)
def test_other_commands_refuse_in_one_sentence_too(tmp_path, command, told):
    (tmp_path / "table.csv").write_text(TABLE, encoding="utf-8")
    result = CliRunner().invoke(main, [part.format(folder=tmp_path) for part in command])
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert told in result.stderr


@pytest.fixture
def commands():
    @click.group(cls=Commands)
    def group():
        pass

    @group.command()
    def fault():
        raise RuntimeError("the sky\nfell")

    @group.command()
    def interrupted():
        raise KeyboardInterrupt

    @group.command()
    def bad_value():
        with refusing("table.csv"):
            raise ValueError("column 'x' is\nodd")

    @group.command()
    def absent_file():
        with open("/nowhere/at/all"):  # noqa: PTH123
            pass

    return group


def test_faults_of_our_own_are_owned(commands, monkeypatch):
    monkeypatch.delenv("SIDELIGHT_TRACEBACK", raising=False)
    result = CliRunner().invoke(commands, ["fault"])
    assert result.exit_code == 1
    assert "sidelight itself failed (RuntimeError: the sky fell)" in result.stderr
    assert "Traceback" not in result.stderr
    monkeypatch.setenv("SIDELIGHT_TRACEBACK", "1")
    assert "Traceback" in CliRunner().invoke(commands, ["fault"]).stderr


def test_a_command_that_the_user_stops_is_no_fault(commands):
    result = CliRunner().invoke(commands, ["interrupted"])
    assert result.exit_code == 130
    assert result.stderr == "Stopped.\n"


def test_values_and_paths_are_the_users(commands):
    result = CliRunner().invoke(commands, ["bad-value"])
    assert (result.exit_code, result.stderr) == (2, "Error: table.csv: column 'x' is odd\n")
    result = CliRunner().invoke(commands, ["absent-file"])
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: /nowhere/at/all: no such file")


@pytest.fixture(scope="module")
def whole_result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    ran = fitted(folder, TABLE.encode(), "--id-column", "id", "--model", "labelled", "--clusters", "2")
    assert ran.exit_code == 0, ran.stderr
    return folder


def damaged_json(content, change):
    stored = json.loads(content)
    change(stored)
    return json.dumps(stored).encode()


RECIPES = {
    "not JSON": lambda content: content[:100],
    "deep": lambda content: b"[" * 100_000,
    "a list": lambda content: b"[]",
    "no columns": lambda content: damaged_json(content, lambda stored: stored.update(columns=[])),
    "columns that are none": lambda content: damaged_json(content, lambda stored: stored.update(columns=[3])),
    "another kind": lambda content: damaged_json(content, lambda stored: stored["columns"][0].update(kind="colour")),
    "holds nothing": lambda content: damaged_json(content, lambda stored: stored["columns"][0].update(holds="x")),
    "no scale": lambda content: damaged_json(content, lambda stored: stored["columns"][0].update(scale="wide")),
    "a name of a number": lambda content: damaged_json(content, lambda stored: stored["columns"][0].update(name=3)),
    "an id column of numbers": lambda content: damaged_json(content, lambda stored: stored.update(id_column=[1])),
    "another style": lambda content: damaged_json(content, lambda stored: stored["columns"][0].update(written="x")),
}


@pytest.mark.parametrize("damage", RECIPES.values(), ids=RECIPES)
def test_a_damaged_recipe_is_told(tmp_path, whole_result, damage):
    shutil.copytree(whole_result, tmp_path / "copy")
    recipe = tmp_path / "copy" / "result" / "recipe.json"
    recipe.write_bytes(damage(recipe.read_bytes()))
    ran = CliRunner().invoke(main, ["predict", str(recipe.parent), str(tmp_path / "copy" / "table.csv")])
    assert ran.exit_code == 2
    assert "recipe.json is damaged" in ran.stderr


def cut(folder, name):
    path = folder / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def without_a_row(folder):
    lines = (folder / "rows.csv").read_text().splitlines(keepends=True)
    (folder / "rows.csv").write_text("".join(lines[:-1]))


def with_array(name, values):
    def damage(folder):
        with np.load(folder / "statements.npz") as stored:
            arrays = dict(stored)
        np.savez(folder / "statements.npz", **arrays | {name: values})

    return damage


POOLS = {
    "arrays cut off": lambda folder: cut(folder, "statements.npz"),
    "arrays of nothing": lambda folder: (folder / "statements.npz").write_bytes(b"PK\x05\x06" + bytes(18)),
    "rows cut off": without_a_row,
    "rows of bytes": lambda folder: (folder / "rows.csv").write_bytes(b"\xff\x00"),
    "other labels": with_array("labels", np.arange(3)),
    "labels without a name": with_array("labels", np.full(40, 7)),
    "no probabilities": with_array("posterior", np.full((40, 2), np.nan)),
    "text for numbers": with_array("positions", np.full((40, 2), "x")),
    "links of other rows": with_array("must_link", np.array([[0, 999]])),
}


@pytest.mark.parametrize("damage", POOLS.values(), ids=POOLS)
def test_damaged_rows_to_ask_about_are_told(tmp_path, whole_result, damage):
    shutil.copytree(whole_result / "result", tmp_path / "result")
    damage(tmp_path / "result" / "askable")
    ran = CliRunner().invoke(main, ["ask", str(tmp_path / "result")])
    assert ran.exit_code == 2, ran.stderr
    assert "askable is damaged" in ran.stderr


def test_names_that_would_steer_the_terminal_are_shown_as_text(tmp_path):
    steered = TABLE.replace(",a\n", ",\x1b[2Jevil\u202e\n")
    ran = fitted(tmp_path, steered.encode(), "--label-column", "segment", "--clusters", "2", name="\x1b[31mred.csv")
    assert ran.exit_code == 0, ran.stderr
    assert "\x1b" not in ran.stdout + ran.stderr
    assert "\u202e" not in ran.stdout + ran.stderr
    assert r"\x1b[2Jevil\u202e" in ran.stdout
    ran = fitted(tmp_path, b"", "--force", name="\x1b[31mempty.csv")
    assert r"\x1b[31mempty.csv is empty" in ran.stderr


def test_labels_that_are_compared_cannot_steer_the_terminal(tmp_path):
    for name, label in (("a.csv", "\x1b[2Jevil"), ("b.csv", "\x1b[31mred")):
        (tmp_path / name).write_text("id,name\n" + "".join(f"{row},{label}{row % 2}\n" for row in range(9)))
    ran = CliRunner().invoke(main, ["compare", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")], color=True)
    assert ran.exit_code == 0, ran.stderr
    assert "\x1b" not in ran.stdout
    assert r"\x1b[2Jevil0" in ran.stdout
    assert r"\x1b[31mred1" in ran.stdout


def test_a_table_that_goes_to_a_terminal_cannot_steer_it(monkeypatch):
    class Screen(io.StringIO):
        def isatty(self):
            return True

    screen, pipe = Screen(), io.StringIO()
    for place in (screen, pipe):
        monkeypatch.setattr(sys, "stdout", place)
        with output_text(None) as text:
            text.write("id\n\x1b[2Jevil\n")
    assert screen.getvalue() == "id\n\\x1b[2Jevil\n"
    assert pipe.getvalue() == "id\n\x1b[2Jevil\n"


def test_labels_that_may_be_missing_are_named_by_their_column(tmp_path):
    table = TABLE.replace(",\n", ",?\n").encode()
    ran = fitted(tmp_path, table, "--label-column", "segment", "--model", "labelled", "--clusters", "2")
    assert ran.exit_code == 0, ran.stderr
    told = [line for line in ran.stderr.splitlines() if "'?'" in line]
    assert len(told) == 1
    assert "table.csv, column 'segment': '?' in 39 rows is taken as a name" in told[0]
    assert "in a file, leave the cell empty" in told[0]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other devices")
def test_a_device_that_never_ends_is_refused():
    ran = CliRunner().invoke(main, ["fit", "/dev/zero", "-o", "nowhere"])
    assert ran.exit_code == 2
    assert "/dev/zero is a device, not a file; name the file that holds the table" in ran.stderr
    assert "/dev/null is empty" in CliRunner().invoke(main, ["fit", "/dev/null", "-o", "nowhere"]).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_file_name_that_is_not_utf8(tmp_path):
    (tmp_path / os.fsdecode(b"M\xfcnchen.csv")).write_text(TABLE, encoding="utf-8")
    script = "from sidelight.cli.main import main; main()"
    options = ["--model", "labelled", "--clusters", "2"]
    command = [sys.executable, "-c", script, "fit", b"M\xfcnchen.csv", *options]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    summary = json.loads((tmp_path / "result" / "summary.json").read_text(encoding="utf-8"))
    assert summary["table"] == r"M\udcfcnchen.csv"
    assert r"M\udcfcnchen.csv" in (tmp_path / "result" / "report.html").read_text(encoding="utf-8")
