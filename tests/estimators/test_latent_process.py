"""LatentProcessDecomposition: side information, the fit and its trace, missing cells, unseen rows."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import SideInformation
from sidelight.admixture.model import Parameters, draw
from sidelight.estimators.latent_process import LatentProcessDecomposition
from sidelight.metrics import balanced_rand_score
from sidelight.selection import select_n_components
from sidelight.side import draw_labels

X, Y = load_iris(return_X_y=True)
PARTIAL = draw_labels(Y, fraction=0.2, random_state=0)
PLANTED = Parameters(
    np.array([0.2, 0.3, 0.25]),
    np.random.RandomState(5).normal(size=(3, 8)) * 3,
    np.random.RandomState(6).uniform(0.3, 1.5, (3, 8)),
)


def lpd(n_processes=3, **parameters):
    return LatentProcessDecomposition(n_processes, **{"random_state": 0, "n_init": 1} | parameters)


def planted(n, seed):
    return draw(PLANTED, n, np.random.RandomState(seed))


def with_holes(table, fraction, seed=0):
    holed = np.array(table, dtype=float)
    holed[np.random.RandomState(seed).uniform(size=holed.shape) < fraction] = np.nan
    return holed


def outputs(model, table):
    return (
        model.posterior_,
        model.alpha_,
        model.means_,
        model.scales_,
        model.lower_bounds_,
        model.transform(table),
        *model.log_likelihood(table, n_draws=50),
    )


# --- side information -------------------------------------------------------------------------------------------------


def test_rows_of_a_label_share_their_posterior_and_agree_with_y():
    model = lpd().fit(X, PARTIAL)
    for label in range(3):
        rows = np.flatnonzero(label == PARTIAL)
        assert (model.labels_[rows] == label).all()
        np.testing.assert_array_equal(model.posterior_[rows], np.tile(model.posterior_[rows[0]], (len(rows), 1)))
    assert model.cluster_names_.tolist() == [0, 1, 2]
    assert not model.violations_
    assert balanced_rand_score(Y, model.labels_) > 0.9


def test_links_and_blocks_are_equivalent():
    """The same rows in links or in a block of ``side`` form the same blocks: the fits are equal."""
    rows = [3, 60, 7, 90]
    chain = [(3, 60), (60, 7), (7, 90)]
    by_links = lpd().fit(X, must_link=chain)
    by_blocks = lpd().fit(X, side=SideInformation.build(150, blocks=[rows]))
    np.testing.assert_array_equal(by_links.posterior_, by_blocks.posterior_)
    assert len(np.unique(by_links.posterior_[rows], axis=0)) == 1
    both = lpd().fit(X, PARTIAL, must_link=[(int(np.flatnonzero(PARTIAL == 1)[0]), 0)])
    assert both.labels_[0] == 1


def test_with_all_rows_in_blocks_gamma_is_shared():
    model = lpd().fit(X, Y)
    assert len(np.unique(model.posterior_, axis=0)) == 3
    np.testing.assert_array_equal(model.labels_, Y)


def test_empty_side_information_changes_nothing():
    plain = lpd().fit(X)
    for nothing in ({"y": np.full(150, -1)}, {"side": SideInformation.build(150)}, {"must_link": []}):
        np.testing.assert_array_equal(lpd().fit(X, **nothing).posterior_, plain.posterior_)
    assert plain.cluster_names_.tolist() == ["cluster 0", "cluster 1", "cluster 2"]
    sizes = np.bincount(plain.labels_)
    assert (np.diff(sizes) <= 0).all()
    assert balanced_rand_score(Y, plain.labels_) > 0.85


def test_labels_that_share_a_process_are_violations():
    """A label inside another label's blob loses its process to a third, unlabelled blob."""
    blobs, y = make_blobs(200, 5, centers=3, cluster_std=0.4, random_state=0)
    first = np.flatnonzero(y == 0)
    known = np.full(200, -1)
    known[first[1:]] = 0
    known[first[0]] = 1
    known[y == 1] = 2
    model = lpd(n_init=5).fit(blobs, known)
    assert model.labels_[first[0]] == model.labels_[first[1]] == 0
    assert model.violations_.labels.tolist() == [first[0]]
    assert model.cluster_names_.tolist() == [0, 1, 2]
    assert (model.labels_[y == 2] == 1).all()


def test_cannot_links_are_refused():
    with pytest.raises(ValueError, match="LatentProcessDecomposition cannot use cannot-links"):
        lpd().fit(X, cannot_link=[(0, 149)])
    with pytest.raises(ValueError, match="confidence below 1"):
        lpd().fit(X, side=SideInformation.build(150, must_link=[(0, 1)], confidence=0.9))


def test_more_labelled_classes_than_processes():
    with pytest.warns(UserWarning, match="n_processes=2 is less than the 3 labelled classes"):
        model = lpd(2).fit(X, PARTIAL)
    assert model.n_clusters_ == 3
    blocks = SideInformation.build(150, blocks=PARTIAL)
    assert lpd(2).fit(X, side=blocks).n_clusters_ == 2


def test_the_default_number_of_processes():
    assert lpd(None).fit(X).n_clusters_ == 3
    assert lpd(None).fit(X, np.where(PARTIAL == 2, -1, PARTIAL)).n_clusters_ == 2
    assert lpd(None).fit(X, np.where(PARTIAL == 2, 0, -1)).n_clusters_ == 3
    assert lpd(None).fit(X[:2]).n_clusters_ == 2


# --- the fit ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", ["ml", "map"])
def test_planted_processes_are_found(prior):
    table, shares = planted(600, 1)
    model = lpd(prior=prior).fit(table)
    distance = np.abs(model.means_[:, None] - PLANTED.means[None]).max(axis=2)
    match = distance.argmin(axis=1)
    assert sorted(match) == [0, 1, 2]
    assert distance.min(axis=1).max() < 0.5
    np.testing.assert_allclose(model.scales_, np.sqrt(PLANTED.variances[match]), atol=0.35)
    truth = clone(model).fit(table)
    truth.alpha_, truth.means_, truth.scales_ = PLANTED.alpha, PLANTED.means, np.sqrt(PLANTED.variances)
    best = np.abs(truth.transform(table) - shares).mean()  # what folding in with the true parameters leaves
    assert np.abs(model.posterior_ - shares[:, match]).mean() < 1.05 * best
    assert (np.diff(model.lower_bounds_) >= -1e-9 * np.abs(model.lower_bound_)).all()
    assert model.converged_
    assert model.n_iter_ == len(model.lower_bounds_) - 1
    assert model.lower_bound_ < model.score(table)


def test_prior_keeps_scales_wide_where_rows_are_few():
    wide = np.random.RandomState(0).normal(size=(12, 60))
    free, shrunk = lpd().fit(wide), lpd(prior="map", prior_spread=1.0).fit(wide)
    assert shrunk.scales_.min() > 2 * free.scales_.min()
    assert free.scales_.min() >= 0.05 * wide.std(axis=0).min()


def test_more_starts_never_lower_the_bound():
    table = with_holes(load_wine().data, 0.1)
    bounds = [lpd(5, n_init=n).fit(table).lower_bound_ for n in (1, 4)]
    assert bounds[1] >= bounds[0]


def test_results_do_not_depend_on_the_number_of_threads():
    table = with_holes(planted(10_000, 0)[0], 0.1)  # more rows than a thread takes at a time
    with pytest.warns(ConvergenceWarning):
        one, two = (lpd(n_jobs=n_jobs, max_iter=8).fit(table) for n_jobs in (1, 2))
    for a, b in zip(outputs(one, table[:1500]), outputs(two, table[:1500]), strict=True):
        np.testing.assert_array_equal(a, b)


def test_units_change_only_scales_and_the_bound():
    plain, scaled = lpd().fit(X), lpd().fit(X * [1e3, 1, 1e-4, 2] + 5)
    np.testing.assert_array_equal(plain.labels_, scaled.labels_)
    np.testing.assert_allclose(scaled.scales_, plain.scales_ * [1e3, 1, 1e-4, 2], rtol=1e-6)
    assert scaled.lower_bound_ == pytest.approx(plain.lower_bound_ - np.log(1e3 * 1e-4 * 2), abs=1e-6)


def test_callbacks_see_the_steps_that_the_record_has():
    seen = []
    model = lpd(callbacks=[seen.append]).fit(X, PARTIAL)
    assert model.n_iter_ > 5
    assert [progress.iteration for progress in seen] == list(range(1, model.n_iter_ + 1))
    assert [progress.objective / 150 for progress in seen] == model.lower_bounds_[:-1]
    changes = np.diff([progress.objective for progress in seen])
    assert [progress.change for progress in seen] == [np.inf, *changes]
    assert len(model.lower_bounds_) == model.n_iter_ + 1
    assert model.lower_bound_ == model.lower_bounds_[-1] >= model.lower_bounds_[-2]


def test_callbacks_see_the_steps_of_all_starts_and_the_record_is_that_of_the_best():
    table, seen = load_wine().data, []
    model = lpd(4, n_init=4, callbacks=[seen.append]).fit(table)
    assert [progress.start for progress in seen] == sorted(progress.start for progress in seen)
    starts = [[progress for progress in seen if progress.start == number] for number in (1, 2, 3, 4)]
    assert sum(map(len, starts)) == len(seen)
    for start in starts:
        assert [progress.iteration for progress in start] == list(range(1, len(start) + 1))
    kept = max(starts, key=lambda start: start[-1].objective)
    assert sum(start == kept for start in starts) == 1
    assert [progress.objective / len(table) for progress in kept] == model.lower_bounds_[:-1]
    assert len(kept) == model.n_iter_


def test_a_fit_that_stops_at_max_iter_warns_and_keeps_the_record():
    seen = []
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        model = lpd(max_iter=5, callbacks=[seen.append]).fit(X)
    assert not model.converged_
    assert [progress.iteration for progress in seen] == [1, 2, 3, 4, 5]
    assert model.n_iter_ == 5
    assert len(model.lower_bounds_) == 6


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    def stop(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    wider = pd.DataFrame(np.column_stack([X, X]), columns=list("abcdefgh"))
    new = lpd(callbacks=[stop])
    before = dict(vars(new))
    with pytest.raises(KeyboardInterrupt):
        new.fit(wider)
    assert vars(new) == before
    fitted = lpd().fit(pd.DataFrame(X, columns=list("wxyz")))
    labels, before = fitted.labels_, dict(vars(fitted))
    fitted.set_params(callbacks=[stop])
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(wider)
    infinite = wider.copy()
    infinite.loc[3, "h"] = np.inf
    with pytest.raises(ValueError, match="infinity in row 3, column 'h'"):
        fitted.fit(infinite)
    fitted.set_params(callbacks=None)
    assert vars(fitted).keys() == before.keys()
    assert all(vars(fitted)[name] is before[name] for name in before)
    np.testing.assert_array_equal(fitted.predict(pd.DataFrame(X, columns=list("wxyz"))), lpd().fit(X).predict(X))
    assert fitted.labels_ is labels


def test_a_second_fit_replaces_the_first():
    model = lpd().fit(pd.DataFrame(X, columns=list("abcd")), PARTIAL)
    model.fit(X[:, :2])
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 2
    np.testing.assert_array_equal(model.posterior_, lpd().fit(X[:, :2]).posterior_)


def test_progress_bar(capsys):
    lpd(verbose=True).fit(X)
    assert "start 1" in capsys.readouterr().err


# --- missing cells ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("prior", ["ml", "map"])
def test_a_fifth_of_the_cells_missing_gives_no_nan_and_beats_mean_imputation(prior):
    complete, _ = planted(300, 2)
    unseen, _ = planted(300, 3)
    table = with_holes(complete, 0.2)
    model = lpd(prior=prior).fit(table)
    for output in outputs(model, table):
        assert np.isfinite(output).all()
    imputed = lpd(prior=prior).fit(SimpleImputer().fit_transform(table))
    ours, theirs = (m.log_likelihood(unseen, n_draws=300) for m in (model, imputed))
    gain = (ours.total - theirs.total) / np.hypot(ours.standard_error, theirs.standard_error)
    assert gain > 5
    assert model.score(unseen) > lpd(prior=prior).fit(complete).score(unseen) - 0.5


def test_a_row_without_values_has_the_shares_of_the_prior():
    table = X.copy()
    table[17] = np.nan
    model = lpd().fit(table)
    expected = model.alpha_ / model.alpha_.sum()
    np.testing.assert_allclose(model.posterior_[17], expected, rtol=0.1)
    np.testing.assert_allclose(model.transform(table[[17]])[0], expected)
    assert model.log_likelihood(table[[17]]).values[0] == pytest.approx(0, abs=1e-9)


def test_a_column_without_values_is_refused_by_fit_only():
    table = X.copy()
    table[:, 2] = np.nan
    with pytest.raises(ValueError, match="no value in any row of column 2, only NaN; leave the column out"):
        lpd().fit(table)
    assert np.isfinite(lpd().fit(X).transform(table)).all()


def test_infinity_is_refused_with_its_place():
    table = pd.DataFrame(X.copy(), columns=list("abcd"))
    model = lpd().fit(table)
    table.loc[9, "c"] = np.inf
    for method in (model.predict, lpd().fit):
        with pytest.raises(ValueError, match=r"infinity in row 9, column 'c'; use NaN"):
            method(table)


def test_huge_values_are_refused_by_fit_only():
    with pytest.raises(ValueError, match="column 0 are too large to be squared; rescale"):
        lpd(2).fit(np.array([[1e300], [-1e300], [0.0]]))
    model = lpd().fit(X)
    far = np.array([[1e300, 3, -1e250, 0.2]])
    assert np.isfinite(model.transform(far)).all()
    assert np.isfinite(model.log_likelihood(far).values).all()


def test_frames_with_holes():
    table = with_holes(X, 0.1)
    reference = lpd().fit(table)
    columns = ["a", "b", "c", "d"]
    for frame in (pd.DataFrame(table, columns=columns), pl.DataFrame(table, schema=columns).fill_nan(None)):
        model = lpd().fit(frame)
        np.testing.assert_allclose(model.posterior_, reference.posterior_, rtol=1e-6)  # columns add up in another order
        np.testing.assert_array_equal(model.predict(frame), reference.predict(table))


def test_constant_columns_and_repeated_rows():
    table = np.column_stack([np.repeat(X[::10], 10, axis=0), np.full(150, 3.3)])
    model = lpd().fit(table)
    for output in outputs(model, table):
        assert np.isfinite(output).all()


def test_float32_and_mapped_tables(tmp_path):
    path = tmp_path / "table.npy"
    np.save(path, X.astype(np.float32))
    reference = lpd().fit(X)
    for table in (X.astype(np.float32), np.load(path, mmap_mode="r")):
        model = lpd().fit(table)
        np.testing.assert_array_equal(model.labels_, reference.labels_)
        assert model.means_.dtype == np.float64


# --- unseen rows, and descriptions of the processes -------------------------------------------------------------------


def test_unseen_rows_are_folded_in():
    model = lpd().fit(X[::2])
    shares = model.transform(X[1::2])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X[1::2]), shares.argmax(axis=1))
    np.testing.assert_array_equal(model.predict_proba(X[1::2]), shares)
    assert balanced_rand_score(Y[1::2], model.predict(X[1::2])) > 0.85


def test_folding_fitted_rows_in_gives_their_posterior():
    model = lpd(tol=1e-9, max_iter=5000).fit(X)
    np.testing.assert_allclose(model.transform(X), model.posterior_, atol=2e-3)


def test_likelihood_is_reproducible_and_more_draws_reduce_the_error():
    model = lpd().fit(X)
    few, many = model.log_likelihood(X, n_draws=50), model.log_likelihood(X, n_draws=2000)
    np.testing.assert_array_equal(few.values, model.log_likelihood(X, n_draws=50).values)
    assert many.standard_error < few.standard_error / 3
    assert abs(few.total - many.total) < 4 * few.standard_error
    assert model.score(X) == pytest.approx(many.total / 150, abs=0.02)
    with pytest.raises(ValueError, match="n_draws=1"):
        model.log_likelihood(X, n_draws=1)


def test_attributes_are_ranked_by_how_well_they_separate_two_processes():
    table, _ = planted(400, 4)
    table[:, 3] = np.random.RandomState(0).normal(size=400)  # separates no processes
    model = lpd().fit(pd.DataFrame(table, columns=[f"gene {g}" for g in range(8)]))
    ranking = model.rank_attributes(0, 2)
    assert ranking.names[-1] == "gene 3"
    assert ranking.columns[-1] == 3
    assert (np.diff(ranking.distances) <= 0).all()
    assert ranking.distances[-1] < 0.05 < 0.5 < ranking.distances[0]
    assert lpd().fit(X).rank_attributes(0, 1).names[0].startswith("x")
    with pytest.raises(ValueError, match="second=3, but there are processes 0 to 2"):
        model.rank_attributes(0, 3)


def test_samples_look_like_the_table():
    model = lpd().fit(X)
    rows, shares = model.sample(5000)
    np.testing.assert_allclose(rows.mean(axis=0), X.mean(axis=0), atol=0.15)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


# --- the number of processes ------------------------------------------------------------------------------------------


def test_grid_search_by_score_and_held_out_likelihood_find_the_number():
    table, _ = planted(240, 7)
    search = GridSearchCV(lpd(), {"n_processes": [1, 3]}, cv=KFold(3, shuffle=True, random_state=0)).fit(table)
    assert search.best_params_ == {"n_processes": 3}
    held_out = select_n_components(lpd(), table, [1, 2, 3], criterion="held_out", cv=3)
    assert held_out.best == 3
    assert held_out.scores.shape == (3, 3)
    np.testing.assert_allclose(held_out.values[[0, 2]], search.cv_results_["mean_test_score"], atol=0.2)


def test_held_out_likelihood_uses_the_side_information_of_the_training_rows():
    table = pd.DataFrame(X)
    side = SideInformation.build(150, y=PARTIAL)
    model = lpd()

    def judge(fitted, rows):
        return fitted.log_likelihood(rows, n_draws=50).values.mean()

    folds = KFold(2, shuffle=True, random_state=0)
    found = select_n_components(model, table, [3], criterion=judge, side=side, cv=folds)
    inside, outside = next(folds.split(X))
    fitted = clone(model).fit(table.iloc[inside], side=side.restrict(inside))
    assert found.scores[0, 0] == pytest.approx(judge(fitted, table.iloc[outside]))
    with pytest.raises(ValueError, match="at least 3, one for each labelled class"):
        select_n_components(model, X, [2, 3], side=side)
    with pytest.raises(ValueError, match="side has 150 rows, but X has 149"):
        select_n_components(model, X[1:], [3], side=side)


# --- scikit-learn -----------------------------------------------------------------------------------------------------


def test_pickle_clone_pipeline_and_names_of_outputs():
    model = lpd().fit(X, PARTIAL)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    np.testing.assert_array_equal(clone(model).fit(X, PARTIAL).posterior_, model.posterior_)
    pipeline = make_pipeline(StandardScaler(), lpd()).set_output(transform="pandas")
    assert list(pipeline.fit_transform(X).columns) == [f"latentprocessdecomposition{k}" for k in range(3)]
    assert isinstance(pipeline.predict(X), np.ndarray)


def test_posterior_can_be_left_out():
    model = lpd(keep_posterior=False).fit(X)
    with pytest.raises(AttributeError, match="keep_posterior=True"):
        _ = model.posterior_
    assert model.labels_.shape == (150,)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_processes": 0}, "n_processes=0"),
        ({"n_processes": 151}, "n_processes=151 is more than the n_samples = 150"),
        ({"prior": "bayes"}, "prior='bayes'"),
        ({"prior_mean_scale": 0}, "prior_mean_scale=0"),
        ({"prior_spread": -1}, "prior_spread=-1"),
        ({"min_scale": 0}, "min_scale=0"),
        ({"n_init": 0}, "n_init=0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1}, "tol=-1"),
    ],
)
def test_invalid_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        lpd(**{"n_processes": 3} | parameters).fit(X)
