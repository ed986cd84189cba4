"""Fits to hostile tables with hostile statements, and saved models with a byte changed: every case refused or sound.

    python benchmarks/fuzz.py                  # ten minutes
    python benchmarks/fuzz.py --cases 500 --seed 7
    python benchmarks/fuzz.py --only 1234      # one case again, with its traceback

A case is drawn from its number alone. It fails if an exception is not a ValueError of sidelight or scikit-learn, if a
fitted number is NaN or infinite, if a certain statement is broken in silence, or if a refused fit changed its
estimator. A failure is printed with its number, which runs it again, and with fewer rows and columns where it stays.
"""

import argparse
import hashlib
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sidelight
from sidelight import SideInformation, all_estimators
from sidelight.exceptions import ForeignFileError
from sidelight.metrics import violations

_SCALES = (1e-200, 1e-140, 1e-10, 1.0, 1.0, 1.0, 1e10, 1e140, 1e200)
_NUMBERS = ("n_clusters", "n_classes", "n_processes", "n_components")


class Case(NamedTuple):
    """A table, what is said about its rows, and an estimator with parameters."""

    estimator: type[Any]
    parameters: dict[str, Any]
    X: Any
    statements: dict[str, Any]


def draw(number: int) -> Case:
    """Return the case of a number."""
    random = np.random.default_rng(number)
    _, estimator = all_estimators()[random.integers(len(all_estimators()))]
    n, d = int(random.integers(1, 25)), int(random.integers(1, 6))
    X = random.normal(size=(n, d)) + 6 * random.integers(0, 3, size=(n, 1))
    match random.integers(8):
        case 0:
            X = np.round(X)
        case 1:
            X[:, random.integers(d)] = random.choice([0.0, 1e-200, 5.0])
        case 2:
            X = X * random.choice(_SCALES, size=d)
        case 3:
            X = X[random.integers(0, n, n)]
        case 4:
            X[random.integers(n), random.integers(d)] = random.choice([np.nan, np.inf, -np.inf, 1e308, 1e-308])
        case 5:
            X = np.sign(X) * X**8
    known = estimator().get_params()
    parameters = {"random_state": int(random.integers(100)), "n_init": 1, "max_iter": 20}
    for each in _NUMBERS:
        if random.random() < 0.8:
            parameters[each] = int(random.integers(1, 5))
    if random.random() < 0.3:
        parameters |= {"unlabelled_weight": float(random.choice([0.0, 0.5])), "power": False}
    if random.random() < 0.3:
        parameters["covariance_type"] = str(random.choice(["diag", "full", "auto"]))
    parameters = {each: value for each, value in parameters.items() if each in known}
    return Case(estimator, parameters, X, _statements(random, n, estimator.takes))


def _statements(random: np.random.Generator, n: int, takes: frozenset[str]) -> dict[str, Any]:
    statements: dict[str, Any] = {}
    if "labels" in takes and random.random() < 0.6:
        names = np.array(["a", "b", "c"], dtype=object)[random.integers(0, 3, n)]
        names[random.random(n) < 0.6] = None
        statements["y"] = names
    for kind in ("must_link", "cannot_link"):
        if kind in takes and random.random() < 0.4:
            statements[kind] = random.integers(0, n + (random.random() < 0.1), size=(random.integers(1, 5), 2)).tolist()
    return statements


def complaint(case: Case) -> str | None:
    """Run a case; return what is wrong with its outcome, None if nothing is."""
    model = case.estimator(**case.parameters)
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(case.X, **case.statements)
        except ValueError:
            return None if vars(model) == before else "a refused fit changed its estimator"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        for name, value in vars(model).items():
            # Log weights of components without rows, and parameters of the user, may be infinite.
            number = isinstance(value, float | np.ndarray) and np.asarray(value).dtype.kind == "f"
            if number and name.endswith("_") and not np.isfinite(value).all():
                return f"{name} is not finite"
        side = SideInformation.build(len(case.X), **case.statements)
        noise = -1 if hasattr(model, "noise_weight_") else None
        if violations(side, model.labels_, noise=noise).total > model.violations_.total:
            return "a statement is broken, and violations_ does not say so"
    return None


def shrunk(case: Case, reason: str) -> Case:
    """Return the case with fewer columns and rows, as far as the complaint stays the same; links need their rows."""
    for column in reversed(range(case.X.shape[1])):
        smaller = case._replace(X=np.delete(case.X, column, axis=1))
        if smaller.X.shape[1] and complaint(smaller) == reason:
            case = smaller
    if set(case.statements) <= {"y"}:
        for row in reversed(range(len(case.X))):
            fewer = {name: np.delete(values, row) for name, values in case.statements.items()}
            smaller = case._replace(X=np.delete(case.X, row, axis=0), statements=fewer)
            if len(smaller.X) and complaint(smaller) == reason:
                case = smaller
    return case


def mutated_model(number: int, folder: Path) -> str | None:
    """Change bytes of a saved model, with checksums that agree; return what is wrong with how it loads."""
    random = np.random.default_rng(number)
    place = folder / str(number)
    X = random.normal(size=(12, 2))
    sidelight.save(sidelight.LabelledMixture(2, max_iter=5, tol=10, random_state=0).fit(X), place)
    path = place / str(random.choice(["model.json", "arrays.npz"]))
    content = bytearray(path.read_bytes())
    for at in random.integers(0, len(content), random.integers(1, 4)):
        content[at] = random.integers(256)
    path.write_bytes(bytes(content))
    sums = (
        f"{hashlib.sha256((place / name).read_bytes()).hexdigest()}  {name}\n" for name in ("arrays.npz", "model.json")
    )
    (place / "SHA256SUMS").write_text("".join(sums), encoding="ascii")
    try:
        sidelight.load(place)
    except ForeignFileError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def run(numbers: Any, until: float = float("inf")) -> list[tuple[int, str]]:
    """Run cases, every tenth of them a saved model; return the numbers of those that fail, and why."""
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            if time.monotonic() > until:
                break
            of_model = number % 10 == 0
            reason = mutated_model(number, Path(folder)) if of_model else complaint(draw(number))
            if reason is not None:
                failures.append((number, reason))
                print(f"case {number}: {reason}")
                if not of_model:
                    print(shrunk(draw(number), reason))
    return failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, help="how many; ten minutes' worth where not given")
    parser.add_argument("--seed", type=int, default=0, help="number of the first case, in millions")
    parser.add_argument("--only", type=int, help="one case, with its traceback")
    asked = parser.parse_args()
    if asked.only is not None:
        case = draw(asked.only)
        print(case)
        try:
            case.estimator(**case.parameters).fit(case.X, **case.statements)
        except Exception:
            traceback.print_exc()
        return
    first = 1_000_000 * asked.seed
    print(f"cases from {first} on")
    until = float("inf") if asked.cases else time.monotonic() + 600
    failures = run(range(first, first + (asked.cases or 1_000_000)), until)
    print(f"{len(failures)} failures")


if __name__ == "__main__":
    main()
