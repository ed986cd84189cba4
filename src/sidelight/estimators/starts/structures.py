"""Structure of the covariances and number of components together, by BIC on the rows to start from."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sidelight._typing import FloatArray
from sidelight.estimators.base.clusters import Layout
from sidelight.estimators.base.likelihood_gaussians import STRUCTURES
from sidelight.estimators.starts.merging import bic
from sidelight.estimators.starts.sample import STARTS, Sample
from sidelight.exceptions import SingularCovarianceError
from sidelight.families.exponential import add_up
from sidelight.graphs.ward import constrained_ward
from sidelight.inference.loop import ascend
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.starts import component_means, lloyd, spread_centres, state_given

# Groups of rows that Ward's method starts from.
_GROUPS = 100
_GROUPING_STEPS = 5
# All structures of a number take a few steps, some go on, the best of these ascends.
_FIRST_STEPS, _FURTHER_STEPS, _MOST_STEPS = 3, 8, 60
_GO_ON = 4
_MOST_LOSSES = 2
# Rows that a component needs for a covariance of its own, and structures in which it takes that of the others.
_FEWEST_ROWS = 1.5
_COVARIANCE_OF_OTHERS = frozenset({"EII", "EEI", "EEE", "EEV"})
_TOL = 1e-5


class StructureChoice(NamedTuple):
    """A structure, a number of components, where the ascent on the rows to start from ended, and the BIC there."""

    structure: str
    n_components: int
    state: MixtureState
    bic: float


class _Contender(NamedTuple):
    """A structure on its way up: its BIC, and by how much a step lowered it last."""

    structure: str
    mixture: Mixture
    state: MixtureState
    bic: float
    gain: float

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of the components."""
        return self.mixture.family.n_parameters(len(self.mixture.weights.classes))

    @property
    def in_reach(self) -> float:
        """The BIC after all steps there are, if each gained as much as the last; they gain less and less."""
        return self.bic - self.gain * _MOST_STEPS


def structures_worth_trying(n_columns: int) -> tuple[str, ...]:
    """Return the structures that differ for this number of Gaussian columns, from few parameters to many.

    Without Gaussian columns there is nothing to choose, and a single one has no shape and no orientation.
    """
    return tuple(STRUCTURES) if n_columns > 1 else ("EII", "VII") if n_columns else ("VVV",)


def lowest_bic_number(
    sample_of: Callable[[int], Sample], numbers: Sequence[int], total: float, random: np.random.RandomState
) -> int:
    """Return the number of components with the lowest BIC after short runs; of equals, the first.

    ``sample_of`` makes a mixture of a number of components on the rows to start from, which count for ``total`` rows.
    """
    criteria = []
    for n_components in numbers:
        sample = sample_of(n_components)
        evidence = sample.mixture.expect(STARTS["short_runs"](sample, random)).evidence
        criteria.append(bic(evidence, sample.mixture.family, n_components, total))
    return numbers[int(np.argmin(criteria))]


def lowest_bic_structure(
    sample: Sample,
    mixture_of: Callable[[str, int], Mixture],
    structures: Sequence[str],
    numbers: Iterable[int],
    random: np.random.RandomState,
) -> StructureChoice | None:
    """Return the structure and the number of components with the lowest BIC on some rows without side information.

    None where every fit is singular, or would be without the prior because a component has a single row.

    mclust (Fraley and Raftery 2002) fits every structure with every number, all from one hierarchical partition. Here
    structures of a number also start from short runs of the last of them, and from the responsibilities of the best. A
    structure is followed for as long as it may still win. Left are those that could not overtake the best so far at the
    speed of their last step, those with more parameters than the table has cells, and those that lost twice in a row
    to a structure with fewer parameters: each further component puts them further behind.

    Parameters
    ----------
    sample : Sample
        The rows to start from.
    mixture_of : callable
        Makes the mixture of a structure and a number on these rows, each row on its own.
    structures : sequence of str
        From few parameters to many.
    numbers : iterable of int
        In ascending order.
    random : RandomState
    """
    partition_into = _ward(sample, random)
    losses = dict.fromkeys(structures, 0)
    best: StructureChoice | None = None
    for n_components in numbers:
        mixtures = {name: mixture_of(name, n_components) for name in structures}
        modest = [name for name in structures if _is_modest(mixtures[name], n_components, sample)] or [structures[0]]
        short_runs = _short_runs(sample, mixtures[modest[-1]], n_components, random)
        starts = [start for start in (partition_into(n_components), short_runs) if start is not None]
        hopeful = [name for name in modest if losses[name] < _MOST_LOSSES]
        begun = [_best_start(name, mixtures[name], sample, starts) for name in hopeful]
        contenders = sorted((contender for contender in begun if contender is not None), key=lambda one: one.bic)
        if not contenders:
            continue
        found = _race(contenders[:_GO_ON], sample, np.inf if best is None else best.bic)
        for contender in contenders:
            lost = contender.in_reach >= found.bic and contender.n_parameters > found.n_parameters
            losses[contender.structure] = losses[contender.structure] + 1 if lost else 0
        if best is None or found.bic < best.bic:
            best = StructureChoice(found.structure, n_components, found.state, found.bic)
    return best


def _is_modest(mixture: Mixture, n_components: int, sample: Sample) -> bool:
    """Say whether the mixture has fewer parameters than the table has cells."""
    return mixture.family.n_parameters(n_components) < sample.values.shape[0] * sample.values.shape[1]


def _ward(sample: Sample, random: np.random.RandomState) -> Callable[[int], FloatArray]:
    """Return what makes Ward's partition of the rows into a number of clusters, as weighted responsibilities.

    Ward's method merges groups made by k-means, so that weights count and large tables take no longer.
    """
    n_groups = min(_GROUPS, len(np.unique(sample.points, axis=0)))
    unknown, singles = np.full(len(sample.points), -1), np.arange(n_groups)
    centres = spread_centres(sample.points, sample.weights, unknown, singles, random)
    groups = lloyd(sample.points, sample.weights, centres, unknown, singles, max_iter=_GROUPING_STEPS)
    _, groups = np.unique(groups, return_inverse=True)
    mass = add_up(sample.weights, groups)
    middle = add_up(sample.points * sample.weights[:, None], groups) / mass[:, None]

    def partition_into(n_components: int) -> FloatArray:
        apart = np.empty((0, 2), dtype=np.int64)
        clusters = constrained_ward(middle, mass, np.arange(len(middle)), apart, n_components)
        responsibilities = np.zeros((len(groups), n_components))
        responsibilities[np.arange(len(groups)), clusters[groups]] = sample.weights
        return responsibilities

    return partition_into


def _short_runs(
    sample: Sample, mixture: Mixture, n_components: int, random: np.random.RandomState
) -> FloatArray | None:
    """Return the responsibilities after the best of several short runs; None where all of them collapse."""
    own = sample._replace(mixture=mixture, layout=Layout(np.arange(n_components), 0))
    try:
        return _responsibilities(mixture, STARTS["short_runs"](own, random), sample)
    except SingularCovarianceError:
        return None


def _responsibilities(mixture: Mixture, state: MixtureState, sample: Sample) -> FloatArray:
    posterior = np.empty((len(sample.weights), len(mixture.weights.classes)))
    for part in mixture.assign(state):
        posterior[part.numbers] = part.posterior
    return posterior * sample.weights[:, None]


def _best_start(name: str, mixture: Mixture, sample: Sample, starts: Sequence[FloatArray]) -> _Contender | None:
    """Return a structure after its first steps from the start that suits it best; None where it collapses."""
    states = []
    for responsibilities in starts:
        means = component_means(sample.values, sample.weights, responsibilities)
        try:
            state = state_given(mixture, means, responsibilities)
            following, objective = mixture.step(state)
        except SingularCovarianceError:
            continue
        states.append((objective, following))
    if not states:
        return None
    _, state = max(states, key=lambda pair: pair[0])
    return _ascended(_Contender(name, mixture, state, np.inf, np.inf), sample, _FIRST_STEPS)


def _ascended(contender: _Contender, sample: Sample, max_iter: int) -> _Contender | None:
    """Return a structure some steps further up; None where it collapses."""
    name, mixture, state, *_ = contender
    total = float(sample.weights.sum())
    try:
        trace = ascend(mixture.step, state, max_iter=max_iter, tol=_TOL * total)
        statistics, _, evidence, _ = mixture.expect(trace.state)
    except SingularCovarianceError:
        return None
    if _rests_on_the_prior(name, statistics.mass):
        return None
    objective = evidence + mixture.log_prior(trace.state)
    criterion = bic(evidence, mixture.family, len(mixture.weights.classes), total)
    return _Contender(name, mixture, trace.state, criterion, 2 * abs(objective - trace.objectives[-1]))


def _rests_on_the_prior(structure: str, mass: FloatArray) -> bool:
    """Say whether a covariance would be singular without the prior, by components of single rows; mclust has no fit."""
    if structure in _COVARIANCE_OF_OTHERS:
        return bool(mass.sum() < len(mass) + 1)
    return bool(mass.min() < _FEWEST_ROWS)


def _race(ahead: Sequence[_Contender], sample: Sample, to_beat: float) -> _Contender:
    """Return the winner among structures with the same number of components, best first, or the best so far.

    It ascends to the end only where it may beat the BIC ``to_beat``, that of another number.
    """
    further = [_ascended(one, sample, _FURTHER_STEPS) for one in ahead if one.in_reach < to_beat]
    running = sorted((one for one in further if one is not None), key=lambda one: one.bic)
    if not running or min(one.in_reach for one in running) >= to_beat:
        return running[0] if running else ahead[0]
    first, *others = running
    winner = _ascended(first, sample, _MOST_STEPS) or first
    for other in others:
        if other.in_reach < winner.bic:
            responsibilities = _responsibilities(winner.mixture, winner.state, sample)
            start = _best_start(other.structure, other.mixture, sample, [responsibilities])
            nearest = min((one for one in (start, other) if one is not None), key=lambda one: one.bic)
            rival = _ascended(nearest, sample, _MOST_STEPS)
            winner = rival if rival is not None and rival.bic < winner.bic else winner
    return winner
