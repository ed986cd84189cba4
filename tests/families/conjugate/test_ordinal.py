"""Ordinal columns: enumeration of the categories, a prior along the order, and what a mixture makes of them."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import betaln

from oracles.conjugate import collect, scores
from sidelight import BayesianMixture
from sidelight.describe.columns import column_summaries
from sidelight.describe.profiles import cluster_profiles, profile_words
from sidelight.describe.table import fitted_table
from sidelight.families.conjugate import BetaContinuationRatio
from sidelight.families.conjugate.margins import gaussian_evidence, log_evidence, margin_of
from sidelight.families.conjugate.ordinal import ordinal_evidence
from sidelight.kernels.loops import NUMPY

CATEGORIES = (4, 1, 2, 3)


def family(seed=0):
    rng = np.random.default_rng(seed)
    return BetaContinuationRatio(CATEGORIES, rng.uniform(0.3, 3, size=6), rng.uniform(0.3, 3, size=6))


def test_predictions_of_all_rows_sum_to_one():
    given = family()
    rows = np.array(list(product(*(range(v) for v in CATEGORIES))), dtype=float)
    parameters = given.around(np.zeros((2, 4)))
    np.testing.assert_allclose(np.exp(scores(given.predictive(parameters, NUMPY), rows)).sum(axis=0), 1.0, rtol=1e-12)
    for probabilities in given.attributes(parameters)["probabilities_"]:
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)


def test_a_row_stops_at_its_category():
    given, rng = family(1), np.random.default_rng(2)
    X = np.stack([rng.integers(v, size=30) for v in CATEGORIES], axis=1).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    r = rng.dirichlet([1.0, 1.0], size=30)
    found = given.update(collect(given, given.around(np.zeros((2, 4))), X, r))
    step = 0
    for column, n_categories in enumerate(CATEGORIES):
        for category in range(n_categories - 1):
            stopped, passed = (r.T @ (X[:, column] == category), r.T @ (X[:, column] > category))
            np.testing.assert_allclose(found.stops[:, step], given.stops[step] + stopped, rtol=1e-12)
            np.testing.assert_allclose(found.passes[:, step], given.passes[step] + passed, rtol=1e-12)
            step += 1
    assert step == len(given.stops)
    assert given.n_parameters(5) == 30


def test_the_evidence_of_a_margin_is_a_product_of_beta_functions():
    cells = np.repeat([1.0, 2.0, 5.0, 7.0], [3, 9, 1, 4])
    margin = margin_of(cells)
    prior = BetaContinuationRatio.smooth((4,), margin.codes.mean, margin.codes.variance)
    expected = sum(
        betaln(a + stopped, b + passed) - betaln(a, b)
        for a, b, stopped, passed in zip(prior.stops, prior.passes, [3, 9, 1], [14, 5, 4], strict=True)
    )
    np.testing.assert_allclose(log_evidence(prior, margin.codes), expected, rtol=1e-12)
    # 4 of the numbers 1 … 7 are used, and any number of them might have been.
    np.testing.assert_allclose(ordinal_evidence(margin), expected - np.log(35) - np.log(7), rtol=1e-12)


def test_the_gaussian_evidence_is_the_product_of_predictions():
    cells = np.array([3.0, 4.0, 4.0, 9.0, 3.0])
    mean, variance = cells.mean(), cells.var() + 1 / 12
    kappa, a, b, m, total = 0.01, 1.5, 1.5 * variance, mean, 0.0
    for x in cells:
        total += stats.t.logpdf(x, 2 * a, m, np.sqrt(b * (kappa + 1) / (a * kappa)))
        b += 0.5 * kappa / (kappa + 1) * (x - m) ** 2
        m = (kappa * m + x) / (kappa + 1)
        kappa, a = kappa + 1, a + 0.5
    np.testing.assert_allclose(gaussian_evidence(margin_of(cells)), total, rtol=1e-12)


def test_the_prior_follows_a_normal_distribution_along_the_order():
    n = 6
    prior = BetaContinuationRatio.smooth((n,), np.array([2.2]), np.array([1.5]), rows=2.0)
    np.testing.assert_allclose(prior.stops + prior.passes, 2.0)
    edges = np.concatenate([[-np.inf], np.arange(n - 1) + 0.5, [np.inf]])
    mass = np.diff(stats.norm.cdf(edges, 2.2, np.sqrt(1.5 + 1 / 12)))
    hazards = mass / np.cumsum(mass[::-1])[::-1]
    np.testing.assert_allclose(prior.stops / 2, np.clip(hazards[:-1], 0.1, 0.9), rtol=1e-9)
    constant = BetaContinuationRatio.smooth((1, 3), np.array([0.0, 0.0]), np.array([0.0, 0.0]))
    assert constant.stops.shape == (2,)
    assert ((constant.stops > 0) & (constant.passes > 0)).all()


def ratings(n=240):
    rng = np.random.default_rng(3)
    group = np.arange(n) % 2
    shares = np.array([[0.6, 0.25, 0.1, 0.05, 0.0], [0.0, 0.1, 0.2, 0.3, 0.4]])
    columns = {f"question {i}": [1 + rng.choice(5, p=shares[g]) for g in group] for i in range(5)}
    frame = pd.DataFrame(columns)
    frame["size"] = pd.Categorical(
        np.where(rng.random(n) < 0.8, np.array(["small", "large"])[group], "middle"),
        categories=["small", "middle", "large"],
        ordered=True,
    )
    frame.loc[::9, "size"] = None
    return frame, group


def test_clusters_are_found_and_described_in_order():
    frame, group = ratings()
    model = BayesianMixture(random_state=0).fit(frame)
    assert set(model._schema.kinds) == {"ordinal"}
    assert model.n_clusters_ == 2
    agreement = (model.labels_ == group).mean()
    assert max(agreement, 1 - agreement) > 0.97
    assert (np.diff(model.lower_bounds_) >= -1e-9 * np.abs(model.lower_bounds_[:-1])).all()
    summaries = {summary.name: summary for summary in column_summaries(fitted_table(model, frame))}
    assert summaries["question 0"].kind == "ordered category"
    assert summaries["question 0"].holds == "1 to 5, median 3"
    assert [part.split()[0] for part in summaries["size"].holds.split(", ")] == ["small", "middle", "large"]
    names = [feature.name for feature in cluster_profiles(model, frame).features]
    assert {"size = small", "question 3 = 5"} <= set(names)
    words = profile_words(cluster_profiles(model, frame), 0)
    assert any("more often" in word for word in words)


def test_a_year_of_three_values_makes_no_clusters():
    rng = np.random.default_rng(4)
    group = np.arange(300) % 2
    frame = pd.DataFrame(
        {"a": rng.normal(4 * group), "b": rng.normal(-3 * group), "year": 2007 + rng.integers(3, size=300)}
    )
    model = BayesianMixture(random_state=0).fit(frame)
    assert model._schema.kinds == ("gaussian", "gaussian", "ordinal")
    assert model.n_clusters_ == 2


@pytest.mark.parametrize("n_categories", [3, 40])
def test_many_categories_are_evaluated_as_few_are(n_categories):
    rng = np.random.default_rng(5)
    given = BetaContinuationRatio.smooth((n_categories,), np.array([1.0]), np.array([2.0]))
    codes = np.arange(n_categories, dtype=float)[:, None]
    parameters = given.update(collect(given, given.around(np.zeros((2, 1))), codes, rng.random((n_categories, 2))))
    shares = np.exp(scores(given.predictive(parameters, NUMPY), codes)).T
    np.testing.assert_allclose(shares, given.attributes(parameters)["probabilities_"][0], rtol=1e-10)
