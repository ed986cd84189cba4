"""scikit-learn's own callbacks: every fit is a task, and every step of a mixture one below it."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from sidelight import BayesianMixture, EquivalenceMixture, LabelledMixture, all_estimators, load, save

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks from version 1.9 on")
X, Y = load_iris(return_X_y=True)
PARTIAL = np.where(np.arange(150) % 5 == 0, Y, -1)


class Listener:
    """Writes down what it hears."""

    def __init__(self):
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.heard.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None):
        self.heard.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.heard.append(("end", context.task_name))
        if context.parent is None:
            self.labels = fitted_estimator.labels_

    def steps(self):
        return [task for event, task in self.heard if event == "end" and task != "fit"]


@pytest.mark.parametrize("estimator", [cls for _, cls in all_estimators()], ids=[name for name, _ in all_estimators()])
def test_a_fit_is_a_task(estimator):
    listener = Listener()
    model = estimator().set_callbacks(listener)
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    model.fit(X[::3], PARTIAL[::3] if "labels" in model.takes else None)
    assert listener.heard[:2] == [("setup", "fit"), ("begin", "fit")]
    assert listener.heard[-2:] == [("end", "fit"), ("teardown", "fit")]
    assert np.array_equal(listener.labels, model.labels_)
    assert not hasattr(model, "_callback_fit_ctx")


@pytest.mark.parametrize("estimator", [LabelledMixture, BayesianMixture, EquivalenceMixture])
def test_steps_are_tasks_that_own_callbacks_hear_of_too(estimator):
    own, listener = [], Listener()
    model = estimator(3, random_state=0, callbacks=[own.append]).set_callbacks(listener).fit(X)
    assert listener.steps() == [progress.phase for progress in own]
    assert len(own) >= model.n_iter_


def test_a_refused_fit_tears_its_callbacks_down_and_changes_nothing():
    listener = Listener()
    model = LabelledMixture(3, random_state=0).set_callbacks(listener).fit(X)
    before = model.labels_
    with pytest.raises(ValueError, match="999"):
        model.fit(X, side=None, y=PARTIAL, sample_weight=np.full(999, 1.0))
    assert listener.heard[-1] == ("teardown", "fit")
    assert model.labels_ is before


def test_callbacks_go_through_clones_and_searches(capsys):
    bar = callback.ProgressBar(max_propagation_depth=None)
    grid = {"covariance_type": ["full", "diag"]}
    search = GridSearchCV(LabelledMixture(random_state=0), grid, cv=StratifiedKFold(2), scoring="accuracy")
    search.set_callbacks(bar).fit(X, Y)
    assert search.best_score_ > 0.9
    assert "LabelledMixture - fit" in capsys.readouterr().out
    listener = Listener()
    copied = clone(LabelledMixture(3, random_state=0).set_callbacks(listener)).fit(X)
    assert ("end", "fit") in listener.heard
    assert copied.n_clusters_ == 3


def test_scores_are_monitored():
    monitor = callback.ScoringMonitor(scoring="accuracy")
    LabelledMixture(random_state=0).set_callbacks(monitor).fit(X, Y, sample_weight=np.ones(150))
    assert monitor.get_logs().data_as_pandas["accuracy"].iloc[-1] > 0.9


def test_a_model_with_callbacks_is_saved_without_them(tmp_path):
    model = LabelledMixture(3, random_state=0).set_callbacks(Listener()).fit(X)
    save(model, tmp_path / "model")
    assert np.array_equal(load(tmp_path / "model").labels_, model.labels_)


def test_the_program_in_the_user_guide_runs():
    page = Path(__file__).parents[2] / "docs" / "user_guide.md"
    (program,) = re.findall(
        r"^    from sklearn\.callback.*(?:\n    .*)*", page.read_text(encoding="utf-8"), re.MULTILINE
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    names = {"GridSearchCV": GridSearchCV, "LabelledMixture": LabelledMixture, "folds": folds, "X": X, "species": Y}
    exec(textwrap.dedent(program), names)
    assert names["search"].best_score_ > 0.9
