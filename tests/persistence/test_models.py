"""A saved folder is there whole or not at all, and nothing but a saved model is ever replaced."""

import os
import subprocess
import sys

import pytest

from sidelight import LabelledMixture, load, save
from sidelight.persistence import write_model
from systems import needs_posix

MODEL = LabelledMixture(2, random_state=1)
OTHER = LabelledMixture(3, random_state=2)


def test_an_existing_folder_stays_unless_told_otherwise(tmp_path):
    save(MODEL, tmp_path / "model")
    with pytest.raises(FileExistsError, match="exists already; choose another name, or pass overwrite=True"):
        save(OTHER, tmp_path / "model")
    assert load(tmp_path / "model").n_components == 2
    save(OTHER, tmp_path / "model", overwrite=True)
    assert load(tmp_path / "model").n_components == 3
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_overwrite_does_not_need_a_folder(tmp_path):
    save(MODEL, str(tmp_path / "model"), overwrite=True)
    assert load(str(tmp_path / "model")).n_components == 2


def _with_notes(folder):
    save(MODEL, folder)
    (folder / "notes.txt").write_text("mine")


def _damaged(folder):
    save(MODEL, folder)
    (folder / "model.json").write_text("changed")


def _link(folder):
    save(MODEL, folder.with_name("real"))
    folder.symlink_to(folder.with_name("real"))


NOT_A_MODEL = {
    "empty": (lambda folder: folder.mkdir(), "is empty"),
    "with notes": (_with_notes, "holds notes.txt, so it is not a saved model"),
    "damaged": (_damaged, "has been changed or damaged"),
    "a file": (lambda folder: folder.write_text("mine"), "is not a folder"),
    "a link": (_link, "is not a folder"),
    "a broken link": (lambda folder: folder.symlink_to("nowhere"), "is not a folder"),
}


@pytest.mark.parametrize("kind", NOT_A_MODEL)
def test_only_a_saved_model_is_replaced(kind, tmp_path):
    prepare, reason = NOT_A_MODEL[kind]
    prepare(tmp_path / "model")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FileExistsError, match=reason):
        save(OTHER, tmp_path / "model", overwrite=True)
    assert sorted(tmp_path.rglob("*")) == before


def test_the_folder_around_it_must_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist; make it first"):
        save(MODEL, tmp_path / "nowhere" / "model")


def test_other_people_may_read_what_they_may_read_elsewhere(tmp_path):
    (tmp_path / "plain").mkdir()
    save(MODEL, tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode == (tmp_path / "plain").stat().st_mode


# Every opening, renaming and deleting of a file tells the hook, which ends the process there and then, without a trace.
KILLED_AT_EVERY_STEP = """
import os, signal, sys
from pathlib import Path
import numpy as np
from sidelight import LabelledMixture, save

def killed_at(step, folder):
    seen = 0
    def hook(event, arguments):
        nonlocal seen
        if event in ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir"):
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(hook)
    save(LabelledMixture(2, means_init=np.full(1000, 2)), folder, overwrite=True)
    os._exit(0)

for step in range(1, 100):
    place = Path(sys.argv[1]) / str(step)
    place.mkdir()
    save(LabelledMixture(1, means_init=np.full(1000, 1)), place / "model")
    child = os.fork()
    if not child:
        killed_at(step, place / "model")
    _, status = os.waitpid(child, 0)
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
print(step)
"""


@needs_posix
def test_a_process_that_is_killed_leaves_a_whole_model(tmp_path):
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED_AT_EVERY_STEP, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    n_steps = int(result.stdout)
    assert 10 < n_steps < 99
    kept = []
    for step in range(1, n_steps + 1):
        found = {path.suffix: path for path in (tmp_path / str(step)).iterdir()}
        assert found.keys() <= {"", ".partial", ".before"}
        # Between two renamings the old one stands beside its place.
        whole = load(found.get("", found.get(".before")))
        assert (whole.means_init == whole.n_components).all()
        kept.append((whole.n_components, "" in found))
    # The old model, for a moment under another name, then the new one.
    assert kept == sorted(kept, key=lambda outcome: (outcome[0], not outcome[1]))
    assert set(kept) == {(1, True), (1, False), (2, True)}
    assert [path.name for path in (tmp_path / str(n_steps)).iterdir()] == ["model"]


def test_a_replacement_cut_short_is_pointed_to(tmp_path):
    save(MODEL, tmp_path / ".model.elsewhere-1-0.before")
    with pytest.raises(ValueError, match="an interrupted save has left .model.elsewhere-1-0.before beside it"):
        load(tmp_path / "model")


def test_a_model_goes_plainly_into_a_folder_that_is_written_whole(tmp_path, monkeypatch):
    save(MODEL, tmp_path / "saved")
    monkeypatch.delattr(os, "rename")
    write_model(MODEL, tmp_path / "written")
    for name in ("model.json", "arrays.npz", "SHA256SUMS"):
        assert (tmp_path / "written" / name).read_bytes() == (tmp_path / "saved" / name).read_bytes()


@needs_posix
def test_a_disk_that_is_full_leaves_the_old_model(tmp_path):
    save(MODEL, tmp_path / "model")
    program = (
        "import resource, signal, sys; import numpy as np; from sidelight import LabelledMixture, save\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "save(LabelledMixture(means_init=np.zeros(10_000)), sys.argv[1], overwrite=True)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "model")], capture_output=True, text=True, check=False
    )
    assert "File too large" in result.stderr
    assert load(tmp_path / "model").n_components == 2
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
