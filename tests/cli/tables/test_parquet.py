"""Columns of any type that Parquet has: used, or left out with a message, and never a fault."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from sidelight.cli.main import main

N = 40
NUMBERS = {"x": np.r_[np.linspace(0, 1, N // 2), np.linspace(9, 10, N // 2)]}
USED = {
    "category": pa.array(pd.Categorical(["a", "b", "c", "d"] * (N // 4))),
    "ordered category": pa.array(pd.Categorical(["low", "high"] * (N // 2), ["low", "high"], ordered=True)),
    "category of numbers": pa.array(pd.Categorical([1.5, 2.5, 4.0, 7.25] * (N // 4))),
    "uint64": pa.array([2**64 - 1 - n * n for n in range(N)], pa.uint64()),
    "uint64 with a gap": pa.array([None, *(2**63 + n * n for n in range(N - 1))], pa.uint64()),
    "decimal": pa.array([Decimal(10) ** 20 * n * n for n in range(N)]),
}
LEFT_OUT = {
    "list": pa.array([[1, n] for n in range(N)]),
    "struct": pa.array([{"a": n} for n in range(N)]),
    "binary": pa.array([bytes([255, n]) for n in range(N)]),
    "map": pa.array([[("a", n)] for n in range(N)], pa.map_(pa.string(), pa.int64())),
}


def run(folder, name, column):
    path = folder / "table.parquet"
    pq.write_table(pa.table({**NUMBERS, name: column}), path)
    options = ["--model", "labelled", "--clusters", "2", "--no-report"]
    fitted = CliRunner().invoke(main, ["fit", str(path), "-o", str(folder / "result"), *options])
    placed = CliRunner().invoke(main, ["predict", str(folder / "result"), str(path), "-o", str(folder / "placed.csv")])
    return fitted, placed


@pytest.mark.parametrize(("name", "column"), USED.items(), ids=USED)
def test_columns_that_are_used(tmp_path, name, column):
    fitted, placed = run(tmp_path, name, column)
    assert (fitted.exit_code, placed.exit_code) == (0, 0), fitted.stderr + placed.stderr
    assert name in fitted.stderr
    assert "left out" not in fitted.stderr


@pytest.mark.parametrize(("name", "column"), LEFT_OUT.items(), ids=LEFT_OUT)
def test_columns_that_are_left_out(tmp_path, name, column):
    fitted, placed = run(tmp_path, name, column)
    assert (fitted.exit_code, placed.exit_code) == (0, 0), fitted.stderr + placed.stderr
    assert f"left out: {name}, which holds" in fitted.stderr
