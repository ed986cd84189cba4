"""Groups of rows merged by the likelihood of Gaussians."""

from itertools import combinations

import numpy as np

from sidelight import LabelledMixture
from sidelight.estimators.starts.merged_groups import merge_groups
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian import CovariancePrior


def statistics_of(groups):
    """Return the statistics of lists of rows, measured from zero."""
    return GaussianStatistics(
        np.array([float(len(rows)) for rows in groups]),
        np.array([rows.sum(axis=0) for rows in groups]),
        np.array([rows.T @ rows for rows in groups]),
        np.zeros(groups[0].shape[1]),
    )


def classification_likelihood(groups, prior):
    """Return the penalised log likelihood of rows whose group is known, from the rows themselves."""
    total, n = 0.0, sum(map(len, groups))
    for rows in groups:
        offsets = rows - rows.mean(axis=0)
        covariance = (offsets.T @ offsets + np.diag(prior.scatter)) / (len(rows) + prior.rows)
        inverse, log_determinant = np.linalg.inv(covariance), np.linalg.slogdet(covariance)[1]
        squares = np.einsum("ni,ij,nj->n", offsets, inverse, offsets)
        total += (np.log(len(rows) / n) - 0.5 * (log_determinant + squares)).sum()
        total -= 0.5 * (prior.rows * log_determinant + np.diagonal(inverse) @ prior.scatter)
    return total


def test_the_pair_that_loses_least_likelihood_is_merged():
    rng = np.random.default_rng(0)
    prior = CovariancePrior.scaled(np.ones(2), rows=1.0, fraction=0.02)
    for _ in range(10):
        groups = [
            rng.normal(size=(rng.integers(5, 40), 2)) * rng.uniform(0.2, 2, 2) + rng.normal(size=2) * 2
            for _ in range(5)
        ]
        while len(groups) > 2:
            merges = [
                [rows for place, rows in enumerate(groups) if place not in pair]
                + [np.concatenate([groups[g] for g in pair])]
                for pair in combinations(range(len(groups)), 2)
            ]
            expected = max(merges, key=lambda merged: classification_likelihood(merged, prior))
            found = merge_groups(statistics_of(groups), prior, len(groups) - 1)
            np.testing.assert_allclose(np.sort(found.mass), np.sort([len(rows) for rows in expected]))
            groups = expected


def test_long_clusters_that_kmeans_cuts_are_found():
    rng = np.random.default_rng(1)
    own = rng.integers(3, size=25_000)
    long = rng.normal(size=(len(own), 2)) * [8.0, 0.3]
    X = long + np.array([[0.0, 0.0], [3.0, 3.0], [-3.0, -3.0]])[own]
    model = LabelledMixture(3, covariance_type="full", random_state=0).fit(X)
    agree = max(
        (model.labels_ == np.array(order)[own]).mean()
        for order in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0])
    )
    assert agree > 0.99
