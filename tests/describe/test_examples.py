"""Typical rows, cells in words, and histograms by cluster."""

import numpy as np
import pandas as pd
import pytest

from sidelight import LabelledMixture
from sidelight.describe.assignment import clusters_of
from sidelight.describe.examples import cluster_histograms, draw_sample, telling_columns, typical_rows, written_cells
from sidelight.describe.profiles import cluster_profiles
from sidelight.describe.table import fitted_table


@pytest.fixture(scope="module")
def fitted():
    random = np.random.default_rng(0)
    group = np.arange(60) % 2
    frame = pd.DataFrame(
        {
            "noise": random.normal(size=60).round(3),
            "size": (20 * group + random.normal(size=60)).round(2),
            "town": np.where(group == 1, "Oslo", "Rome"),
            "since": pd.Timestamp("2020-01-31") + pd.to_timedelta(300 * group + np.arange(60) % 7, unit="D"),
            "paid": (np.arange(60) // 2) % 2 == 0,
        }
    )
    frame.loc[0, "town"] = None
    model = LabelledMixture(2, random_state=0, family="auto", power=False).fit(frame)
    assert len(np.unique(model.labels_[::2])) == len(np.unique(model.labels_[1::2])) == 1
    return model, frame, fitted_table(model, frame)


def test_cells_in_words(fitted):
    _, frame, table = fitted
    first, second = written_cells(table, [0, 1], [2, 3, 4, 1])
    assert first[:3] == ["–", "2020-01-31", "yes"]
    assert second[:3] == ["Oslo", "2020-11-27", "yes"]
    assert float(second[3]) == pytest.approx(frame["size"][1], rel=0.01)


def test_columns_that_tell_clusters_apart_come_first(fitted):
    model, frame, table = fitted
    shown = telling_columns(table, cluster_profiles(model, frame), 3)
    assert sorted(shown) == [1, 2, 3]
    assert telling_columns(table, None, 2) == [0, 1]


def test_the_typical_row_is_near_the_median_of_its_cluster(fitted):
    model, frame, table = fitted
    clusters = clusters_of(model, table)
    sample = draw_sample(table, clusters, [1, 2])
    rows = typical_rows(table, sample, 3)
    assert rows[2] is None
    for cluster, row in enumerate(rows[:2]):
        inside = frame[clusters == cluster]
        assert clusters[row] == cluster
        away = (inside["size"] - inside["size"].median()).abs()
        assert away[row] == away[inside["town"].notna()].min()


def test_histograms_count_every_cell_that_is_there(fitted):
    model, _, table = fitted
    clusters = clusters_of(model, table)
    size, town, since = cluster_histograms(table, draw_sample(table, clusters, [1, 2, 3]), 2)
    assert size.counts.sum(axis=1).tolist() == [30, 30]
    assert not (size.counts[0] * size.counts[1]).any()
    assert town.bins == ["Oslo", "Rome"]
    assert town.counts.sum() == 59
    assert since.bins[0] == "2020-01-31"
    many = pd.DataFrame({"code": [f"c{n % 25}" for n in range(200)], "x": np.arange(200) % 2 * 9.0})
    other = LabelledMixture(2, random_state=0, family="auto", power=False).fit(many)
    whole = fitted_table(other, many)
    codes, _ = cluster_histograms(whole, draw_sample(whole, clusters_of(other, whole), [0, 1]), 2)
    assert codes.bins[-1] == "others"
    assert codes.counts.sum() == 200
