"""The table as experts see it."""

import numpy as np
import pandas as pd

from sidelight.experts import learn_view
from sidelight.experts.view import principal_axes
from sidelight.tables.encoding import encode
from sidelight.tables.schema import learn_schema

RANDOM = np.random.default_rng(0)
FRAME = pd.DataFrame({"size": RANDOM.normal(size=40), "income": RANDOM.lognormal(size=40)})
FRAME["colour"] = np.array(["red", "green", "blue"])[np.arange(40) % 3]


def seen(frame: pd.DataFrame, new: pd.DataFrame | None = None) -> np.ndarray:
    schema = learn_schema(frame, "auto")
    view = learn_view(encode(frame, schema), schema)
    return view(encode(frame if new is None else new, schema)).features


def test_features_have_mean_zero_and_variance_one():
    features = seen(FRAME)
    assert features.shape == (40, 5)
    np.testing.assert_allclose(features.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(features.std(axis=0), 1)


def test_units_and_origins_do_not_matter():
    other = FRAME.assign(size=1000 * FRAME["size"] - 7, income=FRAME["income"] / 1e6)
    np.testing.assert_allclose(seen(other), seen(FRAME), atol=1e-9)


def test_missing_cells_lie_at_the_mean():
    frame = FRAME.copy()
    frame.loc[3, "size"] = np.nan
    frame.loc[4, "colour"] = None
    features = seen(frame)
    assert features[3, 0] == 0
    assert (features[4, 2:] == 0).all()
    assert np.isfinite(features).all()


def test_a_far_cell_counts_by_its_logarithm():
    frame = pd.DataFrame({"x": np.append(np.linspace(-1, 1, 40), 1e9), "y": RANDOM.normal(size=41)})
    features = seen(frame)
    assert features[-1, 0] < 10
    assert features[:40, 0].std() > 0.05


def test_constant_columns_say_nothing():
    features = seen(FRAME, FRAME.assign(size=0.0))
    assert np.isfinite(features).all()


def test_axes_are_those_of_the_covariance():
    for shape in ((50, 8), (8, 50)):
        X = RANDOM.normal(size=shape) * np.linspace(1, 3, shape[1])
        X -= X.mean(axis=0)
        axes = principal_axes(X, 3)
        expected = np.linalg.svd(X, full_matrices=False)[2][:3].T
        np.testing.assert_allclose(np.abs(np.sum(axes * expected, axis=0)), 1, rtol=1e-6)


def test_rows_that_do_not_differ_have_one_axis():
    for shape in ((5, 3), (3, 5)):
        axes = principal_axes(np.zeros(shape), 2)
        np.testing.assert_array_equal(axes, np.eye(shape[1], 1))
