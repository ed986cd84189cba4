"""Numbers as people write them are read as such, with a message; what is not a number stays text."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from sidelight.cli.main import main
from sidelight.cli.tables.features import find_features
from sidelight.cli.tables.files import open_table
from sidelight.cli.tables.written_numbers import NumberStyle, as_number, stored_style, written_numbers


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1.234,56", "12,5", "3"], [1234.56, 12.5, 3]),
        (["$1,234.00", "$5.50", "-$3"], [1234, 5.5, -3]),
        (["1 234,5 €", "7,25 €", "8 €"], [1234.5, 7.25, 8]),
        (["CHF 1'234.50", "CHF 3.00"], [1234.5, 3]),
        (["12%", "3.5 %"], [12, 3.5]),
        (["1", "2.5", "?", "-"], [1, 2.5, None, None]),
        (["7", "8", "k.A.", None], [7, 8, None, None]),
        (["1,234", "5,678"], [1234, 5678]),
        (["−4", "+2e3"], [-4, 2000]),
    ],
)
def test_numbers(cells, numbers):
    found = written_numbers(cells)
    assert [None if cell is None else found.values[cell] for cell in cells] == numbers
    assert stored_style(found.style.stored) == found.style


@pytest.mark.parametrize(
    "cells",
    [
        ["12%", "3"],
        ["$5", "€5"],
        ["1.2.3", "4"],
        ["12,34,567", "1"],
        ["a", "1", "2"],
        ["?", "-", "1"],
        ["1.234,5", "1,234.5"],
        ["01067", "80331"],
        ["--5", "1"],
        ["$5$", "1"],
        ["?", "-"],
    ],
)
def test_what_is_not_numbers(cells):
    assert written_numbers(cells) is None


def test_the_usual_mark_decides_where_both_are_possible():
    assert written_numbers(["1,234"], usual=",").values == {"1,234": 1.234}
    assert as_number("1.234", NumberStyle(",")) == 1234.0


TABLE = (
    "Unnamed: 0;price;share;age;plz;since;weight\n"
    + "".join(
        f"{(7 * n) % 40 + 100 * (n % 3)};{'$' if n % 2 else ''}{n % 9 + 1},{n % 10}{n % 7}5.{n % 10}0;{n % 13},5%;"
        f"{'k.A.' if n % 11 == 0 else 20 + n % 17};{'01067' if n % 2 else '80331'};{n % 28 + 1:02}.12.2020;"
        f"{'?' if n % 10 == 0 else n * n % 19 + 0.5}\n"
        for n in range(40)
    )
).encode()


def features_of(path):
    file = open_table(path)
    return find_features(file, file.read(file.header), file.header)


def test_columns_of_a_table_that_people_made(tmp_path):
    (tmp_path / "table.csv").write_bytes(TABLE)
    with pytest.warns(UserWarning, match="are read as numbers") as caught:
        frame, features = features_of(tmp_path / "table.csv")
    notes = " ".join(str(warning.message) for warning in caught)
    assert "column 'age': cells such as '21' are read as numbers; 'k.A.' in 4 cells" in notes
    assert "column 'price': cells such as '1,005.00' are read as numbers" in notes
    assert frame["price"].iloc[1] == 2115.1
    assert frame["share"].iloc[3] == 3.5
    assert features.missing["age"] == 4
    assert features.missing["weight"] == 4
    assert features.kinds["plz"] == "categorical"
    left_out = dict(features.omissions)
    assert left_out["Unnamed: 0"] == "numbers the rows"
    assert left_out["since"].startswith("holds dates")


@pytest.mark.parametrize("name", ["PLZ", "zip_code", "Postal Code"])
def test_postal_codes_are_not_numbers_although_none_begins_with_a_zero(tmp_path, name):
    cells = [80331, 10115, 50667]
    (tmp_path / "few.csv").write_text(f"{name},x\n" + "".join(f"{cells[n % 3]},{n}.5\n" for n in range(30)))
    frame, features = features_of(tmp_path / "few.csv")
    assert features.kinds[name] == "categorical"
    assert frame[name].iloc[0] == "80331"
    (tmp_path / "many.csv").write_text(f"{name},x\n" + "".join(f"{10115 + n * 2 // 3},{n}.5\n" for n in range(300)))
    _, features = features_of(tmp_path / "many.csv")
    why = dict(features.omissions)[name]
    assert why == "holds codes (200 different ones; --categorical makes them categories, --number numbers)"


def test_new_rows_are_read_in_the_same_way(tmp_path):
    def table(numbers):
        return "a;b\n" + "".join(f"{number};{n % 5},5\n" for n, number in enumerate(numbers))

    values = np.r_[np.arange(20) * 1.5, 5000 + np.arange(20) * 1.5]
    written = [f"{value:,.2f}".translate(str.maketrans(",.", ".,")) for value in values]
    (tmp_path / "table.csv").write_text(table([*written, "k.A."]))
    (tmp_path / "new.csv").write_text(table(["1,50", "?", "5.003,00"]))
    (tmp_path / "wrong.csv").write_text(table(["1,50", "many"]))
    result = str(tmp_path / "result")
    run = CliRunner().invoke(main, ["fit", str(tmp_path / "table.csv"), "-o", result, "--no-report", "--clusters", "2"])
    assert run.exit_code == 0, run.stderr
    stored = json.loads((tmp_path / "result" / "recipe.json").read_text())
    assert stored["columns"][0]["written"] == ","
    run = CliRunner().invoke(main, ["predict", result, str(tmp_path / "new.csv")])
    clusters = [line.split(",")[1] for line in run.stdout.splitlines()[1:]]
    assert clusters[0] != clusters[2]
    run = CliRunner().invoke(main, ["predict", result, str(tmp_path / "wrong.csv")])
    assert run.exit_code == 2
    assert "line 3: column 'a' takes numbers, but holds 'many'" in run.stderr


def test_row_numbers_in_another_order_are_left_out(tmp_path):
    numbers = np.random.default_rng(0).permutation(30)
    rows = "".join(f"{number},{n % 7}.5\n" for n, number in enumerate(numbers))
    (tmp_path / "table.csv").write_text("key,x\n" + rows)
    _, features = features_of(tmp_path / "table.csv")
    assert dict(features.omissions) == {"key": "numbers the rows"}


def test_several_words_stand_for_missing_numbers(tmp_path):
    cells = ["?", "-", "k.A.", *(f"{number / 7:.2f}" for number in range(60))]
    (tmp_path / "table.csv").write_text("size\n" + "\n".join(cells) + "\n")
    with pytest.warns(UserWarning, match="'[?]' in 1 cell, '-' in 1 cell, 'k.A.' in 1 cell stand for a missing number"):
        frame, features = features_of(tmp_path / "table.csv")
    assert features.missing == {"size": 3}
    np.testing.assert_array_equal(frame["size"][3:], [float(cell) for cell in cells[3:]])
