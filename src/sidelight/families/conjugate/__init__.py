"""Emissions with conjugate priors, for variational Bayes."""

from sidelight.families.conjugate.beta_bernoulli import Bernoulli, BernoulliParameters, BetaBernoulli
from sidelight.families.conjugate.dirichlet_categorical import Categorical, CategoricalParameters, DirichletCategorical
from sidelight.families.conjugate.dirichlet_multinomial import DirichletMultinomial, Multinomial, MultinomialParameters
from sidelight.families.conjugate.family import ConjugateFamily
from sidelight.families.conjugate.gamma_poisson import GammaPoisson, Poisson, PoissonParameters
from sidelight.families.conjugate.low_rank import LowRank
from sidelight.families.conjugate.normal_gamma import NormalGamma, NormalGammaParameters
from sidelight.families.conjugate.normal_wishart import NormalWishart, NormalWishartParameters, printed_divergence
from sidelight.families.conjugate.product import ProductFamily

__all__ = [
    "Bernoulli",
    "BernoulliParameters",
    "BetaBernoulli",
    "Categorical",
    "CategoricalParameters",
    "ConjugateFamily",
    "DirichletCategorical",
    "DirichletMultinomial",
    "GammaPoisson",
    "LowRank",
    "Multinomial",
    "MultinomialParameters",
    "NormalGamma",
    "NormalGammaParameters",
    "NormalWishart",
    "NormalWishartParameters",
    "Poisson",
    "PoissonParameters",
    "ProductFamily",
    "printed_divergence",
]
