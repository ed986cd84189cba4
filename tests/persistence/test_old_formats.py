"""Models saved by earlier versions still load and answer as they did when they were saved.

A class that moves or changes its fields breaks these; teach `persistence` to read the old form, and leave the files.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sidelight import all_estimators, load

FOLDER = Path(__file__).parent / "format_1"
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ANSWERS)
def test_format_1_answers_as_recorded(name):
    recorded = ANSWERS[name]
    model = load(FOLDER / name)
    table = recorded["table"]
    X = pd.DataFrame(table) if isinstance(table, dict) else np.array(table)
    np.testing.assert_array_equal(model.predict(X), recorded["predict"])
    np.testing.assert_array_equal(model.labels_, recorded["labels_"])
    for question in ("predict_proba", "score_samples"):
        if question in recorded:
            np.testing.assert_allclose(getattr(model, question)(X), recorded[question], rtol=1e-9, atol=1e-12)


def test_every_estimator_has_a_file_of_format_1():
    assert {name for name, _ in all_estimators()} <= ANSWERS.keys()


def test_a_stream_of_format_1_goes_on():
    recorded = ANSWERS["stream"]
    model = load(FOLDER / "stream")
    X = np.array(recorded["table"])
    assert model.partial_fit(X[:18]).labels_.shape == (18,)
    assert np.mean(model.predict(X) == recorded["predict"]) > 0.9
