"""The results of the quality grid in the repository: complete, and the tables made from them."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
_found = importlib.util.spec_from_file_location("quality", FOLDER / "quality.py")
quality = importlib.util.module_from_spec(_found)
_found.loader.exec_module(quality)


@pytest.mark.parametrize("kind", ["labels", "links"])
def test_the_table_is_made_from_the_stored_trials(kind):
    ranking = quality.ranked(kind)
    assert ranking.methods == sorted(ranking.methods, key=dict(zip(ranking.methods, ranking.ranks, strict=True)).get)
    assert set(ranking.methods) == set(quality.METHODS[kind])
    draws = {len(cell.values["gave up"]) for (_, name), cell in ranking.summary.cells.items() if name != "one cluster"}
    assert draws == {quality.DRAWS}
    stored = (FOLDER / "results" / f"quality-{kind}.md").read_text(encoding="utf-8")
    assert quality.markdown(kind, ranking) == stored


def test_a_method_is_scored_on_rows_nothing_was_said_about():
    measured = quality.measure("labels", ("iris", 0.1), "LabelledMixture", 0)
    problem = quality.labelled("iris", 0.1, 0)
    assert 0.8 < measured["rand, free rows"] <= 1
    assert measured["gave up"] == 0
    assert 15 <= problem.side.mentioned.sum() <= 18
