"""Steps on batches before the passes over a large table."""

import numpy as np
import pytest

import sidelight as sl
from sidelight.inference.minibatches import N_BATCHES, batch_rows, draw_batches
from sidelight.inference.mixture import Mixture


class InBatches(sl.LabelledMixture):
    """A mixture to which a small table is large."""

    def _batch_rows(self, n_rows, n_columns):
        return n_rows // 2


class InBatchesWithLinks(sl.BayesianMixture):
    """The same with links."""

    def _batch_rows(self, n_rows, n_columns):
        return n_rows // 2


def clouds(n=6000, seed=0):
    random = np.random.default_rng(seed)
    classes = random.integers(4, size=n)
    return random.normal(size=(n, 2)) + 2.2 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])[classes], classes


def counted(estimator, X, **known):
    steps = []
    return estimator.set_params(callbacks=[steps.append]).fit(X, **known), len(steps)


def test_only_large_tables_have_batches():
    assert batch_rows(4_000_000, 8) == 0
    assert batch_rows(5_000_000, 8) == 1 << 19
    assert batch_rows(1_000_000, 40) == (1 << 22) // 40  # as many cells as before
    assert batch_rows(10**9, 1000) == 0  # too few rows fit


def test_batches_have_no_row_twice_and_none_with_a_statement():
    stated = np.arange(0, 500, 7)
    batches = draw_batches(500, stated, 400, np.random.RandomState(0))
    rows = np.concatenate(batches)
    assert len(batches) == N_BATCHES
    assert len(np.unique(rows)) == len(rows) > 200
    assert not np.isin(rows, stated).any()


def test_fewer_passes_over_the_table_end_as_high():
    X, _ = clouds(20_000)
    # Steps of EM: how many longer ones a start takes depends on which of them are taken back.
    settings = {
        "covariance_type": "full",
        "tol": 1e-4,
        "init_params": "k-means++",
        "random_state": 0,
        "accelerate": False,
    }
    plain, n_plain = counted(sl.LabelledMixture(4, **settings), X)
    found, n_found = counted(InBatches(4, **settings), X)
    assert n_found < n_plain
    assert found.lower_bound_ > plain.lower_bound_ - 1e-3
    assert np.all(np.diff(found.lower_bounds_) > -1e-9)


def test_labels_links_and_weights_take_part_whole():
    X, classes = clouds()
    y = np.full(len(X), -1)
    first = np.array([np.flatnonzero(classes == number)[:40] for number in range(4)])
    for number in range(4):
        y[first[number]] = 3 - number
    found = InBatches(4, covariance_type="full", random_state=0).fit(X, y, sample_weight=np.where(y >= 0, 5.0, 1.0))
    assert np.mean(found.labels_ == 3 - classes) > 0.7  # components keep the classes of their labels
    assert found.violations_.fraction == 0
    pairs = [(int(first[0, row]), int(first[1, row])) for row in range(30)]
    linked = InBatchesWithLinks(4, covariance_type="full", random_state=0).fit(X, cannot_link=pairs)
    assert linked.violations_.n_cannot_link == 30
    assert linked.violations_.fraction < 0.1


def passes_over(n_rows, monkeypatch):
    """Return a list that grows by one with every pass over a table of so many rows."""
    made, expect = [], Mixture.expect_alone

    def counting(mixture, state):
        if mixture.rows.shape[0] == n_rows:
            made.append(state)
        return expect(mixture, state)

    monkeypatch.setattr(Mixture, "expect_alone", counting)
    return made


def test_surplus_components_are_pruned_with_few_passes(monkeypatch):
    random = np.random.default_rng(1)
    classes = random.integers(3, size=20_000)
    X = random.normal(size=(20_000, 2)) + 8 * np.array([[0, 0], [1, 0], [0, 1]])[classes]
    made = passes_over(len(X), monkeypatch)
    settings = {"covariance_type": "full", "random_state": 0}
    plain = sl.BayesianMixture(7, **settings).fit(X)
    n_plain = len(made)
    found = InBatchesWithLinks(7, **settings).fit(X)
    assert found.n_clusters_ == plain.n_clusters_ == 3
    assert found.lower_bound_ == pytest.approx(plain.lower_bound_, abs=1e-4)
    assert len(made) - n_plain < n_plain


def test_a_killed_fit_goes_on_with_the_same_batches(tmp_path):
    X, _ = clouds(3000)
    folder = tmp_path / "passes"
    pairs = [(0, 1), (2, 3)]

    def fit():
        model = InBatchesWithLinks(4, covariance_type="full", random_state=np.random.RandomState(5))
        return model.fit(X, must_link=pairs, checkpoint=folder)

    whole = fit()
    kept = sorted(folder.glob("pass-*"))
    for path in kept[len(kept) // 2 :]:
        path.unlink()
    np.testing.assert_array_equal(fit().means_, whole.means_)


@pytest.mark.parametrize("name", ["map", "parquet"])
def test_batches_are_the_same_wherever_the_table_is(tmp_path, name):
    X, classes = clouds()
    if name == "map":
        np.save(tmp_path / "t.npy", X)
        table = tmp_path / "t.npy"
    else:
        pytest.importorskip("pyarrow")
        import pandas as pd

        table = tmp_path
        for number in range(3):
            part = pd.DataFrame(X[2000 * number : 2000 * number + 2000], columns=["a", "b"])
            part.to_parquet(tmp_path / f"{number}.parquet", index=False)
    y = np.where(np.arange(len(X)) % 500 == 0, classes, -1)
    one, other = (InBatches(4, covariance_type="full", random_state=0).fit(given, y) for given in (X, table))
    np.testing.assert_array_equal(one.means_, other.means_)
    np.testing.assert_array_equal(one.labels_, other.labels_)
