"""Every example in the README, the docs and the docstrings runs and prints what it shows."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import matplotlib.pyplot
import pytest

import sidelight

matplotlib.use("Agg")  # examples draw

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = {
    module.name: Path(module.module_finder.path) / module.name.rpartition(".")[2]
    for module in pkgutil.walk_packages(sidelight.__path__, "sidelight.")
    if not module.name.endswith("__main__")
}
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def has_examples(path):
    source = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ">>> " in source.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_pages(page):
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS)
    assert failed == 0


def test_the_readme_has_examples():
    parser = doctest.DocTestParser()
    assert len(parser.get_examples(PAGES[0].read_text(encoding="utf-8"))) > 8


def test_every_module_can_be_imported():
    assert [name for name in MODULES if importlib.import_module(name).__name__ != name] == []


@pytest.mark.parametrize("name", [name for name, path in MODULES.items() if has_examples(path)])
def test_docstrings(name):
    failed, attempted = doctest.testmod(importlib.import_module(name), optionflags=OPTIONS)
    matplotlib.pyplot.close("all")
    assert failed == 0
    assert attempted > 0
