"""Warnings point to the line of the user's program, also where scikit-learn calls the estimator."""

import re
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import (
    BayesianMixture,
    EquivalenceMixture,
    GuidedMixture,
    LabelledMixture,
    LatentProcessDecomposition,
    SeededKMeans,
    SideInformation,
)

SOURCE = Path(__file__).parents[1] / "src" / "sidelight"
X, Y = load_iris(return_X_y=True)
LABELS = np.where(np.arange(150) % 5 == 0, Y, -1)
FLAT = np.column_stack([X, np.ones(150)])
NAMES = np.where(LABELS < 0, "unknown", Y.astype(str)).astype(object)
SHORT = {"n_init": 1, "max_iter": 1, "random_state": 0}
FRAME = pd.DataFrame({"size": X[:, 0], "colour": np.where(X[:, 2] > 2, "red", "blue")})
OTHER = FRAME.assign(colour="green")


def too_few_iterations():
    LabelledMixture(3, **SHORT).fit(X, LABELS)


def baseline():
    SeededKMeans(2, random_state=0).fit(X, LABELS)


def components():
    LabelledMixture(2, random_state=0).fit(X, LABELS)


def classes():
    EquivalenceMixture(2, random_state=0).fit(X, LABELS)


def processes():
    LatentProcessDecomposition(2, max_iter=50, random_state=0).fit(X, LABELS)


def constant_column():
    BayesianMixture(3, random_state=0).fit(FLAT, LABELS)


def missing_names():
    SideInformation.build(150, y=NAMES)


def strange_ids():
    SideInformation.build(150, must_link=[("a", "b")], sample_id=np.arange(150).astype(str))


def labels_that_the_columns_contradict():
    drawn = np.random.default_rng(0).integers(2, size=150)
    GuidedMixture(random_state=0).fit(X, np.where(np.arange(150) % 2, drawn, -1))


def unseen_categories():
    FITTED.predict(OTHER)


def search():
    GridSearchCV(LabelledMixture(**SHORT), {"n_components": [3, 4]}, cv=2).fit(X, Y)


def validation():
    cross_val_score(make_pipeline(StandardScaler(), LabelledMixture(3, **SHORT)), X, Y, cv=2)


PARALLEL = """
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sidelight import LabelledMixture

X, y = load_iris(return_X_y=True)
cross_val_score(LabelledMixture(3, n_init=1, max_iter=1, random_state=0), X, y, cv=2, n_jobs=2)
"""
FITTED = BayesianMixture(2, random_state=0).fit(FRAME)
PROGRAMS = (
    *(too_few_iterations, baseline, components, classes, processes, constant_column, missing_names, strange_ids),
    *(labels_that_the_columns_contradict, unseen_categories, search, validation),
)


@pytest.mark.parametrize("program", PROGRAMS, ids=[program.__name__ for program in PROGRAMS])
def test_the_line_of_the_program_is_named(program):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
    assert caught
    code = program.__code__
    lines = {line for *_, line in code.co_lines()} - {code.co_firstlineno}
    assert {warning.filename for warning in caught} == {__file__}
    assert {warning.lineno for warning in caught} <= lines


def test_every_warning_is_issued_by_the_function_that_finds_the_line():
    direct = [
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if re.search(r"\bwarnings\.warn\(", path.read_text(encoding="utf-8"))
    ]
    assert direct == ["_warnings.py"]


def test_without_a_program_above_the_caller_is_named():
    # As in a worker of a search: nothing but scikit-learn calls.
    space = {"__name__": "sklearn.worker"}
    exec(compile("from sidelight._warnings import warn\ndef work():\n    warn('x')\n", "worker.py", "exec"), space)
    worker = threading.Thread(target=space["work"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        worker.start()
        worker.join()
    assert [(warning.filename, warning.lineno) for warning in caught] == [("worker.py", 3)]


def test_worker_processes_of_a_search_name_what_warns(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PARALLEL, encoding="utf-8")
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    places = re.findall(r"^(.*):\d+: ConvergenceWarning", done.stderr, re.MULTILINE)
    assert {Path(place).name for place in places} == {"loop.py"}
