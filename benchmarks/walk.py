"""The path of a fit through the package: the files and functions that run, in the order of their first calls.

    python benchmarks/walk.py BayesianMixture             a line per file, with the number of its functions that ran
    python benchmarks/walk.py EquivalenceMixture --calls  a line per function, indented by the depth of its first call

The table has 80 rows and two columns, with ten labels and ten links, as far as the estimator takes them. Functions of
all threads count; lambdas, comprehensions and generators count as functions. Code that runs because a module is
imported on the way does not count, nor do compiled loops, which a table of this size does not use.
"""

import argparse
import os
import sys
import threading
import warnings
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import sidelight

PACKAGE = Path(sidelight.__file__).parent


class Stack(threading.local):
    """What a thread is in: functions of the package, and modules that are being imported."""

    depth = 0
    importing = 0


def problem(estimator: type) -> tuple[np.ndarray, dict[str, Any]]:
    """Return a table and its side information, as far as the estimator takes it."""
    y = np.arange(80) % 2
    X = np.random.default_rng(0).normal(size=(80, 2)) + 4.0 * y[:, None]
    known = {
        "labels": ("y", np.where(np.arange(80) < 10, y, -1)),
        "must_link": ("must_link", [(row, row + 2) for row in range(20, 25)]),
        "cannot_link": ("cannot_link", [(row, row + 1) for row in range(30, 35)]),
    }
    return X, dict(known[kind] for kind in known if kind in estimator.takes)


def walk(estimator: type) -> list[tuple[CodeType, int]]:
    """Fit the estimator and return the functions that ran, each once, with the depth of its first call.

    A process has one walk: results that the package caches are computed once.
    """
    X, known = problem(estimator)
    found: dict[CodeType, int] = {}
    stack, folder = Stack(), f"{PACKAGE}{os.sep}"

    def watch(frame: FrameType, event: str, _: Any) -> None:
        if event not in ("call", "return"):
            return
        change = 1 if event == "call" else -1
        if frame.f_code.co_name == "<module>":
            stack.importing += change
        elif not stack.importing and frame.f_code.co_filename.startswith(folder):
            if event == "call":
                found.setdefault(frame.f_code, stack.depth)
            stack.depth += change

    model = estimator(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threading.setprofile(watch)  # for threads that the fit starts
        sys.setprofile(watch)
        try:
            model.fit(X, **known)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return list(found.items())


def main() -> None:
    """Read the command line, walk and print."""
    estimators = dict(sidelight.all_estimators())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("estimator", choices=sorted(estimators))
    parser.add_argument("--calls", action="store_true", help="print every function")
    asked = parser.parse_args()
    steps = walk(estimators[asked.estimator])
    files: dict[str, int] = {}
    for code, depth in steps:
        name = str(Path(code.co_filename).relative_to(PACKAGE))
        files[name] = files.get(name, 0) + 1
        if asked.calls:
            print(f"{'  ' * depth}{name}: {code.co_qualname}")
    if not asked.calls:
        for name, functions in files.items():
            print(f"{functions:4}  {name}")
    print(f"{len(files)} files, {len(steps)} functions")


if __name__ == "__main__":
    main()
