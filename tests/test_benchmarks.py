"""The quality grid: what its situations say, its scores measure and its report shows. The walk: what it counts."""

import importlib
import itertools
import runpy
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from sidelight import LatentProcessDecomposition
from sidelight.admixture.model import expected_log
from sidelight.reproduce.framework.experiment import Trial
from sidelight.reproduce.framework.journal import Journal

FOLDER = Path(__file__).parents[1] / "benchmarks"


def benchmark(name):
    """Import a script; those that it imports itself are beside it."""
    sys.path.insert(0, str(FOLDER))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


quality, walk, situations = benchmark("quality"), benchmark("walk"), benchmark("situations")
methods, summary, pages, demands = (benchmark(f"quality_{name}") for name in ("methods", "summary", "report", "checks"))


def test_a_draw_keeps_two_rows_of_each_class_and_another_draw_takes_other_rows():
    y = np.repeat(["common", "rare", "single"], [5000, 2, 1])
    first, again, other = (situations.part_of(y, 1000, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert len(first) == 1000
    assert np.unique(y[first], return_counts=True)[1].tolist() == [997, 2, 1]
    assert first.tolist() == again.tolist() != other.tolist()


@pytest.mark.parametrize(("situation", "per_class"), [("2-per-class", 2), ("5-per-class", 5), ("10%", 5), ("30%", 15)])
def test_a_situation_has_labels_of_each_class(situation, per_class):
    posed = situations.problem("iris", situation, 0)
    rows = posed.labelled
    assert np.unique(posed.y[rows], return_counts=True)[1].tolist() == [per_class] * 3
    assert (posed.labels[rows] == posed.y[rows]).all()
    assert np.flatnonzero(~posed.unmentioned).tolist() == rows.tolist()
    assert len(posed.must_link) == len(posed.cannot_link) == 0


def test_a_third_of_the_classes_has_no_labels():
    hidden = []
    for seed in range(6):
        posed = situations.problem("iris", "unlabelled-classes", seed)
        assert np.unique(posed.y[posed.labelled], return_counts=True)[1].tolist() == [5, 5]
        hidden.append(next(name for name in "012" if name not in posed.known))
    assert len(set(hidden)) > 1


def test_a_third_of_the_classes_needs_three():
    tables = ("iris", "wine", "digits", "breast_cancer")
    many = [len(set(situations.read_table(name)[1])) >= 3 for name in tables]
    assert [situations.applies(name, "unlabelled-classes") for name in tables] == many
    assert all(situations.applies(name, "10%") for name in tables)


@pytest.mark.parametrize(("situation", "n_links"), [("n/4-links", 38), ("n-links", 150), ("labels-and-links", 38)])
def test_a_situation_has_links_with_their_true_relation(situation, n_links):
    posed = situations.problem("iris", situation, 0)
    assert len(posed.must_link) + len(posed.cannot_link) == n_links
    assert (posed.y[posed.must_link[:, 0]] == posed.y[posed.must_link[:, 1]]).all()
    assert (posed.y[posed.cannot_link[:, 0]] != posed.y[posed.cannot_link[:, 1]]).all()
    stated = np.concatenate([posed.must_link.ravel(), posed.cannot_link.ravel(), posed.labelled])
    assert np.flatnonzero(~posed.unmentioned).tolist() == np.unique(stated).tolist()
    assert len(posed.labelled) == (15 if situation == "labels-and-links" else 0)


def test_one_link_in_ten_is_wrong():
    posed = situations.problem("iris", "wrong-links", 0)
    wrong_must = posed.y[posed.must_link[:, 0]] != posed.y[posed.must_link[:, 1]]
    wrong_cannot = posed.y[posed.cannot_link[:, 0]] == posed.y[posed.cannot_link[:, 1]]
    assert len(wrong_must) + len(wrong_cannot) == 75
    assert wrong_must.sum() + wrong_cannot.sum() == round(0.1 * 75)


def test_the_last_situation_has_no_statements():
    posed = situations.problem("iris", "nothing", 0)
    assert posed.unmentioned.all()
    assert len(posed.labelled) == len(posed.must_link) == len(posed.cannot_link) == 0


@pytest.mark.parametrize("less", [name for name, wanted in situations.SITUATIONS.items() if wanted.more])
def test_a_richer_situation_has_all_statements_of_the_poorer_one(less):
    poor, rich = (situations.problem("iris", name, 3) for name in (less, situations.SITUATIONS[less].more))
    assert set(poor.labelled) <= set(rich.labelled)
    for kind in ("must_link", "cannot_link"):
        assert set(map(tuple, getattr(poor, kind))) <= set(map(tuple, getattr(rich, kind)))
    assert poor.still_unmentioned.tolist() == rich.unmentioned.tolist()
    assert poor.unmentioned.sum() > rich.unmentioned.sum()


def test_peers_get_numbers_of_variance_one():
    X = pd.DataFrame({"size": [1.0, 3.0, None, 2.0], "colour": ["red", None, "blue", "red"], "same": [1, 1, 1, 1]})
    Z = situations.standardised(X)
    assert Z.shape == (4, 4)
    assert Z[2, 0] == 0  # a missing cell is at the mean
    np.testing.assert_allclose(Z[:, 2:].std(axis=0), 1)
    assert (Z[:, 1] == 0).all()  # a constant column


@pytest.fixture
def posed():
    """Six rows of three classes; c has no label, rows 0 and 2 are labelled."""
    y, labels = np.array(list("aabbcc")), np.array(["a", None, "b", None, None, None], dtype=object)
    unmentioned = np.array([label is None for label in labels])
    pairs = np.empty((0, 2), dtype=int)
    return situations.Problem(pd.DataFrame(), np.empty((6, 0)), y, labels, pairs, pairs, unmentioned, unmentioned, 0)


def test_scores_are_those_of_rows_in_no_statement(posed):
    answer = methods.Answer(np.array([1, 0, 1, 1, 2, 1]), np.array(["a", "b", "new 1"]))
    found = quality.scores(posed, "unlabelled-classes", answer)
    assert found["rand, unmentioned rows"] == adjusted_rand_score(list("abcc"), [0, 1, 2, 1])
    assert found["rand, all rows"] == adjusted_rand_score(posed.y, answer.labels)
    assert found["names right"] == 1  # rows 1 and 3: row 0 is labelled, and class c has no label
    assert found["largest class"] == 0.5
    assert found["called new"] == 0.25
    assert (found["cover"], found["purity"]) == (0.5, 1)


def test_purity_counts_rows_of_labelled_classes_and_mixed_classes_against_a_new_cluster(posed):
    everything_new = methods.Answer(np.array([0, 2, 1, 2, 2, 2]), np.array(["a", "b", "new 1"]))
    found = quality.scores(posed, "unlabelled-classes", everything_new)
    assert (found["cover"], found["purity"]) == (1, 0.5)
    a_labelled_class_new = methods.Answer(np.array([0, 2, 1, 1, 1, 1]), np.array(["a", "b", "new 1"]))
    found = quality.scores(posed, "unlabelled-classes", a_labelled_class_new)
    assert (found["cover"], found["purity"]) == (0, 0)
    none_new = methods.Answer(np.array([0, 0, 1, 1, 1, 1]), np.array(["a", "b"]))
    found = quality.scores(posed, "unlabelled-classes", none_new)
    assert found["cover"] == 0
    assert np.isnan(found["purity"])


def test_probabilities_are_scored_by_name(posed):
    probabilities = np.array([[0, 0, 1], [0.5, 0.3, 0.2], [0, 0, 1], [0.7, 0.3, 0], [0, 1, 0], [0, 1, 0]])
    answer = methods.Answer(probabilities.argmax(axis=1), np.array(["b", "a", "a"]), probabilities)
    found = quality.scores(posed, "10%", answer)
    # Row 1 is of class a, which two clusters share; row 3 is of class b.
    assert found["log-loss"] == pytest.approx(-(np.log(0.5) + np.log(0.7)) / 2)


def test_a_probability_of_zero_for_the_truth_costs_a_finite_log_loss(posed):
    answer = methods.Answer(np.zeros(6, dtype=int), np.array(["b"]), np.ones((6, 1)))
    assert quality.scores(posed, "10%", answer)["log-loss"] == pytest.approx(-np.log(quality.FLOOR) / 2)


def test_calibration_error_is_zero_where_confidence_is_accuracy():
    correct = np.array([True] * 3 + [False])
    assert quality.calibration_error(np.full(4, 0.75), correct) == pytest.approx(0)
    assert quality.calibration_error(np.ones(4), correct) == pytest.approx(0.25)
    assert quality.calibration_error(np.array([1.0, 1.0, 0.5, 0.5]), correct) == pytest.approx(0)


@pytest.mark.parametrize("name", methods.available())
def test_each_method_answers_with_a_cluster_for_each_row(name):
    for situation in ("5-per-class", "labels-and-links", "nothing"):
        if quality.belongs(("iris", situation), name):
            measured = quality.measure(("iris", situation), name, 0)
            assert list(measured) == list(quality.MEASURES)
            assert measured["gave up"] == 0
            assert 0.3 < measured["rand, unmentioned rows"] <= 1


def test_an_error_scores_zero_and_is_counted(capsys):
    contradicting = next(
        seed for seed in range(50) if quality.measure(("iris", "wrong-links"), "COPKMeans", seed)["gave up"]
    )
    measured = quality.measure(("iris", "wrong-links"), "COPKMeans", contradicting)
    assert measured["rand, unmentioned rows"] == measured["rand, all rows"] == 0
    assert np.isnan(measured["clusters"])
    assert f"COPKMeans, iris, wrong-links, draw {contradicting}: ContradictionError" in capsys.readouterr().err


def test_a_stopped_run_continues_and_is_reported(tmp_path):
    chosen = ["--sets", "iris", "--situations", "10%", "nothing", "--draws", "0", "--methods", "KMeans"]
    quality.run(quality.wanted_trials(quality.read(chosen), ["KMeans"]), quality.grid(), tmp_path, jobs=1)
    trials = tmp_path / "quality.trials.csv"
    before = trials.read_text()
    trials.write_text(before + "iris,10%,SVC,0,0.5")  # stopped while it wrote
    command = [sys.executable, FOLDER / "quality.py", *chosen, "SVC", "--judged", "KMeans", "--folder", tmp_path]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    after = trials.read_text().splitlines()
    assert len(before.splitlines()) == 3  # with the header; KMeans in two situations
    assert set(before.splitlines()) < set(after)
    assert [line.split(",")[:4] for line in after if "SVC" in line] == [["iris", "10%", "SVC", "0"]]
    assert "## KMeans and the best" in done.stdout
    assert not (tmp_path / "quality.md").exists()  # only a report of the whole grid is stored


def trials_of(scores):
    """Trials of one draw whose measures are all the number given for (set, situation, method)."""
    return {Trial((table, situation), method, 11): dict.fromkeys(quality.MEASURES, value)
            for (table, situation, method), value in scores.items()}  # fmt: skip


def test_the_judged_method_is_compared_with_the_best_single_peer_and_with_hindsight():
    results = trials_of({
        ("iris", "nothing", "KMeans"): 0.9, ("wine", "nothing", "KMeans"): 0.2,
        ("iris", "nothing", "GaussianMixture"): 0.5, ("wine", "nothing", "GaussianMixture"): 0.8,
        ("iris", "nothing", "BayesianMixture"): 0.95, ("wine", "nothing", "BayesianMixture"): 0.65,
    })  # fmt: skip
    grid = summary.completed(results, list(results), "BayesianMixture")
    (found,) = summary.standings(grid)
    assert (found.best, found.best_of_ours, found.best_of_scikit_learn) == ("GaussianMixture", "", "GaussianMixture")
    assert found.lead == pytest.approx(0.8 - 0.65)
    assert found.hindsight == pytest.approx(0.85)
    assert found.near_best == found.near_best_draws == 0.5
    worst = summary.deficits(grid)
    assert worst.index.tolist() == ["wine", "iris"]
    assert worst["deficit"].tolist() == pytest.approx([0.15, -0.05])
    assert worst["peer"].tolist() == ["GaussianMixture", "KMeans"]


def test_methods_are_compared_on_draws_that_all_of_them_have_completed():
    names = ("KMeans", "GaussianMixture", "AgglomerativeClustering", "BayesianMixture")
    wanted = [Trial(("iris", "nothing"), name, seed) for seed in (11, 12) for name in names]
    results = {trial: dict.fromkeys(quality.MEASURES, 0.5) for trial in wanted[:-1]}
    grid = summary.completed(results, wanted, "GuidedMixture")
    assert (grid.draws, set(grid.methods)) == ([11, 12], set(names[:3]))
    assert "Left out, without trials of all these draws: " in pages.introduction(grid)
    grid = summary.completed(results, wanted, "BayesianMixture")
    assert (grid.draws, set(grid.methods)) == ([11], set(names))
    assert summary.completed({}, wanted, "GuidedMixture").trials.empty


def test_what_more_statements_cost_is_measured_on_rows_that_neither_situation_mentions():
    results = {
        Trial(("iris", "10%"), "SVC", 11): dict.fromkeys(quality.MEASURES, 0.2) | {"rand, still unmentioned rows": 0.6},
        Trial(("iris", "30%"), "SVC", 11): dict.fromkeys(quality.MEASURES, 0.5),
    }
    grid = summary.completed(results, list(results), "SVC")
    assert {step: lost.tolist() for step, lost in summary.steps(grid).items()} == {("10%", "30%"): [pytest.approx(0.1)]}


PEER = {"log-loss": 0.3, "calibration error": 0.1, "names right": 0.8, "largest class": 0.5, "called new": 0.0}
JUDGED = PEER | {"log-loss": 0.2, "calibration error": 0.05, "names right": 0.9, "cover": 0.8, "purity": 0.9}


def judged_on_ten_tables(**changed):
    """Return a grid on which BayesianMixture meets every demand, and one measure of it is changed on one table."""
    results = {}
    for table, situation in itertools.product(situations.TABLES[:10], situations.SITUATIONS):
        for method, rand, measures in (("LogisticRegression", 0.8, PEER), ("BayesianMixture", 0.85, JUDGED)):
            if quality.belongs((table, situation), method):
                values = dict.fromkeys(quality.MEASURES, rand) | measures
                if (table, situation, method) == ("wine", "30%", "BayesianMixture"):
                    values |= changed
                results[Trial((table, situation), method, 11)] = values
    for table in situations.TABLES[:10]:  # a peer without side information
        for situation in ("n/4-links", "n-links", "wrong-links", "nothing"):
            results[Trial((table, situation), "KMeans", 11)] = dict.fromkeys(quality.MEASURES, 0.8)
    return summary.completed(results, list(results), "BayesianMixture")


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        ({}, []),
        ({"rand, unmentioned rows": 0.74}, ["more statements"]),
        ({"rand, unmentioned rows": 0.2}, ["single peer", "hindsight", "on no table", "more statements"]),
        ({"calibration error": 1.0}, ["calibration"]),
        ({"names right": 0.77}, ["names ≥ logistic"]),
        ({"names right": 0.4}, ["names ≥ logistic", "largest class"]),
        ({"called new": 0.2}, ["called new"]),
    ],
)
def test_demands_are_judged_by_the_trials(changed, broken):
    found = demands.checks(judged_on_ten_tables(**changed))
    failed = [check.demand for check in found if not check.holds]
    assert len(found) == 11
    assert len(failed) == len(broken)
    assert all(words in demand for words, demand in zip(broken, failed, strict=True))


def test_the_report_and_the_page_are_made_from_the_stored_trials():
    results = Journal.of(quality.grid(), FOLDER / "results").results
    grid = quality.judged_grid(results, quality.read([]))
    assert pages.markdown(grid) == (FOLDER / "results" / "quality.md").read_text(encoding="utf-8")
    page = (FOLDER.parent / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert pages.renewed(page, grid) == page
    assert pages.renewed(page.replace("| SVC | 0.", "| SVC | 1."), grid) == page
    asked = quality.read(["--further"])
    further = quality.judged_grid(Journal.of(quality.grid_of(asked), FOLDER / "results").results, asked)
    assert pages.markdown(further) == (FOLDER / "results" / "quality-further.md").read_text(encoding="utf-8")


def test_each_benchmark_has_a_line_in_the_readme():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in FOLDER.glob("*.py"):
        assert readme.count(f"| `{path.name}") >= 1, path.name


def test_a_walk_has_each_function_once_with_its_depth():
    steps = walk.walk(LatentProcessDecomposition)
    depths = {code.co_qualname: depth for code, depth in steps}
    assert len({code for code, _ in steps}) == len(steps)
    # The fit runs on a copy of the estimator, so something is called before it.
    assert [code.co_qualname for code, _ in steps[:3]] == [
        "all_or_nothing.<locals>.fit_copy",
        "fit_as_task",
        "LatentProcessDecomposition.fit",
    ]
    assert depths["LatentProcessDecomposition.fit"] == 2
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


def test_the_page_of_the_history_is_what_its_lines_give():
    history = benchmark("history")
    page = (FOLDER.parent / "docs" / "history.md").read_text(encoding="utf-8")
    lines = history.recorded()
    assert page == history.page(lines)
    assert len({line["commit"] for line in lines}) > 5
    # Every commit was measured in every process.
    assert len({(line["commit"], line["process"]) for line in lines}) == 3 * len({line["commit"] for line in lines})


def test_cells_of_the_history_are_medians_of_the_processes():
    history = benchmark("history")
    written = [("abc1234", "2026-01-01 00:00", process, "a : b") for process in "012"]
    times = (("0.5", "1.0"), ("0.25", "1.0"), ("0.2", "0.1"))
    lines = [
        dict(zip(history._FIELDS, (*line, *found), strict=True)) for line, found in zip(written, times, strict=True)
    ]
    page = history.page(lines)
    ratios, _, ours = page.partition("## Our own times")
    assert "- A: a : b; processes differ by 700%" in page
    assert "| 2026-01-01 00:00 | `abc1234` | 2.00 |" in ratios
    assert "| 2026-01-01 00:00 | `abc1234` | 250 |" in ours
