"""Steps on part of the rows at a time: a moving average of their statistics stands for all rows seen."""

from typing import Any, NamedTuple

from sidelight._storable import storable
from sidelight.inference.mixture import Mixture, MixtureState, class_sums

_COUPLED_SWEEPS = 3


@storable("Stream")
class Stream(NamedTuple):
    """How far a stream has been followed.

    Parameters
    ----------
    state : MixtureState
    free : the family's statistics
        Of the rows without statements, as if all that were seen had been taken at the last parameters.
    n_free : float
        How many these are.
    n_steps : int
    """

    state: MixtureState
    free: Any
    n_free: float
    n_steps: int


def learning_rate(n_steps: int, *, delay: float = 1.0, forgetting: float = 0.7) -> float:
    """Return (steps + delay)^−forgetting, which falls slowly enough to reach and quickly enough to settle."""
    return float((n_steps + delay) ** -forgetting)


def follow(mixture: Mixture, stream: Stream | MixtureState, n_free: float) -> Stream:
    """Take one step on a batch: stochastic variational inference (Hoffman et al. 2013).

    The average of statistics is the natural-gradient step. Rows with statements are few and are not averaged:
    ``mixture`` holds all of them, with the free rows of the batch alone.

    Parameters
    ----------
    mixture : Mixture
        All coupled rows so far and the free rows of the batch.
    stream : Stream or MixtureState
        How far the stream has been followed; a state where this is the first batch.
    n_free : float
        How many free rows the batch has.
    """
    state = stream.state if isinstance(stream, Stream) else stream
    batch = mixture.expect_alone(state).statistics
    if isinstance(stream, Stream):
        n_steps, total = stream.n_steps + 1, stream.n_free + n_free
        free = stream.free
        if n_free > 0:
            rate = learning_rate(n_steps)
            kept = (1 - rate) * total / stream.n_free if stream.n_free > 0 else 0.0
            free = free.scaled(kept) + batch.scaled(rate * total / n_free)
    else:
        n_steps, total, free = 1, n_free, batch

    statistics, state = free, state.afresh()
    if mixture.couplings:
        # The coupled rows are not those of the batch before, so that what they remember is found anew.
        for _ in range(_COUPLED_SWEEPS):
            coupled = mixture.expect_coupled(state)
            state = state._replace(couplings=tuple(part.state for part in coupled))
        for part in coupled:
            statistics = statistics + part.statistics
    mass = statistics.mass
    weights = mixture.weights.update(mass, class_sums(mass, mixture.weights.classes), state.weights)
    following = MixtureState(mixture.family.update(statistics), weights, state.couplings)
    return Stream(following, free, total, n_steps)
