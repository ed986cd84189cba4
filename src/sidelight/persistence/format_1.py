"""What files of format 1 have and later versions do not: classes by their modules, old fields, dropped parameters."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from sidelight.exceptions import ForeignFileError
from sidelight.inference.protocols import CouplingState
from sidelight.tables.schema import Schema


class DroppedParameter(NamedTuple):
    """A parameter that an estimator had: the value for what it does now, and what to use for other values."""

    value: Any
    instead: str  # the end of a sentence, such as "fit an OtherMixture instead"


# By the tag of the estimator and the name of the parameter.
DROPPED: dict[str, dict[str, DroppedParameter]] = {
    "BayesianMixture": {
        "potential": DroppedParameter("constant", "fit a sidelight.reproduce.SSDPGMM instead"),
    },
}

# Files named classes by the modules they lived in; the names became the tags. The table is closed: later formats name
# tags.
_CLASSES = {
    "baselines.cop": "COPKMeans",
    "baselines.hmrf": "HMRFKMeans",
    "baselines.kernel": "ConstrainedKernelKMeans",
    "baselines.propagation": "GraphPropagation",
    "baselines.quadratic_metrics": "DiagonalMetric EuclideanMetric FullMetric",
    "baselines.seeded": "SeededKMeans",
    "baselines.spectral": "ConstrainedSpectralClustering",
    "couplings.field.potts": "FieldMemory",
    "estimators.bayesian": "BayesianMixture",
    "estimators.class_mixture": "ClassMixture",
    "estimators.columns": "Columns",
    "estimators.data": "Data",
    "estimators.equivalence": "EquivalenceMixture",
    "estimators.history": "Snapshot",
    "estimators.labelled": "LabelledMixture",
    "estimators.latent_process": "LatentProcessDecomposition",
    "estimators.pairwise": "PairwiseMixture",
    "estimators.posterior_constraint": "PosteriorConstraintMixture",
    "estimators.streams": "Followed",
    "families.conjugate.beta_bernoulli": "BernoulliParameters BetaBernoulli",
    "families.conjugate.dirichlet_categorical": "CategoricalParameters DirichletCategorical",
    "families.conjugate.dirichlet_multinomial": "DirichletMultinomial MultinomialParameters",
    "families.conjugate.gamma_poisson": "GammaPoisson PoissonParameters",
    "families.conjugate.normal_gamma": "NormalGamma NormalGammaParameters",
    "families.conjugate.normal_wishart": "NormalWishart NormalWishartParameters",
    "families.conjugate.product": "ProductFamily ProductStatistics",
    "families.conjugate.statistics": "CellStatistics CountStatistics SquareStatistics",
    "families.gaussian.diagonal": "DiagonalGaussian DiagonalParameters",
    "families.gaussian.full": "FullGaussian FullParameters",
    "families.gaussian.prior": "CovariancePrior",
    "families.gaussian.spherical": "SphericalGaussian SphericalParameters",
    "families.gaussian.statistics": "GaussianStatistics",
    "families.gaussian.tied": "TiedGaussian TiedParameters",
    "inference.mixture": "MixtureState",
    "inference.stochastic": "Stream",
    "metrics.breaches": "Violations",
    "side.information": "SideInformation",
    "weights.concentration": "Gamma",
    "weights.dirichlet": "DirichletBelief",
    "weights.stick_breaking": "Sticks",
}
# Classes that have another name by now.
_RENAMED = {"Columns": "Schema", "Data": "KeptRows", "Followed": "KeptStream"}
TAGS = {
    f"sidelight.{module}:{name}": _RENAMED.get(name, name)
    for module, names in _CLASSES.items()
    for name in names.split()
}

# Mixtures that took Gaussian columns only, and had no schema.
_ALL_GAUSSIAN = {
    "ClassMixture",
    "EquivalenceMixture",
    "LabelledMixture",
    "PairwiseMixture",
    "PosteriorConstraintMixture",
}


def upgraded(tag: str | None, attributes: dict[str, Any]) -> dict[str, Any]:
    """Return the attributes of a class as it has them now."""
    attributes = dict(attributes)
    if tag == "MixtureState":  # what the one coupling remembered; now each has a state
        memory = attributes.pop("coupled")
        attributes["couplings"] = () if memory is None else (CouplingState(None, memory),)
    if tag == "KeptRows":
        del attributes["whole"]
    if "_columns" in attributes:
        attributes["_schema"] = attributes.pop("_columns")
    if tag in _ALL_GAUSSIAN and "n_features_in_" in attributes:
        names = attributes.get("feature_names_in_")
        attributes["_schema"] = Schema.uniform(
            "gaussian", attributes["n_features_in_"], None if names is None else tuple(names.tolist())
        )
        attributes["family"] = "gaussian"
    return attributes


def without_dropped(
    tag: str | None, attributes: Mapping[str, Any], dropped: Mapping[str, Mapping[str, DroppedParameter]]
) -> dict[str, Any]:
    """Return the attributes of an estimator without parameters that it no longer has; their values must allow it."""
    entries = dropped.get(tag or "", {})
    for name in entries.keys() & attributes.keys():
        value, expected = attributes[name], entries[name].value
        if type(value) is not type(expected) or value != expected:
            raise ForeignFileError(
                f"its {tag} has {name}={value!r}, a parameter that this version of sidelight lacks; "
                f"{entries[name].instead}"
            )
    return {name: value for name, value in attributes.items() if name not in entries}
