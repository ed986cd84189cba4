"""Fitted models of every kind, small, with tables to ask them about.

    python tests/persistence/models_to_keep.py tests/persistence/format_2

writes some of them, and their answers, to a folder that later versions must be able to read.
"""

import json
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from sidelight import BayesianMixture, LabelledMixture, SideInformation, all_estimators, save


class Case(NamedTuple):
    """A fitted model, and a table it can place."""

    model: Any
    X: Any


def heaps(n_rows: int = 36) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of three heaps, and their heaps."""
    random = np.random.default_rng(0)
    y = np.arange(n_rows) % 3
    return np.array([[0.0, 0.0, 1.0], [4.0, 0.0, 2.0], [0.0, 5.0, 3.0]])[y] + random.normal(size=(n_rows, 3)), y


X, Y = heaps()
SOME = np.where(np.arange(len(Y)) % 4 == 0, Y, -1)


def mixed_table() -> pd.DataFrame:
    """Return a frame with columns of every kind and missing cells."""
    frame = pd.DataFrame({"size": X[:, 0], "weight": X[:, 1].astype(np.float64)})
    frame["colour"] = pd.Categorical(np.array(["red", "grün", "blue"])[Y])
    frame["sold"] = Y == 1
    frame["visits"] = np.array([0, 3, 9])[Y] + np.arange(len(Y)) % 3
    frame.loc[3, "size"] = np.nan
    frame.loc[4, "colour"] = None
    return frame


def counts() -> csr_array:
    """Return a sparse table of counts."""
    return csr_array(np.random.default_rng(1).poisson(np.array([[9, 1, 0, 2], [0, 8, 2, 0], [2, 0, 9, 6]])[Y]))


def _registered(name: str) -> Case:
    estimator = dict(all_estimators())[name]
    return Case(estimator(random_state=0).fit(X, SOME), X)


def _named_labels() -> Case:
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    names = np.array(["früh", "late", "never"], dtype=object)[Y]
    names[SOME < 0] = None
    model = LabelledMixture(components_per_class={"late": 2}, warm_start=True, random_state=0)
    return Case(model.fit(frame, names), frame)


def _mixed() -> Case:
    table = mixed_table()
    model = BayesianMixture(family={"visits": "poisson"}, n_components=4, random_state=0)
    return Case(model.fit(table, must_link=[(0, 3)], cannot_link=[(0, 1)]), table)


def _usual_values() -> Case:
    table = mixed_table().assign(always=3.5, town="Bern")
    table["paid"] = np.where(np.arange(len(Y)) % 3 > 0, 0.0, X[:, 2])
    model = BayesianMixture(family={"paid": "atom"}, n_components=4, random_state=0)
    return Case(model.fit(table, SOME), table)


def _whole_numbers_and_dates() -> Case:
    table = pd.DataFrame({"words": np.array([0, 4, 12])[Y] * (1 + np.arange(len(Y)) % 4), "year": 2007 + Y})
    levels = ["small", "middle", "large", "huge"]
    table["size"] = pd.Categorical(np.array(levels)[Y], categories=levels, ordered=True)
    table.loc[5, "size"] = None
    table["since"] = pd.Timestamp("2020-01-03") + pd.to_timedelta(90.0 * Y + np.arange(len(Y)), unit="D")
    table.loc[7, "since"] = pd.NaT
    kinds = {"words": "negative_binomial", "year": "ordinal"}
    return Case(BayesianMixture(family=kinds, n_components=4, random_state=0).fit(table, SOME), table)


def _sparse() -> Case:
    table = counts()
    return Case(BayesianMixture(family="multinomial", random_state=0).fit(table, SOME), table)


def _missing() -> Case:
    table = X.copy()
    table[::5, 1] = np.nan
    return Case(BayesianMixture(covariance_type="diag", random_state=0).fit(table, SOME), table)


def _stream() -> Case:
    model = BayesianMixture(n_components=4, prune=False, random_state=0)
    model.partial_fit(X[:18], SOME[:18], must_link=[(1, 4)], sample_weight=np.linspace(1, 2, 18))
    return Case(model.partial_fit(X[18:], cannot_link=[(0, 1)]), X)


def _sparse_stream() -> Case:
    table = counts()
    model = BayesianMixture(family="multinomial", n_components=3, prune=False, random_state=0)
    return Case(model.partial_fit(table[:18], SOME[:18]).partial_fit(table[18:]), table)


def _given_priors() -> Case:
    model = BayesianMixture(
        mean_prior=X.mean(axis=0), covariance_prior=np.asfortranarray(np.cov(X.T)), weights="dirichlet", random_state=0
    )
    side = SideInformation.build(len(Y), blocks=[[0, 3]], must_link=[(6, 9)], confidence=0.9)
    return Case(model.fit(X, side=side), X)


def _noise() -> Case:
    table = np.concatenate([X, np.random.default_rng(2).uniform(-60, 60, size=(4, 3))])
    return Case(BayesianMixture(noise=True, min_cluster_size=2, random_state=0).fit(table), table)


def _student_noise() -> Case:
    table = np.concatenate([X, np.random.default_rng(2).uniform(-60, 60, size=(4, 3))])
    return Case(LabelledMixture(3, family="student_t", noise=0.1, random_state=0).fit(table), table)


def _student() -> Case:
    table = X.copy()
    table[::5, 1] = np.nan
    return Case(BayesianMixture(family="student_t", random_state=0).fit(table, SOME), table)


def _student_stream() -> Case:
    model = BayesianMixture(n_components=4, family="student_t", noise=True, prune=False, random_state=0)
    return Case(model.partial_fit(X[:18], SOME[:18]).partial_fit(X[18:]), X)


_CASES = {name: (lambda name=name: _registered(name)) for name, _ in all_estimators()} | {
    "named labels": _named_labels,
    "mixed table": _mixed,
    "usual values": _usual_values,
    "whole numbers and dates": _whole_numbers_and_dates,
    "sparse counts": _sparse,
    "missing cells": _missing,
    "stream": _stream,
    "sparse stream": _sparse_stream,
    "given priors": _given_priors,
    "noise": _noise,
    "Student t and noise": _student_noise,
    "Student t": _student,
    "Student t stream": _student_stream,
}
NAMES = tuple(_CASES)


@cache
def case(name: str) -> Case:
    """Return a model of a name, fitted; tests share it and must not change it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _CASES[name]()


def outputs(model: Any, X: Any) -> dict[str, Any]:
    """Return everything that a fitted model answers."""
    answers = {
        name: getattr(model, name)(X) for name in ("predict", "predict_proba", "score_samples") if hasattr(model, name)
    }
    for name in ("labels_", "posterior_", "n_clusters_", "lower_bounds_", "objectives_", "weights_", "means_"):
        if hasattr(model, name):
            answers[name] = getattr(model, name)
    answers["names"] = model.cluster_names_.tolist()
    answers["violations"] = str(model.violations_)
    if hasattr(model, "sample"):
        answers["sample"], answers["sampled"] = model.sample(5)
    return answers


# The models that are kept for later versions: every estimator, and two that store much more.
KEPT = {name: name for name, _ in all_estimators()} | {"mixed_table": "mixed table", "stream": "stream"}


def keep(folder: Path) -> None:
    """Save models, and what they answer about their tables, to a new folder."""
    folder.mkdir()
    answers = {}
    for stored, name in KEPT.items():
        model, X = case(name)
        save(model, folder / stored)
        table = X.astype(object).where(X.notna(), None).to_dict("list") if isinstance(X, pd.DataFrame) else X
        questions = [question for question in ("predict", "predict_proba", "score_samples") if hasattr(model, question)]
        found = {question: getattr(model, question)(X) for question in questions}
        answers[stored] = {"table": table, "labels_": model.labels_, **found}
    text = json.dumps(answers, default=lambda array: array.tolist())
    (folder / "answers.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
