"""Optional dependencies: imported when a command needs them, with an error that says what to install."""

from importlib import import_module
from typing import Any

from sidelight.cli.errors import Refusal


def arrow(part: str = "") -> Any:
    """Return pyarrow, or a part of it such as "csv"."""
    return _imported("pyarrow", part)


def pandas() -> Any:
    """Return pandas."""
    return _imported("pandas")


def check_drawing() -> None:
    """Refuse to begin if the pictures of the report cannot be drawn."""
    try:
        import_module("matplotlib")
    except ImportError:
        raise Refusal(
            "the report needs matplotlib: pip install 'sidelight[plot]', or leave the report out with --no-report."
        ) from None


def check_studio() -> None:
    """Refuse to begin if the server, its store or its tables cannot be used."""
    for package in ("fastapi", "jinja2", "sqlalchemy", "uvicorn"):
        try:
            import_module(package)
        except ImportError:
            raise Refusal(f"the studio needs {package}: pip install 'sidelight[studio]'") from None


def check_spreadsheets(path: Any) -> None:
    """Refuse to read a spreadsheet if nothing is installed that can."""
    try:
        import_module("openpyxl")
    except ImportError:
        raise Refusal(
            f"{path} is a spreadsheet, and reading it needs openpyxl: pip install 'sidelight[excel]'; or save it as "
            "CSV (UTF-8)."
        ) from None


def _imported(package: str, part: str = "") -> Any:
    try:
        return import_module(f"{package}.{part}" if part else package)
    except ImportError:
        raise Refusal(
            f"reading tables needs pandas and pyarrow, and {package} is missing: pip install 'sidelight[table]'"
        ) from None
