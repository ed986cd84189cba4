"""Columns that the user says are numbers, ordered categories, dates or logarithms."""

import csv
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

from sidelight.cli.main import main

N = 80
SIZES = ["small", "medium", "large"]


def rows():
    """Two groups that differ in every column, which is written as people write it."""
    random = np.random.default_rng(0)
    group = np.arange(N) % 2
    days = pd.Timestamp("2019-05-14") + pd.to_timedelta(900 * group + random.integers(0, 60, N), unit="D")
    return pd.DataFrame(
        {
            "plant": [f"{code:05d}" for code in 1000 + 4000 * group + random.integers(0, 300, N)],
            "size": np.array(SIZES)[np.clip(group + random.integers(0, 2, N), 0, 2)],
            "born": days.strftime("%d.%m.%Y"),
            "paid": np.exp(random.normal(2 + 5 * group, 0.4)).round(4),
            "stars": 1 + 2 * group + random.integers(0, 2, N),
        }
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("columns")
    rows().to_csv(folder / "table.csv", index=False)
    typed = rows().assign(
        size=pd.Categorical(rows()["size"], categories=SIZES, ordered=True),
        born=pd.to_datetime(rows()["born"], format="%d.%m.%Y"),
    )
    typed.to_parquet(folder / "table.parquet")
    typed.to_feather(folder / "table.feather")
    frame = pl.from_pandas(rows()).with_columns(pl.col("size").cast(pl.Enum(SIZES)))
    frame.write_parquet(folder / "polars.parquet")
    frame.write_ipc(folder / "polars.arrow")
    return folder


def run(place, *arguments):
    return CliRunner().invoke(main, [*arguments])


def fit(place, table, *options, model="labelled"):
    command = ["fit", str(place / table), *options, "-o", str(place / "out"), "--force", "--no-report", "--json"]
    result = run(place, *command, "--model", model, "--clusters", "2")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def clusters(text):
    return [row["cluster"] for row in csv.DictReader(text.splitlines())]


ALL = (
    "--number",
    "plant",
    "--ordinal",
    "size=small<medium<large",
    "--date",
    "born",
    "--log",
    "paid",
    "--ordinal",
    "stars",
)


@pytest.mark.parametrize("model", ["guided", "labelled"])
def test_columns_are_what_the_user_says_and_new_rows_are_read_alike(place, model):
    told = fit(place, "table.csv", *ALL, model=model)
    assert {name: column["kind"] for name, column in told["columns"].items()} == {
        "plant": "numbers",
        "size": "ordered categories",
        "born": "dates",
        "log(paid)": "numbers",
        "stars": "ordered categories",
    }
    assert told["left_out"] == {}
    fitted = clusters((place / "out" / "clusters.csv").read_text())
    assert len(set(fitted)) == 2
    assert set(zip(fitted, np.arange(N) % 2, strict=True)) in ({("0", 0), ("1", 1)}, {("0", 1), ("1", 0)})
    for table in ("table.csv", "table.parquet"):
        placed = run(place, "predict", str(place / "out"), str(place / table), "--quiet")
        assert placed.exit_code == 0, placed.stderr
        assert clusters(placed.stdout) == fitted


def test_without_options_dates_and_codes_are_left_out_with_a_hint(place):
    told = fit(place, "table.csv")
    assert "--date born" in told["left_out"]["born"]
    assert "holds codes (" in told["left_out"]["plant"]
    assert "--number" in told["left_out"]["plant"]
    assert told["columns"]["size"]["kind"] == "categories"


@pytest.mark.parametrize("table", ["table.parquet", "table.feather", "polars.parquet", "polars.arrow"])
def test_the_order_that_a_file_declares_is_kept(place, table):
    told = fit(place, table)
    assert told["columns"]["size"]["kind"] == "ordered categories"
    recipe = json.loads((place / "out" / "recipe.json").read_text())
    size = next(column for column in recipe["columns"] if column["name"] == "size")
    assert size["categories"] == SIZES
    assert fit(place, table, "--categorical", "size")["columns"]["size"]["kind"] == "categories"
    reverse = fit(place, table, "--ordinal", "size=large<medium<small")
    assert reverse["columns"]["size"]["kind"] == "ordered categories"


REFUSED = {
    ("--number", "size"): "column 'size' takes numbers, but holds",
    ("--number", "sizes"): "did you mean 'size'?",
    ("--ordinal", "size"): "--ordinal 'size=",
    ("--ordinal", "size=small<large"): "holds 'medium', which --ordinal does not name",
    ("--ordinal", "size=small"): "different values in order",
    ("--date", "size"): "is to be dates, but",
    ("--date", "stars"): "say how they are written",
    ("--date", "born=day"): "%d/%m/%Y, say",
    ("--date", "born=%m/%d/%Y"): "is not a date written as %m/%d/%Y",
    ("--log", "stars", "--ignore", "stars"): "--ignore and --log both name",
    ("--date", "born", "--number", "born"): "--number and --date both name",
    ("--categorical", "size", "--label-column", "size"): "--label-column and --categorical both name",
    ("--log", "size"): "takes numbers",
}


@pytest.mark.parametrize("options", REFUSED, ids=" ".join)
def test_what_cannot_be_is_refused_in_a_sentence(place, options):
    result = run(place, "fit", str(place / "table.csv"), *options, "-o", str(place / "none"), "--no-report")
    assert result.exit_code == 2
    assert REFUSED[options] in result.stderr
    assert not (place / "none").exists()


def test_dates_that_may_be_read_in_two_ways_are_asked_about(place):
    (place / "short.csv").write_text("born,x\n" + "".join(f"0{i}/0{i + 1}/2020,{i}\n" for i in range(1, 7)))
    command = ["fit", str(place / "short.csv"), "-o", str(place / "short"), "--no-report", "--model", "labelled"]
    asked = run(place, *command, "--date", "born")
    assert asked.exit_code == 2
    assert (
        "line 2: column 'born' is to be dates, but '01/02/2020' may be 01 February 2020 or 02 January 2020"
        in asked.stderr
    )
    said = run(place, *command, "--clusters", "2", "--date", "born=%d/%m/%Y")
    assert said.exit_code == 0, said.stderr


def test_logarithms_need_numbers_above_zero(place):
    (place / "low.csv").write_text("x,y\n1,2\n0,3\n4,4\n")
    result = run(place, "fit", str(place / "low.csv"), "--log", "x", "-o", str(place / "low"), "--no-report")
    assert result.exit_code == 2
    assert "line 3: column 'x' holds 0, but --log takes numbers above zero" in result.stderr
