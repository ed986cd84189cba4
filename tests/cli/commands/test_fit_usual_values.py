"""A table with a usual value, a constant and an empty column, from the file to the clusters and back."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.metrics import adjusted_rand_score

from sidelight import load
from sidelight.cli.main import main


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    random = np.random.default_rng(0)
    group = np.arange(200) % 2
    spent = np.where(random.random(200) < np.array([0.9, 0.1])[group], 0.0, random.normal(80.0, 9.0, 200).round(2))
    frame = pd.DataFrame(
        {"age": random.normal(30 + 25 * group, 4.0).round(1), "spent": spent, "land": "NO", "fax": None}
    )
    frame.to_csv(folder / "shop.csv", index=False)
    result = CliRunner().invoke(main, ["fit", str(folder / "shop.csv"), "-o", str(folder / "result")])
    return folder, group, result


def test_the_command_line_names_the_kinds_and_what_is_left_out(shop):
    _, _, result = shop
    assert result.exit_code == 0, result.output
    assert "numbers with a usual value: spent" in result.output
    assert "left out: land, which has the same value wherever it has one" in result.output
    assert "left out: fax, which is empty" in result.output


def test_the_model_knows_the_usual_value_and_assigns_the_table_again(shop):
    folder, group, _ = shop
    schema = load(folder / "result" / "model")._schema
    assert schema.kinds == ("gaussian", "atom")
    assert schema.usual == (None, 0.0)
    found = pd.read_csv(folder / "result" / "clusters.csv")["cluster"].to_numpy()
    assert adjusted_rand_score(group, found) > 0.95
    again = CliRunner().invoke(
        main, ["predict", str(folder / "result"), str(folder / "shop.csv"), "-o", str(folder / "again.csv")]
    )
    assert again.exit_code == 0, again.output
    assert pd.read_csv(folder / "again.csv")["cluster"].tolist() == found.tolist()


def test_the_report_shows_it_as_such(shop):
    folder, _, _ = shop
    page = (folder / "result" / "report.html").read_text(encoding="utf-8")
    assert "number with a usual value" in page
    assert "of rows, otherwise" in page
    assert "spent = 0" in page
