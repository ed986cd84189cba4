"""Part of ``large.py``: fits that take turns, a pass of each, so that a noisy machine treats them alike."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

# Seconds after which a fit that waits for its turn gives up: another one has failed.
_PATIENCE = 1800


class Turns:
    """Whose turn it is, of fits in several processes.

    Parameters
    ----------
    context : multiprocessing context
    n_fits : int
    """

    def __init__(self, context: Any, n_fits: int) -> None:
        self._changed, self._whose, self._n_fits = context.Condition(), context.Value("i", 0), n_fits

    def wait(self, number: int) -> None:
        """Wait for the turn of a fit."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._whose.value == number, _PATIENCE):
                raise TimeoutError("a fit that takes turns with this one has failed")

    def hand_on(self) -> None:
        """Let the next fit take its turn."""
        with self._changed:
            self._whose.value = (self._whose.value + 1) % self._n_fits
            self._changed.notify_all()


class PassesInTurn:
    """A callback that notes CPU and wall-clock times of passes, without the first, and waits between them.

    Parameters
    ----------
    turns : Turns
    number : int
        Which of the fits this is.
    cpu : callable
        Returns the CPU seconds so far, of several things.
    """

    def __init__(self, turns: Turns, number: int, cpu: Callable[[], tuple[float, ...]]) -> None:
        self._turns, self._number, self._cpu = turns, number, cpu
        self._began: list[tuple[float, ...]] = []
        self._ended: list[tuple[float, ...]] = []

    def __call__(self, progress: object) -> None:
        """Note that a pass has ended, and wait until the next one may begin."""
        self._ended.append(self._now())
        self._turns.hand_on()
        self._turns.wait(self._number)
        self._began.append(self._now())

    def _now(self) -> tuple[float, ...]:
        return (*self._cpu(), time.perf_counter())

    def medians(self) -> list[float]:
        """Return the median times of a pass: CPU, of each thing, and wall clock last."""
        taken = np.subtract(self._ended[1:], self._began[:-1])
        return [float(seconds) for seconds in np.median(taken, axis=0)]
