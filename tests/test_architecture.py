"""The page on architecture names files and functions that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
SOURCE = ROOT / "src" / "sidelight"


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([a-z_/]+\.py)`", PAGE))))
def test_files_are_there(name):
    assert (SOURCE / name).is_file() or (ROOT / name).is_file()


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([a-z_/]+/)`", PAGE))))
def test_folders_are_there(name):
    assert (SOURCE / name).is_dir() or (ROOT / name).is_dir()


@pytest.mark.parametrize(("name", "file"), re.findall(r"`([A-Za-z_.]+)`\s+\(`([a-z_/]+\.py)`\)", PAGE))
def test_functions_are_in_their_files(name, file):
    text = (SOURCE / file).read_text(encoding="utf-8")
    for part in name.split("."):
        assert re.search(rf"(def|class) {part}\b", text), f"{file} has no {part}"


def test_enough_is_checked():
    assert len(re.findall(r"`([A-Za-z_.]+)`\s+\(`([a-z_/]+\.py)`\)", PAGE)) > 10
