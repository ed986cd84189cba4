"""The rows that a result keeps to ask about."""

from types import SimpleNamespace

import numpy as np
import pytest

from sidelight.cli.errors import Refusal
from sidelight.cli.result.folder import Pool, choose_rows, doubtful_links, pool_rows, read_pool, write_pool
from sidelight.cli.tables.files import open_table
from sidelight.metrics import Suspicions
from sidelight.side import SideInformation


def test_of_a_large_table_rows_with_statements_are_kept_and_some_others():
    labels = np.full(50_000, -1)
    labels[[7, 49_999]] = 0, 1
    side = SideInformation.build(50_000, y=labels, must_link=[(30, 31)])
    for most in (20_000, 5):
        rows = choose_rows(side, seed=0, most=most)
        assert len(rows) == len(set(rows.tolist())) == most
        assert {7, 30, 31, 49_999} <= set(rows.tolist())
        assert np.all(np.diff(rows) > 0)
    assert choose_rows(side, seed=0, most=1).tolist() == [7, 30, 31, 49_999]
    assert choose_rows(SideInformation.build(4), seed=0).tolist() == [0, 1, 2, 3]


def pool():
    side = SideInformation.build(
        3, y=["x", None, "y"], must_link=[(0, 1)], cannot_link=[(1, 2)], confidence={"cannot_link": 0.75}
    )
    posterior = np.array([[0.9, 0.1], [0.25, 0.75], [1 / 3, 2 / 3]])
    values = [["Oslo", "a,b"], ["", ""], ["", "ü"]]
    return Pool(np.array(["p", "q", "r"]), posterior, np.eye(3), side, np.array([[1, 2]]), ["town", "note"], values)


def test_what_is_written_is_read(tmp_path):
    before = pool()
    write_pool(before, tmp_path)
    after = read_pool(tmp_path)
    assert after.side == before.side
    assert after.ids.tolist() == ["p", "q", "r"]
    assert after.doubtful.tolist() == [[1, 2]]
    assert (after.columns, after.values) == (before.columns, before.values)
    np.testing.assert_allclose(after.posterior, before.posterior, atol=1e-7)
    np.testing.assert_allclose(after.posterior.sum(axis=1), 1, atol=1e-15)


def test_results_without_doubtful_links_are_read(tmp_path):
    write_pool(pool(), tmp_path)
    with np.load(tmp_path / "statements.npz") as stored:
        arrays = {name: stored[name] for name in stored if name != "doubtful"}
    np.savez(tmp_path / "statements.npz", **arrays)
    assert read_pool(tmp_path).doubtful.shape == (0, 2)


def test_doubtful_links_are_places_among_the_rows_kept():
    side = SideInformation.build(9, must_link=[(0, 1), (2, 5)], cannot_link=[(5, 8)])
    model = SimpleNamespace(violations_=SimpleNamespace(suspicions=Suspicions.of(side, np.array([0.6, 0.9, 0.7]))))
    assert doubtful_links(model, np.array([2, 5, 8])).tolist() == [[0, 1], [1, 2]]
    assert doubtful_links(object(), np.array([2])).shape == (0, 2)


@pytest.mark.parametrize("name", ["statements.npz", "rows.csv"])
def test_damage_is_told(tmp_path, name):
    write_pool(pool(), tmp_path)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(Refusal, match="is damaged.*fit again"):
        read_pool(tmp_path)


def test_cells_are_kept_as_they_stand_in_the_table(tmp_path):
    (tmp_path / "table.csv").write_text("a,b\n01,x\n2.50,\n3,y\n", encoding="utf-8")
    file = open_table(tmp_path / "table.csv")
    kept = pool_rows(file, file.read(file.header), ["b", "a"], np.array([1, 0]))
    assert kept.rows.tolist() == [1, 0]
    assert (kept.columns, kept.values) == (["b", "a"], [["", "2.50"], ["x", "01"]])
