"""The mixtures for linked rows: what they promise beyond what all estimators do."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from sidelight import EquivalenceMixture, PairwiseMixture, PosteriorConstraintMixture, SideInformation
from sidelight.estimators.base.link_mixture import LINK_STARTS
from sidelight.metrics import purity_score
from sidelight.side import ContradictionError, draw_links

X, Y = load_iris(return_X_y=True)
LINKS = draw_links(Y, 60, random_state=0)
SIDE = SideInformation.build(150, must_link=LINKS.must_link, cannot_link=LINKS.cannot_link)
THREE = pytest.mark.parametrize("model", [PairwiseMixture, EquivalenceMixture, PosteriorConstraintMixture])


@THREE
@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_without_links_it_is_a_plain_gaussian_mixture(model, covariance_type):
    reference = GaussianMixture(3, covariance_type=covariance_type, reg_covar=0, tol=1e-9, max_iter=500, random_state=0)
    reference.fit(X)
    found = model(
        3, covariance_type=covariance_type, prior_rows=0, means_init=reference.means_, tol=1e-12, max_iter=2000
    ).fit(X)
    assert found.lower_bound_ >= reference.lower_bound_ - 1e-3
    np.testing.assert_allclose(found.predict_proba(X), found.posterior_, atol=1e-12)
    np.testing.assert_array_equal(found.predict(X), found.labels_)


@THREE
@pytest.mark.parametrize("per_class", [1, 2])
def test_the_bound_never_falls_and_links_help(model, per_class):
    fitted = model(3, components_per_class=per_class, random_state=0).fit(X, side=SIDE)
    assert np.all(np.diff(fitted.lower_bounds_) >= -1e-9 * np.abs(fitted.lower_bounds_[:-1]))
    assert fitted.component_clusters_.tolist() == np.repeat(range(3), per_class).tolist()
    np.testing.assert_allclose(fitted.posterior_.sum(axis=1), 1)
    assert purity_score(Y, fitted.labels_) > 0.85


@pytest.mark.parametrize("model", [PairwiseMixture, EquivalenceMixture])
def test_links_choose_between_two_ways_to_divide(model):
    # Four blobs at the corners of a square: links say that height tells the classes, not width.
    table, corner = make_blobs(200, centers=[[0, 0], [8, 0], [0, 6], [8, 6]], random_state=0)
    truth = corner // 2
    links = draw_links(truth, 40, random_state=0)
    side = SideInformation.build(200, must_link=links.must_link, cannot_link=links.cannot_link)
    fitted = model(2, components_per_class=2, n_init=4, random_state=0).fit(table, side=side)
    assert purity_score(truth, fitted.labels_, rows=~side.mentioned) >= 0.98


@THREE
def test_numbers_of_classes(model):
    assert model(random_state=0).fit(X).n_clusters_ == 2
    assert model(random_state=0).fit(X, np.where(np.arange(150) % 10 == 0, Y, -1)).n_clusters_ == 3
    one_label = np.where(np.arange(150) == 0, 0, -1)
    assert model(random_state=0).fit(X, one_label).n_clusters_ == 1
    assert model(random_state=0).fit(X, one_label, cannot_link=[(0, 149)]).n_clusters_ == 2
    with pytest.warns(UserWarning, match="n_classes=2 is less than the 3 classes that have a label"):
        assert model(2, random_state=0).fit(X, np.where(np.arange(150) % 10 == 0, Y, -1)).n_clusters_ == 3
    with pytest.raises(ValueError, match="n_classes=1|cannot_link"):
        model(1).fit(X, cannot_link=[(0, 149)])


@THREE
def test_labels_and_links_work_together(model):
    y = np.full(150, -1)
    y[[0, 50, 100]] = [0, 1, 2]
    fitted = model(3, random_state=0).fit(X, y, must_link=[(50, 60)], cannot_link=[(100, 120), (60, 70)])
    assert fitted.labels_[[0, 50, 60, 100]].tolist() == [0, 1, 1, 2]
    assert fitted.labels_[120] != 2
    assert fitted.labels_[70] != 1
    assert not fitted.violations_


@THREE
def test_results_do_not_depend_on_threads(model):
    one, two = (model(3, n_jobs=n, random_state=0).fit(X, side=SIDE) for n in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.lower_bound_ == two.lower_bound_


@THREE
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_classes": 0}, "n_classes=0"),
        ({"components_per_class": 0}, "components_per_class=0"),
        ({"init_params": "luck"}, "init_params='luck'"),
        ({"n_classes": 3, "means_init": np.zeros((2, 4))}, r"means_init has shape \(2, 4\)"),
        ({"n_classes": 200}, "n_classes=200"),
    ],
)
def test_senseless_parameters_are_refused(model, parameters, message):
    with pytest.raises(ValueError, match=message):
        model(**parameters).fit(X)


class TestPairwise:
    def test_all_rows_may_enter_as_singles(self):
        linked = np.flatnonzero(SIDE.mentioned)
        fits = {s: PairwiseMixture(3, singles=s, random_state=0).fit(X, side=SIDE) for s in ("unlinked", "all")}
        assert fits["all"].lower_bound_ != fits["unlinked"].lower_bound_
        for fitted in fits.values():
            np.testing.assert_allclose(fitted.posterior_[linked].sum(axis=1), 1)
        with pytest.raises(ValueError, match="singles='none'"):
            PairwiseMixture(singles="none").fit(X)

    def test_uncertain_links_have_no_meaning(self):
        side = SideInformation.build(150, must_link=[(0, 1)], confidence=0.9)
        with pytest.raises(ValueError, match="EquivalenceMixture"):
            PairwiseMixture(3).fit(X, side=side)


class TestEquivalence:
    @pytest.mark.parametrize("pairs", ["random", "conditional"])
    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_certain_links_hold(self, pairs, n_classes):
        rng = np.random.default_rng(0)
        truth = rng.integers(0, n_classes, size=120)
        table = rng.normal(size=(120, 2))  # links are all there is
        links = draw_links(truth, 80, random_state=0)
        side = SideInformation.build(120, must_link=links.must_link, cannot_link=links.cannot_link)
        fitted = EquivalenceMixture(n_classes, pairs=pairs, random_state=0).fit(table, side=side)
        assert fitted.exact_
        assert not fitted.violations_

    def test_what_follows_from_links_holds_too(self):
        fitted = EquivalenceMixture(3, random_state=0).fit(
            X,
            must_link=[(0, 1), (1, 2), (50, 51)],
            cannot_link=[(2, 51)],
            side=SideInformation.build(150, blocks=[[2, 3]]),
        )
        assert len(set(fitted.labels_[[0, 1, 2, 3]])) == 1
        assert fitted.labels_[50] != fitted.labels_[0]
        np.testing.assert_allclose(fitted.posterior_[[0, 1, 2]], fitted.posterior_[[3, 3, 3]])

    def test_random_pairs_tell_the_sizes_of_classes(self):
        rng = np.random.default_rng(0)
        truth = (rng.uniform(size=3000) < 0.2).astype(int)
        table = rng.normal(size=(3000, 1)) + 4 * truth[:, None]
        links = draw_links(truth, 1000, random_state=0)
        side = SideInformation.build(3000, must_link=links.must_link, cannot_link=links.cannot_link)
        fitted = EquivalenceMixture(2, unlinked_weight=0, init_params="kmeans", random_state=0).fit(table, side=side)
        np.testing.assert_allclose(np.sort(fitted.weights_), [0.2, 0.8], atol=0.03)

    @pytest.mark.parametrize("init_params", list(LINK_STARTS))
    def test_every_start_leads_somewhere_sensible(self, init_params):
        fitted = EquivalenceMixture(3, init_params=init_params, random_state=0).fit(X, side=SIDE)
        assert purity_score(Y, fitted.labels_, rows=~SIDE.mentioned) > 0.85

    def test_the_number_of_classes_comes_from_links(self):
        table, truth = make_blobs(300, centers=[[x, y] for x in (0, 8, 16) for y in (0, 8)], random_state=0)
        links = draw_links(truth, 400, random_state=0)
        fitted = EquivalenceMixture(random_state=0).fit(table, must_link=links.must_link, cannot_link=links.cannot_link)
        assert fitted.n_clusters_ == 6
        assert adjusted_rand_score(truth, fitted.labels_) > 0.95
        # Links of one kind do not say how many classes there are, but they can need more than two.
        assert EquivalenceMixture(random_state=0).fit(X, cannot_link=[(0, 149)]).n_clusters_ == 2
        apart = np.array([(a, b) for a in range(0, 150, 30) for b in range(a + 30, 150, 30)])
        assert EquivalenceMixture(random_state=0).fit(X, cannot_link=apart).n_clusters_ == 5

    def test_twenty_classes_of_few_rows(self):
        random = np.random.default_rng(0)
        truth = np.repeat(np.arange(20), 12)
        table = random.normal(size=(20, 8))[truth] * 2 + random.normal(size=(240, 8))
        links = draw_links(truth, 3000, random_state=0)
        given = {"must_link": links.must_link, "cannot_link": links.cannot_link}
        assert adjusted_rand_score(truth, EquivalenceMixture(20, random_state=0).fit(table, **given).labels_) > 0.9

    def test_contradictions_are_named_or_worked_around(self):
        links = {"must_link": [(0, 4), (4, 7)], "cannot_link": [(0, 7)]}
        with pytest.raises(ContradictionError, match="0–4–7"):
            EquivalenceMixture(3).fit(X, **links)
        fitted = EquivalenceMixture(3, link_confidence=0.9, random_state=0).fit(X, **links)
        assert fitted.violations_.total == 1

    def test_impossible_links_are_named_or_worked_around(self):
        links = [(0, 50), (50, 100), (0, 100)]
        with pytest.raises(ValueError, match="n_classes=2.*0, 50, 100.*link_confidence"):
            EquivalenceMixture(2).fit(X, cannot_link=links)
        assert (
            EquivalenceMixture(2, link_confidence=0.9, random_state=0).fit(X, cannot_link=links).violations_.total == 1
        )
        assert not EquivalenceMixture(3, random_state=0).fit(X, cannot_link=links).violations_

    def test_wrong_links_are_broken_where_links_may_be(self):
        wrong = {"must_link": [(0, 100)], "cannot_link": [(1, 2)]}
        side = SideInformation.build(150, **wrong)
        certain = EquivalenceMixture(3, random_state=0).fit(X, side=SIDE | side)
        unsure = EquivalenceMixture(3, link_confidence=0.8, random_state=0).fit(X, side=SIDE | side)
        assert not certain.violations_
        assert unsure.labels_[0] != unsure.labels_[100]
        assert unsure.labels_[1] == unsure.labels_[2]

    def test_confidences_may_differ(self):
        side = SideInformation.build(150, must_link=[(0, 100), (1, 101)], confidence=[0.6, 1])
        fitted = EquivalenceMixture(3, random_state=0).fit(X, side=SIDE | side)
        assert fitted.labels_[0] != fitted.labels_[100]
        assert fitted.labels_[1] == fitted.labels_[101]

    def test_links_of_ids(self):
        ids = np.array([f"flower {i}" for i in range(150)])
        links = {"must_link": ids[LINKS.must_link], "cannot_link": ids[LINKS.cannot_link]}
        for confidence in (None, 0.9):
            model = EquivalenceMixture(3, link_confidence=confidence, init_params="kmeans", random_state=0)
            by_id = model.fit(X, sample_id=ids, **links).labels_
            np.testing.assert_array_equal(by_id, model.fit(X, side=SIDE).labels_)

    def test_several_components_make_a_class_of_any_shape(self):
        table, truth = make_moons(300, noise=0.06, random_state=0)
        links = draw_links(truth, 40, random_state=0)
        side = SideInformation.build(300, must_link=links.must_link, cannot_link=links.cannot_link)
        scores = [
            purity_score(
                truth, EquivalenceMixture(2, components_per_class=k, random_state=0).fit(table, side=side).labels_
            )
            for k in (1, 3)
        ]
        assert scores[1] > scores[0]

    @pytest.mark.parametrize("confidence", [0.5, 1.2, "high"])
    def test_senseless_confidences_are_refused(self, confidence):
        with pytest.raises(ValueError, match="link_confidence"):
            EquivalenceMixture(link_confidence=confidence).fit(X)

    def test_weights_are_repetitions_of_rows_in_no_link(self):
        counts = np.ones(150)
        free = np.flatnonzero(~SIDE.mentioned)[:20]
        counts[free] = 2
        means = np.stack([X[50 * c : 50 * c + 50].mean(axis=0) for c in range(3)])
        weighted = EquivalenceMixture(3, means_init=means).fit(X, side=SIDE, sample_weight=counts)
        table = np.concatenate([X, X[free]])
        longer = SideInformation.build(170, must_link=LINKS.must_link, cannot_link=LINKS.cannot_link)
        repeated = EquivalenceMixture(3, means_init=means).fit(table, side=longer)
        np.testing.assert_allclose(np.sort(weighted.means_, axis=0), np.sort(repeated.means_, axis=0), rtol=1e-3)


class TestPosteriorConstraint:
    def test_posteriors_respect_links_on_average(self):
        fitted = PosteriorConstraintMixture(3, random_state=0).fit(X, side=SIDE)
        a, b = LINKS.cannot_link.T
        assert (fitted.posterior_[a] + fitted.posterior_[b] <= 1 + 1e-5).all()
        i, j = LINKS.must_link.T
        np.testing.assert_allclose(fitted.posterior_[i], fitted.posterior_[j], atol=1e-12)
