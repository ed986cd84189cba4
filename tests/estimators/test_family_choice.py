"""Every mixture takes ``family=``: columns of all kinds in one table, by labels or links."""

import numpy as np
import pandas as pd
import pytest

from sidelight import ClassMixture, EquivalenceMixture, LabelledMixture, PairwiseMixture, PosteriorConstraintMixture
from sidelight.metrics import clustering_accuracy_score

N = 300
Y = np.arange(N) % 3
MIXTURES = {
    "LabelledMixture": LabelledMixture(),
    "hard": LabelledMixture(assignment="hard"),
    "EquivalenceMixture": EquivalenceMixture(3, unlinked_weight=1),
    "PairwiseMixture": PairwiseMixture(3),
    "PosteriorConstraintMixture": PosteriorConstraintMixture(3),
    "ClassMixture": ClassMixture(3),
}


def frame(seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "height": rng.normal(np.array([0.0, 2.0, 4.0])[Y]),
            "colour": rng.choice(["red", "green", "blue"], size=N),
            "visits": rng.poisson(np.array([0.5, 3.0, 8.0])[Y]),
            "member": rng.random(N) < np.array([0.1, 0.5, 0.9])[Y],
        }
    )
    table.loc[Y == 2, "colour"] = "blue"
    for column, dtype in (("colour", "object"), ("visits", "Int64"), ("member", "boolean")):
        table[column] = table[column].astype(dtype).mask(rng.random(N) < missing)
    return table


def known():
    rng = np.random.default_rng(1)
    pairs = rng.integers(N, size=(80, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = Y[pairs[:, 0]] == Y[pairs[:, 1]]
    return {"must_link": pairs[same], "cannot_link": pairs[~same]}


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_columns_of_all_kinds_are_fitted_and_predicted(name, missing):
    table = frame(missing=missing)
    model = MIXTURES[name].set_params(family="auto", random_state=0, max_iter=300)
    y = np.where(np.arange(N) < 45, Y, -1)
    model = model.fit(table, y) if "links" not in name else model.fit(table, **known())
    bounds = np.array(model.lower_bounds_)
    assert (np.diff(bounds) >= -1e-9 * np.abs(bounds[:-1])).all()
    assert model._schema.kinds == ("gaussian", "categorical", "negative_binomial", "bernoulli")
    assert clustering_accuracy_score(Y, model.labels_) > 0.8
    assert clustering_accuracy_score(Y, model.predict(frame(seed=2))) > 0.75
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1.0)
    assert np.isfinite(model.score_samples(table)).all()
    assert model.bic(table) > 0
    assert model.sample(7)[0].shape == (7, 4)


@pytest.mark.parametrize(
    "name", ["EquivalenceMixture", "PairwiseMixture", "PosteriorConstraintMixture", "ClassMixture"]
)
def test_links_guide_mixed_tables_too(name):
    model = MIXTURES[name].set_params(family="auto", random_state=0, max_iter=300).fit(frame(), **known())
    assert clustering_accuracy_score(Y, model.labels_) > 0.8


def test_the_default_is_the_plain_gaussian_mixture():
    X = frame()[["height", "visits"]].astype(float)
    one = LabelledMixture(3, random_state=0).fit(X)
    other = LabelledMixture(3, family={"height": "gaussian", "visits": "gaussian"}, random_state=0).fit(X)
    np.testing.assert_allclose(one.means_, other.means_, rtol=1e-12)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-12)


def test_missing_cells_of_gaussian_columns_are_refused_with_a_remedy():
    table = frame()
    table.loc[5, "height"] = np.nan
    with pytest.raises(
        ValueError, match="column 'height' has missing cells; LabelledMixture needs a number .* Bayesian"
    ):
        LabelledMixture(3, family="auto").fit(table)


def test_starts_that_need_gaussian_columns_are_refused():
    with pytest.raises(ValueError, match="means_init is for tables of Gaussian columns"):
        LabelledMixture(2, family="auto", means_init=np.zeros((2, 4))).fit(frame())
    with pytest.raises(ValueError, match="precisions_init is for tables of Gaussian columns"):
        LabelledMixture(2, family="auto", precisions_init=np.ones((2, 4, 4))).fit(frame())


def test_sparse_counts_are_fitted_by_every_mixture():
    from scipy.sparse import csr_array

    shares = np.random.default_rng(0).dirichlet(np.full(40, 0.2), size=3)
    counts = csr_array(
        np.stack([np.random.default_rng(n).multinomial(50, shares[Y[n]]) for n in range(N)]).astype(float)
    )
    model = LabelledMixture(family="multinomial", random_state=0).fit(counts, np.where(np.arange(N) < 30, Y, -1))
    assert np.mean(model.labels_ == Y) > 0.95
