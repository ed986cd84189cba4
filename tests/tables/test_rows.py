"""The table in blocks, in memory and on disk."""

import mmap
import os

import numpy as np
import pytest

from sidelight.tables.survey import survey
from sidelight.tables.table import CHUNK_ROWS, ArrayTable, Rows
from systems import needs_linux


def gather(rows, block_rows=100):
    return [block for chunk in rows.chunks() for block in rows.blocks(chunk, block_rows)]


def test_blocks_cover_the_table_in_order():
    X = np.arange(2.0 * (CHUNK_ROWS + 250)).reshape(-1, 2)
    codes = np.arange(len(X))
    blocks = gather(Rows(ArrayTable(X), weights=codes.astype(float), codes=codes))
    np.testing.assert_array_equal(np.concatenate([block.values for block in blocks]), X)
    np.testing.assert_array_equal(np.concatenate([block.codes for block in blocks]), codes)
    np.testing.assert_array_equal(np.concatenate([block.weights for block in blocks]), codes)


def test_rows_left_out_do_not_appear():
    X = np.arange(500.0)[:, None]
    left_out = np.isin(np.arange(500), [3, 250, *range(300, 400)])
    blocks = gather(Rows(ArrayTable(X), left_out=left_out))
    np.testing.assert_array_equal(np.concatenate([block.values[:, 0] for block in blocks]), X[~left_out, 0])
    numbers = np.concatenate([np.arange(500)[block.numbers] for block in blocks])
    np.testing.assert_array_equal(numbers, np.flatnonzero(~left_out))


@pytest.fixture
def mapped(tmp_path):
    X = np.random.default_rng(0).normal(size=(3 * CHUNK_ROWS + 5, 4))
    np.save(tmp_path / "table.npy", X)
    return X, tmp_path / "table.npy"


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_a_mapped_table_reads_the_same_twice_though_its_pages_are_given_back(mapped, mode):
    X, path = mapped
    table = np.load(path, mmap_mode=mode)
    for view, expected in ((table, X), (np.asarray(table), X), (table[100:], X[100:]), (table[:, 1:], X[:, 1:])):
        rows = Rows(ArrayTable(view))
        for _ in range(2):
            np.testing.assert_array_equal(np.concatenate([block.values for block in gather(rows)]), expected)


def test_changes_in_a_copy_on_write_map_are_not_lost(mapped):
    _, path = mapped
    table = np.load(path, mmap_mode="c")
    table[5] = 77.0
    gather(Rows(ArrayTable(table)))
    np.testing.assert_array_equal(table[5], 77.0)


def test_changes_in_a_shared_map_are_not_lost(mapped):
    _, path = mapped
    table = np.load(path, mmap_mode="r+")
    table[5] = 77.0
    gather(Rows(ArrayTable(table)))
    np.testing.assert_array_equal(table[5], 77.0)


@needs_linux
@pytest.mark.skipif(not hasattr(mmap, "MADV_DONTNEED"), reason="pages cannot be given back on this system")
def test_a_pass_over_a_mapped_table_does_not_fill_memory(tmp_path):
    path = tmp_path / "large.dat"
    table = np.memmap(path, dtype=float, mode="w+", shape=(2_000_000, 8))  # 128 MB
    for start in range(0, len(table), 100_000):
        table[start : start + 100_000] = start
    table.flush()
    del table
    reading = np.memmap(path, dtype=float, mode="r", shape=(2_000_000, 8))
    before = resident_bytes()
    survey(ArrayTable(reading))
    assert resident_bytes() - before < 30_000_000


def resident_bytes():
    with open("/proc/self/statm") as status:  # noqa: PTH123
        return int(status.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_survey_tells_moments_and_the_first_bad_cell():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5000, 3)) * [1.0, 1e-3, 0.0] + [1e6, -5.0, 7.0]
    weights = rng.uniform(0, 2, size=5000)
    found = survey(ArrayTable(X), weights)
    mean = np.average(X, axis=0, weights=weights)
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.variance[:2], np.average((X - mean) ** 2, axis=0, weights=weights)[:2], rtol=1e-6)
    assert found.variance[2] == 0.0
    assert found.first_bad is None
    np.testing.assert_allclose(found.total, weights.sum())
    X[4321, 1] = np.inf
    assert survey(ArrayTable(X)).first_bad == (4321, 1)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200, -1e151])
def test_no_cell_that_cannot_be_squared_goes_unnoticed(bad):
    X = np.zeros((20_000, 2))
    X[19_999, 0] = bad
    assert survey(ArrayTable(X)).first_bad == (19_999, 0)
