"""Hostile input, as long as one likes: every case is refused in a sentence or gives a sound result.

    python benchmarks/fuzz.py                             # all modes, ten minutes
    python benchmarks/fuzz.py fits --cases 5000 --seed 7
    python benchmarks/fuzz.py commands --only 1234        # one case again

The modes: ``fits`` (estimators, hostile tables and statements), ``tiny`` (the same with fewer than twelve rows and five
columns, eight iterations, and cheap estimators more often: 100 000 of them take ten minutes), ``large`` (with up to
2 000 rows and 50 columns), ``relations`` (what must not change a partition), ``models`` (saved models that were
changed, with checksums that agree), ``commands`` (the command line on changed files) and ``kills`` (a fit that replaces
a result, killed at a random moment). A case is drawn from its number alone, and a failure is printed with it. A case
may take 30 seconds of the processor (a model 10), and 1 GB of memory beyond what the program has when it begins.
"""

import argparse
import functools
import resource
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

import fuzz_commands
import fuzz_fits
import fuzz_kills
import fuzz_models
import fuzz_relations

_MINUTES = 10
_MEMORY = 1 << 30
_WARM_UP = 3


class Mode(NamedTuple):
    """What a case does: it returns a complaint, None if all is well.

    ``seconds`` are what it may take, ``share`` is the share of the time that the mode gets where all modes are run.
    ``outcomes`` says, after all cases, what they came to, and what is wrong with that.
    """

    complaint: Callable[[int], str | None]
    seconds: int
    share: float
    outcomes: Callable[[], tuple[str, str | None]] | None = None


DRAWS: dict[str, Callable[[int], fuzz_fits.Case]] = {
    "fits": fuzz_fits.draw,
    "tiny": functools.partial(fuzz_fits.draw, most_rows=12, most_columns=5, most_steps=8, dear_share=0.25),
    "large": functools.partial(fuzz_fits.draw, most_rows=2000, most_columns=51),
}


def _fits(mode: str) -> Callable[[int], str | None]:
    return lambda number: fuzz_fits.complaint(DRAWS[mode](number))


MODES = {
    "fits": Mode(_fits("fits"), 30, 0.3),
    "tiny": Mode(_fits("tiny"), 30, 0.1),
    "large": Mode(_fits("large"), 30, 0.15),
    "relations": Mode(fuzz_relations.complaint, 30, 0.15),
    "models": Mode(fuzz_models.complaint, 10, 0.05),
    "commands": Mode(fuzz_commands.complaint, 60, 0.15),
    "kills": Mode(fuzz_kills.complaint, 60, 0.1, fuzz_kills.outcomes),
}


class TooSlowError(Exception):
    """A case that takes longer than it may."""


class Outcome(NamedTuple):
    """How many cases were run, the slowest one and its seconds, and those that fail, with the reason."""

    n_cases: int
    slowest: tuple[float, int]
    failures: list[tuple[int, str]]


def run(mode: str, numbers: Iterable[int], until: float = float("inf"), modes: Mapping[str, Mode] = MODES) -> Outcome:
    """Run cases of a mode; print those that fail."""
    failures, n_cases, slowest = [], 0, (0.0, -1)
    for number in numbers:
        if time.monotonic() > until:
            break
        began = time.process_time()
        reason = complaint(modes[mode], number)
        slowest = max(slowest, (time.process_time() - began, number))
        n_cases += 1
        if reason is not None:
            failures.append((number, reason))
            print(f"{mode} --only {number}: {reason}", flush=True)
            if mode in DRAWS:
                print(fuzz_fits.shrunk(DRAWS[mode](number), reason), flush=True)
    return Outcome(n_cases, slowest, failures)


def complaint(mode: Mode, number: int) -> str | None:
    """Run one case; return what is wrong with it."""
    try:
        with _at_most(mode.seconds):
            return mode.complaint(number)
    except TooSlowError:
        return f"takes more than {mode.seconds} seconds"


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    def stop(*_: Any) -> None:
        raise TooSlowError

    # The time of the processor, which does not depend on what else the machine does.
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("mode", nargs="?", choices=list(MODES), help="all of them where none is given")
    parser.add_argument("--cases", type=int, help=f"how many of each mode; {_MINUTES} minutes' worth where not given")
    parser.add_argument("--minutes", type=float, default=_MINUTES, help="for how long, where --cases is not given")
    parser.add_argument("--seed", type=int, default=0, help="number of the first case, in millions")
    parser.add_argument("--only", type=int, help="one case, and its reason")
    asked = parser.parse_args()
    modes = [asked.mode] if asked.mode else list(MODES)
    if asked.only is not None:
        for mode in modes:
            if mode in DRAWS:
                print(DRAWS[mode](asked.only))
            print(mode, complaint(MODES[mode], asked.only))
        return
    first = 1_000_000 * asked.seed
    print(f"cases from {first} on")
    failed = 0
    for mode in modes:
        share = MODES[mode].share if len(modes) > 1 else 1.0
        until = float("inf") if asked.cases else time.monotonic() + 60 * asked.minutes * share
        for number in range(first, first + _WARM_UP):  # imports and compiles, which takes memory of its own
            complaint(MODES[mode], number)
        pd.Series(["text"])  # Arrow reserves a gigabyte of addresses with its first string
        _limit_memory()
        outcome = run(mode, range(first, first + (asked.cases or 1_000_000)), until)
        failed += len(outcome.failures)
        seconds, number = outcome.slowest
        print(
            f"{mode}: {outcome.n_cases} cases, {len(outcome.failures)} failures; the slowest took {seconds:.1f} s "
            f"({mode} --only {number})",
            flush=True,
        )
        ended = MODES[mode].outcomes
        if ended is not None:
            told, wrong = ended()
            failed += wrong is not None
            print(f"{mode}: {told}{'' if wrong is None else f'; but {wrong}'}", flush=True)
    print(f"{failed} failures")


if __name__ == "__main__":
    main()
