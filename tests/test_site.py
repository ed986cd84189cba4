"""The site has every public name, docstrings are as numpydoc wants them, and examples of the gallery are in order."""

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import sidelight
from sidelight import all_estimators

ROOT = Path(__file__).parent.parent
REFERENCE = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
# Packages that only other packages use, as the reference says.
INNER = tuple(re.findall(r"`(sidelight\.\w+)`", REFERENCE.partition("## Inner rooms\n")[2]))
# Constants, which the reference names in words.
CONSTANTS = {"__version__", "CATALOGUE", "FORMATS", "PAPERS"}
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
# Not asked for: a section See Also (SA01), a second paragraph (ES01).
NOT_ASKED = {"SA01", "ES01"}
# Nor of methods an example (EX01): their class has one.
NOT_ASKED_OF_METHODS = NOT_ASKED | {"EX01"}


def listed():
    """Return the names of the reference, with their modules."""
    found, module = [], ""
    for line in REFERENCE.splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   [A-Za-z_]\w*", line):
            found.append(f"{module}.{line.strip()}")
    return found


def found_by(name):
    """Return what a full name names."""
    module, _, short = name.rpartition(".")
    return getattr(importlib.import_module(module), short)


def public_modules():
    """Return the modules that say what they export, except those of inner rooms."""
    names = (module.name for module in pkgutil.walk_packages(sidelight.__path__, "sidelight."))
    outer = (name for name in names if not name.endswith("__main__") and not f"{name}.".startswith(_INNER_PREFIXES))
    modules = (importlib.import_module(name) for name in outer)
    return [sidelight, *(module for module in modules if hasattr(module, "__all__"))]


_INNER_PREFIXES = tuple(f"{name}." for name in INNER)


def test_every_public_name_has_a_page():
    pages = [found_by(name) for name in listed()]
    for module in public_modules():
        without = [
            name
            for name in module.__all__
            if name not in CONSTANTS and not any(getattr(module, name) is page for page in pages)
        ]
        assert not without, f"{module.__name__}: {without} not in docs/reference/index.md"
    assert all(estimator in pages for _, estimator in all_estimators())


def test_constants_are_named_on_the_page():
    assert {name for name in CONSTANTS if f"`{name}`" not in REFERENCE} == {"__version__"}


def test_enough_modules_are_walked_and_inner_rooms_are_there():
    assert {"sidelight", "sidelight.side", "sidelight.side.formats", "sidelight.anndata", "sidelight.exceptions"} <= {
        module.__name__ for module in public_modules()
    }
    assert len(INNER) > 10
    for name in INNER:
        importlib.import_module(name)


@pytest.mark.parametrize("name", listed())
def test_every_public_name_has_an_example(name):
    thing = found_by(name)
    examples = re.split(r"\n *Examples\n *-{8}\n", thing.__doc__ or "")
    assert len(examples) == 2, "no section Examples"
    assert doctest.DocTestParser().get_examples(examples[1])
    # tests/test_documents.py runs the examples of every module of the package.
    tests = doctest.DocTestFinder().find(importlib.import_module(thing.__module__))
    assert any(test.name == f"{thing.__module__}.{thing.__qualname__}" and test.examples for test in tests)


@pytest.mark.parametrize("name", listed())
def test_docstrings_are_as_numpydoc_wants_them(name):
    numpydoc = pytest.importorskip(
        "numpydoc.validate", reason="numpydoc is not installed: pip install 'sidelight[docs]'"
    )
    thing = found_by(name)
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
    """Return the methods of documented classes that are defined here, by where they are."""
    classes = [thing for thing in map(found_by, listed()) if isinstance(thing, type)]
    members = (getattr(cls, name) for cls in classes for name in dir(cls) if not name.startswith("_"))
    return {
        f"{member.__module__}.{member.__qualname__}"
        for member in members
        if inspect.isroutine(member)
        and getattr(member, "__module__", None)
        and member.__module__.startswith("sidelight")
    }


def test_methods_say_what_they_take_and_return():
    numpydoc = pytest.importorskip(
        "numpydoc.validate", reason="numpydoc is not installed: pip install 'sidelight[docs]'"
    )
    wrong = {
        name: [(code, words) for code, words in numpydoc.validate(name)["errors"] if code not in NOT_ASKED_OF_METHODS]
        for name in public_methods()
    }
    assert {name: errors for name, errors in wrong.items() if errors} == {}


def test_the_gallery_is_large_enough_and_each_example_begins_with_a_title():
    assert len(EXAMPLES) >= 15
    for example in EXAMPLES:
        _, title, underline, *_ = example.read_text(encoding="utf-8").splitlines()
        assert title
        assert underline == "=" * len(title), f"{example.name}: the line under the title has another length"
