"""A minute of fuzzing; benchmarks/fuzz.py goes on for as long as one likes."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sidelight import SeededKMeans

found = importlib.util.spec_from_file_location("fuzz", Path(__file__).parents[1] / "benchmarks" / "fuzz.py")
fuzz = importlib.util.module_from_spec(found)
found.loader.exec_module(fuzz)


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_hostile_cases_are_refused_or_sound(first):
    assert fuzz.run(range(first, first + 50)) == []


class Careless(SeededKMeans):
    """An estimator with every fault that is looked for."""

    def __init__(self, fault=None):
        super().__init__()
        self.fault = fault

    def fit(self, X, y=None):
        match self.fault:
            case "foreign":
                raise ZeroDivisionError("no rows")
            case "changed":
                self.n_features_in_ = 3
                raise ValueError("refused")
            case "nan":
                super().fit(X, y)
                self.cluster_centers_[0, 0] = np.nan
            case "silent":
                super().fit(X, y)
                self.labels_ = np.zeros_like(self.labels_)
        return self


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("foreign", "ZeroDivisionError"),
        ("changed", "changed its estimator"),
        ("nan", "cluster_centers_ is not finite"),
        ("silent", "violations_ does not say so"),
    ],
)
def test_faults_are_found_and_shrunk(fault, told):
    labels = np.array(["a", "b", None, None], dtype=object)
    case = fuzz.Case(Careless, {"fault": fault}, np.array([[0.0, 1], [9, 8], [0, 1], [9, 8]]), {"y": labels})
    reason = fuzz.complaint(case)
    assert told in reason
    smaller = fuzz.shrunk(case, reason)
    assert smaller.X.size < case.X.size
    assert fuzz.complaint(smaller) == reason
