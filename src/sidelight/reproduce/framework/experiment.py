"""Papers as data: experiments that can be run again, claims that are judged by them, and the papers by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sidelight._typing import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# A setting has one value for each name in ``varied`` of its experiment, in the same order.
Setting = tuple[str | int | float, ...]
ONE_CLUSTER = "one cluster"
PAPERS = ("echraibi", "yu", "zhao", "amini", "li")


class Trial(NamedTuple):
    """One method on one draw."""

    setting: Setting
    method: str
    seed: int


class ReferenceValue(NamedTuple):
    """A number that a paper prints, or that an earlier independent run gave: a mean, or the best of several runs."""

    value: float
    is_best: bool = False


@dataclass(frozen=True)
class Experiment:
    """A table or a figure.

    Parameters
    ----------
    name : str
        "table-1" or "figure-8": the paper's own number.
    title : str
    varied : tuple of str
        Names of the values of a setting, such as ("set", "labels").
    settings : sequence of Setting
    published : tuple of str
        The methods that the paper reports, with its own protocol.
    ours : tuple of str
        Methods of sidelight beside them. The method "one cluster" is always run too.
    measures : tuple of str
        The first is the paper's number, the second the same on rows without side information.
    measure : callable
        Takes setting, method and seed and returns the measures. The same arguments give the same numbers.
    seeds, quick_seeds : int
        Number of draws.
    quick : sequence of Setting, optional
        The few settings of a quick run; all by default.
    printed : mapping of (setting, method) to ReferenceValue
        The paper's numbers.
    derived : mapping of (setting, method) to ReferenceValue
        Numbers found before by an independent implementation of the same protocol.
    explained : mapping of (setting, method) to str
        Why a number departs from the derived one by more than two standard errors.
    draw : callable, optional
        Takes a figure and the summary and draws the paper's picture; None where there is none.
    applies : callable, optional
        Takes setting and method and says whether the method has a meaning there; all have by default.
    elsewhere : tuple of str
        Published methods that sidelight does not have, which are never its best.
    part_of : Experiment, optional
        An experiment that measures the same and more: its trials are shared, so that each is run once.
    """

    name: str
    title: str
    varied: tuple[str, ...]
    settings: Sequence[Setting]
    published: tuple[str, ...]
    ours: tuple[str, ...]
    measures: tuple[str, ...]
    measure: Callable[[Setting, str, int], Mapping[str, float]]
    seeds: int
    quick_seeds: int
    quick: Sequence[Setting] = ()
    printed: Mapping[tuple[Setting, str], ReferenceValue] = field(default_factory=dict)
    derived: Mapping[tuple[Setting, str], ReferenceValue] = field(default_factory=dict)
    explained: Mapping[tuple[Setting, str], str] = field(default_factory=dict)
    draw: "Callable[[Figure, Summary], None] | None" = None
    applies: Callable[[Setting, str], bool] | None = None
    elsewhere: tuple[str, ...] = ()
    part_of: "Experiment | None" = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "quick", self.quick or self.settings)
        if not set(self.quick) <= set(self.settings) or self.quick_seeds > self.seeds:
            raise ValueError(f"{self.name}: a quick run must be part of the full one.")

    @property
    def stored_as(self) -> "Experiment":
        """The experiment whose trials these are."""
        return self.part_of or self

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods, in the order of reports."""
        return (*self.published, *(name for name in self.ours if name not in self.published), ONE_CLUSTER)

    def trials(self, *, quick: bool) -> list[Trial]:
        """Return the trials to run: all methods and settings of a draw before the next draw."""
        return [
            Trial(setting, method, seed)
            for seed in range(self.quick_seeds if quick else self.seeds)
            for setting in (self.quick if quick else self.settings)
            for method in self.methods
            if self.applies is None or self.applies(setting, method)
        ]


class Cell(NamedTuple):
    """The results of a method on all draws of a setting, (draws,) for each measure."""

    values: Mapping[str, FloatArray]

    def mean(self, measure: str) -> float:
        """Return the mean over draws."""
        return float(self.values[measure].mean())

    def sd(self, measure: str) -> float:
        """Return the standard deviation over draws; 0 of a single one."""
        values = self.values[measure]
        return float(values.std(ddof=1)) if len(values) > 1 else 0.0

    def best(self, measure: str) -> float:
        """Return the highest over draws."""
        return float(self.values[measure].max())

    def standard_error(self, measure: str) -> float:
        """Return the standard error of the mean; infinite for a single draw."""
        n = len(self.values[measure])
        return self.sd(measure) / np.sqrt(n) if n > 1 else float("inf")


class Gain(NamedTuple):
    """By how much one method is ahead of another on the same draws: the mean, and its standard error."""

    mean: float
    standard_error: float

    @property
    def is_sure(self) -> bool:
        """Whether it is above zero by more than two standard errors."""
        return self.mean > 2 * self.standard_error

    def __neg__(self) -> "Gain":
        return Gain(-self.mean, self.standard_error)

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.standard_error:.3f}"


@dataclass(frozen=True)
class Summary:
    """The cells of an experiment, as far as it was run."""

    experiment: Experiment
    cells: Mapping[tuple[Setting, str], Cell]

    @property
    def settings(self) -> list[Setting]:
        """The settings that were run, in the experiment's order."""
        run = {setting for setting, _ in self.cells}
        return [setting for setting in self.experiment.settings if setting in run]

    def mean(self, setting: Setting, method: str, measure: str | None = None) -> float:
        """Return a mean; of the paper's own measure if none is named."""
        return self.cells[setting, method].mean(measure or self.experiment.measures[0])

    def gain(
        self, setting: Setting, method: str, over: str, measure: str | None = None, than: Setting | None = None
    ) -> Gain:
        """Return by how much a method is ahead of another, draw by draw; of the other in setting ``than`` if given."""
        name = measure or self.experiment.measures[0]
        ahead = self.cells[setting, method].values[name] - self.cells[than or setting, over].values[name]
        cell = Cell({name: ahead})
        return Gain(cell.mean(name), cell.standard_error(name))

    def best_of_ours(self, setting: Setting) -> str:
        """Return the method with the highest mean on rows without side information."""
        free = self.experiment.measures[1]
        others = {ONE_CLUSTER, *self.experiment.elsewhere}
        run = [name for name in self.experiment.methods if name not in others and (setting, name) in self.cells]
        return max(run, key=lambda name: self.mean(setting, name, free))


class Verdict(NamedTuple):
    """Whether a claim holds ("holds", "holds in part", "does not hold"), and the numbers that show it."""

    outcome: str
    because: str


def graded(shares: Sequence[float], enough: float, because: str) -> Verdict:
    """Judge by how many of several shares are high enough: all, some or none."""
    if not shares:
        raise ValueError("a claim needs at least one number to judge by.")
    right = sum(share >= enough for share in shares)
    outcome = "holds" if right == len(shares) else "holds in part" if right else "does not hold"
    return Verdict(outcome, because)


@dataclass(frozen=True)
class Claim:
    """What a paper says, the names of the experiments it is judged by, and a judge that takes their summaries."""

    text: str
    needs: tuple[str, ...]
    judge: Callable[..., Verdict]


@dataclass(frozen=True)
class Paper:
    """A paper that can be run again; its name is its first author, in small letters."""

    name: str
    reference: str
    experiments: tuple[Experiment, ...]
    claims: tuple[Claim, ...]

    @property
    def protocol(self) -> str:
        """What the paper does, what it leaves open and what was chosen, in Markdown."""
        return files("sidelight.reproduce").joinpath(self.name, "protocol.md").read_text(encoding="utf-8")

    def experiment(self, name: str) -> Experiment:
        """Return an experiment by name."""
        by_name = {experiment.name: experiment for experiment in self.experiments}
        if name not in by_name:
            raise ValueError(f"{self.name} has no {name}; there are {', '.join(by_name)}.")
        return by_name[name]


def paper(name: str) -> Paper:
    """Return a paper by the name of its first author; it is imported only when it is needed.

    Parameters
    ----------
    name : {"amini", "echraibi", "li", "yu", "zhao"}
        The first author.

    Returns
    -------
    Paper
        Its experiments.

    Examples
    --------
    >>> from sidelight.reproduce import paper
    >>> paper("yu").name
    'yu'
    """
    if name not in PAPERS:
        raise ValueError(f"paper={name!r} must be one of {', '.join(PAPERS)}.")
    found: Paper = import_module(f"sidelight.reproduce.{name}.paper").PAPER
    return found
