"""Which features make a cluster: the numbers against plain sums, and the words."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris

from sidelight import BayesianMixture, COPKMeans, LabelledMixture
from sidelight.describe.profiles import cluster_profiles, profile_words
from sidelight.tables.comparison import MEANS, SHARES

IRIS = load_iris(as_frame=True).data


def customers(n=300):
    random = np.random.default_rng(1)
    group = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "income": 1e6 + np.array([20.0, 45, 80])[group] + random.normal(0, 5, n),
            "region": np.where(random.random(n) < 0.8, np.array(["north", "south", "east"])[group], "west"),
            "member": random.random(n) < np.array([0.9, 0.5, 0.1])[group],
            "visits": random.poisson(np.array([1, 5, 12])[group]),
        }
    )
    frame.loc[::7, "income"] = np.nan
    frame.loc[::11, "region"] = None
    return frame


@pytest.fixture(scope="module")
def described():
    frame = customers()
    y = np.where(np.arange(300) % 10 == 0, np.array(["low", "middle", "high"], dtype=object)[np.arange(300) % 3], None)
    model = BayesianMixture(3, random_state=0).fit(frame, y)
    return model, frame, cluster_profiles(model, frame)


def plain_values(column, weights):
    """Weighted mean in each cluster, in the rest, and the standard deviation, straight from the definitions."""
    seen = ~pd.isna(column)
    values, mass = column[seen].astype(float), weights[seen]
    inside = [np.average(values, weights=mass[:, k]) for k in range(mass.shape[1])]
    outside = [np.average(values, weights=np.delete(mass, k, axis=1).sum(axis=1)) for k in range(mass.shape[1])]
    return np.array(inside), np.array(outside), values.std()


def test_numbers_shares_and_counts_are_compared_by_posterior_weights(described):
    model, frame, profiles = described
    assert profiles.weighted_by == "posterior probabilities"
    assert profiles.names == ["high", "low", "middle"]
    region = frame["region"].to_numpy()
    columns = {
        "income": frame["income"].to_numpy(),
        "member": frame["member"].to_numpy().astype(float),
        "visits": frame["visits"].to_numpy().astype(float),
    } | {
        f"region = {name}": np.where(pd.isna(region), np.nan, (region == name).astype(float))
        for name in ("east", "north", "south", "west")
    }
    assert {feature.name for feature in profiles.features} == set(columns)
    for place, feature in enumerate(profiles.features):
        inside, outside, deviation = plain_values(columns[feature.name], model.posterior_)
        np.testing.assert_allclose(profiles.inside[:, place], inside, rtol=1e-9)
        np.testing.assert_allclose(profiles.outside[:, place], outside, rtol=1e-9)
        strength = (inside - outside) / deviation
        np.testing.assert_allclose(profiles.strength[:, place], strength, rtol=1e-6)
        if feature.comparison is MEANS:
            np.testing.assert_allclose(profiles.difference[:, place], strength, rtol=1e-6)
        elif feature.comparison is SHARES:
            np.testing.assert_allclose(profiles.difference[:, place], inside - outside, rtol=1e-9)
        else:
            np.testing.assert_allclose(profiles.difference[:, place], np.log2(inside / outside), atol=0.05)
    # The table is read a chunk at a time, and the chunks add up.
    in_chunks = cluster_profiles(model, frame, chunk_rows=37)
    np.testing.assert_allclose(in_chunks.strength, profiles.strength, rtol=1e-6)


def test_the_most_telling_features_come_first(described):
    _, _, profiles = described
    strongest = np.abs(profiles.strength).max(axis=0)
    assert (np.diff(strongest) <= 0).all()
    few = profiles.most_telling(3)
    assert len(few.features) == 3
    assert {int(np.abs(few.strength[k]).argmax()) for k in range(3)} <= {0, 1, 2}
    # Every cluster's best feature is there.
    for k in range(3):
        assert profiles.features[np.abs(profiles.strength[k]).argmax()] in few.features


def test_words_say_which_way_and_how_far(described):
    _, _, profiles = described
    high = profile_words(profiles, 0)
    assert high[0].startswith("income higher (+1.")
    assert any(words.startswith("visits higher (×") for words in high)
    assert any("region = east more often (" in words and " % against " in words for words in high)
    assert any("member less often" in words for words in high)
    assert len(profile_words(profiles, 0, most=2)) == 2


def test_a_cluster_like_all_others_has_no_words():
    table = np.random.default_rng(0).normal(size=(2000, 2))
    model = COPKMeans(2, random_state=0).fit(table)
    model.labels_ = np.arange(2000, dtype=np.int32) % 2
    assert profile_words(cluster_profiles(model, table), 0) == []


def test_without_a_posterior_rows_count_for_their_own_cluster():
    model = COPKMeans(3, random_state=0).fit(IRIS)
    profiles = cluster_profiles(model, IRIS)
    assert profiles.weighted_by == "clusters"
    place = [feature.name for feature in profiles.features].index("petal length (cm)")
    means = IRIS["petal length (cm)"].groupby(model.labels_).mean()
    np.testing.assert_allclose(profiles.inside[:, place], means, rtol=1e-12)


def test_sparse_counts_are_compared_by_their_shares_of_the_row():
    random = np.random.default_rng(0)
    shares = np.array([[0.6, 0.2, 0.1, 0.1], [0.1, 0.2, 0.1, 0.6]])
    group = np.arange(200) % 2
    counts = np.array([random.multinomial(random.integers(20, 400), shares[g]) for g in group]).astype(float)
    model = BayesianMixture(2, family="multinomial", random_state=0).fit(csr_array(counts))
    sparse, dense = cluster_profiles(model, csr_array(counts)), cluster_profiles(model, counts)
    np.testing.assert_allclose(sparse.strength, dense.strength, rtol=1e-9)
    first = [feature.column for feature in sparse.features].index(0)
    np.testing.assert_allclose(np.sort(sparse.inside[:, first]), [0.1, 0.6], atol=0.02)
    np.testing.assert_allclose(np.abs(sparse.difference[:, first]), np.log2(6), atol=0.2)
    assert {feature.column for feature in sparse.features[:2]} == {0, 3}


def test_columns_that_never_change_and_empty_cells_give_no_nan():
    table = np.column_stack([np.repeat([0.0, 9.0], 20) + np.tile([0, 0.1], 20), np.full(40, 3.0)])
    frame = pd.DataFrame(table, columns=["moves", "stays"])
    frame["half"] = np.where(np.arange(40) < 20, np.nan, 1.0)
    kinds = {"stays": "gaussian", "half": "gaussian"}
    model = BayesianMixture(2, family=kinds, random_state=0, covariance_type="diag").fit(frame)
    profiles = cluster_profiles(model, frame)
    assert all(np.isfinite(part).all() for part in (profiles.inside, profiles.difference, profiles.strength))
    assert profiles.features[0].name == "moves"
    assert not profiles.strength[:, [feature.name != "moves" for feature in profiles.features]].any()


def test_a_usual_value_is_compared_by_shares_and_the_other_cells_by_means():
    random = np.random.default_rng(0)
    group = np.repeat([0, 1], 100)
    paid = np.where(random.random(200) < np.array([0.9, 0.2])[group], 0.0, random.normal(50 + group, 3))
    paid[::20] = np.nan
    frame = pd.DataFrame({"age": random.normal(9.0 * group), "paid": paid})
    model = BayesianMixture(2, random_state=0).fit(frame)
    assert model._schema.kinds == ("gaussian", "atom")
    profiles = cluster_profiles(model, frame)
    first = int(model.labels_[0])
    place = {feature.name: number for number, feature in enumerate(profiles.features)}
    assert place.keys() == {"age", "paid = 0", "paid otherwise"}
    in_first, seen = model.labels_ == first, ~np.isnan(paid)
    inside = profiles.inside[list(profiles.clusters).index(first)]
    np.testing.assert_allclose(inside[place["paid = 0"]], (paid[in_first & seen] == 0).mean(), atol=1e-3)
    np.testing.assert_allclose(inside[place["paid otherwise"]], paid[in_first & seen & (paid != 0)].mean(), atol=0.1)
    words = profile_words(profiles, list(profiles.clusters).index(first), most=3)
    assert any(word.startswith("paid = 0 more often (") for word in words)


def test_one_cluster_has_no_rest():
    model = LabelledMixture(1, random_state=0).fit(IRIS)
    with pytest.raises(ValueError, match="LabelledMixture found one cluster only, and a profile tells a cluster from"):
        cluster_profiles(model, IRIS)


def test_profiles_need_no_drawing_and_are_importable_from_plots():
    program = "import sys, sidelight.describe.profiles, sidelight.describe.columns; print('matplotlib' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
    from sidelight import plots

    assert plots.cluster_profiles is cluster_profiles
    assert plots.profile_words is profile_words
