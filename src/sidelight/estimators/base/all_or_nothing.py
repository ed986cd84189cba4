"""A fit that is refused or interrupted leaves the estimator as it was."""

from collections.abc import Callable
from copy import copy
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from sidelight.estimators.base.fit_tasks import fit_as_task

Estimator = TypeVar("Estimator", bound=Any)
Arguments = ParamSpec("Arguments")


def all_or_nothing(
    fit: Callable[Concatenate[Estimator, Arguments], Estimator],
) -> Callable[Concatenate[Estimator, Arguments], Estimator]:
    """Make a method that fits change its estimator only when it has succeeded; used as a decorator.

    The method runs on a shallow copy, whose attributes become those of the estimator at the end, all at once. A fit
    that raises leaves nothing behind, and a thread that predicts meanwhile sees the fit before. The method may set
    attributes, but must not change what they hold in place. It has an argument ``X``,
    and is a task of scikit-learn's callbacks.
    """

    @wraps(fit)
    def fit_copy(estimator: Estimator, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Estimator:
        fitted = copy(estimator)
        fit_as_task(fitted, fit, *args, **kwargs)
        estimator.__dict__ = fitted.__dict__
        return estimator

    return fit_copy
