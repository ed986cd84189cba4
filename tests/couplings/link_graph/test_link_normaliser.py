"""The normaliser of the prior of the classes: its value, and its gradient as expected counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidelight.couplings.link_graph import Prior, infer, linked_rows, plan
from sidelight.side import SideInformation


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
def test_the_gradient_of_the_prior_is_that_of_its_log_partition(seed, n_classes, labelled):
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 14, size=(9, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    y = [0, *[-1] * 15] if labelled else None
    side = SideInformation.build(
        16, y=y, must_link=[(14, 15)], cannot_link=pairs, confidence=[1.0] + [0.9] * len(pairs)
    )
    linked = linked_rows(side)
    planned = plan(linked.problem, n_classes)
    draws = rng.integers(1, 3, size=len(linked.starts)).astype(float)
    log_alpha = np.log(rng.dirichlet(np.ones(n_classes)))
    prior = Prior.of(planned, draws)
    found = prior(log_alpha)
    assert found.log_partition == pytest.approx(infer(planned, draws[:, None] * log_alpha).log_partition, rel=1e-12)
    assert found.counts.sum() == pytest.approx(draws.sum())
    step = 1e-5
    for c in range(n_classes):
        shift = step * (np.arange(n_classes) == c)
        slope = (prior(log_alpha + shift).log_partition - prior(log_alpha - shift).log_partition) / (2 * step)
        assert found.counts[c] == pytest.approx(slope, abs=1e-6)


def test_the_prior_of_disjoint_links_is_that_of_generative_pairs():
    rng = np.random.default_rng(6)
    links = np.arange(20).reshape(-1, 2)
    linked = linked_rows(SideInformation.build(20, must_link=links[:4], cannot_link=links[4:]))
    alpha = rng.dirichlet(np.ones(4))
    prior = Prior.of(plan(linked.problem, 4), np.ones(len(linked.starts)))
    assert len(prior.pair_times) == 1
    assert prior(np.log(alpha)).log_partition == pytest.approx(6 * np.log(1 - (alpha**2).sum()), rel=1e-12)
