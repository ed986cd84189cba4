"""The walk of a fit through the package: which files and functions it passes, in the order of the first call.

    python benchmarks/walk.py BayesianMixture            a row per file: how many of its functions were called
    python benchmarks/walk.py EquivalenceMixture --calls  every function, indented by how deep the call is

The table has 80 rows and two columns, with ten labels and ten links, as far as the estimator takes them.
"""

import argparse
import sys
import warnings
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import sidelight

PACKAGE = Path(sidelight.__file__).parent


def problem(estimator: type) -> tuple[np.ndarray, dict[str, Any]]:
    """Return a table and what is known about its rows, as far as the estimator takes it."""
    y = np.arange(80) % 2
    X = np.random.default_rng(0).normal(size=(80, 2)) + 4.0 * y[:, None]
    known = {
        "labels": ("y", np.where(np.arange(80) < 10, y, -1)),
        "must_link": ("must_link", [(row, row + 2) for row in range(20, 25)]),
        "cannot_link": ("cannot_link", [(row, row + 1) for row in range(30, 35)]),
    }
    return X, dict(known[kind] for kind in known if kind in estimator.takes)


def walk(estimator: type) -> list[tuple[CodeType, int]]:
    """Fit the estimator and return the functions that ran, each once, with the depth of its first call."""
    X, known = problem(estimator)
    found: dict[CodeType, int] = {}
    depth = 0

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth
        if not frame.f_code.co_filename.startswith(str(PACKAGE)):
            return
        if event == "call":
            # Classes and modules run code of their own when they are imported.
            if frame.f_code.co_name not in ("<module>", frame.f_code.co_qualname.rpartition(".")[0]):
                found.setdefault(frame.f_code, depth)
            depth += 1
        elif event == "return":
            depth -= 1

    model = estimator(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, **known)  # once before: what is imported on the way is not part of the walk
        sys.setprofile(watch)
        try:
            model.fit(X, **known)
        finally:
            sys.setprofile(None)
    return list(found.items())


def main() -> None:
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
