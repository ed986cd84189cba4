"""The site has every public name, docstrings are as numpydoc wants them, and examples of the gallery are in order."""

import functools
import importlib
import inspect
import re
from pathlib import Path

import pytest

from sidelight import SideInformation, all_estimators

ROOT = Path(__file__).parent.parent
REFERENCE = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
ROOMS = ("", ".side", ".metrics", ".selection", ".asking", ".plots", ".report", ".datasets", ".baselines")
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
# Found elsewhere: constants, and names that the reference lists where they are defined.
ELSEWHERE = {"__version__", "CATALOGUE"}
# Not asked for: a section See Also (SA01), a second paragraph (ES01); examples (EX01) may also be in the gallery.
NOT_ASKED = {"SA01", "ES01", "EX01"}
WORDS_OF_METHODS = NOT_ASKED | {"RT03", "PR04"}


def listed():
    """Return the names of the reference, with their modules."""
    found, module = [], ""
    for line in REFERENCE.splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [A-Za-z_]\w*", line):
            found.append(f"{module}.{line.strip()}")
    return found


@functools.cache
def code_that_runs():
    """Return the examples of the gallery and of the pages, without their prose."""
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.md"))
    lines = re.findall(r"^\s*(?:>>>|\.\.\.) .*$", pages, re.MULTILINE)
    return "\n".join([*lines, *(example.read_text(encoding="utf-8") for example in EXAMPLES)])


def test_every_public_name_has_a_page():
    names = {name.rpartition(".")[2] for name in listed()}
    for room in ROOMS:
        public = set(importlib.import_module(f"sidelight{room}").__all__) - ELSEWHERE
        assert public <= names, f"sidelight{room}: {sorted(public - names)} not in docs/reference/index.md"
    assert {name for name, _ in all_estimators()} <= names


@pytest.mark.parametrize("name", listed())
def test_every_public_name_has_an_example(name):
    module, _, short = name.rpartition(".")
    thing = getattr(importlib.import_module(module), short)
    assert ">>>" in (thing.__doc__ or "") or re.search(rf"\b{short}\b", code_that_runs())


@pytest.mark.parametrize("name", listed())
def test_docstrings_are_as_numpydoc_wants_them(name):
    numpydoc = pytest.importorskip(
        "numpydoc.validate", reason="numpydoc is not installed: pip install 'sidelight[docs]'"
    )
    module, _, short = name.rpartition(".")
    thing = getattr(importlib.import_module(module), short)
    # By where it is defined: a function may have the name of its module.
    errors = numpydoc.validate(f"{thing.__module__}.{thing.__qualname__}")["errors"]
    wrong = [(code, words) for code, words in errors if code not in NOT_ASKED]
    if isinstance(thing, type):
        # The fields of a record are described as its attributes.
        attributes = re.split(r"Attributes\n\s*-+\n", thing.__doc__)[-1]
        wrong = [
            (code, words)
            for code, words in wrong
            if code != "PR01"
            or not all(re.search(rf"\b{field}\b", attributes) for field in re.findall(r"'(\w+)'", words))
        ]
    assert not wrong


def public_methods():
    """Return the methods of estimators and of side information that are defined here, by where they are."""
    classes = [SideInformation, *(estimator for _, estimator in all_estimators())]
    members = (getattr(cls, name) for cls in classes for name in dir(cls) if not name.startswith("_"))
    return {
        f"{member.__module__}.{member.__qualname__}"
        for member in members
        if inspect.isroutine(member) and member.__module__.startswith("sidelight")
    }


def test_methods_say_what_they_take_and_return():
    numpydoc = pytest.importorskip(
        "numpydoc.validate", reason="numpydoc is not installed: pip install 'sidelight[docs]'"
    )
    # Not asked for: words about "self" or "float" as what is returned (RT03), types of "X, y: as in fit" (PR04).
    wrong = {
        name: [(code, words) for code, words in numpydoc.validate(name)["errors"] if code not in WORDS_OF_METHODS]
        for name in public_methods()
    }
    assert {name: errors for name, errors in wrong.items() if errors} == {}


def test_the_gallery_is_large_enough_and_each_example_begins_with_a_title():
    assert len(EXAMPLES) >= 15
    for example in EXAMPLES:
        _, title, underline, *_ = example.read_text(encoding="utf-8").splitlines()
        assert title
        assert underline == "=" * len(title), f"{example.name}: the line under the title has another length"
