"""Which columns have a usual value: by name in public tables, and drawn from densities that have none."""

import os
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from sidelight.tables.usual_values import has_usual_value, is_usual, most_frequent, rows_to_look_at

BUNDLED = {"digits": load_digits, "iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}

needs_tables = pytest.mark.skipif("SIDELIGHT_DATA" not in os.environ, reason="SIDELIGHT_DATA names no folder of tables")


@cache
def table(name):
    if name in BUNDLED:
        return BUNDLED[name](as_frame=True).data
    path = Path(os.environ["SIDELIGHT_DATA"]) / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return pd.read_csv(path, dtype={"target": str}).drop(columns="target")


def columns_with_usual_values(name):
    return {column for column, cells in table(name).items() if has_usual_value(cells.to_numpy(float))}


class TestPublicTables:
    def test_pixels_that_are_mostly_zero(self):
        found = columns_with_usual_values("digits")
        zeros = (table("digits") == 0).mean()
        changing = table("digits").nunique() > 1
        assert set(zeros.index[changing & (zeros > 0.55)]) <= found
        assert not found & set(zeros.index[zeros < 0.4])

    @needs_tables
    @pytest.mark.parametrize(
        ("name", "columns"),
        [
            ("ecoli", {"lip", "chg"}),
            ("yeast", {"erl", "pox", "nuc"}),
            ("segment", {"short-line-density-5", "short-line-density-2"}),
            ("pima", {"insulin", "triceps"}),
            ("glass", {"Mg", "Ba", "Fe"}),
            ("ionosphere", {"V3", "V5", "V11", "V27"}),
        ],
    )
    def test_columns_with_one_frequent_value(self, name, columns):
        assert columns_with_usual_values(name) == columns

    @needs_tables
    def test_genes_that_are_mostly_not_expressed(self):
        zeros = (table("pbmc68k_reduced") == 0).mean()
        assert set(zeros.index[zeros > 0.25]) <= columns_with_usual_values("pbmc68k_reduced")

    @pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer"])
    def test_bundled_measurements_have_none(self, name):
        assert columns_with_usual_values(name) == set()

    @needs_tables
    @pytest.mark.parametrize(
        "name",
        ["seeds", "vehicle", "satimage", "letter", "thyroid", "liver", "haberman", "sonar", "authorship", "srbct"],
    )
    def test_rounded_measurements_and_counts_have_none(self, name):
        assert columns_with_usual_values(name) == set()


class TestDensities:
    @pytest.mark.parametrize("step", [0.01, 0.1, 0.5, 1.0, 2.0])
    @pytest.mark.parametrize("draw", ["normal", "exponential", "uniform", "standard_t"])
    def test_rounded_draws_of_a_smooth_density_have_none(self, draw, step):
        random = np.random.default_rng(0)
        cells = random.standard_t(3, 2000) if draw == "standard_t" else getattr(random, draw)(size=2000)
        assert not has_usual_value(np.rint(cells / step) * step)

    @pytest.mark.parametrize("rate", [0.2, 1.0, 5.0, 50.0])
    def test_counts_have_none(self, rate):
        assert not has_usual_value(np.random.default_rng(1).poisson(rate, 3000).astype(float))

    @pytest.mark.parametrize("shares", [(0.7, 0.3), (0.5, 0.3, 0.2), (0.7, 0.2, 0.1), (0.25,) * 4])
    def test_few_values_that_are_all_frequent_have_none(self, shares):
        values = np.random.default_rng(2).choice(len(shares), p=shares, size=1000)
        assert not has_usual_value(values.astype(float))

    @pytest.mark.parametrize("share", [0.4, 0.6, 0.99])
    @pytest.mark.parametrize("value", [0.0, 3.0, -999.0])
    @pytest.mark.parametrize("decimals", [1, 8])
    def test_an_atom_added_to_a_density_is_found(self, share, value, decimals):
        random = np.random.default_rng(3)
        cells = random.normal(3.0, 2.0, size=1000).round(decimals)
        cells[random.random(1000) < share] = value
        assert has_usual_value(cells)
        assert most_frequent(cells) == value

    def test_other_values_that_are_very_rare_are_found(self):
        cells = np.zeros(100_000)
        cells[7] = 3.0
        assert has_usual_value(cells)

    def test_half_of_a_small_table_is_enough(self):
        random = np.random.default_rng(4)
        assert has_usual_value(np.where(np.arange(50) % 2 == 0, 0.0, random.gamma(2.0, size=50)))

    @pytest.mark.parametrize("cells", [[], [2.0], [2.0, 2.0], [0.0, 0.0, 0.0, 1.0], [0.0, 1.0]])
    def test_next_to_nothing_has_none(self, cells):
        assert not has_usual_value(np.array(cells))

    def test_units_do_not_matter(self):
        random = np.random.default_rng(5)
        cells = np.where(random.random(400) < 0.3, 0.0, random.normal(size=400).round(2))
        for scale, shift in ((1e-8, 0.0), (1e8, 3.0), (-7.0, 1e4)):
            assert has_usual_value(scale * cells + shift)

    def test_repeated_rows_are_not_atoms(self):
        random = np.random.default_rng(6)
        assert not has_usual_value(np.repeat(random.normal(size=40), random.integers(1, 9, size=40)))


def test_most_frequent_of_nothing_is_nan():
    assert np.isnan(most_frequent(np.empty(0)))
    assert most_frequent(np.array([3.0, 1.0, 3.0, 1.0])) == 1.0


def test_rows_to_look_at_are_few_and_evenly_spaced():
    assert rows_to_look_at(100, 200) == slice(None)
    rows = rows_to_look_at(1_000_000, 1000)
    assert len(rows) == 1000
    assert (rows[0], rows[-1]) == (0, 999_999)
    assert set(np.diff(rows)) <= {1000, 1001}


def test_missing_cells_and_columns_without_a_usual_value_hold_none():
    cells = np.array([[0.0, 1.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(is_usual(cells, np.array([0.0, np.nan])), [[True, False], [False, False]])
