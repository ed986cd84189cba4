"""Failures end with one sentence and a code that means something."""

import re
import sys

import click
import pytest
from click.testing import CliRunner

from sidelight.cli.errors import Commands, refusing
from sidelight.cli.main import main

TABLE = "id,x,y,segment\n" + "".join(f"{i},{i % 7}.5,{i * i % 11}.25,{'a' if i == 3 else ''}\n" for i in range(40))


def fitted(folder, table, *options, name="table.csv"):
    (folder / name).write_bytes(table)
    output = folder / "result"
    return CliRunner().invoke(main, ["fit", str(folder / name), "-o", str(output), "--no-report", *options])


WRONG = {
    "empty": (b"", (), "is empty"),
    "one column, the id": (b"id\n1\n2\n", ("--id-column", "id"), "no column to cluster by"),
    "an id twice": (TABLE.encode() + b"7,1,1,\n", ("--id-column", "id"), "'7'.*twice, in line 9 and line 42"),
    "no such column": (TABLE.encode(), ("--id-column", "key"), "no column 'key', which --id-column names"),
    "infinity": (TABLE.encode() + b"99,inf,1,\n", (), "line 42: column 'x' is infinite"),
    "mixed encodings": (TABLE.encode() + b"99,1,1,\xe9t\xe9\n", (), "line 42 is not utf-8"),
    "two names": (b"x,x\n1,2\n", (), "twice, such as 'x'"),
    "cut off": (TABLE.encode() + b"99,1", (), "line 42 has 2 cells.*cut off"),
    "no labels": (TABLE.replace("a\n", "\n").encode(), ("--label-column", "segment"), "no label in any row"),
    "links without ids": (TABLE.encode(), ("--links", "links.csv"), "--id-column"),
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


def test_files_of_other_kinds(tmp_path):
    assert "cannot be read as Parquet" in fitted(tmp_path, b"hello", name="table.parquet").stderr
    assert "save it as CSV" in fitted(tmp_path, b"PK", name="table.xlsx").stderr
    assert "is a folder" in CliRunner().invoke(main, ["fit", str(tmp_path), "-o", str(tmp_path / "out")]).stderr


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


def test_values_and_paths_are_the_users(commands):
    result = CliRunner().invoke(commands, ["bad-value"])
    assert (result.exit_code, result.stderr) == (2, "Error: table.csv: column 'x' is odd\n")
    result = CliRunner().invoke(commands, ["absent-file"])
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: /nowhere/at/all: no such file")
