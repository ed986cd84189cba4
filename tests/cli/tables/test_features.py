"""What the columns of a table are taken for, and which are left out."""

from datetime import time

import numpy as np
import pandas as pd
import pytest

from sidelight.cli.errors import Refusal
from sidelight.cli.tables.asked import AskedColumns
from sidelight.cli.tables.features import find_features
from sidelight.cli.tables.files import open_table

N = 60


def columns():
    random = np.random.default_rng(0)
    visits = random.poisson(3, N).astype(object)
    visits[4] = None
    income = random.normal(50_000, 9_000, N).round(2).astype(object)
    income[[1, 2]] = None
    return {
        "number": range(100, 100 + N),
        "income": income,
        "visits": visits,
        "member": random.integers(0, 2, N),
        "paid": random.choice(["true", "false"], N),
        "town": random.choice(["Oslo", "Rome", "Bern"], N),
        "remark": [f"remark no. {i}" for i in range(N)],
        "since": pd.date_range("2020-01-01", periods=N).strftime("%Y-%m-%d"),
        "country": ["NO"] * N,
        "spent": np.where(np.arange(N) % 2 == 0, 0.0, random.gamma(2.0, 40.0, N).round(2)),
        "fax": [None] * N,
    }


@pytest.fixture(params=["csv", "parquet"])
def file(request, tmp_path):
    path = tmp_path / f"table.{request.param}"
    pd.DataFrame(columns()).to_csv(tmp_path / "table.csv", index=False)
    if request.param == "parquet":
        # The counts are floats by now, as they have a gap.
        pd.read_csv(tmp_path / "table.csv", parse_dates=["since"]).to_parquet(path)
    return open_table(path)


def found(file, columns, categorical):
    return find_features(file, file.read(columns), columns, AskedColumns(categorical=tuple(categorical)))


def test_kinds_gaps_and_what_is_left_out(file):
    frame, features = found(file, list(file.header), [])
    assert features.kinds == {
        "income": "gaussian",
        "visits": "poisson",
        "member": "bernoulli",
        "paid": "bernoulli",
        "town": "categorical",
        "spent": "atom",
    }
    assert features.missing == {"income": 2, "visits": 1, "member": 0, "paid": 0, "town": 0, "spent": 0}
    assert len(frame) == N
    why = dict(features.omissions)
    assert list(why) == ["number", "remark", "since", "country", "fax"]
    assert "numbers the rows" in why["number"]
    assert "free text (60 different values" in why["remark"]
    assert "dates" in why["since"]
    assert "same value" in why["country"]
    assert "is empty" in why["fax"]


def test_times_and_durations_are_not_called_dates(tmp_path):
    times = [time(number % 24) for number in range(9)]
    durations = pd.to_timedelta(range(9), unit="h")
    path = tmp_path / "table.parquet"
    pd.DataFrame({"x": np.arange(9.0), "began": times, "took": durations}).to_parquet(path)
    file = open_table(path)
    why = dict(found(file, list(file.header), [])[1].omissions)
    assert why["began"] == "holds times of day; write them as numbers to use them"
    assert why["took"] == "holds durations; write them as numbers to use them"


def test_categories_can_be_asked_for(file):
    frame, features = found(file, ["member", "remark", "town"], ["member", "remark"])
    assert features.kinds == {"member": "categorical", "remark": "categorical", "town": "categorical"}
    assert sorted(frame["member"].cat.categories) == ["0", "1"]


def test_nothing_to_cluster_by_is_told_with_the_reasons(file):
    with pytest.raises(Refusal, match="no column to cluster by: 'country' has the same value.*; 'fax' is empty"):
        found(file, ["country", "fax"], [])


def test_numbers_that_one_cell_turns_into_text_are_refused_with_its_line(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n" + "".join(f"{i}.5,{i}\n" for i in range(30)) + "oops,1\n", encoding="utf-8")
    file = open_table(path)
    with pytest.raises(Refusal, match="line 32: column 'x' holds numbers, but here 'oops'.*--ignore x"):
        found(file, ["x", "y"], [])
    assert found(file, ["x", "y"], ["x"])[1].kinds["x"] == "categorical"


def test_a_few_codes_are_categories_although_most_are_numbers(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("children\n" + "0\n1\n2\n" * 20 + "3+\n", encoding="utf-8")
    assert found(open_table(path), ["children"], [])[1].kinds == {"children": "categorical"}
