"""Records of other packages are saved by their tags, and found by them wherever their classes have moved."""

import subprocess
import sys

import pytest

THING = """
from dataclasses import dataclass
from typing import NamedTuple
import numpy as np
from sidelight._storable import storable

@storable("toypackage.Thing")
class Thing(NamedTuple):
    name: str
    numbers: np.ndarray

@storable("toypackage.Box")
@dataclass(frozen=True)
class Box:
    things: tuple[Thing, ...]
"""
SAVE = """
import numpy as np
from sidelight import LabelledMixture, save
from toys_before import Box, Thing
model = LabelledMixture(2, random_state=0).fit(np.arange(12.0).reshape(6, 2) ** 2)
model.box_ = Box((Thing("first", np.arange(3)), Thing("second", np.eye(2))))
save(model, "model")
np.save("proba.npy", model.predict_proba(np.arange(12.0).reshape(6, 2)))
"""
LOAD = """
import numpy as np
import toys_after
from sidelight.persistence import load
model = load("model")
assert type(model.box_) is toys_after.Box
assert [type(thing) for thing in model.box_.things] == [toys_after.Thing] * 2
assert [thing.name for thing in model.box_.things] == ["first", "second"]
assert np.array_equal(model.box_.things[0].numbers, [0, 1, 2])
assert np.array_equal(model.box_.things[1].numbers, np.eye(2))
assert np.array_equal(model.predict_proba(np.arange(12.0).reshape(6, 2)), np.load("proba.npy"))
"""
LOAD_WITHOUT = """
from sidelight import load
load("model")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model that holds toys, whose module has another name since it was saved."""
    folder = tmp_path_factory.mktemp("toys")
    (folder / "toys_before.py").write_text(THING, encoding="utf-8")
    assert run(SAVE, folder).returncode == 0
    (folder / "toys_before.py").rename(folder / "toys_after.py")
    return folder


def run(program, folder):
    command = [sys.executable, "-W", "ignore", "-B", "-c", program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_record_is_found_after_its_class_has_moved(folder):
    assert "toys" not in (folder / "model" / "model.json").read_text(encoding="utf-8")
    result = run(LOAD, folder)
    assert result.returncode == 0, result.stderr


def test_a_tag_of_no_class_says_to_import_the_package(folder):
    result = run(LOAD_WITHOUT, folder)
    assert result.returncode == 1
    assert "model.json cannot be read as a saved model: it names 'toypackage.Box'" in result.stderr
    assert "where another package adds it, import that package first" in result.stderr
