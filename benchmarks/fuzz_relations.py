"""Relations between fits: what must not change when a table and its statements are said in another way.

A case has two or three groups that are far apart, with labels, and links where they are taken. Whatever is done to it,
in ways that do not matter, every fit must find the same partition.
"""

import copy
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import sidelight
from sidelight import all_estimators

_NUMBERS = ("n_clusters", "n_classes", "n_processes", "n_components")


class Clear(NamedTuple):
    """A table of groups that are far apart, their numbers, and true statements about some rows."""

    X: Any
    y: Any
    must_link: list[tuple[int, int]]
    cannot_link: list[tuple[int, int]]


def draw(random: np.random.Generator) -> tuple[Clear, Any]:
    """Return a case and the truth about it."""
    k, d, each = int(random.integers(2, 4)), int(random.integers(1, 5)), int(random.integers(8, 15))
    centres = 30 * np.argsort(random.random((k, d)), axis=0)
    truth = np.repeat(np.arange(k), each)
    X = centres[truth] + random.normal(size=(k * each, d))
    y = np.array(["a", "b", "c"], dtype=object)[truth]
    # Two rows of every group keep their labels.
    y[np.arange(len(y)) % each > 1] = None
    pairs = random.integers(0, len(y), size=(6, 2)).tolist()
    must = [(i, j) for i, j in pairs if i != j and truth[i] == truth[j]]
    cannot = [(i, j) for i, j in pairs if truth[i] != truth[j]]
    return Clear(X, y, must, cannot), truth


def _rows_in_another_order(case: Clear, random: np.random.Generator) -> tuple[Clear, Any]:
    order = random.permutation(len(case.X))
    place = np.argsort(order)

    def moved(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(int(place[i]), int(place[j])) for i, j in pairs]

    return Clear(case.X[order], case.y[order], moved(case.must_link), moved(case.cannot_link)), place


def _same_rows(change: Callable[[Clear, np.random.Generator], Clear]) -> Any:
    return lambda case, random: (change(case, random), slice(None))


def _renamed(case: Clear, _: np.random.Generator) -> Clear:
    names = {"a": "zebra", "b": "B b", "c": "ä"}
    return case._replace(y=np.array([names.get(name) for name in case.y], dtype=object))


# What is done to a case, and where the rows of the case are then.
CHANGES: dict[str, Callable[[Clear, np.random.Generator], tuple[Clear, Any]]] = {
    "again": _same_rows(lambda case, _: copy.deepcopy(case)),
    "rows in another order": _rows_in_another_order,
    "columns in another order": _same_rows(lambda case, r: case._replace(X=case.X[:, r.permutation(case.X.shape[1])])),
    "columns in other units": _same_rows(
        lambda case, r: case._replace(X=case.X * 2.0 ** r.integers(-20, 20, size=case.X.shape[1]))
    ),
    "columns from another origin": _same_rows(lambda case, r: case._replace(X=case.X + r.normal(size=case.X.shape[1]))),
    "labels with other names": _same_rows(_renamed),
    "links the other way round": _same_rows(
        lambda case, _: case._replace(
            must_link=[pair[::-1] for pair in case.must_link], cannot_link=[pair[::-1] for pair in case.cannot_link]
        )
    ),
    "links said twice": _same_rows(
        lambda case, _: case._replace(must_link=2 * case.must_link, cannot_link=2 * case.cannot_link)
    ),
    "a frame": _same_rows(
        lambda case, _: case._replace(X=pd.DataFrame(case.X, columns=[f"c{i}" for i in range(case.X.shape[1])]))
    ),
    "single precision": _same_rows(lambda case, _: case._replace(X=case.X.astype(np.float32))),
    "not contiguous": _same_rows(lambda case, _: case._replace(X=np.asfortranarray(np.repeat(case.X, 2, axis=0))[::2])),
}
# Distances between rows depend on the units of columns, and a random start on the order of rows, where nothing is said
# to hold otherwise.
_BY_DISTANCE = {"columns in other units"}


def complaint(number: int) -> str | None:
    """Return which relation the case of a number breaks, None if it breaks none."""
    random = np.random.default_rng(number)
    case, truth = draw(random)
    estimators = [each for each in all_estimators() if each[0] != "GuidedMixture" or random.random() < 0.03]
    name, estimator = estimators[random.integers(len(estimators))]
    change = list(CHANGES)[random.integers(len(CHANGES))]
    if change in _BY_DISTANCE and not hasattr(estimator(), "covariance_type"):
        change = "again"
    known = estimator().get_params()
    parameters: dict[str, Any] = {each: truth.max() + 1 for each in _NUMBERS if each in known}
    if "random_state" in known:
        parameters["random_state"] = 0
    other, rows = CHANGES[change](case, random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before = _fitted(estimator, parameters, case)
        after = _fitted(estimator, parameters, other)
        if adjusted_rand_score(before.labels_, after.labels_[rows]) < 1:
            right = [adjusted_rand_score(truth, found) for found in (before.labels_, after.labels_[rows])]
            return f"{name}, {change}: another partition ({right[0]:.2f} and {right[1]:.2f} of the truth)"
        if hasattr(before, "predict"):
            wrong = _other_places(before, case.X)
            if wrong:
                return f"{name}: {wrong}"
    return None


def _fitted(estimator: type[Any], parameters: dict[str, Any], case: Clear) -> Any:
    statements: dict[str, Any] = {"y": case.y} if "labels" in estimator.takes else {}
    for kind in ("must_link", "cannot_link"):
        if kind in estimator.takes and getattr(case, kind):
            statements[kind] = getattr(case, kind)
    return estimator(**parameters).fit(case.X, **statements)


def _other_places(model: Any, X: Any) -> str | None:
    """Say how a copy of a model, or a part of the rows, leads to another prediction."""
    placed = model.predict(X)
    if (pickle.loads(pickle.dumps(model)).predict(X) != placed).any():
        return "a pickled model predicts otherwise"
    with tempfile.TemporaryDirectory() as folder:
        sidelight.save(model, Path(folder) / "model")
        if (sidelight.load(Path(folder) / "model").predict(X) != placed).any():
            return "a saved model predicts otherwise"
    if (model.predict(X[3:9]) != placed[3:9]).any():
        return "rows are placed otherwise without the others"
    return None
