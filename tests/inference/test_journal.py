"""Checkpoints: fits that are killed go on, and end with the same bytes."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import sidelight as sl
from sidelight.exceptions import ForeignFileError
from sidelight.inference.journal import read_record
from systems import needs_posix

MIXTURES = [
    sl.BayesianMixture(6, random_state=0),
    sl.LabelledMixture(3, random_state=0, n_init=2),
    sl.EquivalenceMixture(3, random_state=0),
    sl.PairwiseMixture(3, random_state=0),
    sl.PosteriorConstraintMixture(3, random_state=0),
    sl.ClassMixture(3, random_state=0),
]

# Imports once, then forks a fit that is killed, again and again.
KILLED_AT_RANDOM = """
import os, signal, sys, time
import numpy as np
from sidelight import LabelledMixture

random = np.random.default_rng(0)
X = np.concatenate([random.normal(size=(700, 4)) + centre for centre in (0, 1.5, 3.0)])
folder = sys.argv[1]

def digest(checkpoint=None):
    fitted = LabelledMixture(5, max_iter=40, tol=0, random_state=0).fit(X, checkpoint=checkpoint)
    return fitted.means_.tobytes() + fitted.labels_.tobytes()

def passes():
    return sum(name.startswith("pass-") for name in os.listdir(folder)) if os.path.isdir(folder) else 0

expected = digest()
n_killed, n_passes = 0, [0]
for further, delay in zip(random.integers(0, 4, size=20), random.uniform(0, 0.005, size=20)):
    wanted = passes() + further
    child = os.fork()
    if not child:
        digest(folder)
        os._exit(0)
    # However slow the machine is, the fit has taken some passes more; where in the next one it dies is left to chance.
    ended = 0
    while passes() < wanted and not ended:
        ended, status = os.waitpid(child, os.WNOHANG)
    time.sleep(delay)
    if not ended:
        os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    n_killed += os.WIFSIGNALED(status)
    n_passes.append(passes())
print(n_killed, len(set(n_passes)), digest(folder) == expected)
"""


def table(n=400):
    random = np.random.default_rng(0)
    classes = random.integers(3, size=n)
    return random.normal(size=(n, 2)) + 3 * np.array([[0, 0], [1, 0], [0, 1]])[classes], classes


class Stopped(Exception):
    pass


@pytest.mark.filterwarnings("ignore:The bound was still rising")
@pytest.mark.parametrize("estimator", MIXTURES, ids=lambda model: type(model).__name__)
def test_every_mixture_goes_on_where_it_was(tmp_path, estimator):
    X, classes = table()
    known = {"y": np.where(np.arange(400) % 40 == 0, classes, -1)} if "labels" in estimator.takes else {}
    if "cannot_link" in estimator.takes:
        known["cannot_link"] = [(a, 399 - a) for a in range(30) if classes[a] != classes[399 - a]]
    heard = []

    def stop(progress):
        heard.append(progress.objective)
        if len(heard) == 2:
            raise Stopped

    estimator.set_params(max_iter=15)
    whole = vars(estimator.fit(X, **known)).copy()
    with pytest.raises(Stopped):
        estimator.set_params(callbacks=[stop]).fit(X, **known, checkpoint=tmp_path / "c")
    n_kept = len(list((tmp_path / "c").glob("pass-*")))
    assert n_kept >= 2
    fitted = estimator.set_params(callbacks=None).fit(X, **known, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(fitted.means_, whole["means_"])
    np.testing.assert_array_equal(fitted.labels_, whole["labels_"])
    assert fitted.lower_bounds_ == whole["lower_bounds_"]


@needs_posix
def test_a_process_killed_at_twenty_random_moments_ends_with_the_same_bytes(tmp_path):
    killed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", KILLED_AT_RANDOM, str(tmp_path / "c")],
        capture_output=True,
        text=True,
        check=True,
    )
    n_killed, n_places, same = killed.stdout.split()
    assert int(n_killed) >= 5
    assert int(n_places) >= 3  # killed after different numbers of passes
    assert same == "True"


def test_a_generator_begins_where_it_began(tmp_path):
    X, _ = table()

    def stop(progress):
        raise Stopped

    model = sl.LabelledMixture(3, max_iter=200, callbacks=[stop])
    with pytest.raises(Stopped):
        model.fit(X, checkpoint=tmp_path / "c")
    fitted = model.set_params(callbacks=None).fit(X, checkpoint=tmp_path / "c")
    random = np.random.RandomState()
    random.set_state(read_record(tmp_path / "c" / "beginning")["random"])
    whole = sl.LabelledMixture(3, max_iter=200, random_state=random).fit(X)
    np.testing.assert_array_equal(fitted.means_, whole.means_)


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    X, classes = table()
    model = sl.LabelledMixture(3, random_state=0, max_iter=200)
    model.fit(X, checkpoint=tmp_path / "c")
    for other in (
        {"X": X + 1e-9},
        {"y": np.where(np.arange(400) < 9, classes, -1)},
        {"sample_weight": np.full(400, 2)},
    ):
        with pytest.raises(ValueError, match="holds passes of another fit"):
            model.fit(**{"X": X, **other}, checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match="Name another folder, or delete this one"):
        sl.LabelledMixture(3, random_state=1, max_iter=200).fit(X, checkpoint=tmp_path / "c")
    sl.LabelledMixture(3, random_state=0, max_iter=200, n_jobs=2).fit(X, checkpoint=tmp_path / "c")


def test_a_file_from_elsewhere_runs_no_code(tmp_path):
    for evil in (print, subprocess.Popen, sl.load):
        (tmp_path / "pass").write_bytes(pickle.dumps(evil))
        with pytest.raises(ForeignFileError, match="has no place in a checkpoint"):
            read_record(tmp_path / "pass")
    # A class that a module of sidelight has imported.
    (tmp_path / "pass").write_bytes(b"csidelight.inference.journal\nPath\n.")
    with pytest.raises(ForeignFileError, match="has no place in a checkpoint"):
        read_record(tmp_path / "pass")
    (tmp_path / "pass").write_bytes(b"not a pickle")
    with pytest.raises(ForeignFileError, match="is not a checkpoint"):
        read_record(tmp_path / "pass")
