"""Data sets: the real files where they are, and everything that can be wrong with a file."""

import gzip
import os

import numpy as np
import pandas as pd
import pytest

from sidelight.datasets import CATALOGUE, DatasetError, load
from sidelight.datasets.loading import as_in_catalogue, checked

FOLDER = os.environ.get("SIDELIGHT_DATA")
here = pytest.mark.skipif(FOLDER is None, reason="SIDELIGHT_DATA does not name the folder of data sets")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of data sets and an empty cache, with no way to the network."""
    monkeypatch.setenv("SIDELIGHT_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if CATALOGUE[name].bundled else here) for name in CATALOGUE]
)
def test_every_set_is_what_the_catalogue_says(name):
    X, y, description = load(name)
    entry = CATALOGUE[name]
    assert X.shape == entry.shape
    assert sum(entry.classes.values()) == len(y)
    names, counts = np.unique(y, return_counts=True)
    assert dict(zip(names.astype(str).tolist(), counts.tolist(), strict=True)) == dict(entry.classes)
    assert np.isfinite(np.asarray(X, dtype=float)).all()
    assert description == entry.about


@here
def test_values_are_read_as_they_are():
    assert load("glass").X.loc[0, "RI"] == 1.52101
    assert load("coil20").X.max() == 1.0
    assert load("mnist_test").X.dtype == np.uint8
    assert load("pendigits").y.dtype == np.int64


def test_an_unknown_name():
    with pytest.raises(
        DatasetError, match="name='irsi' is not in the catalogue of data sets; choose one of iris, wine"
    ):
        load("irsi")


def test_a_set_that_cannot_be_downloaded(folder):
    with pytest.raises(DatasetError, match=r"liver.csv.gz is not in .*data or .*Make it.*bupa.*SIDELIGHT_DATA"):
        load("liver")


def test_without_network(folder):
    with pytest.raises(DatasetError, match=r"glass.csv.gz is not in .*OpenML cannot be reached.*SIDELIGHT_DATA"):
        load("glass")
    assert list(folder.iterdir()) == []


def test_files_that_are_not_what_they_claim(folder):
    frame = pd.DataFrame(np.zeros((306, 3)), columns=list("abc")).assign(target="survived_5y")
    frame.to_csv(folder / "haberman.csv.gz", index=False)
    with pytest.raises(DatasetError, match="has the classes {'survived_5y': 306} and should have"):
        load("haberman")
    frame.head(9).to_csv(folder / "haberman.csv.gz", index=False)
    with pytest.raises(DatasetError, match=r"has the shape \(9, 3\) and should have \(306, 3\)"):
        load("haberman")
    frame.drop(columns="target").to_csv(folder / "haberman.csv.gz", index=False)
    with pytest.raises(DatasetError, match="has no column target"):
        load("haberman")


# Named, and without a time of day: processes that collect the tests in different seconds must find the same ones.
BROKEN = {
    "empty": b"",
    "not compressed": b"no gzip at all",
    "cut short": gzip.compress(b"a,target\n1,2\n" * 999, mtime=0)[:-9],
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
def test_broken_files(folder, content):
    (folder / "haberman.csv.gz").write_bytes(content)
    with pytest.raises(DatasetError, match=r"haberman.csv.gz cannot be read"):
        load("haberman")
    (folder / "coil20.npz").write_bytes(content)
    with pytest.raises(DatasetError, match=r"coil20.npz cannot be read"):
        load("coil20")


def test_the_cache_is_read_too(folder):
    cache = folder.parent / "cache" / "sidelight"
    cache.mkdir(parents=True)
    target = np.repeat(["1", "2"], [145, 200])
    pd.DataFrame(np.ones((345, 6))).assign(target=target).to_csv(cache / "liver.csv.gz", index=False)
    assert load("liver").y.tolist() == target.astype(int).tolist()


def test_a_download_goes_by_the_names_of_the_catalogue():
    entry = CATALOGUE["breast_cancer_wisconsin"]
    X = pd.DataFrame(np.ones((699, 9)))
    X.iloc[:16, 3] = np.nan
    theirs = np.repeat(["b", "m"], [14 + 444, 2 + 239])
    theirs[[0, 460]] = theirs[[460, 0]]  # so that two of the incomplete rows are malignant
    theirs[[1, 461]] = theirs[[461, 1]]
    _, y = as_in_catalogue(entry, X, theirs, "a download")
    assert dict(zip(*np.unique(y, return_counts=True), strict=True)) == {"benign": 444, "malignant": 239}


def test_a_download_that_is_another_set():
    entry = CATALOGUE["haberman"]
    with pytest.raises(DatasetError, match="a download has the classes"):
        as_in_catalogue(entry, pd.DataFrame(np.ones((306, 3))), np.repeat(["x", "y"], 153), "a download")


def test_numbers_as_names_become_numbers():
    entry = CATALOGUE["liver"]
    y = checked(entry, np.ones((345, 6)), np.repeat(["1", "2"], [145, 200]), "a table")
    assert y.dtype == np.int64


def test_sets_that_cannot_be_downloaded_say_where_they_come_from():
    by_hand = {
        name: entry.origin for name, entry in CATALOGUE.items() if entry.bundled is None and entry.openml is None
    }
    assert set(by_hand) == {"coil20", "liver", "leukemia_yeoh", "lung_bhattacharjee"}
    assert all(by_hand.values())
