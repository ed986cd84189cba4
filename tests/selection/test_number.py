"""The number of components by BIC, ICL and held-out likelihood."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import entr
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from sidelight import ClassMixture, COPKMeans, GuidedMixture, LabelledMixture, SideInformation
from sidelight.selection import select_n_components
from sidelight.side import draw_labels, draw_side

X, TRUTH = make_blobs(180, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)


def labelled(**parameters):
    return LabelledMixture(**{"random_state": 0, "init_params": "kmeans", "covariance_type": "full"} | parameters)


@pytest.mark.parametrize("criterion", ["bic", "icl", "held_out"])
@pytest.mark.parametrize("estimator", [LabelledMixture, ClassMixture])
def test_planted_components_are_counted(estimator, criterion):
    model = estimator(init_params="kmeans", random_state=0)
    found = select_n_components(model, X, range(1, 6), criterion=criterion, cv=3)
    assert found.best == 3
    assert found.best_estimator.n_clusters_ == 3
    assert found.parameter == "n_components"
    assert found.candidates.tolist() == [1, 2, 3, 4, 5]
    assert found.scores.shape == (5, 3 if criterion == "held_out" else 1)
    assert found.lower_is_better == (criterion != "held_out")
    assert not hasattr(model, "labels_")


def test_values_are_those_of_the_fits():
    found = select_n_components(labelled(), X, [2, 4], criterion="icl")
    for place, number in enumerate((2, 4)):
        model = labelled(n_components=number).fit(X)
        expected = model.bic(X) + 2 * entr(model.posterior_).sum()
        assert found.values[place] == pytest.approx(expected)
        assert found.deviations is None
    folds = KFold(3, shuffle=True, random_state=5)
    held_out = select_n_components(labelled(), X, [2], criterion="held_out", cv=folds)
    expected = [labelled(n_components=2).fit(X[inside]).score(X[outside]) for inside, outside in folds.split(X)]
    np.testing.assert_allclose(held_out.scores[0], expected)
    np.testing.assert_allclose(held_out.deviations, [np.std(expected, ddof=1)])
    np.testing.assert_allclose(held_out.values, [np.mean(expected)])


def test_icl_is_found_without_a_kept_posterior():
    kept, dropped = (
        select_n_components(labelled(keep_posterior=keep), X, [2], criterion="icl").values for keep in (True, False)
    )
    np.testing.assert_allclose(kept, dropped)


def test_icl_counts_clusters_that_share_rows_against_the_model():
    # One long cluster, which BIC would rather have as two round components.
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.uniform(0, 8, 300), rng.normal(size=300)])
    model = labelled(covariance_type="spherical", n_init=2)
    bic, icl = (select_n_components(model, table, range(1, 5), criterion=c).best for c in ("bic", "icl"))
    assert icl < bic


def test_what_is_known_takes_part():
    links = draw_side(TRUTH > 0, links=60, random_state=0)
    found = select_n_components(ClassMixture(random_state=0, init_params="kmeans"), X, [3, 4], side=links)
    assert found.best_estimator.n_classes_ == 2
    partial = draw_labels(TRUTH, fraction=0.2, random_state=0)
    found = select_n_components(labelled(), X, [3, 4], y=partial)
    assert found.best_estimator.cluster_names_.tolist() == [0, 1, 2]
    ids = np.arange(1000, 1180)
    side = SideInformation.build(180, y=partial, sample_id=ids)
    shuffled = np.random.default_rng(0).permutation(180)
    by_id = select_n_components(labelled(), X[shuffled], [3], side=side, sample_id=ids[shuffled])
    np.testing.assert_array_equal(by_id.best_estimator.violations_.labels, [])


def test_frames_and_any_number_of_processes_give_the_same():
    frame = pd.DataFrame(X, columns=["a", "b"])
    one = select_n_components(labelled(), frame, [2, 3], criterion="held_out", cv=3, random_state=7)
    two = select_n_components(labelled(), frame, [2, 3], criterion="held_out", cv=3, random_state=7, n_jobs=2)
    np.testing.assert_array_equal(one.scores, two.scores)
    assert list(one.best_estimator.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(one.best_estimator.labels_, two.best_estimator.labels_)


def test_seeds_are_the_estimators_unless_given():
    table, _ = load_iris(return_X_y=True)
    model = labelled(init_params="k-means++", random_state=3)
    own = select_n_components(model, table, [5])
    assert own.values[0] == clone(model).set_params(n_components=5).fit(table).bic(table)
    given = {select_n_components(model, table, [5], random_state=seed).values[0] for seed in (0, 0, 1)}
    assert len(given) == 2


def test_other_estimators_and_criteria():
    found = select_n_components(GaussianMixture(random_state=0), X, [2, 3, 4])
    assert found.best == 3
    found = select_n_components(COPKMeans(random_state=0), X, [2, 3], criterion=lambda model, rows: -len(rows), cv=3)
    assert found.parameter == "n_clusters"
    assert found.best == 2
    found = select_n_components(
        KMeans(n_init=1, random_state=0), X, [2, 3], criterion="held_out", parameter="n_clusters"
    )
    assert found.best == 3
    assert str(found) == "n_clusters=3 has the highest held_out of 2 tried"


def test_a_bar_is_shown_when_asked_for(capsys):
    select_n_components(labelled(), X, [2, 3], verbose=True)
    assert "fits" in capsys.readouterr().err
    select_n_components(labelled(), X, [2, 3])
    assert capsys.readouterr().err == ""


def test_errors_say_what_to_do():
    with pytest.raises(ValueError, match=r"criterion='aic' is not known; choose one of 'bic', 'icl', 'held_out'"):
        select_n_components(labelled(), X, [2], criterion="aic")
    with pytest.raises(ValueError, match=r"candidates=\[\] for n_components must be numbers of at least 1"):
        select_n_components(labelled(), X, [])
    with pytest.raises(ValueError, match=r"at least 3, one for each labelled class; .* blocks"):
        select_n_components(labelled(), X, [2, 3], y=TRUTH)
    for criterion, method in (("bic", "bic"), ("icl", "bic"), ("held_out", "score")):
        for model in (GuidedMixture(), COPKMeans()):
            with pytest.raises(ValueError, match=rf"needs {method}\(X\), which {type(model).__name__} does not have"):
                select_n_components(model, X, [2], criterion=criterion)
    with pytest.raises(ValueError, match="StandardScaler has none of the parameters .*parameter="):
        select_n_components(StandardScaler(), X, [2])
