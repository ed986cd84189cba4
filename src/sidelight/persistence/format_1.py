"""What files of format 1 have and later versions do not: classes by their modules, and parameters that were dropped."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sidelight.exceptions import ForeignFileError


class DroppedParameter(NamedTuple):
    """A parameter that an estimator had.

    Parameters
    ----------
    value : object
        The value that means what the estimator does without the parameter.
    instead : str
        What to use for other values, as the end of a sentence: "fit an OtherMixture instead".
    """

    value: Any
    instead: str


# By the tag of the estimator and the name of the parameter.
DROPPED: dict[str, dict[str, DroppedParameter]] = {}

# Files named classes by the modules they lived in; these are their tags. The table is closed: later formats name tags.
TAGS = {
    "sidelight.baselines.cop:COPKMeans": "COPKMeans",
    "sidelight.baselines.hmrf:HMRFKMeans": "HMRFKMeans",
    "sidelight.baselines.kernel:ConstrainedKernelKMeans": "ConstrainedKernelKMeans",
    "sidelight.baselines.propagation:GraphPropagation": "GraphPropagation",
    "sidelight.baselines.quadratic_metrics:DiagonalMetric": "DiagonalMetric",
    "sidelight.baselines.quadratic_metrics:EuclideanMetric": "EuclideanMetric",
    "sidelight.baselines.quadratic_metrics:FullMetric": "FullMetric",
    "sidelight.baselines.seeded:SeededKMeans": "SeededKMeans",
    "sidelight.baselines.spectral:ConstrainedSpectralClustering": "ConstrainedSpectralClustering",
    "sidelight.couplings.field.potts:FieldMemory": "FieldMemory",
    "sidelight.estimators.bayesian:BayesianMixture": "BayesianMixture",
    "sidelight.estimators.class_mixture:ClassMixture": "ClassMixture",
    "sidelight.estimators.columns:Columns": "Columns",
    "sidelight.estimators.data:Data": "Data",
    "sidelight.estimators.equivalence:EquivalenceMixture": "EquivalenceMixture",
    "sidelight.estimators.history:Snapshot": "Snapshot",
    "sidelight.estimators.labelled:LabelledMixture": "LabelledMixture",
    "sidelight.estimators.latent_process:LatentProcessDecomposition": "LatentProcessDecomposition",
    "sidelight.estimators.pairwise:PairwiseMixture": "PairwiseMixture",
    "sidelight.estimators.posterior_constraint:PosteriorConstraintMixture": "PosteriorConstraintMixture",
    "sidelight.estimators.streams:Followed": "Followed",
    "sidelight.families.conjugate.beta_bernoulli:BernoulliParameters": "BernoulliParameters",
    "sidelight.families.conjugate.beta_bernoulli:BetaBernoulli": "BetaBernoulli",
    "sidelight.families.conjugate.dirichlet_categorical:CategoricalParameters": "CategoricalParameters",
    "sidelight.families.conjugate.dirichlet_categorical:DirichletCategorical": "DirichletCategorical",
    "sidelight.families.conjugate.dirichlet_multinomial:DirichletMultinomial": "DirichletMultinomial",
    "sidelight.families.conjugate.dirichlet_multinomial:MultinomialParameters": "MultinomialParameters",
    "sidelight.families.conjugate.gamma_poisson:GammaPoisson": "GammaPoisson",
    "sidelight.families.conjugate.gamma_poisson:PoissonParameters": "PoissonParameters",
    "sidelight.families.conjugate.normal_gamma:NormalGamma": "NormalGamma",
    "sidelight.families.conjugate.normal_gamma:NormalGammaParameters": "NormalGammaParameters",
    "sidelight.families.conjugate.normal_wishart:NormalWishart": "NormalWishart",
    "sidelight.families.conjugate.normal_wishart:NormalWishartParameters": "NormalWishartParameters",
    "sidelight.families.conjugate.product:ProductFamily": "ProductFamily",
    "sidelight.families.conjugate.product:ProductStatistics": "ProductStatistics",
    "sidelight.families.conjugate.statistics:CellStatistics": "CellStatistics",
    "sidelight.families.conjugate.statistics:CountStatistics": "CountStatistics",
    "sidelight.families.conjugate.statistics:SquareStatistics": "SquareStatistics",
    "sidelight.families.gaussian.diagonal:DiagonalGaussian": "DiagonalGaussian",
    "sidelight.families.gaussian.diagonal:DiagonalParameters": "DiagonalParameters",
    "sidelight.families.gaussian.full:FullGaussian": "FullGaussian",
    "sidelight.families.gaussian.full:FullParameters": "FullParameters",
    "sidelight.families.gaussian.prior:CovariancePrior": "CovariancePrior",
    "sidelight.families.gaussian.spherical:SphericalGaussian": "SphericalGaussian",
    "sidelight.families.gaussian.spherical:SphericalParameters": "SphericalParameters",
    "sidelight.families.gaussian.statistics:GaussianStatistics": "GaussianStatistics",
    "sidelight.families.gaussian.tied:TiedGaussian": "TiedGaussian",
    "sidelight.families.gaussian.tied:TiedParameters": "TiedParameters",
    "sidelight.inference.mixture:MixtureState": "MixtureState",
    "sidelight.inference.stochastic:Stream": "Stream",
    "sidelight.metrics.breaches:Violations": "Violations",
    "sidelight.side.information:SideInformation": "SideInformation",
    "sidelight.weights.concentration:Gamma": "Gamma",
    "sidelight.weights.dirichlet:DirichletBelief": "DirichletBelief",
    "sidelight.weights.stick_breaking:Sticks": "Sticks",
}


def without_dropped(
    tag: str | None, attributes: Mapping[str, Any], dropped: Mapping[str, Mapping[str, DroppedParameter]]
) -> dict[str, Any]:
    """Return the attributes of an estimator without parameters that it no longer has; their values must allow it.

    Parameters
    ----------
    tag : str
        Of the estimator.
    attributes : mapping
        Its parameters and fitted state.
    dropped : mapping
        As ``DROPPED``.
    """
    entries = dropped.get(tag or "", {})
    for name in entries.keys() & attributes.keys():
        value, expected = attributes[name], entries[name].value
        if type(value) is not type(expected) or value != expected:
            raise ForeignFileError(
                f"its {tag} has {name}={value!r}, a parameter that this version of sidelight lacks; "
                f"{entries[name].instead}"
            )
    return {name: value for name, value in attributes.items() if name not in entries}
