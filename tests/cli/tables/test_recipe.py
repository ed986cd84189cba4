"""From a table to what a model takes, again and again in the same way."""

import numpy as np
import pytest

from sidelight.cli.errors import Refusal
from sidelight.cli.tables.features import find_features
from sidelight.cli.tables.files import open_table
from sidelight.cli.tables.recipe import Recipe, as_numbers, check_recipe_columns, recipe_columns, recipe_frame

HEADER = "age,visits,paid,town\n"
ROWS = "20,0,true,Oslo\n30,2,false,Rome\n,5,true,\n70,9,,Oslo\n"


def opened(folder, text, name="table.csv"):
    (folder / name).write_text(text, encoding="utf-8")
    return open_table(folder / name)


@pytest.fixture
def recipe(tmp_path):
    file = opened(tmp_path, HEADER + ROWS)
    frame, features = find_features(file, file.read(file.header), file.header)
    return Recipe("labelled", True, None, None, recipe_columns(frame, features))


def read_by_recipe(file, recipe):
    check_recipe_columns(file, recipe)
    return recipe_frame(file, file.read(file.header), recipe)


def test_numbers_are_standardised_and_categories_spread_out(tmp_path, recipe):
    frame = read_by_recipe(opened(tmp_path, HEADER + ROWS), recipe)
    numbers = as_numbers(frame, recipe.columns)
    assert numbers.columns.tolist() == ["age", "visits", "paid", "town = Oslo", "town = Rome"]
    assert not np.isnan(numbers.to_numpy()).any()
    np.testing.assert_allclose(numbers[["age", "visits"]].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(numbers[["age", "visits"]].std(ddof=0), 1)
    filled = (30 - np.mean([20, 30, 30, 70])) / np.std([20, 30, 30, 70])
    assert numbers["age"][2] == pytest.approx(filled)
    assert numbers["town = Oslo"].tolist() == [1, 0, 0, 1]


def test_it_is_the_same_after_writing_and_reading(tmp_path, recipe):
    recipe.write(tmp_path / "recipe.json")
    assert Recipe.read(tmp_path / "recipe.json") == recipe


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1}', '{"format": 2, "columns": []}'])
def test_damaged_recipes_are_refused(tmp_path, text):
    (tmp_path / "recipe.json").write_text(text, encoding="utf-8")
    with pytest.raises(Refusal, match="recipe.json .*fit again"):
        Recipe.read(tmp_path / "recipe.json")


def test_later_tables_may_have_other_columns_and_another_order(tmp_path, recipe):
    first = read_by_recipe(opened(tmp_path, HEADER + ROWS), recipe)
    later = opened(tmp_path, "town,extra,paid,visits,age\nOslo,x,true,0,20\n", "later.csv")
    assert read_by_recipe(later, recipe).iloc[0].tolist() == first.iloc[0].tolist()


FAULTS = {
    "columns": ("age,town\n1,Oslo\n", r"later.csv lacks 2 column\(s\).*'visits', 'paid'"),
    "text": (HEADER + "20,0,true,Oslo\nold,1,true,Oslo\n", "later.csv, line 3: column 'age' takes numbers.*'old'"),
    "neither": (HEADER + "20,0,perhaps,Oslo\n", "line 2: column 'paid' takes true and false, but holds 'perhaps'"),
    "halves": (HEADER + "20,0.5,true,Oslo\n", "line 2: column 'visits' takes counts 0, 1, 2, …, but holds 0.5"),
    "infinity": (HEADER + "20,1,true,Oslo\ninf,1,true,Oslo\n", "line 3: column 'age' is infinite"),
    "no rows": (HEADER, "has a header but no rows"),
}


@pytest.mark.parametrize(("text", "told"), FAULTS.values(), ids=FAULTS)
def test_later_tables_that_do_not_fit_are_told(tmp_path, recipe, text, told):
    with pytest.raises(Refusal, match=told):
        read_by_recipe(opened(tmp_path, text, "later.csv"), recipe)
