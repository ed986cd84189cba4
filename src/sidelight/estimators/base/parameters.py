"""Checks of estimator parameters; every message names the parameter, its value and what would be right."""

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Refuse a value that is none of the choices."""
    if not isinstance(value, str) or value not in choices:
        options = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name}={value!r} is not known; choose one of {options}.")


def check_integer(name: str, value: Any, *, least: int) -> None:
    """Refuse what is no whole number of at least ``least``."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}.")


def check_number(name: str, value: Any, *, least: float, most: float = float("inf")) -> None:
    """Refuse what is no number from ``least`` to ``most``."""
    if not isinstance(value, Real) or isinstance(value, bool) or not least <= float(value) <= most:
        bounds = f"of at least {least}" if most == float("inf") else f"from {least} to {most}"
        raise ValueError(f"{name}={value!r} must be a number {bounds}.")
