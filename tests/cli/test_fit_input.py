"""Files are read once: what the later steps of a command need is kept."""

import ctypes
import os
import struct
import sys
import threading

import pandas as pd
import pytest
from click.testing import CliRunner

from sidelight.cli.fit_input import FitRequest, read_fit_input
from sidelight.cli.main import main

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="openings are counted by inotify")
IN_OPEN, IN_CLOSE = 0x20, 0x18
EVENT = struct.Struct("iIII")


class Openings:
    """Counts how often a file is opened in the block, by whatever part of whatever program.

    Python's audit events would miss files that arrow opens.
    """

    def __init__(self, path):
        self.count = 0
        self._watch = ctypes.CDLL(None).inotify_init1(0)
        assert ctypes.CDLL(None).inotify_add_watch(self._watch, os.fsencode(path), IN_OPEN | IN_CLOSE) >= 0
        self._path = path
        self._reader = threading.Thread(target=self._read)

    def _read(self):
        while True:
            events = os.read(self._watch, 4096)
            for start in range(0, len(events), EVENT.size):
                _, mask, _, length = EVENT.unpack_from(events, start)
                assert length == 0
                if not mask & (IN_OPEN | IN_CLOSE):  # the watch has been removed
                    return
                self.count += bool(mask & IN_OPEN)

    def __enter__(self):
        self._reader.start()
        return self

    def __exit__(self, *_):
        ctypes.CDLL(None).inotify_rm_watch(self._watch, 1)
        self._reader.join()
        os.close(self._watch)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    assert CliRunner().invoke(main, ["example", "-o", str(folder), "--rows", "300", "--quiet"]).exit_code == 0
    for name in ("customers", "new"):
        pd.read_csv(folder / f"{name}.csv").to_parquet(folder / f"{name}.parquet")
    return folder


def openings(path, *arguments):
    with Openings(path) as counted:
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return counted.count


def test_openings_are_counted(tmp_path):
    (tmp_path / "file").touch()
    with Openings(tmp_path / "file") as counted:
        for _ in range(3):
            (tmp_path / "file").read_bytes()
    assert counted.count == 3


# A CSV file is looked through before it is read, so that errors name the line.
@pytest.mark.parametrize(("ending", "most"), [("csv", 2), ("parquet", 1)])
def test_fit_and_predict_read_a_table_once(shop, tmp_path, ending, most):
    table, links, new = shop / f"customers.{ending}", shop / "links.csv", shop / f"new.{ending}"
    fit = ["fit", table, "--id-column", "id", "--label-column", "segment", "--links", links]
    fit += ["--model", "equivalence", "--clusters", "6"]
    assert openings(table, *fit, "-o", tmp_path / "result") == most
    assert openings(links, *fit, "-o", tmp_path / "again", "--no-report") == 2
    assert openings(new, "predict", tmp_path / "result", new, "-o", tmp_path / "placed.csv") == most
    clusters = tmp_path / "result" / "clusters.csv"
    assert openings(clusters, "compare", clusters, shop / "truth.csv") == 2


def test_everything_that_the_files_say(shop):
    request = FitRequest(
        table=shop / "customers.csv",
        id_column="id",
        label_column="segment",
        links=(shop / "links.csv",),
        ignore=("age",),
        categorical=("visits",),
        confidence=1.0,
        model="bayesian",
        clusters=None,
        power=None,
        seed=0,
        jobs=1,
        encoding="utf-8",
    )
    frame, given = read_fit_input(request)
    table = pd.read_csv(request.table, dtype=str, keep_default_na=False)
    assert list(frame.columns) == list(given.features.kinds) == list(given.features.missing)
    assert not {"id", "segment", "age", "comment"} & set(frame.columns)
    assert given.features.kinds["visits"] == "categorical"
    assert [omission.name for omission in given.features.omissions] == ["comment"]
    assert given.ids.tolist() == table["id"].tolist()
    assert (given.side.labels >= 0).sum() == (table["segment"] != "").sum()
    assert len(given.side.must_link) + len(given.side.cannot_link) == 60
    assert given.pool.columns == [name for name in table.columns if name != "id"]
    assert given.pool.values == table.drop(columns="id").to_numpy().tolist()
