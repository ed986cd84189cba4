"""How a fit comes on: its steps in words, with the time that is left at most."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sidelight.inference.progress import Progress

_ROUND = "round"


class Steps:
    """Say after each step of a fit how far it has come.

    Parameters
    ----------
    most : int or None
        Steps of an ascent at most; None where there is no limit.
    scale : float
        What objectives are multiplied by: one divided by the number of rows.
    clock : callable
        Seconds.
    """

    def __init__(self, most: int | None, scale: float, clock: Callable[[], float] = time.perf_counter) -> None:
        self._most = most
        self._scale = scale
        self._clock = clock
        self._moments = [clock()]

    def __call__(self, progress: "Progress") -> str:
        """Return the step that was taken, in words."""
        self._moments.append(self._clock())
        n_steps = len(self._moments) - 1
        if progress.phase == _ROUND:
            limit = "" if progress.most is None else f" of up to {progress.most}"
            return f"round {n_steps}{limit}{self._left(n_steps, progress.most)}"
        words = f"step {n_steps}, bound {progress.objective * self._scale:.5g} per row"
        # The first step comes after the search for a start, whose time says nothing of the others.
        known = progress.phase == "ascent" and n_steps > 1
        return words + (self._left(progress.iteration, self._most) if known else "")

    def _left(self, n_done: int, most: int | None) -> str:
        """Return the time that is left at most, by the time of a step so far; empty where there is no limit."""
        if most is None:
            return ""
        began, first, *later = self._moments
        each = (later[-1] - first) / len(later) if later else first - began
        return f", at most {each * max(most - n_done, 0):.0f} s left"
