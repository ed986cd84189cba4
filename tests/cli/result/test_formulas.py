"""Text that a spreadsheet would run is escaped where that is asked for."""

import csv
import io

import numpy as np
import pytest
from click.testing import CliRunner

from sidelight.cli.main import main
from sidelight.cli.result.clusters import Assignment, write_assignment

IDS = ["=cmd|'/c calc'!A0", "+1", "-1", "@x", " =x", "plain", "a=b"]


def written(*, escape):
    text = io.StringIO()
    n = len(IDS)
    names = np.array(["=evil()", "good"])
    write_assignment(text, Assignment(np.array(IDS), "=id", np.arange(n) % 2, names, np.full(n, 0.5), escape))
    return list(csv.reader(io.StringIO(text.getvalue())))


def test_formulas_are_escaped():
    header, *rows = written(escape=True)
    assert header[0] == "'=id"
    assert [row[0] for row in rows] == [f"'{name}" for name in IDS[:5]] + IDS[5:]
    assert {row[2] for row in rows} == {"'=evil()", "good"}
    assert {row[1] for row in rows} == {"0", "1"}


@pytest.mark.parametrize("column", [0, 2])
def test_text_stays_as_it_is_otherwise(column):
    _, *rows = written(escape=False)
    assert [row[column] for row in rows] == (IDS if column == 0 else ["=evil()", "good"] * 3 + ["=evil()"])


@pytest.mark.parametrize("option", [(), ("--escape-formulas",)])
def test_ids_and_labels_that_are_formulas_go_through_fit_and_predict(tmp_path, option):
    ids = [f"=cmd|'/c calc'!A{row}" for row in range(20)]
    sizes = [row % 2 * 9 + row / 100 for row in range(20)]
    with (tmp_path / "t.csv").open("w", newline="") as file:
        labels = ["@SUM(1)", "b", *[""] * 18]
        csv.writer(file).writerows([("id", "size", "label"), *zip(ids, sizes, labels, strict=True)])
    table, folder = str(tmp_path / "t.csv"), tmp_path / "out"
    fit = ["fit", table, "--id-column", "id", "--label-column", "label", "--model", "labelled", "--no-report"]
    assert CliRunner().invoke(main, [*fit, "-o", str(folder), *option]).exit_code == 0
    placed = ["predict", str(folder), table, "-o", str(tmp_path / "placed.csv"), *option]
    assert CliRunner().invoke(main, placed).exit_code == 0
    mark = "'" if option else ""
    for path in (folder / "clusters.csv", tmp_path / "placed.csv"):
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["id"] for row in rows] == [mark + name for name in ids]
        assert {row["name"] for row in rows} == {f"{mark}@SUM(1)", "b"}
