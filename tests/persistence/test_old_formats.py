"""Models saved by earlier versions still load and answer as they did when they were saved.

A class that moves or changes its fields breaks these; teach `persistence` to read the old form, and leave the files.
`models_to_keep.py` writes the files of a new format.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sidelight import all_estimators, load
from sidelight.persistence.models import FORMAT

HERE = Path(__file__).parent
FORMATS = range(1, FORMAT + 1)
ANSWERS = {
    number: json.loads((HERE / f"format_{number}" / "answers.json").read_text(encoding="utf-8")) for number in FORMATS
}


@pytest.mark.parametrize(("number", "name"), [(number, name) for number in FORMATS for name in ANSWERS[number]])
def test_a_model_answers_as_recorded(number, name):
    recorded = ANSWERS[number][name]
    folder = HERE / f"format_{number}" / name
    assert json.loads((folder / "model.json").read_bytes())["format"] == number
    model = load(folder)
    table = recorded["table"]
    X = pd.DataFrame(table) if isinstance(table, dict) else np.array(table)
    np.testing.assert_array_equal(model.predict(X), recorded["predict"])
    np.testing.assert_array_equal(model.labels_, recorded["labels_"])
    for question in ("predict_proba", "score_samples"):
        if question in recorded:
            np.testing.assert_allclose(getattr(model, question)(X), recorded[question], rtol=1e-9, atol=1e-12)


def test_every_estimator_has_a_file_of_the_present_format():
    assert {name for name, _ in all_estimators()} <= ANSWERS[FORMAT].keys()


@pytest.mark.parametrize("number", FORMATS)
def test_a_stream_goes_on(number):
    recorded = ANSWERS[number]["stream"]
    model = load(HERE / f"format_{number}" / "stream")
    X = np.array(recorded["table"])
    assert model.partial_fit(X[:18]).labels_.shape == (18,)
    assert np.mean(model.predict(X) == recorded["predict"]) > 0.9
