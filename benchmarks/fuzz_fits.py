"""Fits to hostile tables with hostile statements: every one is refused or sound.

A case is drawn from its number alone. It fails if an exception is not a ValueError of sidelight or scikit-learn, if a
fitted number is NaN or infinite, if a statement is dropped or a certain one broken in silence, or if a refused fit
changed its estimator. Failures are shrunk to fewer rows and columns.
"""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sidelight import SideInformation, all_estimators
from sidelight.metrics import violations

_SCALES = (1e-200, 1e-140, 1e-10, 1.0, 1.0, 1.0, 1e10, 1e140, 1e200)
_NUMBERS = ("n_clusters", "n_classes", "n_processes", "n_components")
_STRUCTURES = ("diag", "full", "auto", "tied", "spherical", "VEE", "EVV", "VEV", "EEV")
# GuidedMixture takes a second; the others a hundredth, or a third of that.
_SLOW = "GuidedMixture"
_SLOW_SHARE = 0.004
_DEAR = frozenset({"BayesianMixture", "ClassMixture", "EquivalenceMixture", "LabelledMixture"})


class Case(NamedTuple):
    """A table, what is said about its rows, and an estimator with parameters."""

    estimator: type[Any]
    parameters: dict[str, Any]
    X: Any
    statements: dict[str, Any]


def draw(
    number: int, *, most_rows: int = 25, most_columns: int = 6, most_steps: int = 20, dear_share: float = 1.0
) -> Case:
    """Return the case of a number, with fewer rows and columns than these, and at most so many iterations.

    Estimators that take longest are drawn ``dear_share`` times as often as others.
    """
    random = np.random.default_rng(number)
    quick = [(name, estimator) for name, estimator in all_estimators() if name != _SLOW]
    shares = np.array([dear_share if name in _DEAR else 1.0 for name, _ in quick])
    _, estimator = quick[random.choice(len(quick), p=shares / shares.sum())]
    if random.random() < _SLOW_SHARE:
        estimator = dict(all_estimators())[_SLOW]
    least = 1 if most_rows <= 25 else most_rows // 2
    n, d = int(random.integers(least, most_rows)), int(random.integers(1, most_columns))
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
    parameters = {"random_state": int(random.integers(100)), "n_init": 1, "max_iter": most_steps}
    for each in _NUMBERS:
        if random.random() < 0.8:
            parameters[each] = int(random.integers(1, 5))
    if random.random() < 0.3:
        parameters |= {"unlabelled_weight": float(random.choice([0.0, 0.5])), "power": False}
    if random.random() < 0.3:
        parameters["covariance_type"] = str(random.choice(_STRUCTURES))
    parameters = {each: value for each, value in parameters.items() if each in known}
    statements = _statements(random, n, estimator.takes)
    if "family" in known and random.random() < 0.2:
        return Case(estimator, parameters | {"family": "auto"}, _as_frame(random, X), statements)
    return Case(estimator, parameters, X, statements)


def _as_frame(random: np.random.Generator, X: Any) -> pd.DataFrame:
    """Return the table as a frame, some of whose columns are text, truth values, counts or dates, with gaps."""
    frame = pd.DataFrame(X, columns=[f"c{number}" for number in range(X.shape[1])])
    for name in frame.columns:
        values = np.nan_to_num(frame[name].to_numpy(), nan=0.0, posinf=9.0, neginf=-9.0)
        rank = pd.Series(values).rank(method="dense").astype(int)
        gaps = random.random(len(frame)) < random.choice([0.0, 0.3])
        match random.integers(8):
            case 0:
                frame[name] = np.array(list("abcdé"), dtype=object)[rank % 5]
            case 1:
                frame[name] = (rank % 2).astype(bool)
            case 2:
                frame[name] = rank
            case 3:
                frame[name] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rank, unit="D")
            case 4:
                levels = ["low", "mid", "high"]
                frame[name] = pd.Categorical(np.array(levels)[rank % 3], categories=levels, ordered=True)
        frame[name] = frame[name].mask(gaps)
    return frame


def _statements(random: np.random.Generator, n: int, takes: frozenset[str]) -> dict[str, Any]:
    statements: dict[str, Any] = {}
    if "labels" in takes and random.random() < 0.6:
        names = np.array(["a", "b", "c"], dtype=object)[random.integers(0, 3, n)]
        names[random.random(n) < 0.6] = None
        statements["y"] = names
    if "blocks" in takes and random.random() < 0.2:
        statements["blocks"] = random.integers(-1, max(n // 3, 1), n)
    for kind in ("must_link", "cannot_link"):
        if kind in takes and random.random() < 0.4:
            statements[kind] = random.integers(0, n + (random.random() < 0.1), size=(random.integers(1, 5), 2)).tolist()
    if "confidence" in takes and len(statements.keys() & {"must_link", "cannot_link"}) and random.random() < 0.3:
        statements["confidence"] = float(random.choice([0.51, 0.7, 0.99, 1.0, 1.2]))
    return statements


def complaint(case: Case) -> str | None:
    """Run a case; return what is wrong with its outcome, None if nothing is."""
    model = case.estimator(**case.parameters)
    before = dict(vars(model))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            _fit(model, case)
        except ValueError:
            return None if vars(model) == before else "a refused fit changed its estimator"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return _unsound(model, case)


def _fit(model: Any, case: Case) -> None:
    if case.statements.keys() & {"blocks", "confidence"}:
        model.fit(case.X, side=SideInformation.build(len(case.X), **case.statements))
    else:
        model.fit(case.X, **case.statements)


def _unsound(model: Any, case: Case) -> str | None:
    """Return what is wrong with a fitted model."""
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_"):
            for numbers in _numbers_in(value):
                if not np.isfinite(numbers).all():
                    return f"{name} is not finite"
    side = SideInformation.build(len(case.X), **case.statements)
    noise = -1 if hasattr(model, "noise_weight_") else None
    wanted, told = violations(side, model.labels_, noise=noise), model.violations_
    if wanted.total > told.total:
        return "a statement is broken, and violations_ does not say so"
    if wanted.n_statements != told.n_statements:
        return f"{wanted.n_statements} statements were made, and the model knows of {told.n_statements}"
    if hasattr(model, "predict_proba"):
        chances = model.predict_proba(case.X)
        if not (np.isfinite(chances).all() and np.allclose(chances.sum(axis=1), 1)):
            return "probabilities do not sum to one"
    placed = model.predict(case.X) if hasattr(model, "predict") else model.labels_
    return None if len(placed) == len(case.X) else "another number of rows was placed"


def _numbers_in(value: Any) -> Iterator[Any]:
    """Yield the numbers that a fitted attribute holds."""
    if isinstance(value, float | np.floating) or (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _numbers_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _numbers_in(each)


def shrunk(case: Case, reason: str) -> Case:
    """Return the case with fewer columns and rows, as far as the complaint stays the same; links need their rows."""
    for column in reversed(range(case.X.shape[1])):
        smaller = case._replace(X=_without(case.X, column, axis=1))
        if smaller.X.shape[1] and complaint(smaller) == reason:
            case = smaller
    if set(case.statements) <= {"y"}:
        for row in reversed(range(len(case.X))):
            fewer = {name: np.delete(values, row) for name, values in case.statements.items()}
            smaller = case._replace(X=_without(case.X, row, axis=0), statements=fewer)
            if len(smaller.X) and complaint(smaller) == reason:
                case = smaller
    return case


def _without(X: Any, number: int, axis: int) -> Any:
    kept = np.delete(np.arange(X.shape[axis]), number)
    if isinstance(X, pd.DataFrame):
        return X.take(kept, axis=axis).reset_index(drop=True)
    return X.take(kept, axis=axis)
