"""BayesianMixture: what it finds, what it respects, what it refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from sidelight import BayesianMixture, SideInformation
from sidelight.metrics import clustering_accuracy_score


def blobs(seed, centres, n_each=60, spread=1.0):
    rng = np.random.default_rng(seed)
    centres = np.asarray(centres, dtype=float)
    truth = np.repeat(np.arange(len(centres)), n_each)
    return centres[truth] + spread * rng.normal(size=(len(truth), centres.shape[1])), truth


SQUARE = [[-4, 3], [4, 3], [-4, -3], [4, -3]]


class TestWhatItFinds:
    @pytest.mark.parametrize("weights", ["dirichlet_process", "dirichlet"])
    def test_the_number_of_clusters_without_any_statement(self, weights):
        X, truth = blobs(0, SQUARE)
        model = BayesianMixture(weights=weights, random_state=0).fit(X)
        assert model.n_clusters_ == 4
        assert adjusted_rand_score(truth, model.labels_) > 0.97
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        np.testing.assert_allclose(model.posterior_, model.predict_proba(X), atol=1e-8)

    @pytest.mark.parametrize("half_distance", [1.2, 4.0])
    def test_experiment_one_of_the_paper(self, half_distance):
        X, component = blobs(1, [[0, 6], [0, -6], [-half_distance, 0], [half_distance, 0]], n_each=100)
        y = np.array([0, 1, 2, 2])[component]
        known = np.full(400, -1)
        rng = np.random.default_rng(1)
        for label, fraction in ((0, 0.05), (1, 0.05), (2, 0.1)):
            rows = np.flatnonzero(y == label)
            known[rng.choice(rows, int(fraction * len(rows)), replace=False)] = label
        model = BayesianMixture(10, random_state=1).fit(X, known)
        assert model.n_clusters_ == 3
        assert clustering_accuracy_score(y, model.labels_) > 0.98

    @pytest.mark.parametrize("view", [[0, 1, 0, 1], [0, 0, 1, 1]])
    def test_labels_choose_the_view(self, view):
        X, component = blobs(2, SQUARE, n_each=100)
        y = np.array(view)[component]
        known = np.where(np.random.default_rng(2).random(400) < 0.1, y, -1)
        model = BayesianMixture(10, random_state=2).fit(X, known)
        assert model.n_clusters_ == 2
        assert (model.labels_ == y).mean() > 0.98

    def test_a_class_that_nobody_labelled(self):
        X, truth = blobs(3, SQUARE)
        known = np.where((np.arange(240) % 6 == 0) & (truth < 2), truth, -1)
        model = BayesianMixture(random_state=3).fit(X, known)
        assert model.cluster_names_.tolist() == [0, 1, "new 1", "new 2"]
        assert clustering_accuracy_score(truth, model.labels_) > 0.97
        assert not model.violations_

    def test_parts_of_a_labelled_class_are_no_new_clusters(self):
        X, component = blobs(4, [[0, 0], [5, 0], [20, 0]], n_each=100)
        y = np.array([0, 0, 1])[component]
        known = np.where(np.random.default_rng(4).random(300) < 0.3, y, -1)
        model = BayesianMixture(random_state=4, unlabelled_weight=1.0).fit(X, known)
        assert model.n_clusters_ == 2
        assert (model.labels_ == y).mean() > 0.98

    def test_labels_outweigh_a_mixture_that_fits_badly(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(600, 2)) + np.repeat([[-4, 0], [4, 0]], 300, axis=0)
        y = (X[:, 1] + 0.25 * X[:, 0] > 0).astype(int)
        known = np.where(rng.random(600) < 0.2, y, -1)
        right = {}
        for weight in (1.0, "auto"):
            model = BayesianMixture(2, covariance_type="full", unlabelled_weight=weight, random_state=0).fit(X, known)
            right[weight] = (model.labels_ == y)[known < 0].mean()
        assert right["auto"] > right[1.0] + 0.02


class TestWhatItRespects:
    def test_certain_links_and_blocks(self):
        X, truth = blobs(6, [[-1.5, 0], [1.5, 0]])
        rng = np.random.default_rng(6)
        pairs = rng.integers(0, 120, size=(40, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
        side = SideInformation.build(
            120,
            must_link=pairs[same],
            cannot_link=pairs[~same],
            blocks=np.where(np.arange(120) % 20 == 0, truth, -1),
        )
        model = BayesianMixture(2, random_state=6, prune=False).fit(X, side=side)
        assert not model.violations_
        joined = model.posterior_[side.must_link]
        np.testing.assert_allclose(joined[:, 0], joined[:, 1])

    def test_a_link_that_may_be_wrong_gives_way(self):
        X, _ = blobs(7, [[0, 0], [30, 0]])
        wrong = SideInformation.build(120, must_link=[(0, 100)], confidence=0.9)
        assert BayesianMixture(random_state=7).fit(X, side=wrong).violations_.must_link.tolist() == [[0, 100]]

    def test_labels_repel_each_other(self):
        X, truth = blobs(8, [[0, 0], [0.5, 0]])
        known = np.where(np.arange(120) % 4 == 0, truth, -1)
        model = BayesianMixture(random_state=8).fit(X, known)
        assert not model.violations_
        assert model.n_clusters_ == 2

    def test_the_bound_rises_and_the_history_tells_how(self):
        X, truth = blobs(9, SQUARE)
        known = np.where(np.arange(240) % 10 == 0, truth, -1)
        model = BayesianMixture(random_state=9, unlabelled_weight=1.0).fit(X, known)
        assert (np.diff(model.lower_bounds_) >= -1e-9 * np.abs(model.lower_bounds_[:-1])).all()
        bounds = [snapshot.bound for snapshot in model.history_]
        np.testing.assert_allclose(bounds, model.lower_bounds_[: len(bounds)])
        first = model.history_[0]
        assert first.parameters["means_"].shape == (4, 2)
        np.testing.assert_allclose(first.weights.sum(), 1.0)
        with pytest.raises(AttributeError, match="keep_history=True"):
            BayesianMixture(2, keep_history=False).fit(X).history_  # noqa: B018

    def test_the_density_is_predictive_and_integrates_to_one(self):
        X = np.random.default_rng(10).normal(size=(30, 1))
        model = BayesianMixture(2, random_state=10).fit(X)
        grid = np.linspace(-80, 80, 40_001)[:, None]
        total = np.exp(model.score_samples(grid)).sum() * (grid[1, 0] - grid[0, 0])
        np.testing.assert_allclose(total, 1.0, atol=2e-3)

    def test_threads_change_nothing(self):
        X, truth = blobs(11, SQUARE, n_each=4000)
        known = np.where(np.arange(16_000) % 50 == 0, truth, -1)
        one, two = (BayesianMixture(6, random_state=0, n_jobs=n).fit(X, known) for n in (1, 2))
        np.testing.assert_array_equal(one.means_, two.means_)
        np.testing.assert_array_equal(one.labels_, two.labels_)


class TestTables:
    def frame(self, seed=0, n=900):
        rng = np.random.default_rng(seed)
        truth = rng.integers(0, 3, size=n)
        frame = pd.DataFrame(
            {
                "height": np.array([0.0, 3.0, 6.0])[truth] + rng.normal(size=n),
                "colour": np.array(["red", "green", "blue"])[
                    np.where(rng.random(n) < 0.8, truth, rng.integers(3, size=n))
                ],
                "visits": rng.poisson(np.array([1.0, 4.0, 9.0])[truth]),
                "member": rng.random(n) < np.array([0.1, 0.5, 0.9])[truth],
            }
        )
        return frame, truth

    def test_mixed_columns_with_missing_cells(self):
        frame, truth = self.frame()
        rng = np.random.default_rng(1)
        holes = frame.astype({"visits": "Int64", "member": "boolean"})
        for name in holes:
            holes.loc[rng.random(len(holes)) < 0.2, name] = pd.NA
        model = BayesianMixture(random_state=0).fit(holes)
        assert model.n_clusters_ == 3
        assert adjusted_rand_score(truth, model.labels_) > 0.6
        assert set(model.predict(frame)) == {0, 1, 2}
        assert np.isfinite(model.score_samples(holes)).all()

    def test_sparse_counts_are_as_good_as_dense_ones(self):
        rng = np.random.default_rng(2)
        topics = rng.dirichlet(np.full(40, 0.2), size=3)
        truth = rng.integers(0, 3, size=300)
        counts = np.stack([rng.multinomial(30, topics[c]) for c in truth])
        dense = BayesianMixture(5, family="multinomial", random_state=0).fit(counts)
        sparse = BayesianMixture(5, family="multinomial", random_state=0).fit(csr_array(counts.astype(float)))
        assert adjusted_rand_score(truth, dense.labels_) > 0.95
        np.testing.assert_array_equal(dense.labels_, sparse.labels_)

    def test_a_gaussian_table_with_missing_cells(self):
        X, truth = blobs(12, [[-4, 3, 0], [4, 3, 2], [0, -4, 4]])
        X[np.random.default_rng(12).random(X.shape) < 0.15] = np.nan
        model = BayesianMixture(random_state=0).fit(X)
        assert adjusted_rand_score(truth, model.labels_) > 0.8


class TestStreams:
    def test_a_stream_comes_close_to_a_fit_on_everything(self):
        X, truth = blobs(13, [[0, 0], [6, 0], [0, 6], [6, 6]], n_each=1500)
        order = np.random.default_rng(13).permutation(len(X))
        X, truth = X[order], truth[order]
        model = BayesianMixture(random_state=0)
        for batch in np.split(np.arange(6000), 12):
            known = np.full(500, -1)
            known[:5] = truth[batch[:5]]
            model.partial_fit(X[batch], known)
            assert len(model.labels_) == 500
        assert (model.predict(X) == truth).mean() > 0.99
        np.testing.assert_allclose(model.score(X), BayesianMixture(random_state=0).fit(X).score(X), atol=0.01)

    def test_what_was_said_in_the_first_batch_is_kept(self):
        X, truth = blobs(14, [[-1.0, 0], [1.0, 0]], n_each=400)
        order = np.random.default_rng(14).permutation(len(X))
        X, truth = X[order], truth[order]
        model = BayesianMixture(2, random_state=0, prune=False)
        for number, batch in enumerate(np.split(np.arange(800), 4)):
            model.partial_fit(X[batch], np.where(np.arange(200) % 4 == 0, truth[batch], -1) if number == 0 else None)
        assert (model.predict(X) == truth).mean() > 0.8
        assert model.cluster_names_.tolist() == [0, 1]

    def test_a_fit_starts_anew(self):
        X, _ = blobs(15, SQUARE)
        model = BayesianMixture(random_state=0).partial_fit(X).partial_fit(X + 100)
        np.testing.assert_array_equal(model.fit(X).labels_, BayesianMixture(random_state=0).fit(X).labels_)


class TestErrors:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"weights": "ml"}, "weights='ml' is not known"),
            ({"strength": -1}, "strength=-1 must be a number of at least 0"),
            ({"concentration": 0}, "concentration=0 must be a number"),
            ({"unlabelled_weight": 2}, "unlabelled_weight=2 must be a number from 0 to 1"),
            ({"family": "gauss"}, "family='gauss' is not known"),
            ({"covariance_type": "tied"}, "covariance_type='tied' is not known"),
            ({"n_components": 1000}, "n_components=1000 is more than the n_samples = 240 rows"),
            ({"covariance_type": "diag", "covariance_prior": np.eye(2)}, "those of full Gaussians"),
        ],
    )
    def test_parameters(self, settings, message):
        with pytest.raises(ValueError, match=message):
            BayesianMixture(**settings).fit(blobs(0, SQUARE)[0])

    def test_infinity_is_named_with_its_place(self):
        X, _ = blobs(0, SQUARE)
        X[7, 1] = np.inf
        with pytest.raises(ValueError, match="infinity in row 7, column 1"):
            BayesianMixture().fit(X)
