"""Longer steps: adaptive overrelaxation of EM and of the variational ascent (Salakhutdinov and Roweis 2003).

A step of EM moves the expected sums over rows from x, which the parameters were made of, to g. Where rows overlap, many
steps go the same way. Here a step goes to x + η (g − x), with η half as large again after every step that raises the
objective. Where one does not, EM's own step is taken instead and η is one again, so that the objective never falls. It
is one as well where gains shrink quickly: rows hardly overlap there, and a longer step would lead past the maximum.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, cast

from sidelight.exceptions import SingularCovarianceError
from sidelight.inference.loop import Step, Trace, ascend, ascend_from, has_little_to_gain
from sidelight.inference.mixture import Expectation, Mixture, MixtureState
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import ExtrapolableFamily

_GROWTH = 1.5
# Gains that shrink to less than this fraction in a step shrink quickly.
_QUICKLY = 0.2


class Overrelaxed(NamedTuple):
    """Where an overrelaxed ascent stands.

    Parameters
    ----------
    state : MixtureState
        What the next step is taken from, unless its objective turns out to be lower than the last.
    sums : Expectation, optional
        What ``state`` was made of; None at the start, whose sums nobody knows.
    before : MixtureState
        What the last step was taken from.
    expectation : Expectation, optional
        Taken at ``before``: what EM's own step is made of. None at the start.
    objective : float
        Of the state before.
    gain : float
        By how much the step before raised the objective.
    reach : float
        How many times longer than EM's own the last step was.
    """

    state: MixtureState
    sums: Expectation | None
    before: MixtureState
    expectation: Expectation | None
    objective: float
    gain: float
    reach: float

    @classmethod
    def begin(cls, state: MixtureState) -> "Overrelaxed":
        """Return the start of an ascent."""
        return cls(state, None, state, None, -math.inf, math.inf, 1.0)

    def plain(self, mixture: Mixture) -> MixtureState:
        """Return where EM's own step leads from the state before."""
        return self.before if self.expectation is None else mixture.maximise(self.expectation, self.before)


def can_overrelax(mixture: Mixture) -> bool:
    """Say whether longer steps make sense: every row is assigned by Bayes' rule, and impossible sums are recognised."""
    return mixture.coupling.soft and not mixture.couplings and isinstance(mixture.family, ExtrapolableFamily)


def overrelaxed_step(mixture: Mixture) -> Step[Overrelaxed]:
    """Return a step of a mixture of which :func:`can_overrelax` is true.

    It takes one pass over the rows, or two where the last step went too far.
    """

    def step(at: Overrelaxed) -> tuple[Overrelaxed, float]:
        state, sums, reach = at.state, at.sums, at.reach
        expectation = mixture.expect(state)
        objective = mixture.objective(state, expectation)
        # Written so that an objective that is not a number is too low as well.
        if reach > 1 and not at.objective <= objective < math.inf:
            state, sums, reach = at.plain(mixture), at.expectation, 1.0
            expectation = mixture.expect(state)
            objective = mixture.objective(state, expectation)
        gain = objective - at.objective
        further = None
        if sums is not None and gain > _QUICKLY * at.gain:
            further = _beyond(mixture, state, sums, expectation, _GROWTH * reach)
        if further is None:
            plain = mixture.maximise(expectation, state)
            return Overrelaxed(plain, expectation, state, expectation, objective, gain, 1.0), objective
        return Overrelaxed(*further, state, expectation, objective, gain, _GROWTH * reach), objective

    return step


def _beyond(
    mixture: Mixture, state: MixtureState, sums: Expectation, expectation: Expectation, reach: float
) -> tuple[MixtureState, Expectation] | None:
    """Return the state that is ``reach`` times as far as EM's own step, and its sums; None where there is none."""
    family = cast("ExtrapolableFamily[Any, Any]", mixture.family)
    statistics = expectation.statistics.scaled(reach) + sums.statistics.scaled(1 - reach)
    class_mass = reach * expectation.class_mass + (1 - reach) * sums.class_mass
    if class_mass.min() <= 0 or not family.admits(statistics):
        return None
    extrapolated = Expectation(statistics, class_mass, math.nan)
    try:
        return mixture.maximise(extrapolated, state), extrapolated
    except SingularCovarianceError:
        return None


def leap(mixture: Mixture, state: MixtureState, *, max_iter: int, tol: float) -> Trace[MixtureState]:
    """Ascend by longer steps where there are any, until further steps would gain less than ``tol`` in all."""
    if not can_overrelax(mixture):
        return ascend(mixture.step, state, max_iter=max_iter, tol=tol)
    trace = ascend(
        overrelaxed_step(mixture), Overrelaxed.begin(state), max_iter=max_iter, tol=tol, stop=has_little_to_gain
    )
    return _at_the_end(trace, mixture)


def leap_from(
    starts: Mapping[int, Callable[[], MixtureState]],
    mixture: Mixture,
    *,
    max_iter: int,
    tol: float,
    total_weight: float,
    callbacks: Iterable[Callback],
    verbose: bool,
) -> Trace[MixtureState]:
    """Ascend from every start by longer steps, and return the trace that ends highest.

    The arguments are those of :func:`~sidelight.inference.loop.ascend_from`; ``tol`` is what further steps would gain.
    """

    def beginning(start: Callable[[], MixtureState]) -> Callable[[], Overrelaxed]:
        return lambda: Overrelaxed.begin(start())

    trace = ascend_from(
        {number: beginning(start) for number, start in starts.items()},
        overrelaxed_step(mixture),
        max_iter=max_iter,
        tol=tol,
        total_weight=total_weight,
        callbacks=callbacks,
        verbose=verbose,
        stop=has_little_to_gain,
    )
    return _at_the_end(trace, mixture)


def _at_the_end(trace: Trace[Overrelaxed], mixture: Mixture) -> Trace[MixtureState]:
    """Return the trace with EM's own last step: it raises the objective, which of a longer one is not known yet."""
    end = trace.state
    return Trace(end.plain(mixture) if end.reach > 1 else end.state, *trace[1:])
