"""Fits that replace a result and are killed at a random moment: the old result or the new one is there for predict."""

import csv
import functools
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from click.testing import CliRunner

from sidelight.cli.main import main

_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_TABLE = ("--id-column", "id", "--model", "labelled", "--quiet")
# How many clusters the results have, so that one can be told from the other.
_OLD, _NEW = 2, 3
# What was there after the signals, and how many fits had ended before theirs came.
OUTCOMES: Counter[str] = Counter()
_ENOUGH = 50


class _Beginning(NamedTuple):
    """A folder with a table and a result; how long a fit takes here, and how often it touches its output."""

    folder: Path
    seconds: float
    touches: int


@functools.cache
def _beginning() -> _Beginning:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-kills-"))
    random = np.random.default_rng(0)
    rows = (f"r{row},{random.normal(8 * (row % 2)):.3f},{random.normal():.3f}" for row in range(200))
    (folder / "t.csv").write_text("id,x,y\n" + "\n".join(rows) + "\n")
    for _ in range(2):  # the first one imports and compiles
        began = time.monotonic()
        ended = CliRunner().invoke(main, _command(folder, _OLD, seed=0))
        if ended.exit_code:
            raise RuntimeError(ended.stderr)
    seconds = time.monotonic() - began
    copy = folder.with_suffix(".copy")
    shutil.copytree(folder, copy)
    touched = copy / "touched"
    os.waitpid(_forked(copy, 0, lambda number: touched.write_text(str(number))), 0)
    touches = int(touched.read_text())
    shutil.rmtree(copy)
    return _Beginning(folder, seconds, touches)


def _command(folder: Path, n_clusters: int, seed: int) -> list[str]:
    table, output = str(folder / "t.csv"), str(folder / "out")
    return ["fit", table, *_TABLE, "--clusters", str(n_clusters), "--seed", str(seed), "-o", output, "--force"]


def complaint(number: int) -> str | None:
    """Kill a fit that replaces a result; return what is wrong with what it leaves, None if nothing is.

    A third of the signals come at any moment of a fit, a third while the output is written, and a third right before
    the output is touched the n-th time: a file is opened, or a folder made, renamed or removed.
    """
    beginning, seconds, touches = _beginning()
    random = np.random.default_rng(number)
    folder = Path(tempfile.mkdtemp())
    try:
        shutil.copytree(beginning, folder, dirs_exist_ok=True)
        how = _SIGNALS[random.integers(len(_SIGNALS))]
        seed, manner = int(random.integers(1, 1000)), random.integers(3)
        if manner == 0:
            at = int(random.integers(1, touches + 1))
            child = _forked(folder, seed, lambda touched: touched == at and os.kill(os.getpid(), how))
            os.waitpid(child, 0)
        else:
            child = _forked(folder, seed)
            if manner == 1:
                while not any(folder.glob(".out.*")) and os.waitpid(child, os.WNOHANG) == (0, 0):
                    time.sleep(0.0005)
                time.sleep(random.random() * seconds)
            else:
                time.sleep(random.random() * 1.2 * seconds)
            try:
                os.kill(child, how)
                os.waitpid(child, 0)
            except (ProcessLookupError, ChildProcessError):
                how = None
        return _wrong(folder, "nothing" if how is None else how.name)
    finally:
        shutil.rmtree(folder)


def outcomes() -> tuple[str, str | None]:
    """Return how often which result was there, and what is wrong with that where there were enough signals."""
    told = ", ".join(f"{times} × {what}" for what, times in sorted(OUTCOMES.items()))
    killed = {result for result in ("old", "new") if any(what.startswith(f"{result} after SIG") for what in OUTCOMES)}
    wrong = OUTCOMES.total() >= _ENOUGH and len(killed) < 2
    return told, "signals never left the old result, or never the new one" if wrong else None


def _forked(folder: Path, seed: int, touch: Callable[[int], Any] | None = None) -> int:
    """Start a fit in a process of its own, which begins with everything imported; return its id.

    ``touch`` is called before the output is touched, with the number of times so far.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a process with threads forks
        child = os.fork()
    if child:
        return child
    signal.signal(signal.SIGINT, signal.default_int_handler)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    if touch is not None:
        touched = 0

        def count(_: str, places: tuple[Any, ...]) -> None:
            nonlocal touched
            if any(isinstance(place, str | Path) and "/.out." in str(place) for place in places):
                touched += 1
                touch(touched)

        sys.addaudithook(count)
    try:
        main(_command(folder, _NEW, seed))
    except BaseException:
        sys.exc_info()
    os._exit(0)


def _wrong(folder: Path, how: str) -> str | None:
    between = "" if (folder / "out").exists() else ", between the renames"
    command = ["predict", str(folder / "out"), str(folder / "t.csv"), "--json", "-o", str(folder / "placed.csv")]
    placed = CliRunner().invoke(main, command)
    if placed.exit_code:
        return f"{how}: predict finds no result: {placed.stderr[-300:]}"
    names = {path.name for path in (folder / "out").iterdir()}
    if "report.html" not in names or "clusters.csv" not in names:
        return f"{how}: the result is not whole: {sorted(names)}"
    with (folder / "out" / "clusters.csv").open(newline="") as file:
        n_clusters = {
            "model": len(json.loads(placed.stdout)["clusters"]),
            "summary.json": len(json.loads((folder / "out" / "summary.json").read_text())["clusters"]),
            "clusters.csv": len({row["cluster"] for row in csv.DictReader(file)}),
        }
    found = set(n_clusters.values())
    if found not in ({_OLD}, {_NEW}):
        OUTCOMES[f"mixed after {how}"] += 1
        return f"{how}: the result is of two fits: {n_clusters}"
    result = "old" if found == {_OLD} else "new"
    OUTCOMES[f"{result} after {how}{between}"] += 1
    if how == "nothing" and result == "old":
        return "a fit that was not killed left the old result"
    left = [path.name for path in folder.iterdir() if path.name.startswith(".out")]
    if left and how != "SIGKILL":
        return f"{how}: {left} are left"
    return None
