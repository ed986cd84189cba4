"""A part of the fuzzing; benchmarks/fuzz.py goes on for as long as one likes."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from sidelight import SeededKMeans

if sys.platform != "linux":
    pytest.skip("time and memory are limited as Linux does it", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
try:
    fuzz, fuzz_fits = importlib.import_module("fuzz"), importlib.import_module("fuzz_fits")
finally:
    sys.path.pop(0)


@pytest.mark.parametrize(
    ("mode", "numbers"),
    [
        *(("fits", range(first, first + 60)) for first in range(0, 240, 60)),
        ("relations", range(20)),
        ("models", range(60)),
        ("commands", range(30)),
        ("kills", range(2)),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value[0]),
)
def test_hostile_cases_are_refused_or_sound(mode, numbers):
    outcome = fuzz.run(mode, numbers)
    assert outcome.failures == []
    assert outcome.n_cases == len(numbers)


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
    case = fuzz_fits.Case(Careless, {"fault": fault}, np.array([[0.0, 1], [9, 8], [0, 1], [9, 8]]), {"y": labels})
    reason = fuzz_fits.complaint(case)
    assert told in reason
    smaller = fuzz_fits.shrunk(case, reason)
    assert smaller.X.size < case.X.size
    assert fuzz_fits.complaint(smaller) == reason


def test_a_case_that_takes_too_long_is_a_failure():
    def for_ever(number):
        while True:
            pass

    modes = {"endless": fuzz.Mode(for_ever, seconds=1, share=1.0)}
    assert fuzz.run("endless", [7], modes=modes).failures == [(7, "takes more than 1 seconds")]
