"""Mixtures of linked rows: never downhill where inference is exact, and pairs are graphs where links share no row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.mixtures import FAMILIES, assigned, family_for, random_state
from sidelight import EquivalenceMixture, PairwiseMixture, PosteriorConstraintMixture, SideInformation
from sidelight.estimators.base.clusters import Layout
from sidelight.estimators.starts.sample import Problem
from sidelight.kernels.loops import NUMPY
from sidelight.side import draw_links
from sidelight.tables.schema import Schema
from sidelight.tables.table import ArrayTable

MODELS = {
    "pairs": PairwiseMixture(),
    "pairs and all singles": PairwiseMixture(singles="all"),
    "random": EquivalenceMixture(unlinked_weight=1),
    "random, light": EquivalenceMixture(unlinked_weight=0.1),
    "conditional": EquivalenceMixture(pairs="conditional", unlinked_weight=0.3),
    "projection": PosteriorConstraintMixture(),
}


def problem(model, seed, covariance_type, per_class, *, confidence=1.0, disjoint=False, labelled=False, n=40):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, size=n)
    X = rng.normal(size=(n, 2)) * rng.uniform(0.5, 3, size=2) + 2 * truth[:, None]
    links = draw_links(truth, 12, disjoint=disjoint, random_state=seed % 2**31)
    y = np.where(rng.uniform(size=n) < 0.2, truth, -1) if labelled else None
    side = SideInformation.build(
        n, y=y, must_link=links.must_link, cannot_link=links.cannot_link, confidence=confidence
    ).without_unused_names()
    layout = Layout(np.repeat(np.arange(3), per_class), len(side.label_names))
    family = family_for(X, covariance_type, rows=2.0, fraction=0.1)
    model._schema = Schema.uniform("gaussian", X.shape[1])
    mixture = model._mixture(Problem(ArrayTable(X), side, None), family, layout, NUMPY)
    return mixture, random_state(rng, X, family, covariance_type, 3 * per_class)


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from(list(MODELS)),
    st.sampled_from(list(FAMILIES)),
    st.sampled_from([1, 2]),
    st.booleans(),
    st.booleans(),
)
def test_every_step_raises_the_objective(seed, name, covariance_type, per_class, labelled, soft):
    confidence = 0.9 if soft and isinstance(MODELS[name], EquivalenceMixture) else 1.0
    mixture, state = problem(MODELS[name], seed, covariance_type, per_class, confidence=confidence, labelled=labelled)
    assert all(coupling.monotone for coupling in mixture.couplings)
    previous = -np.inf
    for _ in range(6):
        state, objective = mixture.step(state)
        assert objective >= previous - 1e-9 * abs(previous) if np.isfinite(previous) else True
        previous = objective
    assert assigned(mixture, state)[1] >= previous - 1e-9 * abs(previous)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, 2]), st.booleans())
def test_pairs_are_the_graph_where_links_share_no_row(seed, per_class, labelled):
    found = []
    for model in (PairwiseMixture(), EquivalenceMixture(pairs="conditional", unlinked_weight=1)):
        mixture, state = problem(model, seed, "full", per_class, disjoint=True, labelled=labelled)
        state = state._replace(weights=np.log(np.exp(state.weights) / np.exp(state.weights).sum()))
        posterior, objective = assigned(mixture, state)
        following, _ = mixture.step(state)
        found.append((objective, posterior, following))
    (one, by_pairs, step_one), (other, by_graph, step_other) = found
    np.testing.assert_allclose(one, other, rtol=1e-10)
    np.testing.assert_allclose(by_pairs, by_graph, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(step_one.parameters.means, step_other.parameters.means, rtol=1e-9)
    np.testing.assert_allclose(np.exp(step_one.weights), np.exp(step_other.weights), atol=1e-5)


@pytest.mark.parametrize("name", list(MODELS))
def test_rows_in_no_link_stay_in_the_fast_pass(name):
    mixture, _ = problem(MODELS[name], 0, "full", 1)
    coupled = set(mixture.couplings[0].rows.tolist())
    left_out = mixture.alone.left_out
    alone = set(range(40)) if left_out is None else set(np.flatnonzero(~left_out).tolist())
    assert coupled | alone == set(range(40))
    assert len(coupled) < 25
    if "all" not in name:
        assert not coupled & alone
