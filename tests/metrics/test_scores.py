from itertools import combinations, permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from sidelight.metrics import (
    balanced_rand_score,
    clustering_accuracy_score,
    purity_accuracy_score,
    purity_score,
)

SCORES = [balanced_rand_score, clustering_accuracy_score, purity_accuracy_score, purity_score]


@st.composite
def labellings(draw, classes=4):
    n = draw(st.integers(1, 12))
    column = st.lists(st.integers(0, classes - 1), min_size=n, max_size=n)
    return np.array(draw(column)), np.array(draw(column))


@settings(max_examples=80, deadline=None)
@given(labellings())
def test_accuracy_is_the_best_over_all_matchings(pair):
    truth, found = pair
    best = max(np.mean(np.array(names)[found] == truth) for names in permutations(range(4)))
    assert clustering_accuracy_score(truth, found) == pytest.approx(best)


def test_clusters_beyond_the_classes_count_as_wrong():
    assert clustering_accuracy_score(["a"] * 4, [0, 0, 1, 2]) == 0.5
    assert clustering_accuracy_score(["a", "b", "c", "c"], [0, 0, 0, 0]) == 0.5
    assert clustering_accuracy_score([0, 0, 1, 1], [1, 1, 0, 0]) == 1


@settings(max_examples=80, deadline=None)
@given(labellings())
def test_balanced_rand_is_the_balanced_accuracy_over_all_pairs(pair):
    truth, found = pair
    pairs = list(combinations(range(len(truth)), 2))
    same = [truth[i] == truth[j] for i, j in pairs]
    joined = [found[i] == found[j] for i, j in pairs]
    if len(set(same)) == 2:
        expected = balanced_accuracy_score(same, joined)
    else:
        expected = np.mean(np.equal(same, joined)) if pairs else 1
    assert balanced_rand_score(truth, found) == pytest.approx(expected)


@settings(max_examples=80, deadline=None)
@given(labellings())
def test_purity_is_the_best_naming_of_each_cluster(pair):
    truth, found = pair
    right = sum(max(sum(truth[found == k] == c) for c in range(4)) for k in range(4))
    gathered = sum(max(sum(found[truth == c] == k) for k in range(4)) for c in range(4))
    purity, accuracy = right / len(truth), gathered / len(truth)
    assert purity_score(truth, found) == pytest.approx(purity)
    expected = 1 / (0.5 / purity + 0.5 / accuracy)
    assert purity_accuracy_score(truth, found) == pytest.approx(expected)


def test_the_trivial_answer_scores_high_in_purity_accuracy():
    # Liver disorders: 200 and 145 rows; one cluster for all.
    truth = np.repeat([0, 1], [145, 200])
    assert purity_accuracy_score(truth, np.zeros(345)) == pytest.approx(0.734, abs=5e-4)
    assert balanced_rand_score(truth, np.zeros(345)) == 0.5
    assert balanced_rand_score(truth, np.arange(345)) == 0.5


@pytest.mark.parametrize("score", SCORES)
@settings(max_examples=30, deadline=None)
@given(pair=labellings())
def test_names_do_not_matter(score, pair):
    truth, found = pair
    expected = score(truth, found)
    names = np.array(["d", "a", "c", "b"])
    assert score(names[truth], found - 1) == pytest.approx(expected)
    assert score(names[truth].astype(object), found * 0.5) == pytest.approx(expected)
    assert score(names[truth].tolist(), pd.Series(found, dtype="category")) == pytest.approx(expected)
    assert score(pl.Series(names[truth]), found > 1) == pytest.approx(score(truth, found > 1))


@pytest.mark.parametrize("score", SCORES)
def test_rows_choose_what_is_scored(score):
    rng = np.random.default_rng(0)
    truth, found = rng.integers(0, 3, (2, 50))
    mask = rng.random(50) < 0.4
    expected = score(truth[mask], found[mask])
    assert score(truth, found, rows=mask) == expected
    assert score(truth, found, rows=np.flatnonzero(mask)) == expected
    assert score(truth, found, rows=mask.tolist()) == expected
    partial = np.where(mask, truth, np.nan)
    assert score(partial, found, rows=mask) == expected


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    ("truth", "found", "rows", "words"),
    [
        ([0, 1], [0, 1, 2], None, "y_true has 2 values, but y_pred has 3"),
        ([], [], None, "no rows to compare"),
        ([0, 1], [0, 1], [], "no rows to compare: rows chooses none"),
        ([0, 1], [0, 1], [False, False], "rows chooses none"),
        ([0, 1], [0, 1], [True], "rows is a mask of 1 values, but there are 2 rows"),
        ([0, 1], [0, 1], [0, 2], r"rows\[1\] is 2, but the 2 rows are numbered 0 to 1"),
        ([0, 1], [0, 1], [-1], r"rows\[0\] is -1"),
        ([0, 1], [0, 1], [0.0], "rows holds float64 values"),
        ([0, float("nan")], [0, 1], None, "y_true has no label at place 1"),
        (["a", "b"], [None, "c"], None, "y_pred has no label at place 0"),
        ([[0, 1]], [0, 1], None, "y_true must be one-dimensional"),
    ],
)
def test_errors(score, truth, found, rows, words):
    with pytest.raises(ValueError, match=words):
        score(truth, found, rows=rows)
