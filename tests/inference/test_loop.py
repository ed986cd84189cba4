"""The loop and its progress."""

import math

import pytest

from sidelight.inference.loop import ascend, ascend_from, has_little_to_gain, refuse_unbounded
from sidelight.inference.progress import progress_bar


def halving(x):
    """Move half of the way to 10; the objective is minus the distance before the move."""
    return x + (10 - x) / 2, -abs(10 - x)


def test_stops_when_the_objective_changes_by_less_than_tol():
    trace = ascend(halving, 0.0, max_iter=100, tol=1.0)
    assert trace.converged
    assert trace.objectives == (-10.0, -5.0, -2.5, -1.25, -0.625)
    assert trace.state == 10 - 10 / 2**5


def test_stops_after_max_iter_and_says_so():
    trace = ascend(halving, 0.0, max_iter=3, tol=1e-9)
    assert not trace.converged
    assert len(trace.objectives) == 3


def test_what_is_left_to_gain_is_the_sum_of_a_geometric_series():
    # Gains of 8, 4, 2, 1, … add up to 16; after the gain of 1, another 1 is left.
    assert not has_little_to_gain([-16.0, -8.0, -4.0, -2.0, -1.0], 1.0 - 1e-9)
    assert has_little_to_gain([-16.0, -8.0, -4.0, -2.0, -1.0], 1.0 + 1e-9)


def test_of_two_gains_the_square_root_of_their_ratio_counts():
    # Gains of 9 and 0.09 may be followed by 0.009, 0.0009, …; those of 0.16 and 0.09 by 0.0675, 0.0506, …
    assert has_little_to_gain([-10.0, -1.0, -0.91], 0.091)
    assert not has_little_to_gain([-1.0, -0.84, -0.75], 0.27 - 1e-9)
    assert has_little_to_gain([-1.0, -0.84, -0.75], 0.27 + 1e-9)


def test_slow_gains_do_not_end_an_ascent_that_has_far_to_go():
    objectives = [-100 * 0.99**step for step in range(300)]
    ends = [step for step in range(2, 301) if has_little_to_gain(objectives[:step], 10.0)]
    assert objectives[ends[0] - 1] == pytest.approx(-10.0, rel=0.02)


def test_gains_that_grow_do_not_end_an_ascent():
    assert not has_little_to_gain([0.0, 0.1, 0.3, 0.7], 1.0)
    assert has_little_to_gain([0.0, 0.001, 0.003, 0.007], 1.0)


def test_callbacks_hear_of_every_step():
    heard = []
    ascend(halving, 0.0, max_iter=3, tol=0.0, callbacks=[heard.append])
    assert [progress.iteration for progress in heard] == [1, 2, 3]
    assert heard[0].change == float("inf")
    assert [progress.change for progress in heard[1:]] == [5.0, 2.5]


def test_the_bar_shows_steps_and_bound(capsys):
    with progress_bar("climbing", 3) as move:
        ascend(halving, 0.0, max_iter=3, tol=0.0, callbacks=[move])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "climbing" in printed.err
    assert "3/3" in printed.err
    assert "-2.5" in printed.err


def test_a_start_that_ends_in_what_is_not_a_number_does_not_win():
    starts = {1: lambda: math.nan, 2: lambda: 1.0, 3: lambda: 0.5, 4: lambda: math.inf}
    best = ascend_from(
        starts, lambda state: (state, state), max_iter=1, tol=0.0, total_weight=1.0, callbacks=(), verbose=False
    )
    assert best.start == 2


@pytest.mark.parametrize("bound", [math.nan, math.inf, -math.inf])
def test_a_bound_that_is_not_a_number_is_refused(bound):
    with pytest.raises(ValueError, match=f"The bound of this fit is {bound}"):
        refuse_unbounded(bound)


def test_an_ordinary_bound_is_not_refused():
    assert refuse_unbounded(-1e300) is None
