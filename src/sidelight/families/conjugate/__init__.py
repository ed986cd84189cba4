"""Emissions with conjugate priors, for variational Bayes."""

from sidelight.families.conjugate.beta_bernoulli import BernoulliParameters, BetaBernoulli
from sidelight.families.conjugate.dirichlet_categorical import CategoricalParameters, DirichletCategorical
from sidelight.families.conjugate.dirichlet_multinomial import DirichletMultinomial, MultinomialParameters
from sidelight.families.conjugate.family import ConjugateFamily
from sidelight.families.conjugate.gamma_poisson import GammaPoisson, PoissonParameters
from sidelight.families.conjugate.normal_gamma import NormalGamma, NormalGammaParameters
from sidelight.families.conjugate.normal_wishart import NormalWishart, NormalWishartParameters, printed_divergence
from sidelight.families.conjugate.product import ProductFamily

__all__ = [
    "BernoulliParameters",
    "BetaBernoulli",
    "CategoricalParameters",
    "ConjugateFamily",
    "DirichletCategorical",
    "DirichletMultinomial",
    "GammaPoisson",
    "MultinomialParameters",
    "NormalGamma",
    "NormalGammaParameters",
    "NormalWishart",
    "NormalWishartParameters",
    "PoissonParameters",
    "ProductFamily",
    "printed_divergence",
]
