"""``sidelight fit --noise`` and what ``predict`` says of rows that belong nowhere."""

import csv
import json

import numpy as np
from click.testing import CliRunner

from sidelight.cli.main import main


def write_table(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "a", "b"])
        writer.writerows((f"r{number}", *row) for number, row in enumerate(rows.round(3).tolist()))


def test_rows_that_belong_nowhere_are_named_noise(tmp_path):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 9, rng.uniform(-90, 90, size=(8, 2))])
    write_table(tmp_path / "table.csv", X)
    fit = ["fit", str(tmp_path / "table.csv"), "--id-column", "id", "--noise", "--no-report", "--json"]
    result = CliRunner().invoke(main, [*fit, "-o", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    clusters = json.loads(result.stdout)["clusters"]
    assert [cluster["cluster"] for cluster in clusters] == [0, 1, -1]
    assert clusters[-1]["name"] == "noise"
    assert sum(cluster["rows"] for cluster in clusters) == len(X)
    with (tmp_path / "out" / "clusters.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["name"] for row in rows if row["cluster"] == "-1"} == {"noise"}
    assert sum(row["cluster"] == "-1" for row in rows) == clusters[-1]["rows"] >= 7

    write_table(tmp_path / "new.csv", np.array([[0.0, 0.0], [900.0, -900.0]]))
    predict = ["predict", str(tmp_path / "out"), str(tmp_path / "new.csv"), "-o", str(tmp_path / "placed.csv")]
    assert CliRunner().invoke(main, predict).exit_code == 0
    with (tmp_path / "placed.csv").open(newline="") as file:
        placed = list(csv.DictReader(file))
    assert placed[0]["cluster"] in ("0", "1")
    assert (placed[1]["cluster"], placed[1]["name"]) == ("-1", "noise")
    assert float(placed[1]["probability"]) > 0.9

    asked = CliRunner().invoke(main, ["ask", str(tmp_path / "out"), "-o", str(tmp_path / "ask.csv")])
    assert asked.exit_code == 0, asked.output


def test_models_without_noise_say_which_have_it(tmp_path):
    write_table(tmp_path / "table.csv", np.random.default_rng(0).normal(size=(20, 2)))
    command = ["fit", str(tmp_path / "table.csv"), "--model", "class", "--noise", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code != 0
    assert "--model class cannot set noise apart; choose bayesian or labelled" in result.stderr
