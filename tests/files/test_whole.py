"""Output appears whole or not at all, whatever happens while it is written."""

import signal
import subprocess
import sys
import threading

import pytest

from sidelight.files.whole import left_behind, recover, whole_file, whole_folder
from systems import needs_posix

HALF_WRITTEN = """
import sys, time
from pathlib import Path
from sidelight.files.whole import whole_folder
with whole_folder(Path(sys.argv[1])) as folder:
    (folder / "first.csv").write_text("half")
    print("half written", flush=True)
    time.sleep(600)
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_takes_its_name_when_it_is_complete(tmp_path):
    with whole_file(tmp_path / "table.csv") as file:
        file.write("a\n")
        assert "table.csv" not in names(tmp_path)
    assert names(tmp_path) == ["table.csv"]
    assert (tmp_path / "table.csv").read_text(encoding="utf-8") == "a\n"


def test_a_failure_leaves_what_was_there(tmp_path):
    (tmp_path / "table.csv").write_text("old", encoding="utf-8")
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "table.csv") as file:
        file.write("new" * (1 // file.write("")))
    assert names(tmp_path) == ["table.csv"]
    assert (tmp_path / "table.csv").read_text(encoding="utf-8") == "old"


def test_a_folder_replaces_the_one_before_as_a_whole(tmp_path):
    for content in ("old", "new"):
        with whole_folder(tmp_path / "result") as folder:
            (folder / content).write_text(content, encoding="utf-8")
    assert names(tmp_path) == ["result"]
    assert names(tmp_path / "result") == ["new"]
    with pytest.raises(ZeroDivisionError), whole_folder(tmp_path / "result") as folder:
        (folder / "newer").write_text(str(1 / 0), encoding="utf-8")
    assert names(tmp_path) == ["result"]
    assert names(tmp_path / "result") == ["new"]


@needs_posix
@pytest.mark.parametrize("stop", ["SIGTERM", "SIGKILL"])
def test_a_stopped_process_leaves_nothing_half_written(tmp_path, stop):
    target = tmp_path / "output"
    process = subprocess.Popen([sys.executable, "-c", HALF_WRITTEN, str(target)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"half written\n"
    process.send_signal(getattr(signal, stop))
    process.wait()
    process.stdout.close()
    assert process.returncode != 0
    assert not target.exists()
    if stop == "SIGTERM":
        assert names(tmp_path) == []
    # What a killed process could not remove, the next run does.
    with whole_file(target) as file:
        file.write("whole")
    assert names(tmp_path) == ["output"]


# Libraries that draw, say, may catch what the request to terminate raises, or raise an error of their own instead.
ASKED_WHILE_ANOTHER_LIBRARY_WORKS = """
import signal, sys
from pathlib import Path
from sidelight.files.whole import whole_folder
with whole_folder(Path(sys.argv[1])):
    try:
        signal.raise_signal(signal.SIGTERM)
    except BaseException:
        if sys.argv[2] == "raise":
            raise RuntimeError("could not draw")
"""


@pytest.mark.parametrize("library", ["raise", "swallow"])
def test_a_process_that_is_asked_to_stop_does_so_whatever_other_libraries_make_of_it(tmp_path, library):
    program = [sys.executable, "-c", ASKED_WHILE_ANOTHER_LIBRARY_WORKS, str(tmp_path / "result"), library]
    assert subprocess.run(program, check=False, capture_output=True).returncode == 128 + signal.SIGTERM
    assert names(tmp_path) == []


KILLED_WHILE_REPLACING = """
import os, signal, sys
from pathlib import Path
from sidelight.files.whole import whole_folder
def kill(event, arguments):
    # The second rename, of the new folder to its place, comes when the old one has been moved away.
    if event == "os.rename" and str(arguments[0]).endswith(".partial"):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(kill)
with whole_folder(Path(sys.argv[1])) as folder:
    (folder / "new.csv").write_text("new")
"""


@needs_posix
def test_a_process_killed_between_the_two_renames_loses_nothing(tmp_path):
    target = tmp_path / "result"
    with whole_folder(target) as folder:
        (folder / "old.csv").write_text("old")
    killed = subprocess.run([sys.executable, "-c", KILLED_WHILE_REPLACING, str(target)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not target.exists()
    assert len(left_behind(target)) == 1
    recover(target)
    assert names(target) == ["old.csv"]
    assert left_behind(target) == []
    with whole_folder(target) as folder:
        (folder / "newer.csv").write_text("newer")
    assert names(tmp_path) == ["result"]
    assert names(target) == ["newer.csv"]


def test_bytes_and_the_permissions_of_other_output(tmp_path):
    (tmp_path / "plain").mkdir()
    with whole_folder(tmp_path / "result") as folder, whole_file(folder / "picture.png", "wb") as file:
        file.write(b"\0")
    assert (tmp_path / "result" / "picture.png").read_bytes() == b"\0"
    assert (tmp_path / "result").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_threads_of_a_process_do_not_remove_what_others_write(tmp_path):
    with whole_file(tmp_path / "table.csv") as first:
        first.write("first")
        with whole_file(tmp_path / "table.csv") as second:
            second.write("second")
        assert (tmp_path / "table.csv").read_text(encoding="utf-8") == "second"
    assert (tmp_path / "table.csv").read_text(encoding="utf-8") == "first"
    assert names(tmp_path) == ["table.csv"]

    def write(number):
        with whole_folder(tmp_path / f"result {number % 2}") as folder:
            (folder / "name").write_text(str(number), encoding="utf-8")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert names(tmp_path) == ["result 0", "result 1", "table.csv"]


def test_output_of_other_machines_and_running_processes_stays(tmp_path):
    for name in (".result.elsewhere-1-0.partial", ".result.elsewhere-1-0.before", ".result.notes.partial"):
        (tmp_path / name).mkdir()
    with whole_folder(tmp_path / "result"):
        pass
    assert len(names(tmp_path)) == 4


def test_a_program_keeps_its_own_answer_to_the_request_to_terminate(tmp_path):
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("asked"))
    try:
        with whole_file(tmp_path / "table.csv") as file:
            signal.raise_signal(signal.SIGTERM)
            file.write("whole")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == ["asked"]
    assert (tmp_path / "table.csv").read_text(encoding="utf-8") == "whole"


def test_an_error_of_the_system_names_the_place_that_was_asked_for(tmp_path):
    with pytest.raises(OSError, match="table.csv'") as caught, whole_file(tmp_path / "nowhere" / "table.csv"):
        pass
    assert caught.value.filename == str(tmp_path / "nowhere" / "table.csv")


# Every opening, renaming and deleting of a file tells the hook, which ends the process there and then, without a trace.
KILLED_AT_EVERY_STEP = """
import os, signal, sys
from pathlib import Path
from sidelight.files.whole import whole_folder

def write(target, content):
    with whole_folder(target) as folder:
        (folder / "a").write_text(content)
        (folder / "inner").mkdir()
        (folder / "inner" / "b").write_text(content)

def killed_at(step, target):
    seen = 0
    def hook(event, arguments):
        nonlocal seen
        if event in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    write(target, "new")
    os._exit(0)

for step in range(1, 100):
    place = Path(sys.argv[1]) / str(step)
    place.mkdir()
    write(place / "result", "old")
    child = os.fork()
    if not child:
        killed_at(step, place / "result")
    _, status = os.waitpid(child, 0)
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
print(step)
"""


@needs_posix
def test_a_process_killed_at_any_step_leaves_the_old_or_the_new_and_the_next_run_cleans_up(tmp_path):
    program = [sys.executable, "-W", "ignore", "-c", KILLED_AT_EVERY_STEP, str(tmp_path)]
    result = subprocess.run(program, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    n_steps = int(result.stdout)
    assert 10 < n_steps < 99
    contents = []
    for step in range(1, n_steps + 1):
        target = tmp_path / str(step) / "result"
        recover(target)
        contents.append({(target / name).read_text(encoding="utf-8") for name in ("a", "inner/b")})
        with whole_folder(target):
            pass
        assert names(target.parent) == ["result"]
    n_old = contents.count({"old"})
    assert contents == [{"old"}] * n_old + [{"new"}] * (n_steps - n_old)
    assert 0 < n_old < n_steps


def test_a_place_that_was_taken_in_the_meantime_is_not_replaced(tmp_path):
    target = tmp_path / "result"

    def overtaken():
        with whole_folder(target, replace=False) as slow, whole_folder(target, replace=False) as quick:
            (slow / "who").write_text("slow")
            (quick / "who").write_text("quick")

    with pytest.raises(FileExistsError, match="in the meantime"):
        overtaken()
    assert (target / "who").read_text() == "quick"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_an_empty_folder_is_a_free_place(tmp_path):
    (tmp_path / "result").mkdir()
    with whole_folder(tmp_path / "result", replace=False) as folder:
        (folder / "who").touch()
    assert (tmp_path / "result" / "who").exists()


ASKED_WHILE_IT_CLEANS_UP = """
import os, signal, sys
from pathlib import Path
from sidelight.files.whole import whole_folder
def ask(event, arguments):
    global removed
    if event in ("os.remove", "os.rmdir"):
        removed += 1
        if removed == int(sys.argv[2]):
            signal.raise_signal(signal.SIGTERM)
removed = 0
sys.addaudithook(ask)
with whole_folder(Path(sys.argv[1])) as folder:
    for name in ("first", "second"):
        (folder / name).write_text(name)
"""


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_request_to_stop_while_the_old_folder_is_removed_leaves_nothing_of_it(tmp_path, number):
    (tmp_path / "result").mkdir()
    for name in ("one", "two"):
        (tmp_path / "result" / name).write_text("old")
    command = [sys.executable, "-c", ASKED_WHILE_IT_CLEANS_UP, str(tmp_path / "result"), str(number)]
    assert subprocess.run(command, check=False).returncode == 128 + signal.SIGTERM
    assert names(tmp_path) == ["result"]
    assert names(tmp_path / "result") == ["first", "second"]
