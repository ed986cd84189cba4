"""Fits that replace a result and are killed at a random moment: the old result or the new one is there for predict."""

import functools
import os
import shutil
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from click.testing import CliRunner

from sidelight.cli.main import main

_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_TABLE = ("--id-column", "id", "--model", "labelled", "--clusters", "2", "--quiet")


@functools.cache
def _beginning() -> tuple[Path, float]:
    """Return a folder with a table and a result, and how long a fit takes here."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-kills-"))
    random = np.random.default_rng(0)
    rows = (f"r{row},{random.normal(8 * (row % 2)):.3f},{random.normal():.3f}" for row in range(200))
    (folder / "t.csv").write_text("id,x,y\n" + "\n".join(rows) + "\n")
    for _ in range(2):  # the first one imports and compiles
        began = time.monotonic()
        _run(folder, seed=0)
    return folder, time.monotonic() - began


def _run(folder: Path, seed: int) -> None:
    command = ["fit", str(folder / "t.csv"), *_TABLE, "--seed", str(seed), "-o", str(folder / "out"), "--force"]
    ended = CliRunner().invoke(main, command)
    if ended.exit_code:
        raise RuntimeError(ended.stderr)


def complaint(number: int) -> str | None:
    """Kill a fit that replaces a result; return what is wrong with what it leaves, None if nothing is."""
    beginning, seconds = _beginning()
    random = np.random.default_rng(number)
    folder = Path(tempfile.mkdtemp())
    try:
        shutil.copytree(beginning, folder, dirs_exist_ok=True)
        old = (folder / "out" / "summary.json").read_bytes()
        how = _SIGNALS[random.integers(len(_SIGNALS))]
        # Half of the signals come while the output is written.
        child = _forked(folder, seed=int(random.integers(1, 1000)))
        if random.random() < 0.5:
            while not any(folder.glob(".out.*")) and os.waitpid(child, os.WNOHANG) == (0, 0):
                time.sleep(0.0005)
            time.sleep(random.random() * 0.6 * seconds)
        else:
            time.sleep(random.random() * 1.2 * seconds)
        try:
            os.kill(child, how)
            os.waitpid(child, 0)
        except (ProcessLookupError, ChildProcessError):
            how = None
        return _wrong(folder, old, "nothing" if how is None else how.name)
    finally:
        shutil.rmtree(folder)


def _forked(folder: Path, seed: int) -> int:
    """Start a fit in a process of its own, which begins with everything imported; return its id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a process with threads forks
        child = os.fork()
    if child:
        return child
    signal.signal(signal.SIGINT, signal.default_int_handler)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    command = ["fit", str(folder / "t.csv"), *_TABLE, "--seed", str(seed), "-o", str(folder / "out"), "--force"]
    try:
        main(command)
    except BaseException:
        sys.exc_info()
    os._exit(0)


def _wrong(folder: Path, old: bytes, how: str) -> str | None:
    placed = CliRunner().invoke(main, ["predict", str(folder / "out"), str(folder / "t.csv"), "--quiet"])
    if placed.exit_code:
        return f"{how}: predict finds no result: {placed.stderr[-300:]}"
    summary = (folder / "out" / "summary.json").read_bytes()
    names = {path.name for path in (folder / "out").iterdir()}
    if "report.html" not in names or "clusters.csv" not in names:
        return f"{how}: the result is not whole: {sorted(names)}"
    if how == "nothing" and summary == old:
        return "a fit that was not killed left the old result"
    left = [path.name for path in folder.iterdir() if path.name.startswith(".out")]
    if left and how != "SIGKILL":
        return f"{how}: {left} are left"
    return None
