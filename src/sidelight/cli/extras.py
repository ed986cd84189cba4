"""What is not installed with sidelight itself: fetched when a command needs it, with a word on what to install."""

from importlib import import_module
from typing import Any

from sidelight.cli.errors import Refusal


def arrow(part: str = "") -> Any:
    """Return pyarrow, or a part of it such as "csv"."""
    return _fetch("pyarrow", part)


def pandas() -> Any:
    """Return pandas."""
    return _fetch("pandas")


def check_drawing() -> None:
    """Refuse to begin what would end without pictures."""
    try:
        import_module("matplotlib")
    except ImportError:
        raise Refusal(
            "the report needs matplotlib: pip install 'sidelight[plot]', or leave the report out with --no-report."
        ) from None


def _fetch(package: str, part: str = "") -> Any:
    try:
        return import_module(f"{package}.{part}" if part else package)
    except ImportError:
        raise Refusal(
            f"reading tables needs pandas and pyarrow, and {package} is missing: pip install 'sidelight[table]'"
        ) from None
