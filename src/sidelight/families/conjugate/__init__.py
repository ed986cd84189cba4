"""Emissions with conjugate priors, for variational Bayes."""

from sidelight.families.conjugate.atoms import Atom, AtomGaussian
from sidelight.families.conjugate.beta_bernoulli import Bernoulli, BernoulliParameters, BetaBernoulli
from sidelight.families.conjugate.dirichlet_categorical import Categorical, CategoricalParameters, DirichletCategorical
from sidelight.families.conjugate.dirichlet_multinomial import DirichletMultinomial, Multinomial, MultinomialParameters
from sidelight.families.conjugate.family import ConjugateFamily
from sidelight.families.conjugate.gamma_poisson import GammaPoisson, Poisson, PoissonParameters
from sidelight.families.conjugate.ignored import Ignored, IgnoredColumns, IgnoredParameters
from sidelight.families.conjugate.low_rank import LowRank
from sidelight.families.conjugate.negative_binomial import (
    BetaNegativeBinomial,
    NegativeBinomial,
    NegativeBinomialParameters,
)
from sidelight.families.conjugate.normal_gamma import NormalGamma, NormalGammaParameters
from sidelight.families.conjugate.normal_wishart import NormalWishart, NormalWishartParameters, printed_divergence
from sidelight.families.conjugate.ordinal import BetaContinuationRatio, Ordinal, OrdinalParameters
from sidelight.families.conjugate.product import ProductFamily

__all__ = [
    "Atom",
    "AtomGaussian",
    "Bernoulli",
    "BernoulliParameters",
    "BetaBernoulli",
    "BetaContinuationRatio",
    "BetaNegativeBinomial",
    "Categorical",
    "CategoricalParameters",
    "ConjugateFamily",
    "DirichletCategorical",
    "DirichletMultinomial",
    "GammaPoisson",
    "Ignored",
    "IgnoredColumns",
    "IgnoredParameters",
    "LowRank",
    "Multinomial",
    "MultinomialParameters",
    "NegativeBinomial",
    "NegativeBinomialParameters",
    "NormalGamma",
    "NormalGammaParameters",
    "NormalWishart",
    "NormalWishartParameters",
    "Ordinal",
    "OrdinalParameters",
    "Poisson",
    "PoissonParameters",
    "ProductFamily",
    "printed_divergence",
]
