"""The list of public estimators."""

from typing import Any, TypeVar

Estimator = TypeVar("Estimator", bound=type[Any])

_REGISTERED: list[type[Any]] = []


def register(estimator: Estimator) -> Estimator:
    """Add an estimator to the list; used as a decorator."""
    _REGISTERED.append(estimator)
    return estimator


def all_estimators() -> list[tuple[str, type[Any]]]:
    """Return the name and class of every public estimator, sorted by name."""
    return sorted((estimator.__name__, estimator) for estimator in _REGISTERED)


def estimators_taking(statement: str) -> list[str]:
    """Return the names of the estimators that can use a kind of statement ("labels", "must_link", …)."""
    return [name for name, estimator in all_estimators() if statement in estimator.takes]
