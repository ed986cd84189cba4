"""``sidelight fit --power``: which columns were taken on another scale is said, kept and used again."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sidelight import load
from sidelight.cli.main import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    group = np.repeat([0, 1], 100)
    income = np.exp(random.normal(7, 0.5, 200) + 2 * group).round(2)
    pd.DataFrame({"income": income, "age": random.normal(40, 5, 200).round(1)}).to_csv("people.csv", index=False)
    return tmp_path


def fit(*options):
    return CliRunner().invoke(main, ["fit", "people.csv", "--no-report", *options])


def test_columns_on_another_scale_are_named(folder):
    result = fit("--power")
    assert result.exit_code == 0, result.output
    assert "on a logarithmic scale: income" in result.output
    summary = json.loads((folder / "result" / "summary.json").read_text(encoding="utf-8"))
    assert "on a logarithmic scale: income" in summary["notes"]
    assert list(load(folder / "result" / "model").column_powers_) == ["income"]
    placed = CliRunner().invoke(main, ["predict", "result", "people.csv", "-o", "placed.csv"])
    assert placed.exit_code == 0, placed.output


def test_without_it_columns_are_taken_as_they_are(folder):
    result = fit("--no-power")
    assert result.exit_code == 0, result.output
    assert "scale" not in result.output


def test_a_model_without_scales_refuses_the_option(folder):
    result = fit("--model", "class", "--power")
    assert result.exit_code != 0
    assert "--model class takes columns as they are; choose bayesian or labelled" in result.output
