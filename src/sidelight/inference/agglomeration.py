"""From many components to few: merge the two that lose least by it, again and again, and choose among all stages.

An ascent finds the best place near its start, and pruning removes a component only where one move by itself raises the
objective. Merging goes on through stages that are worse than the last one, so that it gets past them: of all numbers of
components on the way down, the one with the highest objective is kept (Figueiredo and Jain 2002 go the same way), or
a smaller one that is nearly as good. Which two to merge is read off the statistics, without a pass over the rows:
what the family's evidence, the entropy of the assignments and the weights would lose.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from sidelight._typing import FloatArray, IntArray
from sidelight.inference.loop import ascend
from sidelight.inference.mixture import Expectation, Mixture, MixtureState
from sidelight.inference.protocols import EvidenceFamily, Statistics
from sidelight.inference.pruning import Shrink, regrouped
from sidelight.inference.starts import state_of

# How often the prior is learned from the groups to start from, and steps before the first merge, after each one, and
# after the prior was learned anew.
_FIRST_LESSONS = 5
_FIRST_STEPS = 5
_STEPS = 5
_STEPS_WITH_PRIOR = 2
# How many nats a component alone must be above several. It is further above in tables drawn from one normal
# distribution.
_SEVERAL = 3.0
# Of many components several pairs are merged at a time: one for every so many.
_COMPONENTS_PER_MERGE = 8

# The label that owns each component, -1 where none does.
Owners = Callable[[Expectation], IntArray]

# A state, and what the pass there gave, None before it.
_Pass = tuple[MixtureState, Expectation | None]


class Stage(NamedTuple):
    """A mixture, where its ascent has come to, and the expectation and the objective there."""

    mixture: Mixture
    state: MixtureState
    expectation: Expectation
    objective: float


def opening(mixture: Mixture, statistics: Statistics, *, tol: float) -> Stage:
    """Return the stage that merging starts from: all components, the prior of their family learned from them.

    Parameters
    ----------
    mixture : Mixture
        Of a conjugate family, on rows that fit into memory several times.
    statistics : Statistics
        Of the components to start from.
    tol : float
        Smallest change of the objective worth a further step.
    """
    family = mixture.family
    assert isinstance(family, EvidenceFamily)
    # Before the first step, which would blur small groups under a prior that expects much larger ones.
    for _ in range(_FIRST_LESSONS):
        family = family.relearned(statistics)
    mixture = replace(mixture, family=family)
    return learn_prior(_ascended(mixture, state_of(mixture, statistics), _FIRST_STEPS, tol), tol)


def agglomerate(stage: Stage, shrink: Shrink, owners: Owners, *, tol: float, least: int = 1) -> list[Stage]:
    """Merge the components of a stage down to ``least`` and return all stages, this one first.

    Two components that different labels own are never merged. Families that learn their prior do so at every stage.

    Parameters
    ----------
    stage : Stage
        Where to start from.
    shrink : Shrink
    owners : callable
        Says which label owns each component.
    tol : float
        Smallest change of the objective worth a further step.
    least : int
    """
    stages = [stage]
    while len(stage.mixture.weights.classes) > least:
        groups = _merged_groups(stage, owners(stage.expectation), least)
        if groups is None:
            break
        smaller = shrink(stage.mixture, np.unique(groups, return_index=True)[1])
        start = regrouped(smaller, stage.mixture, stage.expectation, groups)
        stage = learn_prior(_ascended(smaller, start, _STEPS, tol), tol)
        stages.append(stage)
    return stages


def highest(stages: Sequence[Stage]) -> Stage:
    """Return the stage with the highest objective, the first of several."""
    return max(stages, key=lambda stage: stage.objective)


def worth_its_components(stages: Sequence[Stage], parsimony: float) -> Stage:
    """Return the stage with the highest objective after its components are paid for.

    Clusters are seldom as regular as the components of a mixture, so with enough rows the objective rises as long as
    components are added. With G(k) how far the objective with k components is above that of the last stage, which has
    fewest, the stage is kept with the highest G(k) − parsimony · max G · ln k: each time the components double, they
    must add the share parsimony · ln 2 of all that can be gained. One component alone must be :data:`_SEVERAL` nats
    above: who looks for clusters has reason to expect some.
    """
    gain = highest(stages).objective - stages[-1].objective

    def worth(stage: Stage) -> float:
        k = len(stage.mixture.weights.classes)
        return stage.objective - parsimony * gain * float(np.log(k)) + (_SEVERAL if k > 1 else 0.0)

    return max(stages, key=worth)


def learn_prior(stage: Stage, tol: float) -> Stage:
    """Learn the prior of the family where it is learned, and take a few steps with it; the objective rises."""
    mixture, state, expectation, _ = stage
    family = mixture.family
    assert isinstance(family, EvidenceFamily)
    learned = family.relearned(expectation.statistics)
    if learned is family:
        return stage
    better = replace(mixture, family=learned)
    return _ascended(better, better.maximise(expectation, state), _STEPS_WITH_PRIOR, tol)


def _ascended(mixture: Mixture, state: MixtureState, steps: int, tol: float) -> Stage:
    """Take a few steps, and keep what the last pass over the rows gave: it serves the prior and the next merge."""

    # Passes are the steps, so that nothing is maximised after the last one.
    def step(last: _Pass) -> tuple[_Pass, float]:
        state, expectation = last
        if expectation is not None:
            state = mixture.maximise(expectation, state)
        expectation = mixture.expect(state)
        return (state, expectation), mixture.objective(state, expectation)

    start: _Pass = (state, None)
    trace = ascend(step, start, max_iter=steps, tol=tol)
    state, expectation = trace.state
    assert expectation is not None
    return Stage(mixture, state, expectation, trace.objectives[-1])


def _merged_groups(stage: Stage, owner: IntArray, least: int) -> IntArray | None:
    """Return the new number of each component, the best pairs merged; None where no pair may be."""
    k = len(stage.mixture.weights.classes)
    first, second = np.triu_indices(k, k=1)
    allowed = (owner[first] == owner[second]) | (owner[first] < 0) | (owner[second] < 0)
    first, second = first[allowed], second[allowed]
    if not len(first):
        return None
    gains = _gains(stage, first, second)
    into, merged = np.arange(k), np.zeros(k, dtype=bool)
    left = min(max(k // _COMPONENTS_PER_MERGE, 1), k - least)
    for pair in np.argsort(-gains, kind="stable"):
        a, b = first[pair], second[pair]
        if left and not merged[a] and not merged[b]:
            into[b] = a
            merged[[a, b]] = True
            left -= 1
    return np.unique(into, return_inverse=True)[1].reshape(-1)


def _gains(stage: Stage, first: IntArray, second: IntArray) -> FloatArray:
    """Return what the objective would gain (most often lose) if the components of a pair were one, for each pair."""
    mixture, statistics = stage.mixture, stage.expectation.statistics
    family = mixture.family
    assert isinstance(family, EvidenceFamily)
    alone = family.log_evidence(statistics)
    together = family.log_evidence(statistics.paired(first, second))
    mass = statistics.mass
    # The weights' evidence under a uniform Dirichlet prior; that of others hardly changes the order of the pairs.
    of_weights = gammaln(1 + mass[first] + mass[second]) - gammaln(1 + mass[first]) - gammaln(1 + mass[second])
    of_assignments = _entropy_changes(mixture, stage.state, first, second)
    return together - alone[first] - alone[second] + of_weights + of_assignments


def _entropy_changes(mixture: Mixture, state: MixtureState, first: IntArray, second: IntArray) -> FloatArray:
    """Return the change of the entropy of the assignments for each pair: never a gain."""
    k = len(mixture.weights.classes)
    parts = list(mixture.assign(state))
    posterior = np.concatenate([part.posterior for part in parts])
    counts = np.ones(mixture.rows.shape[0]) if mixture.rows.weights is None else mixture.rows.weights
    weights = np.concatenate([counts[part.numbers] for part in parts])
    own = weights @ xlogy(posterior, posterior)
    changes = np.zeros((k, k))
    for component in range(k - 1):
        both = posterior[:, component, None] + posterior[:, component + 1 :]
        changes[component, component + 1 :] = own[component] + own[component + 1 :] - weights @ xlogy(both, both)
    return changes[first, second]
