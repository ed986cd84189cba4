"""Every expert: against scikit-learn, SciPy, or a dense solution, and what holds for all of them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_t
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from sidelight.experts import (
    ClusterExpert,
    DendrogramExpert,
    ForestExpert,
    GaussianExpert,
    LinearExpert,
    NeighbourExpert,
    PrincipalExpert,
    View,
)
from sidelight.experts.expert import FLOOR, Lesson, floored
from sidelight.experts.folds import lesson_of, stratified_folds
from sidelight.experts.forest import _as_arrays
from sidelight.experts.gaussians import SHARED, GaussianOpinion
from sidelight.experts.neighbours import opinions_of, similarity_graph

Y = np.arange(60) % 3
POINTS = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 1.0], [0.0, 3.0, -1.0]])[Y] + np.random.default_rng(0).normal(
    size=(60, 3)
)
VIEW = View(POINTS, POINTS)
# Clusters that are the classes, nearly.
MEMBERSHIPS = np.where(Y[:, None] == np.arange(3), 0.9, 0.05)
EXPERTS = (
    LinearExpert(),
    ForestExpert(),
    NeighbourExpert.of(VIEW),
    DendrogramExpert.of(VIEW, np.random.RandomState(0), n_trees=2),
    GaussianExpert("labelled Gaussians", 0.1, unlabelled_weight=0.0),
    GaussianExpert("Gaussians", 0.1, unlabelled_weight=0.1),
    PrincipalExpert(GaussianExpert("tied Gaussians", 0.1, unlabelled_weight=0.3, prior_rows=SHARED)),
    ClusterExpert(MEMBERSHIPS),
)
EVERY = pytest.mark.parametrize("expert", EXPERTS, ids=[expert.name for expert in EXPERTS])


def lesson(n_known: int = 21, weights: np.ndarray | None = None) -> Lesson:
    codes = np.where(np.arange(60) < n_known, Y, -1)
    return lesson_of(codes, np.ones(60) if weights is None else weights, 3, np.random.RandomState(0))


@EVERY
def test_opinions_are_probabilities_that_know_the_classes(expert):
    opinion = expert.consult(VIEW, lesson(), np.random.RandomState(0))
    assert opinion.rows.shape == (60, 3)
    assert opinion.held_out.shape == (21, 3)
    for found in (opinion.rows, opinion.held_out, opinion.learned.probabilities(VIEW)):
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert (found >= 0).all()
    assert np.mean(opinion.rows[21:].argmax(axis=1) == Y[21:]) > 0.7
    assert np.mean(opinion.learned.probabilities(VIEW)[21:].argmax(axis=1) == Y[21:]) > 0.7


@EVERY
def test_rows_held_out_are_judged_without_their_label(expert):
    """A wrong label must not be believed by the opinion that has not seen it."""
    known = lesson()
    codes = known.codes.copy()
    codes[0] = (codes[0] + 1) % 3
    opinion = expert.consult(VIEW, known._replace(codes=codes), np.random.RandomState(0))
    assert opinion.held_out[0].argmax() == known.codes[0]


@EVERY
def test_a_class_without_rows_in_a_fold_is_possible(expert):
    known = lesson_of(
        np.where(np.isin(np.arange(60), [0, 1, 2, 3, 4, 6]), Y, -1), np.ones(60), 3, np.random.RandomState(0)
    )
    opinion = expert.consult(VIEW, known, np.random.RandomState(0))
    assert np.isfinite(opinion.held_out).all()
    assert (opinion.rows > 0).all()


def test_linear_is_logistic_regression():
    known = lesson()
    opinion = LinearExpert().consult(VIEW, known, np.random.RandomState(0))
    model = LogisticRegression(max_iter=300).fit(POINTS[known.rows], known.codes)
    np.testing.assert_allclose(opinion.rows, model.predict_proba(POINTS), rtol=1e-6)
    two = known.part(np.flatnonzero(known.codes < 2))._replace(n_classes=2)
    opinion = LinearExpert().consult(VIEW, two, np.random.RandomState(0))
    model = LogisticRegression(max_iter=300).fit(POINTS[two.rows], two.codes)
    np.testing.assert_allclose(opinion.rows, model.predict_proba(POINTS), rtol=1e-6)


def test_a_forest_as_arrays_answers_as_scikit_learns():
    known = lesson()
    grown = [
        grow(20, random_state=0).fit(POINTS[known.rows], known.codes)
        for grow in (ExtraTreesClassifier, RandomForestClassifier)
    ]
    learned = _as_arrays(grown, 3, np.full(3, 1 / 3), trust=1.0)
    expected = np.mean([model.predict_proba(POINTS) for model in grown], axis=0)
    np.testing.assert_allclose(learned.probabilities(VIEW), expected, rtol=1e-12)


def test_spreading_solves_the_criterion_and_leaves_rows_out_exactly():
    expert, known = NeighbourExpert.of(VIEW, n_neighbours=5), lesson(weights=np.linspace(0.5, 1, 60))
    opinion = expert.consult(VIEW, known, np.random.RandomState(0))
    graph = similarity_graph(POINTS, 5).toarray()
    laplacian = np.diag(graph.sum(axis=1)) - graph

    def solved(given: Lesson) -> np.ndarray:
        weights, targets = np.zeros(60), np.zeros((60, 3))
        weights[given.rows] = given.weights
        targets[given.rows] = given.one_hot()
        system = np.diag(weights + expert.background) + 2 * expert.smoothness * laplacian
        shares = np.linalg.solve(system, targets + expert.background * known.shares())
        return shares / shares.sum(axis=1, keepdims=True)

    np.testing.assert_allclose(opinion.rows, solved(known), atol=1e-6)
    for place in (0, 7, 20):
        others = known.part(np.delete(np.arange(21), place))
        np.testing.assert_allclose(opinion.held_out[place], solved(others)[known.rows[place]], atol=1e-5)


def test_gaussian_densities_are_student_t():
    random = np.random.default_rng(1)
    factors = np.linalg.cholesky(np.array([np.cov(random.normal(size=(3, 9))) for _ in range(2)]))
    learned = GaussianOpinion(np.log([0.3, 0.7]), random.normal(size=(2, 3)), factors, np.array([4.0, 9.0]))
    expected = np.column_stack(
        [
            np.log(share) + multivariate_t(mean, factor @ factor.T, df=degrees).logpdf(POINTS)
            for share, mean, factor, degrees in zip([0.3, 0.7], learned.means, factors, learned.degrees, strict=True)
        ]
    )
    found = learned.log_joint(POINTS)
    np.testing.assert_allclose(found[:, 0] - found[:, 1], expected[:, 0] - expected[:, 1], rtol=1e-9)


def test_tied_gaussians_share_their_covariance_along_the_widest_axes():
    """Shapes differ by less than a tenth though the classes' do by a factor, and columns may stand in any order."""
    random = np.random.default_rng(2)
    points = random.normal(size=(60, 12)) * np.linspace(1.0, 4.0, 12) * np.where(Y == 0, 3.0, 1.0)[:, None]
    expert, known = EXPERTS[6], lesson()
    learned = expert.consult(View(points, points), known, np.random.RandomState(0)).learned
    assert learned.axes.shape == (12, 8)
    diagonals = np.square(learned.learned.factors).sum(axis=2)
    np.testing.assert_allclose(diagonals / diagonals[0], 1, atol=0.1)
    own = replace(expert, expert=replace(expert.expert, prior_rows=1.0))
    found = own.consult(View(points, points), known, np.random.RandomState(0)).learned
    diagonals = np.square(found.learned.factors).sum(axis=2)
    assert (diagonals / diagonals[0]).min() < 0.7
    order = random.permutation(12)
    moved = View(points[:, order], points[:, order])
    np.testing.assert_allclose(
        expert.consult(moved, known, np.random.RandomState(0)).rows, learned.probabilities(View(points, points))
    )


def test_clusters_are_read_through_the_labels_and_without_those_of_a_fold():
    """Two clusters, three labels: the shares of each cluster by hand."""
    memberships = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.25, 0.75]])
    known = Lesson(np.array([0, 1, 2]), np.array([0, 0, 1]), np.ones(3), np.array([0, 1, 0]), 2)
    points = np.arange(4.0)[:, None]
    opinion = ClusterExpert(memberships).consult(View(points, points), known, np.random.RandomState(0))
    # Of all labels, each class counted once more, 3/5 are of the first class; they count as one row of each cluster.
    first, second = (2 + 0.6) / 3, 0.6 / 2
    np.testing.assert_allclose(opinion.rows[:, 0], [first, first, second, 0.25 * first + 0.75 * second])
    # Without rows 0 and 2 there is one label of the first class, in the first cluster.
    np.testing.assert_allclose(opinion.held_out[0, 0], (1 + 2 / 3) / 2)


def test_no_class_is_impossible_to_an_expert():
    found = floored(np.array([[1.0, 0.0, 0.0]]))
    np.testing.assert_allclose(np.exp(found).sum(), 1)
    assert np.exp(found).min() == pytest.approx(FLOOR, rel=1e-3)


def test_folds_spread_every_class():
    codes = np.repeat([0, 1, 2], [10, 5, 3])
    folds = stratified_folds(codes, np.random.RandomState(0))
    for code in range(3):
        sizes = np.bincount(folds[codes == code], minlength=5)
        assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("other", [0.0, 1.0])
def test_nearest_rows_that_experts_share_are_the_same_as_searched_alone(other):
    learned = [expert.consult(VIEW, lesson(), np.random.RandomState(0)).learned for expert in EXPERTS]
    # An expert that remembers other rows is asked about its own.
    learned[-1] = replace(learned[-1], points=learned[-1].points + other)
    asked = View(POINTS + 0.1, POINTS + 0.1)
    for together, expert in zip(opinions_of(learned, asked), learned, strict=True):
        np.testing.assert_allclose(together, expert.probabilities(asked), rtol=1e-12)
