"""The folder that a fit writes and later commands read."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from sidelight.cli.errors import Refusal, refusing
from sidelight.cli.result.pool import Pool, read_pool, write_pool
from sidelight.cli.tables.recipe import Recipe

CLUSTERS = "clusters.csv"
REPORT = "report.html"
_MODEL = "model"
_RECIPE = "recipe.json"
_SUMMARY = "summary.json"
_POOL = "askable"


class Result(NamedTuple):
    """A result that was read."""

    folder: Path
    recipe: Recipe
    summary: dict[str, Any]

    def model(self) -> Any:
        """Read the fitted model."""
        from sidelight.persistence import load

        with refusing(f"{self.folder / _MODEL}"):
            return load(self.folder / _MODEL)

    def pool(self) -> Pool:
        """Read the rows that questions are chosen from."""
        return read_pool(self.folder / _POOL)


def is_result(folder: Path) -> bool:
    """Say whether a folder holds what a fit wrote."""
    return (folder / _RECIPE).is_file() and (folder / _SUMMARY).is_file()


def open_result(folder: Path) -> Result:
    """Read what a fit wrote, except the model."""
    if not folder.is_dir():
        raise Refusal(f"{folder} is no folder; name the one that sidelight fit wrote with -o.")
    if not is_result(folder):
        raise Refusal(f"{folder} holds no result; name the folder that sidelight fit wrote with -o.")
    recipe = Recipe.read(folder / _RECIPE)
    try:
        summary = json.loads((folder / _SUMMARY).read_text(encoding="utf-8"))
    except ValueError as error:
        raise Refusal(f"{folder / _SUMMARY} is damaged ({error}); fit again.") from error
    return Result(folder, recipe, summary)


def write_result(folder: Path, *, model: Any, recipe: Recipe, pool: Pool, summary: dict[str, Any]) -> None:
    """Write everything except the table of clusters and the report to a folder."""
    from sidelight.persistence import write_model

    write_model(model, folder / _MODEL)
    recipe.write(folder / _RECIPE)
    (folder / _POOL).mkdir()
    write_pool(pool, folder / _POOL)
    (folder / _SUMMARY).write_text(json.dumps(summary, ensure_ascii=False, indent=2), encoding="utf-8")
