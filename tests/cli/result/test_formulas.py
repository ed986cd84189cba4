"""Text that a spreadsheet would run is escaped where that is asked for."""

import csv
import io

import numpy as np
import pytest

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
