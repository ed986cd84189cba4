"""Local hooks find their tools in the environment that make makes, on systems of either layout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOL = ROOT / ".ci" / "tool"

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")


def run(folder, **variables):
    search = {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])} | variables
    return subprocess.run(
        [shutil.which("bash"), str(TOOL), "codespell-of-this-test", "one", "two words"],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=search,
    )


def write_tool(file):
    file.parent.mkdir(parents=True)
    file.write_text('#!/usr/bin/env bash\necho "$# $2"\n', encoding="utf-8")
    file.chmod(0o755)


@pytest.mark.parametrize("file", ["bin/codespell-of-this-test", "Scripts/codespell-of-this-test.exe"])
@pytest.mark.parametrize("variable", ["VENV", "VIRTUAL_ENV"])
def test_a_tool_is_found_in_an_environment(tmp_path, file, variable):
    write_tool(tmp_path / "an environment" / file)
    done = run(tmp_path, **{variable: str(tmp_path / "an environment")})
    assert (done.returncode, done.stdout) == (0, "2 two words\n"), done.stderr


def test_a_tool_is_found_on_the_path(tmp_path):
    write_tool(tmp_path / "bin" / "codespell-of-this-test")
    done = run(tmp_path, PATH=os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]]))
    assert (done.returncode, done.stdout) == (0, "2 two words\n"), done.stderr


def test_a_tool_that_is_missing_is_named_with_the_remedy(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 127
    assert 'codespell-of-this-test is not installed; "make check" installs it' in done.stderr


def test_every_hook_uses_it():
    entries = re.findall(r"entry: (.*)", (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert len(entries) > 4
    assert [entry for entry in entries if not entry.startswith(".ci/tool ")] == []
