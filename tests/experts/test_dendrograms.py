"""Ward's trees read through labels: sums over all cuts against enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

from sidelight.experts import DendrogramExpert, View
from sidelight.experts.dendrograms import Dendrogram, expected_shares, shares_held_out, sum_cuts, ward_tree
from sidelight.experts.expert import Lesson

A, B = 0.3, 1.5


def small_problem(seed: int) -> tuple[Dendrogram, Lesson]:
    random = np.random.RandomState(seed)
    tree = ward_tree(random.normal(size=(6, 2)))
    rows = np.array([0, 1, 3, 4])
    return tree, Lesson(rows, random.randint(2, size=4), np.ones(4), np.arange(4), 2)


def cuts_below(tree: Dendrogram, node: int) -> list[tuple[int, ...]]:
    """Return every cut of the tree below a node, as its leaves."""
    if node < tree.n_rows:
        return [(node,)]
    left, right = tree.left[node - tree.n_rows], tree.right[node - tree.n_rows]
    joined = [a + b for a, b in product(cuts_below(tree, left), cuts_below(tree, right))]
    return [(node,), *joined]


def rows_below(tree: Dendrogram, node: int) -> set[int]:
    if node < tree.n_rows:
        return {int(node)}
    return rows_below(tree, tree.left[node - tree.n_rows]) | rows_below(tree, tree.right[node - tree.n_rows])


def by_enumeration(tree: Dendrogram, lesson: Lesson) -> tuple[float, np.ndarray]:
    """Return the log evidence and the expected shares of all rows, cut by cut."""
    n, n_classes = tree.n_rows, lesson.n_classes
    log_weights, shares = [], []
    for cut in cuts_below(tree, 2 * n - 2):
        log_weight, found = 0.0, np.empty((n, n_classes))
        above = set()
        for leaf in cut:
            rows = sorted(rows_below(tree, leaf))
            counts = np.bincount(lesson.codes[np.isin(lesson.rows, rows)], minlength=n_classes).astype(float)
            prior = np.full(n_classes, A / n_classes)
            log_weight += gammaln(A) - gammaln(A + counts.sum()) + (gammaln(prior + counts) - gammaln(prior)).sum()
            found[rows] = (prior + counts) / (A + counts.sum())
            if leaf >= n:
                log_weight += np.log(1 - 1 / (1 + ((2 * n - 1 - leaf) / (B * n_classes)) ** 2))
            node = leaf
            while tree.parent[node] >= 0:
                node = tree.parent[node]
                above.add(int(node))
        log_weight += sum(-np.log1p(((2 * n - 1 - node) / (B * n_classes)) ** 2) for node in above)
        log_weights.append(log_weight)
        shares.append(found)
    evidence = logsumexp(log_weights)
    return evidence, np.tensordot(np.exp(np.array(log_weights) - evidence), np.array(shares), 1)


@pytest.mark.parametrize("seed", range(4))
def test_sums_over_cuts_are_those_of_enumeration(seed):
    tree, lesson = small_problem(seed)
    cuts = sum_cuts(tree, lesson, A, B)
    evidence, shares = by_enumeration(tree, lesson)
    np.testing.assert_allclose(cuts.evidence, evidence, rtol=1e-12)
    np.testing.assert_allclose(expected_shares(tree, cuts), shares, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_row_held_out_is_judged_without_the_labels_of_its_fold(seed):
    tree, lesson = small_problem(seed)
    lesson = lesson._replace(folds=np.array([0, 1, 1, 2]))
    found = shares_held_out(tree, lesson, A, B)
    for fold in range(3):
        out = np.flatnonzero(lesson.folds == fold)
        others = lesson.part(np.flatnonzero(lesson.folds != fold))
        np.testing.assert_allclose(found[out], by_enumeration(tree, others)[1][lesson.rows[out]], rtol=1e-10)


def test_classes_that_are_branches_are_recognised():
    random = np.random.RandomState(0)
    y = np.repeat([0, 1, 2], 30)
    points = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])[y] + random.normal(size=(90, 2))
    rows = np.array([0, 1, 30, 31, 60, 61])
    view = View(points, points)
    opinion = DendrogramExpert.of(view, random).consult(
        view, Lesson(rows, y[rows], np.ones(6), np.arange(6), 3), random
    )
    assert (opinion.rows.argmax(axis=1) == y).all()
    assert (opinion.held_out.argmax(axis=1) == y[rows]).all()
    np.testing.assert_allclose(opinion.rows.sum(axis=1), 1)


def test_clusters_without_labels_learn_from_the_nearest_one_with_labels():
    random = np.random.RandomState(0)
    # Two pairs of clusters; one cluster of each pair has labels.
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [20.0, 0.0], [24.0, 0.0]])
    clusters = np.repeat(np.arange(4), 20)
    points = centres[clusters] + random.normal(size=(80, 2))
    memberships = np.eye(4)[clusters]
    expert = DendrogramExpert.of_clusters(View(points, points), memberships)
    parts = expert.trees[0].cut(4)
    assert all(len(np.unique(parts[clusters == k])) == 1 for k in range(4))
    rows = np.array([0, 1, 2, 60, 61, 62])
    lesson = Lesson(rows, np.array([0, 0, 0, 1, 1, 1]), np.ones(6), np.arange(6) % 3, 2)
    opinion = expert.consult(View(points, points), lesson, random)
    np.testing.assert_array_equal(opinion.rows.argmax(axis=1), clusters // 2)
    np.testing.assert_array_equal(opinion.held_out.argmax(axis=1), lesson.codes)
