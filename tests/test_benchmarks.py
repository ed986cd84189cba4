"""The quality grid: stored results are complete and the tables agree with them. The walk: what it counts."""

import importlib.util
import runpy
import threading
from pathlib import Path

import numpy as np
import pytest

from sidelight import LatentProcessDecomposition
from sidelight.admixture.model import expected_log

FOLDER = Path(__file__).parents[1] / "benchmarks"


def benchmark(name):
    found = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


quality, walk = benchmark("quality"), benchmark("walk")


@pytest.mark.parametrize("kind", ["labels", "links"])
def test_the_table_is_made_from_the_stored_trials(kind):
    ranking = quality.ranked(kind)
    assert ranking.methods == sorted(ranking.methods, key=dict(zip(ranking.methods, ranking.ranks, strict=True)).get)
    assert set(ranking.methods) == set(quality.METHODS[kind])
    draws = {len(cell.values["gave up"]) for (_, name), cell in ranking.summary.cells.items() if name != "one cluster"}
    assert draws == {quality.DRAWS}
    stored = (FOLDER / "results" / f"quality-{kind}.md").read_text(encoding="utf-8")
    assert quality.markdown(kind, ranking) == stored


def test_a_method_is_scored_on_rows_without_side_information():
    measured = quality.measure("labels", ("iris", 0.1), "LabelledMixture", 0)
    problem = quality.labelled("iris", 0.1, 0)
    assert 0.8 < measured["rand, free rows"] <= 1
    assert measured["gave up"] == 0
    assert 15 <= problem.side.mentioned.sum() <= 18


def test_each_benchmark_has_a_line_in_the_readme():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in FOLDER.glob("*.py"):
        assert readme.count(f"| `{path.name}") >= 1, path.name


def test_a_walk_has_each_function_once_with_its_depth():
    steps = walk.walk(LatentProcessDecomposition)
    depths = {code.co_qualname: depth for code, depth in steps}
    assert len({code for code, _ in steps}) == len(steps)
    assert steps[0][0].co_qualname == "LatentProcessDecomposition.fit"
    assert depths["LatentProcessDecomposition.fit"] == 0
    assert depths["Decomposition.expect"] == depths["Decomposition.step"] + 1
    assert "LatentProcessDecomposition.predict" not in depths


def test_a_walk_counts_all_threads_and_leaves_imports_out():
    class Threaded:
        takes = frozenset()

        def __init__(self, random_state):
            pass

        def fit(self, X):
            runpy.run_path(str(walk.PACKAGE / "_storable.py"))
            thread = threading.Thread(target=expected_log, args=(np.ones((2, 2)),))
            thread.start()
            thread.join()

    assert [(code.co_qualname, depth) for code, depth in walk.walk(Threaded)] == [("expected_log", 0)]
