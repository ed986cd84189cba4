"""What follows the ascent: the prior is learned from all rows, and components are pruned."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from sidelight.estimators.base.model import Ascent
from sidelight.estimators.bayesian.components import label_sums, shrunk, smaller_than
from sidelight.families.conjugate import ConjugateFamily
from sidelight.families.noise import NoiseFamily
from sidelight.inference.loop import Trace, go_on
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.progress import Callback
from sidelight.inference.pruning import Fit, Watch, drop_small, prune
from sidelight.side import SideInformation


class Steps(NamedTuple):
    """How the steps after an ascent are taken.

    Parameters
    ----------
    watch : Watch
        Makes the steps that are recorded.
    max_iter : int
        Most steps of a phase.
    tol : float
        Smallest change of the objective worth going on for.
    callbacks : iterable of callable
    """

    watch: Watch
    max_iter: int
    tol: float
    callbacks: Iterable[Callback]

    @classmethod
    def after(cls, ascent: Ascent, max_iter: int, tol: float, callbacks: Iterable[Callback]) -> "Steps":
        """Return the steps that go on from where an ascent led; ``tol`` is per row."""
        ascent.recorder.follow(ascent.fit.trace.start)
        return cls(ascent.recorder.watch, max_iter, tol * ascent.total_weight, callbacks)

    def take(self, mixture: Mixture, trace: Trace[MixtureState], phase: str) -> Fit:
        """Go on with a mixture from where a trace ends."""
        step = self.watch(mixture)
        further = go_on(trace, step, phase, max_iter=self.max_iter, tol=self.tol, callbacks=self.callbacks)
        return Fit(mixture, further)


def with_learned_prior(fit: Fit, steps: Steps) -> Fit:
    """Learn the prior once more, from all rows, where it is learned."""
    mixture, trace = fit
    if not isinstance(mixture.family, ConjugateFamily):
        return fit
    expectation = mixture.expect(trace.state)
    family = mixture.family.relearned(expectation.statistics)
    if family is mixture.family:
        return fit
    better = replace(mixture, family=family)
    return steps.take(better, trace._replace(state=better.maximise(expectation, trace.state)), "prior")


def pruned(fit: Fit, steps: Steps, rehearsal: Mixture | None = None) -> Fit:
    """Drop and merge components where that raises the bound; of a large table, some rows are looked at first."""
    watch, max_iter, tol, callbacks = steps
    family = fit.mixture.family
    assert isinstance(family, ConjugateFamily | NoiseFamily)
    return prune(
        fit,
        shrunk,
        family.divergence,
        watch,
        label_sums,
        max_iter=max_iter,
        tol=tol,
        callbacks=callbacks,
        n_fixed=_n_fixed(fit),
        rehearsal=rehearsal,
    )


def without_small(fit: Fit, least: float, side: SideInformation, steps: Steps) -> Fit:
    """Drop components with fewer rows than ``least``."""
    watch, max_iter, tol, callbacks = steps
    too_small = partial(smaller_than, least, _n_fixed(fit), side)
    return drop_small(fit, shrunk, too_small, watch, max_iter=max_iter, tol=tol, callbacks=callbacks)


def _n_fixed(fit: Fit) -> int:
    """Return how many components, the last ones, stay: that of noise where there is any."""
    return int(isinstance(fit.mixture.family, NoiseFamily))
