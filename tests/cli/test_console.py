"""What is said where."""

import json
import os
import subprocess
import sys
import warnings

from rich.table import Table

from sidelight.cli.console import Terminal
from systems import needs_posix


def test_results_go_out_and_notes_go_aside(capsys):
    terminal = Terminal()
    terminal.note("a note [b]with[/b] :smile:")
    terminal.show("a result")
    terminal.print_json({"rows": 1})
    printed = capsys.readouterr()
    assert printed.out == "a result\n"
    assert printed.err == "a note [b]with[/b] :smile:\n"
    assert terminal.notes == ["a note [b]with[/b] :smile:"]


def test_json_has_standard_output_to_itself(capsys):
    terminal = Terminal(as_json=True)
    terminal.show("a result")
    terminal.print_json({"name": "Århus"})
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"name": "Århus"}
    assert printed.err == "a result\n"


def test_quiet_is_quiet_but_keeps_notes(capsys):
    terminal = Terminal(quiet=True)
    terminal.note("a note")
    terminal.show("a result")
    with terminal.progress("working") as update:
        update(1, "detail")
    assert capsys.readouterr() == ("", "")
    assert terminal.notes == ["a note"]


def test_names_in_tables_are_not_taken_for_markup(capsys):
    table = Table()
    table.add_column("name")
    table.add_row("[red]:smile:[/red]")
    Terminal().show(table)
    assert "[red]:smile:[/red]" in capsys.readouterr().out


def test_warnings_become_notes(capsys):
    terminal = Terminal()
    with terminal.warnings_as_notes():
        warnings.warn("of two\nlines", UserWarning, stacklevel=1)
        warnings.warn("of two\nlines", UserWarning, stacklevel=1)
        warnings.warn("for developers", DeprecationWarning, stacklevel=1)
    assert terminal.notes == ["of two lines"]
    assert capsys.readouterr().err == "of two lines\n"


WORK = """
import time
from sidelight.cli.console import Terminal
with Terminal().progress("placing", total=4) as update:
    for done in range(5):
        update(done, f"row {done}")
        time.sleep(0.15)
"""


@needs_posix
def test_a_bar_moves_on_a_terminal():
    import pty

    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", WORK], stderr=theirs, env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # how a terminal says that nobody writes any more
        pass
    os.close(ours)
    assert process.wait() == 0
    assert b"placing" in shown
    assert b"left:" in shown
    assert len({shown.find(f"row {done}".encode()) for done in (1, 2, 3)} - {-1}) >= 2


def test_stages_are_said_where_there_is_no_terminal(capsys):
    for quiet in (False, True):
        with Terminal(quiet=quiet).progress("fitting", said=True), Terminal(quiet=quiet).progress("reading"):
            pass
    assert capsys.readouterr().err == "fitting …\n"


def test_very_many_messages_of_a_kind_and_very_long_ones_are_cut(capsys):
    terminal = Terminal()
    with terminal.warnings_as_notes():
        for number in range(3000):
            warnings.warn(f"column {number} is wrong", UserWarning, stacklevel=1)
        warnings.warn("another kind", UserWarning, stacklevel=1)
        warnings.warn("x" * 100_000 + " is long", UserWarning, stacklevel=1)
    assert terminal.notes[:10] == [f"column {number} is wrong" for number in range(10)]
    assert terminal.notes[10:12] == ["… and 2\u202f990 more messages like the last one.", "another kind"]
    assert len(terminal.notes) == 13
    assert terminal.notes[12].endswith("xxx is long")
    assert len(terminal.notes[12]) < 5000
    assert len(capsys.readouterr().err) < 10_000
