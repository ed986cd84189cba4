"""``sidelight fit`` and ``predict`` on folders of Parquet files."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sidelight.cli.main import main


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def customers(tmp_path_factory):
    """A table as a folder of three files and as one file, with links in a third file."""
    home = tmp_path_factory.mktemp("large")
    random = np.random.default_rng(0)
    classes = random.integers(3, size=240)
    frame = pd.DataFrame(
        {
            "id": [f"c{row}" for row in range(240)],
            "spend": random.normal(size=240) + 6 * classes,
            "visits": random.poisson(2 + 8 * classes),
            "colour": np.array(["red", "green", "blue"])[(classes + (random.random(240) < 0.1)) % 3],
            "class": np.where(np.arange(240) % 16 == 0, np.array(["a", "b", "c"])[classes], None),
        }
    )
    frame.loc[random.random(240) < 0.05, "spend"] = np.nan
    (home / "folder").mkdir()
    for number, start in enumerate(range(0, 240, 100)):
        frame[start : start + 100].to_parquet(home / "folder" / f"part-{number}.parquet", index=False)
    frame.to_parquet(home / "one.parquet", index=False)
    same = [(f"c{a}", f"c{b}") for a, b in zip(range(1, 20), range(239, 220, -1), strict=True)]
    lines = [f"{a},{b},{'must' if classes[int(a[1:])] == classes[int(b[1:])] else 'cannot'}" for a, b in same]
    (home / "links.csv").write_text("id_a,id_b,relation\n" + "\n".join(lines) + "\n")
    return home


def test_a_folder_gives_what_one_file_gives(customers):
    options = (
        "--id-column",
        "id",
        "--label-column",
        "class",
        "--links",
        customers / "links.csv",
        "--seed",
        1,
        "--clusters",
        4,
    )
    told = run("fit", customers / "folder", *options, "-o", customers / "r1")
    assert "report.html is left out" in told.output
    run("fit", customers / "one.parquet", *options, "--no-report", "-o", customers / "r2")
    first, second = ((customers / name / "clusters.csv").read_text() for name in ("r1", "r2"))
    assert first == second
    summary = json.loads((customers / "r1" / "summary.json").read_text())
    assert summary["rows"] == 240
    assert summary["model"] == "guided"
    assert summary["statements"]["labels"] == 15

    run("predict", customers / "r1", customers / "folder", "-o", customers / "p1.csv")
    run("predict", customers / "r1", customers / "one.parquet", "-o", customers / "p2.csv")
    assert (customers / "p1.csv").read_text() == (customers / "p2.csv").read_text()
    assert len(pd.read_csv(customers / "p1.csv")) == 240
    run("ask", customers / "r1", "-n", 3, "-o", customers / "ask.csv")
    assert len(pd.read_csv(customers / "ask.csv")) == 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--model", "labelled"], "--model labelled takes tables in one file, not folders; choose guided or bayesian"),
        (["--categorical", "visits"], "--categorical visits, but the column holds int64"),
        (["--label-column", "klass"], "did you mean 'class'?"),
    ],
)
def test_what_a_folder_cannot_do_is_said(customers, options, sentence):
    result = run("fit", customers / "folder", *options, "-o", customers / "r3", code=2)
    assert sentence in " ".join(result.output.split())


def test_folders_that_are_no_table(tmp_path):
    assert "holds no file whose name ends in .parquet" in run("fit", tmp_path, "-o", tmp_path / "r", code=2).output
    (tmp_path / "x.parquet").write_bytes(b"PAR1 nothing")
    assert "x.parquet cannot be read as Parquet" in run("fit", tmp_path, "-o", tmp_path / "r", code=2).output
