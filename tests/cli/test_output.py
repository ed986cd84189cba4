"""Places for output are checked first, and a command that fails leaves nothing there."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from sidelight.cli.errors import Refusal
from sidelight.cli.main import main
from sidelight.cli.output import check_file_free, check_folder_free, check_room
from systems import needs_posix


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_must_not_be_replaced(tmp_path):
    (tmp_path / "table.csv").touch()
    check_file_free(tmp_path / "table.csv", force=True)
    with pytest.raises(Refusal, match="exists; add --force"):
        check_file_free(tmp_path / "table.csv", force=False)
    with pytest.raises(Refusal, match="is a folder"):
        check_file_free(tmp_path, force=True)
    with pytest.raises(Refusal, match="no folder"):
        check_file_free(tmp_path / "nowhere" / "table.csv", force=True)

    def check(folder, *, force, ours=True):
        check_folder_free(folder, force=force, ours=lambda _: ours, what="result")

    check(tmp_path / "new", force=False)
    (tmp_path / "empty").mkdir()
    check(tmp_path / "empty", force=False)
    with pytest.raises(Refusal, match="add --force"):
        check(tmp_path, force=False)
    with pytest.raises(Refusal, match="no result"):
        check(tmp_path, force=True, ours=False)
    with pytest.raises(Refusal, match="is a file"):
        check(tmp_path / "table.csv", force=True)


def test_room_is_looked_for_before_long_work(tmp_path):
    check_room(tmp_path / "result", 1)
    with pytest.raises(Refusal, match="no room for the output"):
        check_room(tmp_path / "result", 1 << 60)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    assert CliRunner().invoke(main, ["example", "-o", str(folder), "--rows", "300", "--quiet"]).exit_code == 0
    return folder


def sidelight(*arguments, folder, **settings):
    command = [str(Path(sys.executable).with_name("sidelight")), *arguments]
    return subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, **settings
    )


def test_a_killed_fit_leaves_no_half_result(shop):
    process = sidelight("fit", "customers.csv", "--id-column", "id", "-o", "killed", "--no-report", folder=shop)
    while process.poll() is None and not list(shop.glob(".killed.*")):
        time.sleep(0.001)
    process.kill()
    process.communicate()
    if (shop / "killed").exists():  # it was complete before the signal came
        assert (shop / "killed" / "summary.json").is_file()
    assert CliRunner().invoke(main, ["predict", str(shop / "killed"), str(shop / "new.csv")]).exit_code in (0, 2)


@needs_posix
def test_a_full_disk_is_told_in_one_sentence_and_leaves_nothing(shop):
    import resource

    before = names(shop)

    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    process = sidelight(
        "fit", "customers.csv", "--id-column", "id", "--no-report", "--quiet", folder=shop, preexec_fn=no_room
    )
    _, told = process.communicate()
    assert process.returncode == 2
    assert told.startswith("Error: ")
    assert "result: there is no room left" in told
    assert len(told.splitlines()) == 1
    assert names(shop) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_device_is_told(shop):
    copy = str(shop / "customers.csv")
    result = CliRunner().invoke(main, ["compare", copy, copy, "--column", "region", "channel", "-o", "/dev/full"])
    assert result.exit_code == 2
    assert "no room" in result.stderr


@pytest.mark.skipif(
    os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere, and so may owners on other systems"
)
def test_a_folder_that_may_not_be_written_is_told(shop, tmp_path):
    tmp_path.chmod(0o500)
    result = CliRunner().invoke(main, ["example", "-o", str(tmp_path / "new")])
    assert result.exit_code == 2
    assert "permission denied" in result.stderr


QUICK = ("--id-column", "id", "--ignore", "segment", "--model", "labelled", "--clusters", "2", "--no-report", "--quiet")


def test_of_two_fits_to_one_place_one_succeeds(shop):
    both = [sidelight("fit", "customers.csv", *QUICK, "-o", "both", folder=shop) for _ in range(2)]
    told = [process.communicate()[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 2]
    assert "add --force to replace it" in "".join(told)
    assert CliRunner().invoke(main, ["predict", str(shop / "both"), str(shop / "new.csv")]).exit_code == 0


# A fit that is killed at its second rename, of the new result to its place, when the old one has been moved away.
KILLED_BETWEEN_THE_RENAMES = """
import os, signal, sys
from sidelight.cli.main import main
def kill(event, arguments):
    if event == "os.rename" and str(arguments[0]).endswith(".partial"):
        os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(kill)
main(sys.argv[1:])
"""


@needs_posix
@pytest.mark.parametrize("place", ["moved", "link to moved"])
def test_a_fit_killed_between_its_two_renames_leaves_the_old_result_for_predict(shop, place):
    (shop / "link to moved").unlink(missing_ok=True)
    (shop / "link to moved").symlink_to("moved")
    fitted = sidelight("fit", "customers.csv", *QUICK, "-o", "moved", "--force", folder=shop)
    assert fitted.communicate()[1] == ""
    old = (shop / "moved" / "clusters.csv").read_text()
    command = ["fit", "customers.csv", *QUICK, "--seed", "1", "-o", place, "--force"]
    program = [sys.executable, "-c", KILLED_BETWEEN_THE_RENAMES, *command]
    assert subprocess.run(program, cwd=shop, check=False).returncode == -signal.SIGKILL
    assert not (shop / "moved").exists()
    found = CliRunner().invoke(main, ["predict", str(shop / place), str(shop / "new.csv")])
    assert found.exit_code == 0, found.stderr
    assert (shop / "moved" / "clusters.csv").read_text() == old


def test_a_link_stays_a_link(shop):
    (shop / "real").mkdir()
    (shop / "link").symlink_to("real")
    (shop / "placed.csv").write_text("before")
    (shop / "latest.csv").symlink_to("placed.csv")
    for command in (
        ["fit", str(shop / "customers.csv"), *QUICK, "-o", str(shop / "link")],
        ["fit", str(shop / "customers.csv"), *QUICK, "-o", str(shop / "link"), "--force"],
        ["predict", str(shop / "link"), str(shop / "new.csv"), "-o", str(shop / "latest.csv"), "--force"],
    ):
        ran = CliRunner().invoke(main, command)
        assert ran.exit_code == 0, ran.stderr
    assert (shop / "link").is_symlink()
    assert (shop / "real" / "summary.json").is_file()
    assert (shop / "latest.csv").is_symlink()
    assert (shop / "placed.csv").read_text().startswith("id,cluster")


# Asked to stop while the report is drawn: libraries that draw read fonts from code that cannot pass an exception on.
ASKED_TO_STOP = """
import signal, sys
asked, event, ending = signal.Signals[sys.argv[1]], sys.argv[2], sys.argv[3]
def ask(happens, arguments):
    global event
    if happens == event and str(arguments[0]).endswith(ending):
        event = None
        signal.raise_signal(asked)
sys.addaudithook(ask)
from sidelight.cli.main import main
main(sys.argv[4:], prog_name="sidelight")
"""


@pytest.mark.parametrize(
    ("asked", "code", "event", "ending"),
    [
        ("SIGTERM", 143, "import", "matplotlib.backends.backend_agg"),
        ("SIGTERM", 143, "open", ".ttf"),
        ("SIGTERM", 143, "open", "report.html"),
        ("SIGINT", 130, "open", ".ttf"),
    ],
)
def test_a_fit_that_is_stopped_while_its_report_is_drawn_ends_as_asked(shop, tmp_path, asked, code, event, ending):
    fit = ["fit", str(shop / "customers.csv"), "--id-column", "id", "--model", "labelled", "--clusters", "2"]
    command = [sys.executable, "-c", ASKED_TO_STOP, asked, event, ending, *fit, "-o", str(tmp_path / "result")]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == code
    assert names(tmp_path) == []
    assert "failed" not in ended.stderr
