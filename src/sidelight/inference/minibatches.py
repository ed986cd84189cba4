"""Steps on batches of a large table before the passes over all of it: stochastic variational inference.

A pass over a large table says the same thing many times. So a fit first steps on batches of rows drawn from all over
the table: statistics of the batches are averaged, as if each batch stood for the table (Hoffman et al. 2013, Algorithm
1; of maximum likelihood, online EM, Cappé and Moulines 2009). Rows with statements are few and take part whole in every
step. One batch is held out; once its rows become no more probable, passes over the whole table take over, so that the
result is a fixed point of these. The batches do not depend on where the table is, nor on its partitions.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sidelight._typing import IntArray
from sidelight.inference.mixture import Expectation, Mixture, MixtureState
from sidelight.inference.streaming import learning_rate

# Rows of all batches together, and their cells, which are held in memory.
_MOST_ROWS, _MOST_CELLS = 1 << 19, 1 << 22
# With fewer rows than this there is nothing to gain over the rows that a fit starts from.
_LEAST_ROWS = 1 << 15
# A table has at least so many times the rows of its batches.
_TIMES = 8
# Batches, of which one is held out; steps between two looks at it; looks without a rise that are enough; steps at most.
N_BATCHES = 17
_STEPS_PER_LOOK = 4
_PATIENCE = 2
_MOST_STEPS = 80


class Batches(NamedTuple):
    """Mixtures of some rows each, with the same family, weights and couplings.

    Parameters
    ----------
    free : sequence of Mixture
        Rows without statements; the last batch is held out.
    total_weight : float
        How many rows without statements the table counts for.
    stated : Mixture, optional
        The rows with statements; None where there are none.
    """

    free: Sequence[Mixture]
    total_weight: float
    stated: Mixture | None = None


def batch_rows(n_rows: int, n_columns: int) -> int:
    """Return how many rows of a table the batches have together; 0 for a table that is not large."""
    n = min(_MOST_ROWS, _MOST_CELLS // n_columns)
    return n if n >= _LEAST_ROWS and n_rows >= _TIMES * n else 0


def draw_batches(n_rows: int, stated: IntArray, size: int, random: np.random.RandomState) -> list[IntArray]:
    """Return the numbers of the rows of each batch, sorted, about ``size`` in all; none of them has a statement."""
    drawn = np.unique(random.randint(n_rows, size=size))
    drawn = drawn[~np.isin(drawn, stated)]
    batch = random.randint(N_BATCHES, size=len(drawn))
    return [drawn[batch == number] for number in range(N_BATCHES)]


def step_on_batches(batches: Batches, state: MixtureState, tol: float) -> MixtureState:
    """Step on one batch after the other until the held-out one no longer rises by ``tol`` per row.

    Returns the state with the highest value of the held-out batch, with couplings that begin anew.
    """
    *free, held_out = batches.free
    stated = batches.stated
    average: Expectation | None = None
    state = state.afresh()
    best, highest, looks_in_vain = state, _value(held_out, state), 0
    for number in range(_MOST_STEPS):
        mixture = free[number % len(free)]
        found = _scaled(mixture.expect_alone(state), batches.total_weight / mixture.rows.total_weight())
        if average is not None:
            rate = learning_rate(number + 1)
            found = _sum(_scaled(average, 1 - rate), _scaled(found, rate))
        average = found
        if stated is None:
            state = mixture.maximise(average, state)
        else:
            known = stated.expect(state)
            state = stated.maximise(_sum(average, known)._replace(coupled=known.coupled), state)
        if (number + 1) % _STEPS_PER_LOOK == 0:
            value = _value(held_out, state)
            looks_in_vain = 0 if value > highest + tol else looks_in_vain + 1
            if value > highest:
                best, highest = state, value
            if looks_in_vain == _PATIENCE:
                break
    return best.afresh()


def _value(mixture: Mixture, state: MixtureState) -> float:
    """Return the evidence of a batch per row; that of a state out of what floats can hold is the lowest."""
    found = mixture.expect_alone(state).evidence / mixture.rows.total_weight()
    return found if math.isfinite(found) else -math.inf


def _scaled(found: Expectation, factor: float) -> Expectation:
    return Expectation(found.statistics.scaled(factor), found.class_mass * factor, found.evidence * factor)


def _sum(first: Expectation, second: Expectation) -> Expectation:
    return Expectation(
        first.statistics + second.statistics,
        first.class_mass + second.class_mass,
        first.evidence + second.evidence,
    )
