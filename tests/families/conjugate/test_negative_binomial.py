"""Negative binomial columns: integrals over the latent rates, sizes that are learned, and the Poisson limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import quad
from scipy.special import logsumexp

from oracles.conjugate import COMPONENTS, collect, scores, step
from sidelight import BayesianMixture
from sidelight.families.conjugate import BetaNegativeBinomial, GammaPoisson, NegativeBinomialParameters
from sidelight.families.conjugate.negative_binomial import SIZES, log_coefficients, summed_coefficients
from sidelight.kernels.loops import NUMPY


def counts(rng, rates, size, n):
    """Draw rows of Poisson counts, each cell with a rate of its own about the given ones."""
    return rng.poisson(rates * rng.gamma(size, 1 / size, size=(n, len(rates)))).astype(float)


def one_component(family, X):
    """Return the posterior of a single component that owns all rows, and its bound."""
    everything = np.ones((len(X), 1))
    start = family.around(np.full((1, X.shape[1]), np.nan))
    parameters = family.update(collect(family, start, X, everything))
    return parameters, scores(family.evaluator(parameters, NUMPY), X).sum() + family.log_prior(parameters)


@pytest.mark.parametrize(("count", "rate", "size"), [(0, 1.5, 0.5), (4, 1.5, 0.5), (7, 20.0, 3.0), (12, 9.0, 50.0)])
def test_a_cell_is_a_poisson_count_whose_rate_varies(count, rate, size):
    def integrand(u):
        return stats.poisson.pmf(count, rate * u) * stats.gamma.pdf(u, size, scale=1 / size)

    expected = quad(integrand, 0, 1, epsabs=0, epsrel=1e-11)[0] + quad(integrand, 1, np.inf, epsabs=0, epsrel=1e-11)[0]
    # A posterior as narrow as numbers allow.
    sure = 1e12
    success = size / (size + rate)
    parameters = NegativeBinomialParameters(*(np.array([[v]]) for v in (sure * success, sure * (1 - success), size)))
    family = BetaNegativeBinomial.scaled(np.array([rate]), sizes=[size])
    found = scores(family.evaluator(parameters, NUMPY), np.array([[float(count)]]))[0, 0]
    np.testing.assert_allclose(found, np.log(expected), rtol=1e-8)


@pytest.mark.parametrize("size", [0.5, 4.0, 256.0])
def test_the_bound_of_one_component_is_the_evidence(size):
    X = counts(np.random.default_rng(0), np.array([3.0]), 2.0, 12)
    X[3] = np.nan
    family = BetaNegativeBinomial.scaled(np.array([2.5]), shape=0.8, sizes=[size])
    _, bound = one_component(family, X)
    prior = stats.beta(1.0 + size * 0.8 / 2.5, 0.8)
    seen = X[~np.isnan(X)]
    peak = size / (size + seen.mean())

    def log_joint(p):
        return stats.nbinom.logpmf(seen, size, p).sum() + prior.logpdf(p)

    top = log_joint(peak)
    evidence = quad(lambda p: np.exp(log_joint(p) - top), 0, 1, points=[peak], epsabs=0, epsrel=1e-10, limit=200)[0]
    np.testing.assert_allclose(bound, top + np.log(evidence), rtol=1e-9)


def test_the_size_of_each_column_is_the_best_of_the_grid():
    rng = np.random.default_rng(1)
    X = np.concatenate([counts(rng, np.array([4.0]), size, 60) for size in (0.3, 2.0, 1e6)], axis=1)
    responsibilities = rng.dirichlet(np.ones(COMPONENTS), size=60)
    learning = BetaNegativeBinomial.scaled(X.mean(axis=0))
    found = learning.update(collect(learning, learning.around(X[:COMPONENTS]), X, responsibilities))
    assert (found.sizes == found.sizes[0]).all()
    for column in range(3):
        bounds = []
        for size in SIZES:
            family = BetaNegativeBinomial.scaled(X.mean(axis=0)[column : column + 1], sizes=[size])
            cells = X[:, [column]]
            statistics = collect(family, family.around(np.zeros((COMPONENTS, 1))), cells, responsibilities)
            parameters = family.update(statistics)
            expected = responsibilities * scores(family.evaluator(parameters, NUMPY), cells)
            bounds.append(expected.sum() + family.log_prior(parameters))
        assert found.sizes[0, column] == SIZES[np.argmax(bounds)]


@pytest.mark.parametrize("size", [0.5, 3.0, 20.0])
def test_sizes_are_recovered(size):
    X = counts(np.random.default_rng(2), np.array([8.0, 30.0]), size, 4000)
    parameters, _ = one_component(BetaNegativeBinomial.scaled(X.mean(axis=0)), X)
    assert (np.abs(np.log2(parameters.sizes / size)) <= 0.7).all()


def test_poisson_columns_have_large_sizes_and_lose_nothing():
    X = np.random.default_rng(3).poisson([0.5, 4.0, 15.0], size=(500, 3)).astype(float)
    family = BetaNegativeBinomial.scaled(X.mean(axis=0))
    parameters, bound = one_component(family, X)
    # A variance of n cells has the relative error √(2/n); the excess over Poisson, λ/φ, is within three of them.
    assert (X.mean(axis=0) / parameters.sizes < 3 * np.sqrt(2 / len(X))).all()
    _, poisson = one_component(GammaPoisson.scaled(X.mean(axis=0)), X)
    assert bound > poisson - 0.05
    wide = counts(np.random.default_rng(4), np.array([0.5, 4.0, 15.0]), 2.0, 500)
    assert one_component(family, wide)[1] > one_component(GammaPoisson.scaled(X.mean(axis=0)), wide)[1] + 500


def test_large_sizes_are_the_poisson_family():
    rng = np.random.default_rng(5)
    X = rng.poisson(3.0, size=(40, 2)).astype(float)
    responsibilities = rng.dirichlet(np.ones(COMPONENTS), size=40)
    found, expected = [], []
    for family, values in (
        (BetaNegativeBinomial.scaled(X.mean(axis=0), sizes=[1e8]), found),
        (GammaPoisson.scaled(X.mean(axis=0)), expected),
    ):
        parameters = family.update(collect(family, family.around(X[:COMPONENTS]), X, responsibilities))
        values += [scores(family.evaluator(parameters, NUMPY), X), scores(family.predictive(parameters, NUMPY), X)]
        values += [family.log_prior(parameters), family.divergence(parameters), family.attributes(parameters)["rates_"]]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), missing=st.sampled_from([0.0, 0.1, 0.6]), n=st.integers(3, 40))
def test_the_bound_never_falls_while_sizes_are_learned(seed, missing, n):
    rng = np.random.default_rng(seed)
    X = counts(rng, rng.gamma(1.0, 5.0, size=3), rng.gamma(1.0, 2.0) + 0.05, n)
    X[rng.random(X.shape) < missing] = np.nan
    family = BetaNegativeBinomial.scaled(np.ones(3))
    responsibilities = rng.dirichlet(np.full(COMPONENTS, 0.3), size=n)
    parameters = family.update(collect(family, family.around(X[:COMPONENTS]), X, responsibilities))
    log_weights = np.log(rng.dirichlet(np.ones(COMPONENTS)))
    bounds = []
    for _ in range(6):
        parameters, bound = step(family, parameters, X, log_weights)
        bounds.append(bound)
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[0]))


def test_predictions_of_all_counts_sum_to_one():
    X = counts(np.random.default_rng(6), np.array([2.0, 6.0]), 1.5, 50)
    family = BetaNegativeBinomial.scaled(X.mean(axis=0))
    parameters, _ = one_component(family, X)
    rows = np.full((4500, 2), np.nan)
    rows[:, 1] = np.arange(4500)
    logs = scores(family.predictive(parameters, NUMPY), rows)
    np.testing.assert_allclose(logsumexp(logs), 0.0, atol=1e-6)


@pytest.mark.parametrize("largest", [30, 5000])
def test_coefficients_are_looked_up_or_computed(largest):
    rng = np.random.default_rng(7)
    X = rng.integers(0, largest + 1, size=(40, 3)).astype(float)
    X[0] = largest
    weights, grid = rng.uniform(size=40), np.array([0.5, 3.0, 1000.0])
    # The binomial coefficient is what the mass has beside its powers.
    expected = np.stack([stats.nbinom.logpmf(X, size, 0.5) + (X + size) * np.log(2) for size in grid], axis=2)
    np.testing.assert_allclose(log_coefficients(X, 3.0), expected[:, :, 1], rtol=1e-9, atol=1e-9)
    found = summed_coefficients(X, weights, grid)
    np.testing.assert_allclose(found, np.einsum("n,ndg->dg", weights, expected), rtol=1e-9)


def test_dispersed_counts_make_no_clusters_of_their_own():
    X = counts(np.random.default_rng(8), np.array([3.0, 12.0, 6.0, 1.0]), 1.5, 300)
    assert BayesianMixture(family="negative_binomial", random_state=0).fit(X).n_clusters_ == 1
    assert BayesianMixture(family="poisson", random_state=0).fit(X).n_clusters_ > 3


def test_clusters_of_dispersed_counts_are_found():
    rng = np.random.default_rng(9)
    rates = np.array([[2.0, 12.0, 30.0], [15.0, 2.0, 30.0], [15.0, 12.0, 3.0]])
    X = np.concatenate([counts(rng, rate, 5.0, 80) for rate in rates])
    X[::7, 1] = np.nan
    model = BayesianMixture(family="negative_binomial", random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert ((model.sizes_ >= 2) & (model.sizes_ <= 16)).all()
    found = model.rates_[model.component_clusters_.argsort()]
    order = [int(np.abs(np.log(found / rate)).sum(axis=1).argmin()) for rate in rates]
    np.testing.assert_allclose(found[order], rates, rtol=0.35)
