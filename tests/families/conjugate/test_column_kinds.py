"""Kinds of columns: which columns they recognise, which cells do not fit, and the priors they scale on a table."""

from typing import NamedTuple

import numpy as np
import pytest

from sidelight.estimators.base.emission import ConjugateGaussians, expected_spread
from sidelight.families.conjugate import Bernoulli, Categorical, Multinomial, Poisson
from sidelight.families.gaussian import Gaussian
from sidelight.tables.survey import Survey

KINDS = (Gaussian(), Poisson(), Bernoulli(), Categorical(), Multinomial())


class Column(NamedTuple):
    values: np.ndarray
    holds: str


def survey_of(mean, variance):
    return Survey(mean, variance, 10.0, np.full(len(mean), 10.0))


def integers(*values):
    return Column(np.array(values, dtype=float), "integers")


@pytest.mark.parametrize(
    ("column", "names"),
    [
        (Column(np.array([1.5, np.nan]), "numbers"), {"gaussian"}),
        (Column(np.array([0.0, 1.0]), "booleans"), {"bernoulli"}),
        (Column(np.array(["a", None], dtype=object), "text"), {"categorical"}),
        (Column(np.array(["a", 1], dtype=object), "objects"), set()),
        (integers(0, 1, np.nan, 1), {"bernoulli", "gaussian"}),
        (integers(1, 1), {"bernoulli", "gaussian"}),
        (integers(0, 2, 7, 1), {"poisson", "gaussian"}),
        (integers(1, 2, 7), {"gaussian"}),
        (integers(-1, 0, 1), {"gaussian"}),
        (integers(0, 50, 90), {"gaussian"}),
        (integers(0, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 10, 10, 10, 10, 10, 10, 10), {"gaussian", "poisson"}),
        (integers(*[0, *[9] * 60]), {"gaussian"}),
        (integers(np.nan, np.nan), {"gaussian"}),
    ],
)
def test_columns_are_recognised_by_what_they_hold(column, names):
    recognised = {kind.name for kind in KINDS if kind.recognises(column)}
    # Text and mixed objects are of no other kind; integers may be numbers too, and the schema asks in order.
    assert recognised == names


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Bernoulli(), [0.0, 1.0, np.nan], [2.0, 0.5, -1.0, np.inf]),
        (Poisson(), [0.0, 3.0, 1e9, np.nan], [1.5, -1.0, np.inf, -np.inf]),
        (Multinomial(), [0.0, 3.0], [np.nan, -2.0, 0.5, np.inf]),
    ],
)
def test_cells_that_do_not_fit_are_marked(kind, good, bad):
    cells = np.array([good + bad])
    np.testing.assert_array_equal(kind.misfits(cells), [[False] * len(good) + [True] * len(bad)])
    if Multinomial.name == kind.name:
        np.testing.assert_array_equal(kind.misfits(np.array([1, 2], dtype=np.int64)), False)


@pytest.mark.parametrize("kind", [Gaussian(), Bernoulli(), Poisson(), Categorical()])
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
