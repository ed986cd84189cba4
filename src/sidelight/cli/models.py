"""The models by their names on the command line."""

from collections.abc import Iterable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import sidelight
from sidelight.cli.errors import Refusal

if TYPE_CHECKING:
    from sidelight.inference.progress import Callback
    from sidelight.side import SideInformation

_NOUNS = {
    "labels": "labels",
    "must_link": "pairs that belong together",
    "cannot_link": "pairs that do not belong together",
    "confidence": "links with a confidence below 1",
    "annotators": "statements of annotators who may err",
}


class Model(NamedTuple):
    """An estimator, which is imported when it is used, and its parameter for the number of clusters.

    With ``numbers_only`` it takes only tables of numbers without missing cells; with ``has_noise`` it can set rows that
    belong nowhere apart; with ``finds_new_classes`` it can be told that every class has a label.
    """

    name: str
    number: str
    numbers_only: bool = True
    has_noise: bool = False
    finds_new_classes: bool = False

    @property
    def estimator(self) -> Any:
        """The class."""
        return getattr(sidelight, self.name)


# The models for folders of files, and the one that has what guided lacks.
_FOR_FILES = ("guided", "bayesian")
_WITH_CHOICES = "bayesian"

MODELS = {
    "guided": Model("GuidedMixture", "n_clusters", numbers_only=False, finds_new_classes=True),
    "bayesian": Model("BayesianMixture", "n_components", numbers_only=False, has_noise=True),
    "labelled": Model("LabelledMixture", "n_components", has_noise=True),
    "equivalence": Model("EquivalenceMixture", "n_classes"),
    "pairwise": Model("PairwiseMixture", "n_classes"),
    "posterior-constraint": Model("PosteriorConstraintMixture", "n_classes"),
    "class": Model("ClassMixture", "n_components"),
    "latent-process": Model("LatentProcessDecomposition", "n_processes"),
}


def check_takes(name: str, side: "SideInformation") -> None:
    """Refuse statements that a model cannot use, naming the models that can."""
    for statement in sorted(side.statements - MODELS[name].estimator.takes):
        others = " or ".join(other for other, model in MODELS.items() if statement in model.estimator.takes)
        raise Refusal(f"--model {name} cannot use {_NOUNS[statement]}; choose {others}, or leave them out.")


def check_power(name: str, power: bool | None) -> None:
    """Refuse to choose scales for a model that takes columns as they are, naming the models that do choose."""
    if power is not None and not _chooses_scales(name):
        others = " or ".join(other for other in MODELS if _chooses_scales(other))
        raise Refusal(f"--model {name} takes columns as they are; choose {others}, or leave --power out.")


def _chooses_scales(name: str) -> bool:
    return "power" in MODELS[name].estimator().get_params()


def chosen_model(
    name: str | None, *, power: bool | None, noise: bool, checkpoint: object = None, in_files: bool = False
) -> str:
    """Return the model that the user names; else the one to start with that has what is asked for.

    With ``in_files`` the table is a folder of files, which may be larger than memory.
    """
    if in_files and name not in (None, *_FOR_FILES):
        raise Refusal(
            f"--model {name} takes tables in one file, not folders; choose {' or '.join(_FOR_FILES)}, or join the "
            "files to one."
        )
    if name is not None:
        return name
    return "guided" if power is None and not noise and checkpoint is None else _WITH_CHOICES


def check_only_known_classes(name: str, only_known_classes: bool) -> None:
    """Refuse --only-known-classes for a model that cannot be told."""
    if only_known_classes and not MODELS[name].finds_new_classes:
        raise Refusal(f"--only-known-classes is for --model guided, not for {name}; leave it out.")


def check_checkpoint(name: str, checkpoint: Path | None) -> None:
    """Refuse --checkpoint for a model whose passes are not kept, and a place that is a file."""
    if checkpoint is not None and checkpoint.is_file():
        raise Refusal(f"--checkpoint {checkpoint} is a file; give it the name of a folder.")
    if checkpoint is not None and "checkpoint" not in signature(MODELS[name].estimator.fit).parameters:
        raise Refusal(f"--model {name} keeps no checkpoints; choose bayesian, or leave --checkpoint out.")


def check_noise(name: str, noise: bool) -> None:
    """Refuse --noise for a model that has no component for it."""
    if noise and not MODELS[name].has_noise:
        others = " or ".join(other for other, model in MODELS.items() if model.has_noise)
        raise Refusal(f"--model {name} cannot set noise apart; choose {others}, or leave --noise out.")


def make_model(
    name: str,
    *,
    clusters: int | None,
    power: bool | None,
    seed: int,
    jobs: int,
    kinds: dict[str, str],
    callbacks: "Iterable[Callback]",
    noise: bool = False,
    only_known_classes: bool = False,
) -> Any:
    """Return an estimator to fit.

    ``clusters`` is the largest number for a model that finds it, ``power`` says whether columns may be transformed (the
    model decides where None), and ``kinds``, from columns to their kinds, are for a model that takes columns of every
    kind; ``noise`` is for a model that can set rows that belong nowhere apart, ``only_known_classes`` for one that may
    find classes without labels.
    """
    model = MODELS[name]
    settings: dict[str, Any] = {"random_state": seed, "n_jobs": jobs, "callbacks": list(callbacks)}
    if clusters is not None:
        settings[model.number] = clusters
    if not model.numbers_only:
        settings["family"] = kinds
    if power is not None:
        settings["power"] = "auto" if power else False
    if noise:
        settings["noise"] = True
    if only_known_classes:
        settings["new_classes"] = False
    return model.estimator(**settings)
