"""The list of commands, and what is imported to answer."""

import gc
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from sidelight.cli.main import LazyCommands, main

HEAVY = {"sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "numba"}
PROGRAM = """
import sys
from sidelight.cli.main import main
main(sys.argv[1:], prog_name="sidelight", standalone_mode=False)
print(*sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
"""
HELPS = [["--help"], ["--version"], *([name, "--help"] for name in main.commands)]


@pytest.mark.parametrize("arguments", HELPS, ids=" ".join)
def test_help_imports_nothing_heavy(arguments):
    result = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "sidelight" in result.stdout
    imported = set(result.stderr.split())
    assert "click" in imported
    assert not imported & HEAVY


def test_listing_commands_imports_none_of_them():
    result = subprocess.run([sys.executable, "-c", PROGRAM, "--help"], capture_output=True, text=True, check=False)
    assert "numpy" not in result.stderr.split()


@pytest.mark.parametrize("name", main.commands)
def test_the_list_says_what_the_help_of_the_command_says(name):
    context = click.Context(main, info_name="sidelight")
    _, command, rest = LazyCommands.resolve_command(main, context, [name, "--quiet"])
    assert rest == ["--quiet"]
    assert command.name == name
    assert command is not main.commands[name]
    assert command.get_short_help_str(1000) == main.commands[name].get_short_help_str(1000)


def test_unknown_commands_are_refused():
    result = CliRunner().invoke(main, ["cluster"])
    assert result.exit_code == 2
    assert "No such command 'cluster'" in result.stderr


def test_the_package_runs_as_the_command():
    program = [sys.executable, "-m", "sidelight", "--version"]
    assert subprocess.run(program, capture_output=True, text=True, check=True).stdout.startswith("sidelight, version")


def test_garbage_is_looked_for_less_often_only_while_a_command_runs():
    before, while_it_runs = gc.get_threshold(), []

    @main.command("threshold")
    def threshold():
        while_it_runs.append(gc.get_threshold())

    try:
        CliRunner().invoke(main, ["threshold"])
    finally:
        del main.commands["threshold"]
    assert while_it_runs[0][0] > before[0]
    assert gc.get_threshold() == before
