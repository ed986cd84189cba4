"""Tests can be collected on every system that the workflow names, and files arrive there as they are."""

import ast
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Modules that Windows does not have.
OF_POSIX = {"fcntl", "grp", "pty", "pwd", "resource", "termios", "tty"}


def imported(file):
    """Return the modules that a file imports as soon as it is read."""
    pending, found = [ast.parse(file.read_text(encoding="utf-8"))], set()
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)
    return found


@pytest.mark.parametrize("folder", ["src", "tests"])
def test_nothing_that_only_posix_has_is_imported_at_once(folder):
    files = sorted((ROOT / folder).rglob("*.py"))
    assert len(files) > 100
    assert {file.name: imported(file) & OF_POSIX for file in files if imported(file) & OF_POSIX} == {}


@pytest.mark.skipif(shutil.which("git") is None or not (ROOT / ".git").exists(), reason="this is no checkout of git")
def test_lines_of_text_end_the_same_way_on_every_system():
    """Scripts with other ends of lines do not run, and bytes of tables would differ."""
    files = [".ci/run", ".ci/tool", "README.md", "Makefile", "benchmarks/results/any.trials.csv"]
    command = ["git", "check-attr", "text", "eol", "--", *files]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    assert {tuple(line.rsplit(": ", 2)[1:]) for line in told} == {("text", "auto"), ("eol", "lf")}


def test_files_of_tests_have_different_names():
    """Pytest collects no two files of one name."""
    names = [file.name for file in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(name for name in set(names) if names.count(name) > 1) == []
