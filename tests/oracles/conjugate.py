"""Conjugate families by their definitions: draws of parameters, and densities from scipy.stats."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import logsumexp, multigammaln

from sidelight.families.conjugate import (
    AtomGaussian,
    BernoulliParameters,
    BetaBernoulli,
    BetaContinuationRatio,
    BetaNegativeBinomial,
    DirichletCategorical,
    DirichletMultinomial,
    GammaPoisson,
    MultinomialParameters,
    NegativeBinomialParameters,
    NormalGamma,
    NormalGammaParameters,
    NormalWishart,
    NormalWishartParameters,
    PoissonParameters,
    ProductFamily,
)
from sidelight.families.gaussian.full import precision_factors
from sidelight.families.student import student_of
from sidelight.kernels.loops import NUMPY

COMPONENTS = 3


@dataclass(frozen=True)
class Case:
    """A family, a table it can take, and posteriors of three components."""

    family: Any
    X: Any
    parameters: Any
    responsibilities: Any


# Posterior draws are tuples of arrays with the draws along the first axis; densities are (draws,).


def draw(parameters, k, n, rng):
    """Draw parameters of component k from its posterior."""
    match parameters:
        case NormalWishartParameters():
            means, kappa, nu, scatter, _ = (values[k] for values in parameters)
            precisions = stats.wishart.rvs(nu, np.linalg.inv(scatter), size=n, random_state=rng).reshape(
                n, *scatter.shape
            )
            noise = rng.normal(size=(n, len(means), 1))
            spread = np.linalg.solve(np.linalg.cholesky(precisions).swapaxes(1, 2), noise)[..., 0]
            return means + spread / np.sqrt(kappa), precisions
        case NormalGammaParameters():
            means, kappa, a, b = (values[k] for values in parameters)
            precisions = stats.gamma.rvs(a, scale=1 / b, size=(n, len(a)), random_state=rng)
            return means + rng.normal(size=precisions.shape) / np.sqrt(kappa * precisions), precisions
        case MultinomialParameters():
            return (rng.dirichlet(parameters.concentrations[k], size=n),)
        case BernoulliParameters():
            return (rng.beta(parameters.ones[k], parameters.zeros[k], size=(n, len(parameters.ones[k]))),)
        case PoissonParameters():
            return (rng.gamma(parameters.shapes[k], 1 / parameters.rates[k], size=(n, len(parameters.shapes[k]))),)
        case NegativeBinomialParameters():
            successes, failures, sizes = (values[k] for values in parameters)
            return rng.beta(successes, failures, size=(n, len(sizes))), np.tile(sizes, (n, 1))
    raise NotImplementedError(type(parameters))


def log_density(theta, parameters, k):
    """Return the log density of parameters under the posterior of component k."""
    match parameters:
        case NormalWishartParameters():
            mu, precisions = theta
            means, kappa, nu, scatter, _ = (values[k] for values in parameters)
            return _log_wishart(precisions, nu, scatter) + _log_gaussian(mu - means, kappa * precisions)
        case NormalGammaParameters():
            mu, precisions = theta
            means, kappa, a, b = (values[k] for values in parameters)
            logs = stats.gamma.logpdf(precisions, a, scale=1 / b)
            return (logs + stats.norm.logpdf(mu, means, 1 / np.sqrt(kappa * precisions))).sum(axis=1)
        case MultinomialParameters():
            return stats.dirichlet.logpdf(_onto_simplex(theta[0]).T, parameters.concentrations[k])
        case BernoulliParameters():
            return stats.beta.logpdf(theta[0], parameters.ones[k], parameters.zeros[k]).sum(axis=1)
        case PoissonParameters():
            return stats.gamma.logpdf(theta[0], parameters.shapes[k], scale=1 / parameters.rates[k]).sum(axis=1)
        case NegativeBinomialParameters():
            return stats.beta.logpdf(theta[0], parameters.successes[k], parameters.failures[k]).sum(axis=1)
    raise NotImplementedError(type(parameters))


def log_likelihood(x, theta, parameters):
    """Return the log density of the observed cells of a row under each draw of parameters."""
    seen = ~np.isnan(x)
    match parameters:
        case NormalWishartParameters():
            mu, precisions = theta
            covariances = np.linalg.inv(precisions)[:, seen][:, :, seen]
            return _log_gaussian(x[seen] - mu[:, seen], np.linalg.inv(covariances))
        case NormalGammaParameters():
            mu, precisions = theta
            return stats.norm.logpdf(x[seen], mu[:, seen], 1 / np.sqrt(precisions[:, seen])).sum(axis=1)
        case MultinomialParameters():
            return stats.multinomial.logpmf(x, x.sum(), _onto_simplex(theta[0]))
        case BernoulliParameters():
            return stats.bernoulli.logpmf(x[seen], theta[0][:, seen]).sum(axis=1)
        case PoissonParameters():
            return stats.poisson.logpmf(x[seen], theta[0][:, seen]).sum(axis=1)
        case NegativeBinomialParameters():
            return stats.nbinom.logpmf(x[seen], theta[1][:, seen], theta[0][:, seen]).sum(axis=1)
    raise NotImplementedError(type(parameters))


def emit(theta, parameters, rng, length=0):
    """Draw a row for each draw of parameters; ``length`` is the sum of a multinomial one."""
    match parameters:
        case NormalWishartParameters():
            mu, precisions = theta
            noise = rng.normal(size=(*mu.shape, 1))
            return mu + np.linalg.solve(np.linalg.cholesky(precisions).swapaxes(1, 2), noise)[..., 0]
        case NormalGammaParameters():
            return rng.normal(theta[0], 1 / np.sqrt(theta[1]))
        case MultinomialParameters():
            return np.stack([rng.multinomial(length, row) for row in _onto_simplex(theta[0])])
        case BernoulliParameters():
            return rng.binomial(1, theta[0])
        case PoissonParameters():
            return rng.poisson(theta[0])
        case NegativeBinomialParameters():
            return rng.negative_binomial(theta[1], theta[0])
    raise NotImplementedError(type(parameters))


def _log_gaussian(differences, precisions):
    quadratic = np.einsum("ni,nij,nj->n", differences, precisions, differences)
    d = differences.shape[1]
    return 0.5 * (np.linalg.slogdet(precisions)[1] - d * np.log(2 * np.pi) - quadratic)


def _log_wishart(precisions, nu, scatter):
    # scipy.stats.wishart.logpdf takes a loop over matrices; a test compares the two.
    d = len(scatter)
    log_determinants = np.linalg.slogdet(precisions)[1]
    constant = 0.5 * nu * (np.linalg.slogdet(scatter)[1] - d * np.log(2)) - multigammaln(nu / 2, d)
    return constant + 0.5 * (nu - d - 1) * log_determinants - 0.5 * np.einsum("ij,nji->n", scatter, precisions)


def _onto_simplex(probabilities):
    # scipy is strict about sums that are off by rounding.
    return probabilities / probabilities.sum(axis=1, keepdims=True)


def categorical_columns(family, parameters, X):
    """Return the columns of a categorical case as multinomial ones: parameters and one-hot rows of each."""
    starts = np.cumsum([0, *family.categories])
    for j, categories in enumerate(family.categories):
        own = MultinomialParameters(parameters.concentrations[:, starts[j] : starts[j + 1]])
        hot = np.zeros((len(X), categories))
        seen = ~np.isnan(X[:, j])
        hot[seen, X[seen, j].astype(int)] = 1.0
        yield own, hot


def atom_parts(family, parameters, X):
    """Return a case with usual values as its two parts: parameters and columns of each, NaN where a cell is missing."""
    indicators = np.where(np.isnan(X), np.nan, family.usual == X)
    others = np.where(family.usual == X, np.nan, X)
    return list(zip(parameters, (indicators, others), strict=True))


def ordinal_steps(family, parameters, X):
    """Return an ordinal case as Bernoulli columns, one for each step: did a cell that came so far stop there?"""
    steps = []
    for codes, n_categories in zip(X.T, family.categories, strict=True):
        for step in range(n_categories - 1):
            steps.append(np.where(codes >= step, codes == step, np.nan))  # a comparison with NaN is false
    yield BernoulliParameters(parameters.stops, parameters.passes), np.stack(steps, axis=1)


def perturbed(parameters, rng, size):
    """Return posteriors a little away from the given ones, along a random direction."""
    if isinstance(parameters, NormalWishartParameters):
        means, kappa, nu, scatter, _ = parameters
        d = means.shape[1]
        stretch = np.linalg.cholesky(scatter) @ (np.eye(d) + size * rng.normal(size=scatter.shape))
        moved = stretch @ stretch.swapaxes(1, 2)
        widths = np.sqrt(np.diagonal(scatter, axis1=1, axis2=2) / (nu * kappa)[:, None])
        return NormalWishartParameters(
            means + size * widths * rng.normal(size=means.shape),
            kappa * np.exp(size * rng.normal(size=kappa.shape)),
            nu + size * (nu - d + 1) * rng.normal(size=nu.shape),
            moved,
            precision_factors(moved),
        )
    if isinstance(parameters, NormalGammaParameters):
        means, kappa, a, b = parameters
        widths = np.sqrt(b / (a * kappa))
        moved = [value * np.exp(size * rng.normal(size=value.shape)) for value in (kappa, a, b)]
        return NormalGammaParameters(means + size * widths * rng.normal(size=means.shape), *moved)
    if isinstance(parameters, NegativeBinomialParameters):
        # Sizes are chosen from a grid.
        moved = [value * np.exp(size * rng.normal(size=value.shape)) for value in parameters[:2]]
        return NegativeBinomialParameters(*moved, parameters.sizes)
    if type(parameters) is tuple:
        return tuple(perturbed(part, rng, size) for part in parameters)
    return type(parameters)(*(value * np.exp(size * rng.normal(size=value.shape)) for value in parameters))


def table(name, rng, n):
    """Return a family and a table for it, with three groups of rows."""
    group = rng.integers(COMPONENTS, size=n)
    if name in ("normal_wishart", "own_means", "normal_gamma"):
        d = 2 if name == "own_means" else 3
        scale = np.array([1.0, 20.0, 0.1])[:d]
        mixing = rng.normal(size=(COMPONENTS, d, d)) + 2 * np.eye(d)
        X = np.einsum("nij,nj->ni", mixing[group], rng.normal(size=(n, d))) * scale + 5 * group[:, None] * scale + 50
        build = NormalGamma if name == "normal_gamma" else NormalWishart
        family = build.scaled(X.mean(axis=0), X.var(axis=0), fraction=0.3, mean_precision=0.5)
        if name == "own_means":
            means = X[:COMPONENTS].copy()
            family = NormalWishart(family.centre, means, 1.5, 2.0, np.cov(X.T) / 3)
        return family, X
    if name in STUDENT:
        family, X = table(name.removeprefix("student_"), rng, n)
        middle = X.mean(axis=0)
        return student_of(family), middle + (X - middle) / np.sqrt(rng.gamma(1.5, 1 / 1.5, size=(n, 1)))
    if name == "categorical":
        categories = (2, 4, 3)
        X = np.stack([(group + rng.integers(v, size=n) // 2) % v for v in categories], axis=1).astype(float)
        return DirichletCategorical(categories, rng.uniform(0.3, 2.0, size=9)), X
    if name == "ordinal":
        categories = (2, 5, 3)
        X = np.stack([np.minimum(group + rng.integers(v, size=n) // 2, v - 1) for v in categories], axis=1)
        return BetaContinuationRatio(categories, rng.uniform(0.3, 2, size=7), rng.uniform(0.3, 2, size=7)), X + 0.0
    if name == "multinomial":
        probabilities = rng.dirichlet(np.ones(5), size=COMPONENTS)
        X = np.stack([rng.multinomial(rng.integers(12), probabilities[g]) for g in group]).astype(float)
        return DirichletMultinomial(rng.uniform(0.3, 2.0, size=5), length=30), X
    if name == "bernoulli":
        X = (rng.random((n, 4)) < rng.random((COMPONENTS, 4))[group]).astype(float)
        return BetaBernoulli(rng.uniform(0.3, 2.0, size=4), rng.uniform(0.3, 2.0, size=4)), X
    if name == "poisson":
        X = rng.poisson(rng.gamma(1.0, 5.0, size=(COMPONENTS, 3))[group]).astype(float)
        return GammaPoisson.scaled(X.mean(axis=0), shape=0.7), X
    if name == "atom":
        usual = np.array([0.0, -2.5, 40.0])
        others = rng.normal(5.0 * group[:, None], [1.0, 20.0, 0.1], size=(n, 3))
        X = np.where(rng.random((n, 3)) < rng.random((COMPONENTS, 3))[group], usual, others)
        seen = np.ma.masked_where(usual == X, X)
        return AtomGaussian.scaled(
            usual, *(moment.filled(np.nan) for moment in (seen.mean(axis=0), seen.var(axis=0)))
        ), X
    if name == "negative_binomial":
        # With one size only, so that components do not depend on each other.
        rates = rng.gamma(1.0, 5.0, size=(COMPONENTS, 3))[group] * rng.gamma(2.0, 0.5, size=(n, 3))
        X = rng.poisson(rates).astype(float)
        return BetaNegativeBinomial.scaled(X.mean(axis=0), shape=0.7, sizes=[2.0]), X
    assert name == "product"
    parts, columns, start = [], [], 0
    for part in (
        "normal_wishart",
        "bernoulli",
        "poisson",
        "categorical",
        "normal_gamma",
        "negative_binomial",
        "ordinal",
        "atom",
    ):
        family, values = table(part, rng, n)
        parts.append((family, np.arange(start, start + values.shape[1])))
        columns.append(values)
        start += values.shape[1]
    return ProductFamily(tuple(parts)), np.concatenate(columns, axis=1)


NAMES = (
    "normal_wishart",
    "own_means",
    "normal_gamma",
    "categorical",
    "multinomial",
    "bernoulli",
    "poisson",
    "atom",
    "negative_binomial",
    "ordinal",
    "product",
)
# Gaussian given scales of the rows; their predictive densities have no closed form.
STUDENT = ("student_normal_wishart", "student_normal_gamma")
# Words share the sum of their row, so that none of them may be missing.
INCOMPLETE = tuple(name for name in NAMES if name != "multinomial")


def case(name, seed=0, n=60, missing=0.0):
    """Return a case; ``missing`` is the share of cells that are."""
    rng = np.random.default_rng(seed)
    family, X = table(name, rng, n)
    X[rng.random(X.shape) < missing] = np.nan
    responsibilities = rng.dirichlet(np.full(COMPONENTS, 0.3), size=n)
    start = family.around(X[:COMPONENTS])
    return Case(family, X, family.update(collect(family, start, X, responsibilities)), responsibilities)


def scores(evaluator, X):
    """Return the log densities (rows, components) of all rows of a table."""
    blocks = []
    for start in range(0, X.shape[0], evaluator.block_rows):
        evaluator.load(X[start : start + evaluator.block_rows])
        blocks.append(evaluator.log_likelihood().copy())
    return np.concatenate(blocks, axis=1).T


def collect(family, parameters, X, responsibilities, block_rows=None, backend=NUMPY):
    """Return the statistics of all rows of a table."""
    return accumulated(family.evaluator(parameters, backend), X, responsibilities, block_rows)


def accumulated(evaluator, X, responsibilities, block_rows=None):
    """Return the statistics of all rows of a table by one evaluator."""
    size = evaluator.block_rows if block_rows is None else block_rows
    for start in range(0, X.shape[0], size):
        evaluator.load(X[start : start + size])
        evaluator.accumulate(np.ascontiguousarray(responsibilities[start : start + size].T))
    return evaluator.statistics()


def step(family, parameters, X, log_weights):
    """Return the next posteriors and the bound at the given ones, with fixed weights."""
    joint = scores(family.evaluator(parameters, NUMPY), X) + log_weights
    evidence = logsumexp(joint, axis=1)
    statistics = collect(family, parameters, X, np.exp(joint - evidence[:, None]))
    return family.update(statistics), evidence.sum() + family.log_prior(parameters)
