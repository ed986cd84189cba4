"""The log evidence of components: the bound at the best posteriors, whatever the grouping of the rows."""

import numpy as np
import pytest

from oracles.conjugate import COMPONENTS, NAMES, case, collect, scores
from sidelight.kernels.loops import NUMPY


def bound(family, parameters, X, r):
    """Return Σ r E ln p(x | θ) − Σ KL at the posteriors that fit these responsibilities best."""
    posterior = family.update(collect(family, parameters, X, r))
    return float((r * scores(family.evaluator(posterior, NUMPY), X)).sum()) + family.log_prior(posterior)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "own_means"])
def test_evidence_differs_from_one_grouping_to_another_as_the_bound_does(name):
    given = case(name, seed=5)
    family, parameters, X = given.family, given.parameters, given.X
    rng = np.random.default_rng(0)
    one, other = (rng.dirichlet(np.ones(COMPONENTS), size=len(np.asarray(given.responsibilities))) for _ in range(2))
    by_evidence = [family.log_evidence(collect(family, parameters, X, r)).sum() for r in (one, other)]
    by_bound = [bound(family, parameters, X, r) for r in (one, other)]
    np.testing.assert_allclose(by_evidence[0] - by_evidence[1], by_bound[0] - by_bound[1], rtol=1e-8)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "own_means"])
def test_pairs_gain_what_components_put_together_gain(name):
    given = case(name, seed=6)
    statistics = collect(given.family, given.parameters, given.X, given.responsibilities)
    first, second = np.array([0, 1, 0]), np.array([1, 2, 2])
    alone = given.family.log_evidence(statistics)
    gains = given.family.log_evidence(statistics.paired(first, second)) - alone[first] - alone[second]
    for pair, groups in enumerate(([0, 0, 1], [0, 1, 1], [0, 1, 0])):
        merged = given.family.log_evidence(statistics.regrouped(np.array(groups)))
        np.testing.assert_allclose(gains[pair], merged.sum() - alone.sum(), rtol=1e-8)
