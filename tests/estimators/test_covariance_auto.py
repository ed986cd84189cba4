"""covariance_type='auto', and mclust's names in LabelledMixture."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

import sidelight
from sidelight import LabelledMixture, SideInformation
from sidelight.estimators.base.likelihood_gaussians import STRUCTURES
from sidelight.exceptions import SingularCovarianceError
from sidelight.plots.components import gaussians_of

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize("structure", list(STRUCTURES))
def test_each_name_fits_saves_and_loads(structure, tmp_path):
    model = LabelledMixture(3, covariance_type=structure, random_state=0).fit(X)
    assert model.covariance_type_ == structure
    assert np.all(np.diff(model.lower_bounds_) >= -1e-9 * np.abs(model.lower_bounds_[:-1]))
    sidelight.save(model, tmp_path / "model")
    again = sidelight.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert gaussians_of(model, 4).covariances.shape == (3, 4, 4)
    assert model.sample(20)[0].shape == (20, 4)


@pytest.mark.parametrize(("old", "new"), [("spherical", "VII"), ("diag", "VVI"), ("tied", "EEE"), ("full", "VVV")])
def test_scikit_learns_names_are_four_of_mclusts(old, new):
    one, two = (LabelledMixture(3, covariance_type=name, random_state=0).fit(X) for name in (old, new))
    np.testing.assert_array_equal(one.covariances_, two.covariances_)


@pytest.mark.parametrize("structure", ["EEI", "EVE", "VEV"])
def test_labels_and_hard_assignments_go_with_each_structure(structure):
    partial = np.where(np.arange(150) % 5 == 0, Y, -1)
    for assignment in ("soft", "hard"):
        model = LabelledMixture(covariance_type=structure, assignment=assignment, random_state=0).fit(X, partial)
        assert model.violations_.total == 0
        assert adjusted_rand_score(Y, model.labels_) > 0.7


class TestAuto:
    def test_iris_is_what_mclust_finds(self):
        # Mclust(iris[, 1:4]) chooses VEV with two components, BIC 561.7 in our sign.
        model = LabelledMixture(prior_rows=0, tol=1e-6, max_iter=1000, random_state=0).fit(X)
        assert (model.covariance_type_, model.n_clusters_) == ("VEV", 2)
        assert model.bic(X) == pytest.approx(561.7285, abs=1e-2)

    @pytest.mark.parametrize(("structure", "n_free"), [("EII", 1), ("EEE", 6), ("VVI", 9)])
    def test_a_planted_structure_is_found(self, structure, n_free):
        rng = np.random.default_rng(0)
        own = np.arange(600) % 3
        scales = {"VVI": rng.uniform(0.3, 3, size=(3, 3))}.get(structure, np.ones((3, 3)))
        mixing = np.linalg.cholesky([[2, 1.5, 0], [1.5, 2, 0.5], [0, 0.5, 1]]) if structure == "EEE" else np.eye(3)
        rows = 12 * np.eye(3)[own] + (rng.normal(size=(600, 3)) * scales[own]) @ mixing.T
        model = LabelledMixture(random_state=0).fit(rows)
        assert (model.covariance_type_, model.n_clusters_) == (structure, 3)
        assert model._family.n_parameters(3) == 9 + n_free

    def test_its_bic_is_at_most_that_of_full_covariances(self):
        for seed in range(3):
            table, _ = make_blobs(200, n_features=3, centers=4, random_state=seed)
            auto, full = (LabelledMixture(covariance_type=name, random_state=0).fit(table) for name in ("auto", "full"))
            assert auto.bic(table) <= full.bic(table) + 1e-6 * abs(full.bic(table))

    def test_a_given_number_is_kept(self):
        model = LabelledMixture(4, random_state=0).fit(X)
        assert model.n_clusters_ == 4
        assert model.covariance_type_ in STRUCTURES

    def test_with_labels_or_blocks_it_is_full(self):
        partial = np.where(np.arange(150) % 5 == 0, Y, -1)
        auto, full = (
            LabelledMixture(covariance_type=name, random_state=0).fit(X, partial) for name in ("auto", "full")
        )
        assert auto.covariance_type_ == "full"
        np.testing.assert_array_equal(auto.means_, full.means_)
        blocks = SideInformation.build(150, blocks=[[0, 1]])
        assert LabelledMixture(3, random_state=0).fit(X, side=blocks).covariance_type_ == "full"

    def test_with_precisions_it_is_full(self):
        precisions = np.repeat(np.eye(4)[None], 3, axis=0)
        model = LabelledMixture(3, means_init=X[[0, 60, 120]], precisions_init=precisions, random_state=0).fit(X)
        assert model.covariance_type_ == "full"

    def test_one_column_has_only_volumes(self):
        assert LabelledMixture(random_state=0).fit(X[:, 2:3]).covariance_type_ in ("EII", "VII")

    def test_other_columns_take_part_and_alone_leave_nothing_to_choose(self):
        frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(colour=pd.Categorical(Y))
        model = LabelledMixture(family="auto", random_state=0).fit(frame)
        assert model.covariance_type_ in STRUCTURES
        counts = np.random.default_rng(0).poisson(3, size=(60, 2))
        assert LabelledMixture(family="poisson", random_state=0).fit(counts).covariance_type_ == "VVV"

    def test_weights_are_repetitions(self):
        rows = X[::2]
        counts = np.random.default_rng(0).integers(0, 3, size=len(rows))
        weighted = LabelledMixture(random_state=0).fit(rows, sample_weight=counts)
        repeated = LabelledMixture(random_state=0).fit(np.repeat(rows, counts, axis=0))
        assert weighted.covariance_type_ == repeated.covariance_type_
        np.testing.assert_allclose(weighted.lower_bound_, repeated.lower_bound_, rtol=1e-6)

    def test_more_columns_than_rows_leave_the_structures_with_few_parameters(self):
        rng = np.random.default_rng(0)
        table = rng.normal(size=(20, 60)) + 3 * (np.arange(20) % 2)[:, None]
        model = LabelledMixture(random_state=0).fit(table)
        assert model.covariance_type_.endswith("I")
        np.testing.assert_array_equal(np.sort(np.bincount(model.labels_)), [10, 10])

    def test_where_each_row_is_a_component_it_is_full(self):
        assert LabelledMixture(2, random_state=0).fit(np.array([[0.0, 1.0], [3.0, 5.0]])).covariance_type_ == "full"

    def test_a_warm_start_and_several_starts(self):
        rows = X[::3]
        model = LabelledMixture(warm_start=True, n_init=2, random_state=0).fit(rows)
        bound = model.lower_bound_
        assert model.fit(rows).lower_bound_ >= bound - 1e-9


class TestErrors:
    def test_more_components_than_rows(self):
        with pytest.raises(ValueError, match="n_components=200 is more than the n_samples = 150 rows"):
            LabelledMixture(200).fit(X)

    def test_precisions_are_for_structures_that_share_nothing(self):
        model = LabelledMixture(3, covariance_type="VEV", precisions_init=np.eye(4))
        with pytest.raises(ValueError, match="precisions_init cannot be given with covariance_type='VEV'"):
            model.fit(X)

    def test_rows_that_are_all_equal_without_a_prior(self):
        with pytest.raises(SingularCovarianceError, match="prior_rows > 0"):
            LabelledMixture(prior_rows=0).fit(np.ones((9, 2)))
