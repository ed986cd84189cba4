"""A loaded model is the model that was saved: same answers here, in a fresh process, and when it goes on learning."""

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from models_to_keep import NAMES, SOME, X, case, counts, outputs

import sidelight
from sidelight import BayesianMixture, LabelledMixture, SideInformation, all_estimators, load, save


def assert_equal(one, other, place=""):
    """Compare two values to the last bit, and their types."""
    assert type(one) is type(other), place
    if isinstance(one, np.ndarray):
        assert one.dtype.kind == other.dtype.kind, place
        assert one.shape == other.shape, place
        if one.dtype == object:
            for n, (a, b) in enumerate(zip(one.ravel(), other.ravel(), strict=True)):
                assert_equal(a, b, f"{place}[{n}]")
        elif one.dtype.kind in "US":
            assert one.tolist() == other.tolist(), place
        else:
            assert one.dtype == other.dtype, place
            assert one.tobytes() == other.tobytes(), place
    elif isinstance(one, dict):
        assert list(one) == list(other), place
        for key in one:
            assert_equal(one[key], other[key], f"{place}[{key!r}]")
    elif hasattr(one, "__dataclass_fields__"):
        for name in one.__dataclass_fields__:
            assert_equal(getattr(one, name), getattr(other, name), f"{place}.{name}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), place
        for n, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_equal(a, b, f"{place}[{n}]")
    elif hasattr(one, "indptr"):
        assert one.shape == other.shape
        for name in ("data", "indices", "indptr"):
            assert_equal(getattr(one, name), getattr(other, name), f"{place}.{name}")
    else:
        assert one == other or (one != one and other != other), place


def assert_same_answers(model, again, table):
    expected, found = outputs(model, table), outputs(again, table)
    for name in expected:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_all_state_and_all_answers_come_back(name, tmp_path):
    model, table = case(name)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again) is type(model)
    assert_equal(vars(model), vars(again))
    assert_same_answers(model, again, table)
    assert not [path for path in tmp_path.iterdir() if path.name != "model"]


IN_A_FRESH_PROCESS = """
import pickle, sys
from pathlib import Path
from models_to_keep import outputs
import sidelight
folder = Path(sys.argv[1])
tables = pickle.loads((folder / "tables").read_bytes())
answers = {name: outputs(sidelight.load(folder / name), table) for name, table in tables.items()}
(folder / "answers").write_bytes(pickle.dumps(answers))
"""


def test_a_fresh_process_answers_the_same(tmp_path):
    cases = {name: case(name) for name in NAMES}
    for name, (model, _) in cases.items():
        save(model, tmp_path / name)
    (tmp_path / "tables").write_bytes(pickle.dumps({name: table for name, (_, table) in cases.items()}))
    subprocess.run(
        [sys.executable, "-c", IN_A_FRESH_PROCESS, str(tmp_path)],
        check=True,
        # Settings of BLAS stay: they decide the last digit.
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])},
    )
    answers = pickle.loads((tmp_path / "answers").read_bytes())
    for name, (model, table) in cases.items():
        for question, expected in outputs(model, table).items():
            np.testing.assert_array_equal(answers[name][question], expected, err_msg=f"{name}: {question}")


@pytest.mark.parametrize("estimator", [cls for _, cls in all_estimators()], ids=[name for name, _ in all_estimators()])
def test_estimators_that_are_not_fitted_keep_their_parameters(estimator, tmp_path):
    model = estimator(random_state=2**70)
    save(model, tmp_path / "model")
    assert_equal(load(tmp_path / "model").get_params(), model.get_params())


@pytest.mark.parametrize("name", ["stream", "sparse stream"])
def test_a_stream_goes_on_where_it_was(name, tmp_path):
    model, table = copy.deepcopy(case(name))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    for batch in (table[:12], table[12:30]):
        model.partial_fit(batch, SOME[: batch.shape[0]])
        again.partial_fit(batch, SOME[: batch.shape[0]])
    assert_same_answers(model, again, table)


def test_a_warm_start_goes_on_where_it_was(tmp_path):
    model, table = copy.deepcopy(case("named labels"))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model").set_params(max_iter=1, tol=0)
    model.set_params(max_iter=1, tol=0)
    y = np.where(SOME == 0, "früh", None)
    y[SOME == 1], y[SOME == 2] = "late", "never"
    with pytest.warns(UserWarning, match="max_iter"):
        again.fit(table, y)
    with pytest.warns(UserWarning, match="max_iter"):
        model.fit(table, y)
    assert_same_answers(model, again, table)


ODD_VALUES = {
    "floats": [-0.0, 0.1, float("nan"), float("inf"), float("-inf"), 5e-324],
    "numbers": (2**53 + 1, -(2**63), 2**63, -(10**5000), True, False, None),
    "text": ["", "\x00", "ü\u2028", "\ud800", '"quoted"'],
    "nested": {"a": (1, [2, (3,)]), 3: {}, (1, "b"): b"\x00\xff", None: ()},
    "scalars": [np.float32(0.1), np.int64(-1), np.uint64(2**64 - 1), np.bool_(True), np.str_("x"), np.float64("nan")],
    "layouts": [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(24.0).reshape(2, 3, 4)[:, ::-1, ::2],
        np.broadcast_to(np.int32(7), (3,)),
        np.array(-0.0),
        np.empty((0, 3)),
        np.array([1, 2], dtype=">i4"),
        np.array(["2020-01-01", "NaT"], dtype="M8[D]"),
        np.array([1 + 2j, np.nan]),
        np.array([b"ab", b""]),
    ],
    "cells": np.array([["a", None], [1, (2, 3)]], dtype=object),
    "names": np.array([["long name", ""], ["é", "x"]]),
    "side": SideInformation.build(
        4, y=["a", None, None, "b"], must_link=[("x", "y")], confidence=0.9, sample_id=list("wxyz")
    ),
    "sparse": counts(),
}


@pytest.mark.parametrize("name", ODD_VALUES)
def test_odd_values_come_back_exactly(name, tmp_path):
    model = LabelledMixture(means_init=ODD_VALUES[name])
    save(model, tmp_path / "model")
    again = load(tmp_path / "model").means_init
    assert_equal(ODD_VALUES[name], again)
    if name == "layouts":
        assert again[0].flags.f_contiguous
        assert np.signbit(again[3])
    if name == "floats":
        assert np.signbit(again[0])


def test_memory_mapped_arrays_are_saved_as_what_they_hold(tmp_path):
    np.save(tmp_path / "means.npy", X[:2])
    model = LabelledMixture(means_init=np.load(tmp_path / "means.npy", mmap_mode="r"))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model").means_init
    assert type(again) is np.ndarray
    np.testing.assert_array_equal(again, X[:2])


def test_an_array_that_two_attributes_share_is_stored_once(tmp_path):
    shared = np.arange(100_000.0)
    save(LabelledMixture(means_init=shared, weights_init=shared), tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.means_init is again.weights_init
    assert (tmp_path / "model" / "arrays.npz").stat().st_size < 1.1 * shared.nbytes


def test_equal_models_give_equal_files(tmp_path):
    model, _ = case("mixed table")
    for folder, equal in (("one", model), ("two", copy.deepcopy(model))):
        save(equal, tmp_path / folder)
    for name in ("model.json", "arrays.npz", "SHA256SUMS"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_the_files_are_json_and_plain_arrays_that_others_can_read(tmp_path):
    model, _ = case("LabelledMixture")
    save(model, tmp_path / "model")
    described = json.loads((tmp_path / "model" / "model.json").read_text(encoding="ascii"))
    assert described["format"] == 2
    assert described["sidelight"] == sidelight.__version__
    arrays = np.load(tmp_path / "model" / "arrays.npz", allow_pickle=False)
    np.testing.assert_array_equal(arrays["labels_"], model.labels_)


class OfOnesOwn(BayesianMixture):
    """A subclass, whose code no file could bring along."""


REFUSED = {
    "a live random generator": (
        LabelledMixture(random_state=np.random.RandomState(0)),
        "random_state is a live random",
    ),
    "a new generator": (LabelledMixture(random_state=np.random.default_rng(0)), "set random_state to a whole number"),
    "a callback": (LabelledMixture(callbacks=[print]), r"LabelledMixture\.callbacks\.0 is a function .*callbacks=None"),
    "a kernel": (sidelight.ConstrainedKernelKMeans(kernel=np.dot), r"kernel is a function"),
    "a frame": (LabelledMixture(means_init=pd.DataFrame(X)), "means_init is of type pandas"),
    "long doubles": (LabelledMixture(means_init=np.zeros(2, dtype=np.longdouble)), "differs between machines"),
    "long scalars": (LabelledMixture(tol=np.longdouble(1)), "tol is of type numpy"),
    "an open file": (LabelledMixture(verbose=sys.stderr), "verbose is of type"),
    "a class": (LabelledMixture(means_init=[0, dict]), r"means_init\.1 is a function"),
    "another estimator": (OfOnesOwn(), "must be an estimator of sidelight, not OfOnesOwn"),
    "no estimator": (3, "must be an estimator of sidelight, not int; one of BayesianMixture"),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_saved_is_refused_and_leaves_nothing(reason, tmp_path):
    model, message = REFUSED[reason]
    with pytest.raises(TypeError, match=message):
        save(model, tmp_path / "model")
    assert not list(tmp_path.iterdir())
