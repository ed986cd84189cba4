"""LabelledMixture: what it promises beyond what all estimators do."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV

from sidelight import LabelledMixture, SideInformation
from sidelight.estimators.base.mixture import MixtureEstimator
from sidelight.metrics import clustering_accuracy_score
from sidelight.side import ContradictionError, draw_labels
from sidelight.tables.table import CHUNK_ROWS

X, Y = load_iris(return_X_y=True)
PARTIAL = draw_labels(Y, fraction=0.2, random_state=0)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_without_labels_it_is_a_plain_gaussian_mixture(covariance_type):
    reference = GaussianMixture(3, covariance_type=covariance_type, reg_covar=0, tol=1e-9, max_iter=500, random_state=0)
    reference.fit(X)
    model = LabelledMixture(
        3,
        covariance_type=covariance_type,
        prior_rows=0,
        means_init=reference.means_,
        weights_init=reference.weights_,
        precisions_init=reference.precisions_,
        tol=1e-12,
        max_iter=2000,
    ).fit(X)
    np.testing.assert_allclose(model.lower_bound_, reference.lower_bound_, atol=1e-6)
    order = [np.argmin(np.linalg.norm(reference.means_ - mean, axis=1)) for mean in model.means_]
    np.testing.assert_allclose(model.means_, reference.means_[order], atol=1e-3)
    np.testing.assert_allclose(model.score_samples(X), reference.score_samples(X), atol=1e-3)
    np.testing.assert_allclose(model.score(X), model.lower_bound_, rtol=1e-9)
    np.testing.assert_allclose(model.bic(X), reference.bic(X), rtol=1e-5)
    np.testing.assert_allclose(model.aic(X), reference.aic(X), rtol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), model.posterior_, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_the_bound_never_falls(assignment):
    model = LabelledMixture(assignment=assignment, init_params="k-means++", random_state=3, tol=0, max_iter=30)
    with pytest.warns(ConvergenceWarning, match="max_iter=30"):
        model.fit(X, PARTIAL)
    assert len(model.lower_bounds_) == model.n_iter_ + 1 == 31
    assert np.all(np.diff(model.lower_bounds_) >= -1e-9 * np.abs(model.lower_bounds_[:-1]))
    assert model.lower_bound_ == model.lower_bounds_[-1]


def test_labels_help_on_the_rows_nobody_labelled():
    digits, truth = load_digits(return_X_y=True)
    table = PCA(15, random_state=0).fit_transform(digits)
    given, plain = [], []
    for seed in range(3):
        partial = draw_labels(truth, fraction=0.1, random_state=seed)
        free = partial < 0
        informed = LabelledMixture(10, covariance_type="full", random_state=seed).fit(table, partial)
        given.append(clustering_accuracy_score(truth, informed.labels_, rows=free))
        uninformed = LabelledMixture(10, covariance_type="full", random_state=seed).fit(table)
        plain.append(clustering_accuracy_score(truth, uninformed.labels_, rows=free))
    assert np.mean(given) > np.mean(plain) + 0.03


def test_a_class_nobody_labelled_becomes_a_cluster_of_its_own():
    partial = np.where((np.arange(150) % 5 == 0) & (Y != 0), Y, -1)
    model = LabelledMixture(3, random_state=0).fit(X, partial)
    assert model.cluster_names_.tolist() == ["new 1", 1, 2]
    assert np.mean(model.labels_ == Y) > 0.9


def test_labels_that_are_no_cluster_numbers_come_first():
    partial = np.where(np.arange(150) % 5 == 0, Y * 10 + 5, -1)
    partial[partial == 15] = -1
    model = LabelledMixture(3, random_state=0).fit(X, partial)
    assert model.cluster_names_.tolist() == [5, 25, "new 1"]


def test_several_components_make_one_class():
    rng = np.random.default_rng(0)
    table, blob = make_blobs(400, centers=[[0, 0], [20, 0], [10, 12]], random_state=0)
    truth = np.array([0, 0, 1])[blob]
    partial = np.where(rng.uniform(size=400) < 0.1, truth, -1)
    model = LabelledMixture(components_per_class={0: 2}, random_state=0).fit(table, partial)
    assert model.component_clusters_.tolist() == [0, 0, 1]
    assert model.means_.shape == (3, 2)
    assert model.posterior_.shape == (400, 2)
    np.testing.assert_array_equal(model.labels_, truth)
    np.testing.assert_array_equal(model.predict(table), truth)
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1)


def test_rows_of_a_block_share_their_cluster_and_pull_it_along():
    table, truth = make_blobs(200, centers=[[0, 0], [4, 0]], random_state=1)
    blocks = [np.flatnonzero(truth == 0)[:20], np.flatnonzero(truth == 1)[:20]]
    side = SideInformation.build(200, blocks=blocks)
    for assignment in ("soft", "hard"):
        model = LabelledMixture(2, assignment=assignment, random_state=0).fit(table, side=side)
        for block in blocks:
            assert len(set(model.labels_[block])) == 1
            np.testing.assert_allclose(model.posterior_[block], model.posterior_[block[:1]].repeat(20, axis=0))
        assert model.violations_.total == 0
        assert np.isfinite(model.lower_bound_)


def test_a_label_in_a_block_labels_all_of_it():
    side = SideInformation.build(150, blocks=[[0, 1, 60]])  # row 60 looks like another class
    model = LabelledMixture(random_state=0).fit(X, PARTIAL, side=side)
    labelled = SideInformation.build(150, y=np.where(np.arange(150) == 0, 0, -1))
    model = LabelledMixture(3, random_state=0).fit(X, PARTIAL, side=side | labelled)
    assert model.labels_[60] == 0


def test_unlabelled_rows_of_no_weight_leave_the_labelled_ones_alone():
    partial = draw_labels(Y, per_class=20, random_state=1)
    model = LabelledMixture(unlabelled_weight=0, prior_rows=0, random_state=0).fit(X, partial)
    for label in range(3):
        rows = X[partial == label]
        np.testing.assert_allclose(model.means_[label], rows.mean(axis=0))
        np.testing.assert_allclose(model.covariances_[label], np.cov(rows.T, bias=True), atol=1e-10)


def test_a_lighter_weight_is_between_the_extremes():
    partial = draw_labels(Y, per_class=5, random_state=1)
    means = [
        LabelledMixture(unlabelled_weight=weight, random_state=0).fit(X, partial).means_[1, 2] for weight in (0, 0.1, 1)
    ]
    assert min(means[0], means[2]) < means[1] < max(means[0], means[2])


def test_weights_are_repetitions():
    counts = np.random.default_rng(0).integers(0, 3, size=150)
    weighted = LabelledMixture(3, random_state=0).fit(X, PARTIAL, sample_weight=counts)
    repeated = LabelledMixture(3, random_state=0).fit(np.repeat(X, counts, axis=0), np.repeat(PARTIAL, counts))
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-6)
    np.testing.assert_allclose(weighted.lower_bound_, repeated.lower_bound_, rtol=1e-6)


def test_without_labels_and_number_the_lowest_bic_decides():
    for k in (1, 3, 4):
        table, _ = make_blobs(300, centers=10.0 * np.eye(4)[:k], random_state=0)
        assert LabelledMixture(random_state=0).fit(table).n_clusters_ == k


@pytest.mark.parametrize("init_params", ["short_runs", "kmeans", "k-means++", "labels"])
def test_every_start_leads_somewhere_sensible(init_params):
    model = LabelledMixture(3, init_params=init_params, random_state=0).fit(X, PARTIAL)
    assert adjusted_rand_score(Y, model.labels_) > 0.8


def test_more_starts_never_end_lower():
    bounds = [LabelledMixture(6, init_params="k-means++", n_init=n, random_state=0).fit(X).lower_bound_ for n in (1, 8)]
    assert bounds[1] >= bounds[0]


def test_a_warm_start_goes_on_where_the_last_fit_ended():
    model = LabelledMixture(3, init_params="k-means++", max_iter=2, warm_start=True, random_state=0)
    with pytest.warns(ConvergenceWarning):
        first = model.fit(X, PARTIAL).lower_bound_
    model.set_params(max_iter=500)
    assert model.fit(X, PARTIAL).lower_bounds_[0] >= first - 1e-9
    assert model.converged_


def test_a_warm_start_knows_which_class_is_which():
    partial = np.where((np.arange(150) % 5 == 0) & (Y != 0), Y, -1)  # the cluster nobody labelled comes first
    model = LabelledMixture(3, random_state=0, warm_start=True).fit(X, partial)
    bound = model.lower_bound_
    assert model.fit(X, partial).n_iter_ <= 2
    assert model.lower_bound_ >= bound - 1e-9
    np.testing.assert_array_equal(model.labels_[partial >= 0], partial[partial >= 0])


def test_a_label_that_no_row_here_carries_names_no_cluster():
    ids = np.arange(150)
    side = SideInformation.build(150, y=PARTIAL, sample_id=ids)
    rows = np.flatnonzero(Y > 0)
    model = LabelledMixture(random_state=0).fit(X[rows], side=side, sample_id=ids[rows])
    assert model.cluster_names_.tolist() == [1, 2]
    assert LabelledMixture(3, random_state=0).fit(X[rows], side=side, sample_id=ids[rows]).cluster_names_[0] == "new 1"


def test_threads_change_nothing():
    table, _ = make_blobs(2 * CHUNK_ROWS + 100, n_features=3, centers=4, random_state=0)
    one = LabelledMixture(4, random_state=0).fit(table)
    two = LabelledMixture(4, random_state=0, n_jobs=2).fit(table)
    np.testing.assert_array_equal(one.means_, two.means_)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.predict_proba(table), two.predict_proba(table))


def test_a_mapped_table_gives_what_one_in_memory_gives(tmp_path):
    table, truth = make_blobs(20_000, n_features=3, centers=4, random_state=0)
    partial = draw_labels(truth, fraction=0.01, random_state=0)
    np.save(tmp_path / "table.npy", table)
    mapped = np.load(tmp_path / "table.npy", mmap_mode="r")
    from_disk = LabelledMixture(4, random_state=0).fit(mapped, partial)
    in_memory = LabelledMixture(4, random_state=0).fit(table, partial)
    np.testing.assert_array_equal(from_disk.means_, in_memory.means_)
    np.testing.assert_array_equal(from_disk.predict(mapped), in_memory.predict(table))


def test_single_precision_is_enough_for_the_table():
    model = LabelledMixture(3, random_state=0).fit(X.astype(np.float32), PARTIAL)
    assert model.means_.dtype == np.float64
    assert np.mean(model.labels_ == LabelledMixture(3, random_state=0).fit(X, PARTIAL).labels_) > 0.98


def test_draws_look_like_the_mixture():
    model = LabelledMixture(random_state=0).fit(X, PARTIAL)
    rows, clusters = model.sample(5000)
    assert rows.shape == (5000, 4)
    np.testing.assert_allclose(np.bincount(clusters) / 5000, model.weights_, atol=0.03)
    np.testing.assert_allclose(rows[clusters == 0].mean(axis=0), model.means_[0], atol=0.1)


def test_a_large_posterior_is_kept_only_when_asked_for():
    model = LabelledMixture(3, random_state=0, keep_posterior=False).fit(X)
    with pytest.raises(AttributeError, match="keep_posterior=True"):
        _ = model.posterior_
    assert LabelledMixture(3, random_state=0, keep_posterior=True).fit(X).posterior_.shape == (150, 3)
    assert model.labels_.shape == (150,)
    for keep, large in ((None, False), (True, True), (False, False)):
        assert LabelledMixture(keep_posterior=keep)._keeps_posterior(8_000_001, 1) is large
    assert LabelledMixture()._keeps_posterior(8_000_000, 1)


def test_grid_search_over_components():
    search = GridSearchCV(LabelledMixture(random_state=0), {"n_components": [3, 4, 5]}, cv=3)
    search.fit(X, PARTIAL)
    assert search.best_estimator_.n_clusters_ == search.best_params_["n_components"]


def test_grid_search_hands_side_information_on_whole():
    ids = np.arange(1000, 1150)
    side = SideInformation.build(150, y=PARTIAL, blocks=[[1000, 1001]], sample_id=ids)
    search = GridSearchCV(LabelledMixture(random_state=0), {"covariance_type": ["full", "tied"]}, cv=3)
    search.fit(X, side=side, sample_id=ids)
    known = PARTIAL >= 0
    np.testing.assert_array_equal(search.best_estimator_.labels_[known], PARTIAL[known])


def test_callbacks_and_the_bar(capsys):
    heard = []
    model = LabelledMixture(3, random_state=0, callbacks=[heard.append], verbose=True).fit(X)
    assert len(heard) == model.n_iter_
    assert "start 1" in capsys.readouterr().err
    LabelledMixture(3, random_state=0).fit(X)
    silent = capsys.readouterr()
    assert silent.out == silent.err == ""


def test_estimators_are_mixtures():
    assert isinstance(LabelledMixture(), MixtureEstimator)
    with pytest.raises(NotFittedError):
        LabelledMixture().predict(X)
    with pytest.raises(NotFittedError):
        _ = LabelledMixture().posterior_


class TestErrors:
    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"n_components": 0}, "n_components=0 must be a whole number of at least 1"),
            ({"n_components": 2.5}, "n_components=2.5 must be a whole number"),
            ({"n_components": 200}, "n_components=200 is more than the n_samples = 150 rows"),
            ({"covariance_type": "round"}, "covariance_type='round' is not known; choose one of 'full'"),
            ({"assignment": "fuzzy"}, "assignment='fuzzy' is not known"),
            ({"init_params": "magic"}, "init_params='magic' is not known"),
            ({"unlabelled_weight": -1}, "unlabelled_weight=-1 must be a number from 0 to 1"),
            ({"unlabelled_weight": 2}, "unlabelled_weight=2 must be a number from 0 to 1"),
            ({"prior_rows": -1}, "prior_rows=-1 must be a number of at least 0"),
            ({"prior_scale": "wide"}, "prior_scale='wide' must be a number"),
            ({"tol": -1}, "tol=-1 must be"),
            ({"max_iter": 0}, "max_iter=0 must be a whole number of at least 1"),
            ({"n_init": 0}, "n_init=0 must be"),
            ({"components_per_class": 0}, "components_per_class=0 must be"),
            (
                {"components_per_class": {7: 2}},
                r"components_per_class names 7, which is not among the labels \[0, 1, 2\]",
            ),
            ({"components_per_class": {1: 0}}, r"components_per_class\[1\]=0 must be"),
            ({"means_init": np.zeros((2, 4))}, r"means_init has shape \(2, 4\), but this model needs \(3, 4\)"),
            ({"weights_init": [0.5, 0.5]}, r"weights_init has shape \(2,\)"),
            ({"weights_init": [0.5, 0.5, 0.0]}, "weights_init must be positive"),
            ({"precisions_init": np.eye(4)}, r"precisions_init has shape \(4, 4\).*needs \(3, 4, 4\)"),
        ],
    )
    def test_parameters(self, parameters, message):
        with pytest.raises(ValueError, match=message):
            LabelledMixture(**parameters).fit(X, PARTIAL)

    def test_labels_of_the_wrong_length(self):
        with pytest.raises(ValueError, match="y has 10 values, but there are 150 rows"):
            LabelledMixture().fit(X, PARTIAL[:10])

    def test_continuous_labels(self):
        with pytest.raises(ValueError, match="y looks continuous: row 0 holds"):
            LabelledMixture().fit(X, X[:, 0] + 0.05)

    @pytest.mark.parametrize(("bad", "kind"), [(np.nan, "NaN"), (np.inf, "infinity"), (1e200, "too large to square")])
    def test_cells_that_are_no_numbers(self, bad, kind):
        table = X.copy()
        table[17, 2] = bad
        with pytest.raises(ValueError, match="X contains") as caught:
            LabelledMixture().fit(table)
        assert kind in str(caught.value)
        assert "row 17, column 2" in str(caught.value)
        model = LabelledMixture(random_state=0).fit(X, PARTIAL)
        with pytest.raises(ValueError, match="row 17"):
            model.predict(table)

    def test_columns_of_text(self):
        import pandas as pd

        frame = pd.DataFrame(X[:, :2].copy(), columns=["length", "width"]).assign(place="meadow")
        with pytest.raises(ValueError, match="X: column 'place' holds String"):
            LabelledMixture().fit(frame)
        frame = frame.drop(columns="place")
        frame.loc[3, "width"] = np.nan
        with pytest.raises(ValueError, match="NaN .*row 3, column 'width'"):
            LabelledMixture().fit(frame)

    def test_more_labelled_classes_than_components(self):
        with pytest.warns(UserWarning, match="n_components=2 is less than the 3 components"):
            model = LabelledMixture(2, random_state=0).fit(X, PARTIAL)
        assert model.n_clusters_ == 3

    def test_contradictions_are_reported_with_their_chain(self):
        side = SideInformation.build(150, blocks=[[0, 4, 120]])
        y = np.full(150, -1)
        y[[0, 120]] = [0, 1]
        with pytest.raises(ContradictionError, match="0 .*120"):
            LabelledMixture().fit(X, y, side=side)

    def test_links_name_the_way_out(self):
        with pytest.raises(ValueError, match="cannot use must-links: .*as_blocks"):
            LabelledMixture().fit(X, must_link=[(0, 1)])

    def test_side_information_of_other_rows(self):
        with pytest.raises(ValueError, match="side has 10 rows, but X has 150; pass sample_id"):
            LabelledMixture().fit(X, side=SideInformation.build(10, y=[0] * 10))
        with pytest.raises(TypeError, match="side must be a SideInformation, not dict"):
            LabelledMixture().fit(X, side={"labels": []})

    def test_weights(self):
        with pytest.raises(ValueError, match="the weight of row 2 is -1"):
            LabelledMixture().fit(X, sample_weight=np.r_[1, 1, -1, np.ones(147)])
        with pytest.raises(ValueError, match="zero"):
            LabelledMixture().fit(X, sample_weight=np.zeros(150))

    def test_labels_start_without_labels(self):
        with pytest.raises(ValueError, match="init_params='labels' needs labelled rows"):
            LabelledMixture(3, init_params="labels").fit(X)

    def test_collapse_without_a_prior(self):
        table = np.repeat(np.arange(4.0), 5)[:, None]
        with pytest.raises(ValueError, match="prior_rows > 0"):
            LabelledMixture(4, prior_rows=0, random_state=0).fit(table)
        assert np.isfinite(LabelledMixture(4, random_state=0).fit(table).lower_bound_)
