"""The cluster of each row, and how certain it is."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture

from sidelight import COPKMeans, LabelledMixture
from sidelight.describe.assignment import (
    assigned_probability,
    certainty_of,
    clusters_of,
    has_probabilities,
    names_of,
)
from sidelight.describe.table import fitted_table

X, Y = load_iris(return_X_y=True)
PARTIAL = np.where(np.arange(150) % 5 == 0, Y, -1)


def test_certainty_is_the_probability_of_the_assigned_cluster():
    model = LabelledMixture(random_state=0).fit(X, PARTIAL)
    certainty = certainty_of(model, fitted_table(model, X, chunk_rows=40), model.labels_)
    expected = [row[label] for row, label in zip(model.posterior_, model.labels_, strict=True)]
    np.testing.assert_array_equal(certainty.values, expected)
    np.testing.assert_array_equal(assigned_probability(model.posterior_, model.labels_), expected)
    assert certainty.uses_statements
    means = [certainty.values[model.labels_ == cluster].mean() for cluster in range(3)]
    np.testing.assert_allclose(certainty.by_cluster(model.labels_, 4), [*means, 0])


def test_without_a_kept_posterior_the_model_alone_decides():
    model = LabelledMixture(random_state=0, keep_posterior=False).fit(X, PARTIAL)
    certainty = certainty_of(model, fitted_table(model, X, chunk_rows=40), model.labels_)
    np.testing.assert_allclose(certainty.values, model.predict_proba(X)[np.arange(150), model.labels_], rtol=1e-12)
    assert not certainty.uses_statements


def test_models_without_labels_predict_them_and_models_without_probabilities_are_refused():
    mixture = GaussianMixture(3, random_state=0).fit(X)
    labels = clusters_of(mixture, fitted_table(mixture, X))
    np.testing.assert_array_equal(labels, mixture.predict(X))
    assert names_of(mixture, labels) == ["cluster 0", "cluster 1", "cluster 2"]
    hard = COPKMeans(3, random_state=0).fit(X)
    assert not has_probabilities(hard)
    with pytest.raises(ValueError, match="COPKMeans puts every row in one cluster and gives no probabilities"):
        certainty_of(hard, fitted_table(hard, X), hard.labels_)
