"""Noise beside the components of a family: a constant density, statistics apart, sweeps that agree with blocks."""

import numpy as np
import pytest

from oracles.conjugate import COMPONENTS, accumulated, case, scores
from oracles.mixtures import family_for
from sidelight.couplings.independent import Independent
from sidelight.families.noise import NoiseFamily, NoiseParameters
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.kernels.loops import NUMPY, compiled
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import Beta, LearnedShare, MaximumLikelihoodWeights, NoiseWeights


def noisy(name, **kinds):
    given = case(name, **kinds)
    family = NoiseFamily(given.family, np.log(np.arange(2.0, 2.0 + given.X.shape[1])))
    return family, NoiseParameters(given.parameters, COMPONENTS), given


@pytest.mark.parametrize("name", ["normal_wishart", "product"])
def test_noise_has_the_density_of_the_widths_of_observed_cells(name):
    family, parameters, given = noisy(name, missing=0.3)
    found = scores(family.evaluator(parameters, NUMPY), given.X)
    np.testing.assert_allclose(found[:, :-1], scores(given.family.evaluator(given.parameters, NUMPY), given.X))
    expected = [-family.log_widths[~np.isnan(row)].sum() for row in given.X]
    np.testing.assert_allclose(found[:, -1], expected)
    predicted = scores(family.predictive(parameters, NUMPY), given.X)
    np.testing.assert_allclose(predicted[:, :-1], scores(given.family.predictive(given.parameters, NUMPY), given.X))


def test_statistics_of_noise_are_apart():
    family, parameters, given = noisy("normal_wishart")
    r = np.random.default_rng(0).dirichlet(np.ones(COMPONENTS + 1), size=len(given.X))
    found = accumulated(family.evaluator(parameters, NUMPY), given.X, r, block_rows=7)
    np.testing.assert_allclose(found.mass, r.sum(axis=0))
    alone = accumulated(given.family.evaluator(given.parameters, NUMPY), given.X, r[:, :-1])
    np.testing.assert_allclose(found.clusters.first, alone.first)
    fewer = found.regrouped(np.array([0, -1, 0, 1]))
    np.testing.assert_allclose(fewer.mass, [found.mass[0] + found.mass[2], found.mass[3]])
    np.testing.assert_allclose((found + found.scaled(2.0)).mass, 3 * found.mass)


def test_components_are_chosen_and_the_noise_stays():
    family, parameters, given = noisy("own_means")
    chosen = family.select(parameters, np.array([2, 0, 3]))
    assert chosen.n_clusters == 2
    np.testing.assert_array_equal(chosen.clusters.means, given.parameters.means[[2, 0]])
    narrowed = family.narrowed(np.array([2, 0, 3]))
    np.testing.assert_array_equal(narrowed.clusters.mean, given.family.mean[[2, 0]])
    assert family.divergence(parameters).shape == (COMPONENTS, COMPONENTS)
    assert family.n_parameters(2) == given.family.n_parameters(2) + 1


@pytest.mark.parametrize("labelled", [False, True])
def test_compiled_sweeps_agree_with_blocks(labelled):
    pytest.importorskip("numba")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(900, 3)) + 4 * rng.integers(3, size=(900, 1))
    family = NoiseFamily(family_for(X, "full", rows=1.0, fraction=0.1), np.log(np.ptp(X, axis=0)))
    weights = NoiseWeights(MaximumLikelihoodWeights(np.arange(3)), LearnedShare(Beta(1.0, 19.0)))
    codes = np.where(rng.random(900) < 0.1, rng.integers(3, size=900), -1) if labelled else None
    state = MixtureState(family.around(X[:3]), weights.update(np.ones(4), np.ones(4), None))
    found = []
    for backend in (NUMPY, compiled()):
        rows = Rows(ArrayTable(X), None, codes)
        mixture = Mixture(rows, family, weights, Independent(weights.classes, backend), (), backend)
        found.append(mixture.expect(state))
    blocks, swept = found
    assert swept.evidence == pytest.approx(blocks.evidence, rel=1e-12)
    np.testing.assert_allclose(swept.statistics.mass, blocks.statistics.mass, rtol=1e-10)
    np.testing.assert_allclose(swept.statistics.clusters.second, blocks.statistics.clusters.second, rtol=1e-9)
    if labelled:
        assert swept.statistics.mass[-1] < 900 - (codes >= 0).sum()
