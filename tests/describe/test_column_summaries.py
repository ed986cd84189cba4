"""What the columns of a table hold."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from sidelight import BayesianMixture, COPKMeans
from sidelight.describe.columns import column_summaries
from sidelight.describe.table import fitted_table


def test_every_kind_of_column_is_summarised_and_chunks_add_up():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": 1e6 + random.normal(0, 5, 100),
            "region": np.array(["a", "b", "c", "d", "e"])[np.arange(100) % 5],
            "member": np.arange(100) % 4 == 0,
            "visits": random.poisson(3, 100),
        }
    )
    frame.loc[:9, "income"] = np.nan
    model = BayesianMixture(2, random_state=0).fit(frame)
    income, region, member, visits = column_summaries(fitted_table(model, frame))
    values = frame["income"].to_numpy()[10:]
    assert income[:2] == ("income", "number")
    assert income.missing == pytest.approx(0.1)
    assert income.holds.endswith(f"sd {values.std():.2f}")
    assert region[1:] == ("category", "a 20 %, b 20 %, c 20 %, d 20 % and 1 more", 0.0)
    assert member[1:] == ("yes or no", "25 % yes", 0.0)
    counts = frame["visits"]
    assert visits.kind == "count"
    assert visits.holds == f"0 to {counts.max()}, mean {counts.mean():.1f}, sd {counts.std(ddof=0):.2f}"
    again = column_summaries(fitted_table(model, frame, chunk_rows=7))
    assert [row.holds for row in again] == [row.holds for row in (income, region, member, visits)]


def test_only_the_first_columns_are_summarised():
    X = load_iris().data
    model = COPKMeans(2, random_state=0).fit(X)
    assert [row.name for row in column_summaries(fitted_table(model, X), most=3)] == [
        "feature 0",
        "feature 1",
        "feature 2",
    ]
