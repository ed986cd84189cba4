"""The demo, as a person would run it."""

import csv
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from sidelight.cli.main import main

COMMAND = [str(Path(sys.executable).with_name("sidelight"))]


@pytest.fixture(scope="module")
def demonstrated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    result = subprocess.run([*COMMAND, "demo", "-o", "out"], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return folder / "out", result.stdout


def test_a_little_knowledge_raises_the_score_on_the_rows_nobody_labelled(demonstrated):
    _, printed = demonstrated
    nothing, little = (
        float(re.search(rf"{told}\W+([\d.]+) ±", printed).group(1)) for told in ("nothing", "50 labels, 40 links")
    )
    assert little > nothing + 0.02


def test_it_writes_a_picture_and_a_table(demonstrated):
    folder, _ = demonstrated
    with Image.open(folder / "digits.png") as picture:
        assert picture.width > 1000
        assert len(picture.convert("RGB").getcolors(maxcolors=1 << 20)) > 50
    with (folder / "digits.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1797
    given = [row for row in rows if row["given_label"]]
    assert len(given) == 50
    assert all(row["cluster"] == row["given_label"] for row in given)
    assert all(0 < float(row["probability"]) <= 1 for row in rows)


def test_it_overwrites_nothing_unasked(demonstrated):
    folder, _ = demonstrated
    before = (folder / "digits.csv").read_bytes()
    result = CliRunner().invoke(main, ["demo", "-o", str(folder)])
    assert result.exit_code == 2
    assert "--force" in result.output
    assert "Traceback" not in result.output
    assert (folder / "digits.csv").read_bytes() == before


def test_help_and_version():
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output
    assert CliRunner().invoke(main, ["--version"]).output.startswith("sidelight, version")
