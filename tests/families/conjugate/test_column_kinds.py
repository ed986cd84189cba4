"""Kinds of columns: which columns they recognise, which cells do not fit, and the priors they scale on a table."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sidelight.estimators.base.conjugate_gaussians import ConjugateGaussians
from sidelight.estimators.base.expected_gaussians import expected_spread
from sidelight.families.conjugate import Bernoulli, Categorical, Multinomial, NegativeBinomial, Ordinal, Poisson
from sidelight.families.gaussian import Gaussian
from sidelight.tables.frame import RawColumn
from sidelight.tables.schema import learn_schema
from sidelight.tables.survey import Survey

KINDS = (Gaussian(), Poisson(), NegativeBinomial(), Ordinal(), Bernoulli(), Categorical(), Multinomial())


def held(values, holds, levels=None):
    return RawColumn("x", values, holds, levels)


def survey_of(mean, variance):
    return Survey(mean, variance, 10.0, np.full(len(mean), 10.0))


def integers(*values):
    return held(np.array(values, dtype=float), "integers")


@pytest.mark.parametrize(
    ("column", "names"),
    [
        (held(np.array([1.5, np.nan]), "numbers"), {"gaussian"}),
        (held(np.array([0.0, 1.0]), "booleans"), {"bernoulli"}),
        (held(np.array(["a", None], dtype=object), "text"), {"categorical"}),
        (held(np.array(["a", None], dtype=object), "text", ("b", "a")), {"ordinal"}),
        (held(np.array(["a", 1], dtype=object), "objects"), set()),
        (integers(0, 1, np.nan, 1), {"bernoulli", "gaussian"}),
        (integers(1, 1), {"bernoulli", "gaussian"}),
        (integers(0, 2, 7, 1), {"poisson", "gaussian"}),
        (integers(1, 2, 7), {"gaussian"}),
        (integers(-1, 0, 1), {"gaussian"}),
        (integers(0, 50, 90), {"gaussian"}),
        (integers(0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10, 10, 10), {"gaussian", "ordinal"}),
        (integers(*[0, *[9] * 60]), {"gaussian", "ordinal"}),
        (integers(*[2007, 2008, 2009] * 10), {"gaussian", "ordinal"}),
        (integers(*[2007, 2008, 2009]), {"gaussian"}),
        (integers(*[3, 4, 4, 5, 5, 5, 5, 6, 6, 7] * 3), {"gaussian"}),  # as a Gaussian has them
        (integers(*range(11), *range(11), *range(11)), {"gaussian"}),  # more than a few values
        (integers(*[0] * 15, *[1] * 8, 2, 2, 3, 5, 9, 14, 30), {"gaussian", "negative_binomial"}),
        (integers(np.nan, np.nan), {"gaussian"}),
    ],
)
def test_columns_are_recognised_by_what_they_hold(column, names):
    recognised = {kind.name for kind in KINDS if kind.recognises(column)}
    # Text and mixed objects are of no other kind; integers may be numbers too, and the schema asks in order.
    assert recognised == names


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("penguins", {"year": "ordinal", "body_mass_g": "gaussian", "island": "categorical"}),
        ("zoo", {"legs": "ordinal", "hair": "bernoulli"}),
        ("dermatology", {"erythema": "ordinal", "band-like_infiltrate": "ordinal", "family_history": "bernoulli"}),
        ("breast_cancer_wisconsin", {"Cl.thickness": "ordinal", "Mitoses": "ordinal"}),
        ("pima", {"pregnant": "negative_binomial", "glucose": "gaussian", "age": "gaussian"}),
        ("haberman", {"positive_nodes": "negative_binomial", "age": "gaussian", "operation_year": "gaussian"}),
        ("authorship", {"also": "negative_binomial", "been": "negative_binomial", "the": "gaussian"}),
        ("pendigits", {"x1": "gaussian", "y8": "atom"}),
    ],
)
def test_columns_of_real_tables_are_recognised(table, columns):
    path = Path(os.environ.get("SIDELIGHT_DATA", "")) / f"{table}.csv.gz"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in the folder that SIDELIGHT_DATA names")
    frame = pd.read_csv(path)[list(columns)]
    assert dict(zip(columns, learn_schema(frame, "auto").kinds, strict=True)) == columns


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Bernoulli(), [0.0, 1.0, np.nan], [2.0, 0.5, -1.0, np.inf]),
        (Poisson(), [0.0, 3.0, 1e9, np.nan], [1.5, -1.0, np.inf, -np.inf]),
        (NegativeBinomial(), [0.0, 3.0, 1e9, np.nan], [1.5, -1.0, np.inf, -np.inf]),
        (Multinomial(), [0.0, 3.0], [np.nan, -2.0, 0.5, np.inf]),
    ],
)
def test_cells_that_do_not_fit_are_marked(kind, good, bad):
    cells = np.array([good + bad])
    np.testing.assert_array_equal(kind.misfits(cells), [[False] * len(good) + [True] * len(bad)])
    if Multinomial.name == kind.name:
        np.testing.assert_array_equal(kind.misfits(np.array([1, 2], dtype=np.int64)), False)


@pytest.mark.parametrize("kind", [Gaussian(), Bernoulli(), Poisson(), NegativeBinomial(), Ordinal(), Categorical()])
def test_embedded_columns_have_variance_one_and_missing_cells_at_the_mean(kind):
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 2, size=(50, 3)).astype(float)
    cells[:, 2] = 1.0
    cells[4, 0] = np.nan
    weights = rng.uniform(0.5, 2.0, size=50)
    seen = ~np.isnan(cells)
    mean = weights @ np.nan_to_num(cells) / (weights @ seen)
    variance = weights @ np.where(seen, np.square(cells - mean), 0.0) / (weights @ seen)
    variance[2] = 0.0
    points = kind.embed(cells, weights, survey_of(mean, variance), np.random.RandomState(0))
    assert np.isfinite(points).all()
    width = points.shape[1] // 3 if kind.name != "categorical" else 2
    np.testing.assert_allclose(points[4, :width], 0.0)
    np.testing.assert_allclose(weights @ points / weights.sum(), 0.0, atol=1e-12)
    total = weights @ np.square(points)
    np.testing.assert_allclose(total[:width].sum() / (weights @ seen)[0], 1.0, rtol=1e-12)
    np.testing.assert_allclose(points[:, -1], 0.0, atol=1e-12)


def test_an_expected_spread_is_the_expectation_of_the_family():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 40)
    rows = rng.normal(size=(80, 2)) * [1.0, 3.0] + 10 * labels[:, None]
    spread = expected_spread(rows, labels, np.ones(80), rows.var(axis=0))
    assert spread.rows == 78.0
    within = np.mean([np.var(rows[labels == c], axis=0, ddof=1) for c in (0, 1)], axis=0)
    np.testing.assert_allclose(np.diagonal(spread.covariance), within, rtol=1e-12)
    survey = survey_of(rows.mean(axis=0), rows.var(axis=0))
    family = Gaussian().family(survey, (None, None), ConjugateGaussians("full", spread.covariance, spread.rows, 0.01))
    # E Σ of an inverse Wishart with these degrees and this scatter.
    np.testing.assert_allclose(family.scatter / (family.degrees - 2 - 1), spread.covariance, rtol=1e-12)
    alone = expected_spread(rows[:1], labels[:1], np.ones(1), rows.var(axis=0))
    assert alone.rows == 1.0
    np.testing.assert_array_equal(alone.covariance, np.diag(rows.var(axis=0)))
