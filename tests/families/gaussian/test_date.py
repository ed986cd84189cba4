"""Dates: Gaussian with the other numbers, wherever the days are counted from, and shown as dates."""

import numpy as np
import pandas as pd
import pytest

from sidelight import BayesianMixture, LabelledMixture
from sidelight.describe.columns import column_summaries
from sidelight.describe.profiles import cluster_profiles, profile_words
from sidelight.describe.table import fitted_table

N = 160


def orders(missing=True):
    rng = np.random.default_rng(0)
    group = np.arange(N) % 2
    days = 400.0 * group + rng.normal(0, 20, size=N)
    frame = pd.DataFrame(
        {
            "when": pd.Timestamp("2020-01-03") + pd.to_timedelta(days, unit="D"),
            "amount": 0.1 * days + rng.normal(size=N),
        }
    )
    if missing:
        frame.loc[::7, "when"] = pd.NaT
    return frame, group


def test_dates_are_correlated_with_numbers_and_shown_as_dates():
    frame, group = orders()
    model = BayesianMixture(random_state=0).fit(frame)
    assert model._schema.kinds == ("date", "gaussian")
    assert model.n_clusters_ == 2
    assert (model.labels_ == group).all() or (model.labels_ != group).all()
    assert model.covariances_.shape == (2, 2, 2)
    assert (model.covariances_[:, 0, 1] > 20).all()  # 0.1 · 20² where rows were drawn
    when = column_summaries(fitted_table(model, frame))[0]
    first, last = frame["when"].min().date(), frame["when"].max().date()
    assert (when.kind, when.holds) == ("date", f"{first} to {last}")
    later = int(np.argmax(model.means_[:, 0]))
    words = profile_words(cluster_profiles(model, frame), int(model.component_clusters_[later]))
    assert any(word.startswith("when later by ") and "(2021-0" in word for word in words)


def test_the_same_days_as_numbers_give_the_same_clusters():
    frame, _ = orders()
    dates = BayesianMixture(random_state=0).fit(frame)
    since = (frame["when"] - pd.Timestamp("2020-01-01")) / pd.Timedelta(days=1)
    numbers = BayesianMixture(random_state=0).fit(frame.assign(when=since))
    np.testing.assert_array_equal(dates.labels_, numbers.labels_)
    np.testing.assert_allclose(dates.lower_bound_, numbers.lower_bound_, rtol=1e-7)


def test_mixtures_by_maximum_likelihood_take_dates_without_gaps():
    frame, group = orders(missing=False)
    model = LabelledMixture(2, family="auto", random_state=0).fit(frame)
    assert (model.labels_ == group).all() or (model.labels_ != group).all()
    with pytest.raises(ValueError, match="column 'when' has missing cells; LabelledMixture needs"):
        LabelledMixture(2, family="auto").fit(orders()[0])
