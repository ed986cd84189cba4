"""The list of public estimators."""

from typing import Any, TypeVar

from sidelight._storable import storable

Estimator = TypeVar("Estimator", bound=type[Any])

_REGISTERED: list[type[Any]] = []


def register(estimator: Estimator) -> Estimator:
    """Add an estimator to the list; used as a decorator. Saved models call it by its public name."""
    _REGISTERED.append(estimator)
    return storable(estimator.__name__)(estimator)


def all_estimators() -> list[tuple[str, type[Any]]]:
    """Return the name and class of every public estimator, sorted by name."""
    return sorted((estimator.__name__, estimator) for estimator in _REGISTERED)


def estimators_taking(statement: str) -> list[str]:
    """Return the names of the estimators that can use a kind of statement ("labels", "must_link", …)."""
    return [name for name, estimator in all_estimators() if statement in estimator.takes]
