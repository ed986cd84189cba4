"""Tables of very many columns: nothing that is printed or kept names them all."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sidelight.cli.main import main

N_COLUMNS = 600


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    values = random.normal(size=(40, N_COLUMNS)) + 5 * (np.arange(40) % 2)[:, None]
    frame = pd.DataFrame(values.round(3), columns=[f"measurement {number}" for number in range(N_COLUMNS)])
    frame["label"] = ["a", "b", *[None] * 38]
    return frame


def fit(frame, folder, *options):
    frame.to_csv(folder / "t.csv", index=False)
    command = ["fit", str(folder / "t.csv"), "--label-column", "label", "-o", str(folder / "out"), *options]
    return CliRunner().invoke(main, [*command, "--model", "labelled", "--no-report"])


def spoken(text):
    return text.count("measurement")


def test_columns_are_counted(table, tmp_path):
    ended = fit(table, tmp_path)
    assert ended.exit_code == 0
    assert "measurement 9, … (600 in all)" in ended.stderr
    assert spoken(ended.stderr) == 10
    assert len(json.loads((tmp_path / "out" / "summary.json").read_text())["columns"]) == N_COLUMNS


def test_columns_that_are_left_out_are_counted(table, tmp_path):
    table.iloc[:, :500] = 1.0
    ended = fit(table, tmp_path)
    assert ended.exit_code == 0
    assert "left out: 480 more columns; summary.json says why" in ended.stderr
    assert spoken(ended.stderr) == 20 + 10


def test_columns_that_are_converted_are_counted(table, tmp_path):
    for name in table.columns[:500]:
        table[name] = [f"${value:.2f}" for value in 100 * table[name]]
    ended = fit(table, tmp_path)
    assert ended.exit_code == 0
    assert "… and 490 more messages like the last one." in ended.stderr
    assert spoken(ended.stderr) == 10 + 10


def test_errors_name_a_few(table, tmp_path):
    table = pd.DataFrame(1.0, index=table.index, columns=table.columns)
    ended = fit(table.assign(label="a"), tmp_path)
    assert ended.exit_code == 2
    assert "and 595 more" in ended.stderr
    assert spoken(ended.stderr) == 5
    ended = fit(table.assign(label="a"), tmp_path, "--id-column", "number")
    assert ended.exit_code == 2
    assert spoken(ended.stderr) <= 5


def test_a_name_may_be_of_any_length(table, tmp_path):
    table = table.iloc[:, [0, 1, -1]].set_axis(["x" * 100_000, "y", "label"], axis=1)
    ended = fit(table, tmp_path)
    assert ended.exit_code == 0
    assert len(ended.stderr) < 20_000
