import numpy as np
import pytest

from sidelight.reproduce.amini import methods
from sidelight.reproduce.amini import paper as amini
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Trial
from sidelight.reproduce.framework.running import measure_trial, summarise


def _run(name, settings, seeds):
    """Run a few trials of an experiment."""
    experiment = amini.PAPER.experiment(name)
    trials = [trial for trial in experiment.trials(quick=False) if trial.setting in settings and trial.seed < seeds]
    return summarise(experiment, dict(measure_trial("amini", name, trial) for trial in trials), trials)


def _claim(words):
    return next(claim for claim in amini.PAPER.claims if words in claim.text)


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("figure-1", ("iris",)),
        ("figure-2", ("iris",)),
        ("figure-3", (3.0,)),
        ("figure-4", ("iris", 0.2)),
        ("figure-7", ("iris", 5)),
        ("figure-8", ("two moons", 5)),
        ("table-1", ("wine", 5)),
    ],
)
def test_every_method_is_measured_the_same_twice(name, setting):
    experiment = amini.PAPER.experiment(name)
    for method in experiment.methods:
        trial = Trial(setting, method, 0)
        once, again = (measure_trial("amini", name, trial)[1] for _ in range(2))
        assert once == again
        assert set(experiment.measures) <= set(once)
        assert np.isfinite(list(once.values())).all()


def test_labels_told_are_the_true_ones_and_as_many_as_asked_for():
    drawn = methods.draw_per_class("iris", 5, 0)
    told = drawn.known >= 0
    assert np.bincount(drawn.known[told]).tolist() == [5, 5, 5]
    assert (drawn.known[told] == drawn.y[told]).all()


def test_methods_keep_the_labels_they_were_told():
    drawn = methods.draw_per_class("iris", 5, 0)
    told = drawn.known >= 0
    for method in ("EM with labels", "CEM with labels", "self-training", "logistic regression"):
        assert (methods.CLASSIFIERS[method](drawn, 0)[told] == drawn.y[told]).all()


def test_accuracy_on_rows_without_a_label_leaves_the_others_out():
    drawn = methods.Draw(np.zeros((4, 1)), np.array([0, 0, 1, 1]), np.array([0, -1, -1, 1]))
    found = methods.class_scores(drawn, np.array([0, 1, 1, 1]))
    assert (found["accuracy"], found["accuracy, no label"]) == (0.75, 0.5)


def test_the_printed_solution_is_not_the_minimum():
    drawn = methods.draw_per_class("two moons", 2, 0)
    heights = {}
    for name, make in methods.GRAPHS.items():
        model = make().fit(drawn.X, drawn.known)
        heights[name] = methods.criterion(model, drawn)
    assert heights["Gaussian"] < heights["Gaussian, as printed"]


def test_the_criterion_is_what_the_model_says_it_minimised():
    drawn = methods.draw_per_class("two moons", 2, 0)
    model = methods.GRAPHS["Gaussian"]().fit(drawn.X, drawn.known)
    assert methods.criterion(model, drawn) == pytest.approx(model.objective_, rel=1e-9)


def test_scikit_learns_methods_are_never_the_best_of_sidelight():
    summary = _run("figure-1", [("iris",), ("wine",)], seeds=2)
    assert {summary.best_of_ours(setting) for setting in summary.settings} <= {"LabelledMixture", "BayesianMixture"}
    assert _claim("deterministic").judge(summary).outcome == "holds"


def test_em_and_cem_are_judged_by_every_step_and_by_what_they_find():
    summary = _run("figure-3", [(2.0,), (6.0,)], seeds=3)
    assert _claim("Each step of EM").judge(summary, summary).outcome == "holds"
    assert _claim("as by EM").judge(summary).because.startswith("purity of CEM over EM: 2.0 sd apart")


def test_graphs_are_judged_on_the_moons_and_by_the_criterion():
    summary = _run("figure-8", [("two moons", 5), ("iris", 5)], seeds=3)
    assert "two moons 5, binary +" in _claim("On a manifold").judge(summary).because
    assert _claim("The minimum").judge(summary).outcome == "does not hold"


def test_one_cluster_is_the_commonest_label():
    drawn = methods.draw_fraction("wine", 0.2, 0)
    assert set(methods.CLASSIFIERS[ONE_CLUSTER](drawn, 0).tolist()) == {1}
