"""Rows that were not fitted: fold-in, and their likelihood."""

import numpy as np
import pytest
from plain_processes import cell_probabilities, two_process_log_likelihood
from scipy.integrate import quad
from scipy.special import betaln
from scipy.stats import norm

from sidelight.admixture.model import Densities, Parameters
from sidelight.admixture.unseen_rows import (
    RowLogLikelihoods,
    block_log_likelihood,
    fold_in,
    row_log_likelihoods,
    row_shares,
)
from sidelight.inference.executors.threads import Threads
from sidelight.kernels.loops import NUMPY

RNG = np.random.default_rng(0)
ALPHA = np.array([0.3, 1.2, 0.05])
MEANS = RNG.normal(size=(3, 4)) * 2
VARIANCES = RNG.uniform(0.2, 2, (3, 4))
DENSITIES = Densities.of(MEANS, VARIANCES)


def table(n=25):
    X = RNG.normal(size=(n, 4)) * 2
    X[RNG.uniform(size=X.shape) < 0.3] = np.nan
    X[3] = np.nan
    return X


def folded(X):
    return fold_in(DENSITIES.log(np.nan_to_num(X.T)), ~np.isnan(X.T), ALPHA, NUMPY)


def test_fold_in_ends_at_a_fixed_point_of_both_updates():
    X = table()
    gamma = folded(X)
    q = np.nan_to_num(cell_probabilities(X, np.arange(len(X)), gamma, MEANS, VARIANCES))
    np.testing.assert_allclose(ALPHA + q.sum(axis=1), gamma, atol=1e-5)


def test_a_row_does_not_depend_on_the_other_rows():
    X = table()
    together = folded(X)
    for row in (0, 3, 7):
        np.testing.assert_allclose(folded(X[[row]])[0], together[row], rtol=1e-12)


def test_a_row_without_cells_keeps_the_prior():
    np.testing.assert_array_equal(folded(table())[3], ALPHA)


def test_distant_cells_have_finite_shares():
    gamma = folded(np.array([[1e8, -1e8, 3.0, np.nan]]))
    assert np.isfinite(gamma).all()
    assert gamma.sum() == pytest.approx(ALPHA.sum() + 3)


@pytest.mark.parametrize("alpha", [(0.05, 0.08), (0.6, 2.0), (20.0, 7.0)])
@pytest.mark.parametrize("rows", [1, 6])
def test_importance_sampling_agrees_with_quadrature(alpha, rows):
    """Two processes, two attributes: within three standard errors, which agree with the spread of repetitions."""
    alpha = np.array(alpha)
    rng = np.random.default_rng(rows)
    means, scales = rng.normal(size=(2, 2)), rng.uniform(0.4, 1.5, (2, 2))
    cells = rng.normal(size=(rows, 2))
    densities = norm.pdf(cells, means[:, None], scales[:, None]).reshape(2, -1)
    integral = quad(
        lambda t: np.prod(t * densities[0] + (1 - t) * densities[1]), 0, 1, weight="alg", wvar=tuple(alpha - 1)
    )[0]
    truth = np.log(integral) - betaln(*alpha)
    assert truth == pytest.approx(two_process_log_likelihood(densities, alpha), abs=1e-9)
    gamma = alpha + densities.sum(axis=1) / densities.sum() * densities.shape[1]
    random = np.random.RandomState(0)
    value, error = block_log_likelihood(np.log(densities), alpha, gamma, 20_000, random)
    assert abs(value - truth) < 3 * error < 0.1
    estimates = [block_log_likelihood(np.log(densities), alpha, gamma, 1000, random) for _ in range(100)]
    errors = np.array([(value - truth) / error for value, error in estimates])
    assert np.mean(np.abs(errors) < 3) >= 0.98
    assert 0.8 < errors.std() < 1.25


def test_drawing_from_the_posterior_beats_drawing_from_the_prior():
    X = np.tile(MEANS[0], 5)[None]  # one row of twenty cells, all at the means of the first process
    densities = Densities.of(np.tile(MEANS, 5), np.tile(VARIANCES, 5)).log(X.T)[:, :, 0]
    gamma = ALPHA + np.array([20, 0, 0])
    errors = [
        block_log_likelihood(densities, ALPHA, proposal, 400, np.random.RandomState(0)).standard_error
        for proposal in (gamma, ALPHA)
    ]
    assert errors[0] < errors[1] / 2


def test_a_block_without_cells_has_likelihood_one():
    value, error = block_log_likelihood(np.zeros((3, 0)), ALPHA, ALPHA, 50, np.random.RandomState(0))
    assert value == pytest.approx(0, abs=1e-12)
    assert error == pytest.approx(0, abs=1e-12)


def test_errors_of_rows_add_in_squares():
    rows = RowLogLikelihoods(np.array([-1.0, -2]), np.array([0.3, 0.4]))
    assert rows.total == -3
    assert rows.standard_error == pytest.approx(0.5)


def test_results_do_not_depend_on_threads_and_shares_not_on_parts():
    X, parameters = table(60), Parameters(ALPHA, MEANS, VARIANCES)
    small = {"part_rows": 7}
    one, three = (row_shares(X, parameters, Threads(n), **small) for n in (1, 3))
    np.testing.assert_array_equal(one, three)
    np.testing.assert_allclose(one, row_shares(X, parameters), rtol=1e-12)
    np.testing.assert_allclose(one.sum(axis=1), 1)
    one, three = (row_log_likelihoods(X, parameters, 30, np.random.RandomState(0), Threads(n), **small) for n in (1, 3))
    np.testing.assert_array_equal(one.values, three.values)
    np.testing.assert_array_equal(one.standard_errors, three.standard_errors)
