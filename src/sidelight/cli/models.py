"""The models by their names on the command line."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sidelight.cli.errors import Refusal
from sidelight.estimators.bayesian.mixture import BayesianMixture
from sidelight.estimators.class_mixture import ClassMixture
from sidelight.estimators.equivalence import EquivalenceMixture
from sidelight.estimators.labelled import LabelledMixture
from sidelight.estimators.latent_process import LatentProcessDecomposition
from sidelight.estimators.pairwise import PairwiseMixture
from sidelight.estimators.posterior_constraint import PosteriorConstraintMixture
from sidelight.inference.progress import Callback
from sidelight.side import SideInformation

_SPOKEN = {
    "labels": "labels",
    "must_link": "pairs that belong together",
    "cannot_link": "pairs that do not belong together",
    "confidence": "links with a confidence below 1",
}


class Model(NamedTuple):
    """An estimator and what the command line needs to know of it.

    Parameters
    ----------
    estimator : type
    number : str
        Its parameter for the number of clusters.
    numbers_only : bool
        Whether it takes tables of numbers without gaps only.
    """

    estimator: Any
    number: str
    numbers_only: bool = True


MODELS = {
    "bayesian": Model(BayesianMixture, "n_components", numbers_only=False),
    "labelled": Model(LabelledMixture, "n_components"),
    "equivalence": Model(EquivalenceMixture, "n_classes"),
    "pairwise": Model(PairwiseMixture, "n_classes"),
    "posterior-constraint": Model(PosteriorConstraintMixture, "n_classes"),
    "class": Model(ClassMixture, "n_components"),
    "latent-process": Model(LatentProcessDecomposition, "n_processes"),
}


def check_takes(name: str, side: SideInformation) -> None:
    """Refuse statements that a model has no meaning for, naming the models that have."""
    for statement in sorted(side.statements - MODELS[name].estimator.takes):
        others = " or ".join(other for other, model in MODELS.items() if statement in model.estimator.takes)
        raise Refusal(f"--model {name} cannot use {_SPOKEN[statement]}; choose {others}, or leave them out.")


def make_model(
    name: str, *, clusters: int | None, seed: int, jobs: int, kinds: dict[str, str], callbacks: Iterable[Callback]
) -> Any:
    """Return an estimator to fit.

    Parameters
    ----------
    name : str
    clusters : int, optional
        Their number, or the most there may be where the model finds it.
    seed, jobs : int
    kinds : dict
        What the columns are, for a model that takes them as they are.
    callbacks : iterable of callable
        What watches the fit.
    """
    model = MODELS[name]
    settings: dict[str, Any] = {"random_state": seed, "n_jobs": jobs, "callbacks": list(callbacks)}
    if clusters is not None:
        settings[model.number] = clusters
    if not model.numbers_only:
        settings["family"] = kinds
    return model.estimator(**settings)
