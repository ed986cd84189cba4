"""A start from many groups of k-means, merged until there is one for each component.

k-means cuts long clusters into pieces and takes small ones that lie close for one. With twice as many groups, the
pieces are there, and what is merged is decided by the likelihood of Gaussians of any shape, as in model-based
hierarchical clustering (Fraley 1998), which starts from single rows.
"""

from typing import cast

import numpy as np

from sidelight._typing import FloatArray
from sidelight.estimators.starts.sample import Sample
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian import CovariancePrior, FullGaussian
from sidelight.inference.mixture import MixtureState
from sidelight.inference.starts import component_means, lloyd, spread_centres, state_of, statistics_given

_GROUPS_PER_COMPONENT = 2
_LLOYD_STEPS = 5


def from_merged_groups(sample: Sample, random: np.random.RandomState) -> MixtureState:
    """Start from groups of k-means, twice as many as components, merged two by two; of free covariances only."""
    family = sample.mixture.family
    assert isinstance(family, FullGaussian)
    numbers = np.arange(_GROUPS_PER_COMPONENT * sample.layout.n_components)
    centres = spread_centres(sample.points, sample.weights, sample.codes, numbers, random)
    groups = lloyd(sample.points, sample.weights, centres, sample.codes, numbers, max_iter=_LLOYD_STEPS)
    members = (groups[:, None] == numbers) * sample.weights[:, None]
    means = component_means(sample.values, sample.weights, members)
    statistics = cast("GaussianStatistics", statistics_given(sample.mixture, means, members))
    return state_of(sample.mixture, merge_groups(statistics, family.prior, sample.layout.n_components))


def merge_groups(statistics: GaussianStatistics, prior: CovariancePrior, n_groups: int) -> GaussianStatistics:
    """Merge the two groups that lose least by it, again and again, until ``n_groups`` are left.

    The loss is that of the classification likelihood (Fraley 1998) with the prior's penalty, each group at its
    own mean and covariance.
    """
    costs = _costs(statistics, prior)
    first, second = np.triu_indices(len(costs), k=1)
    losses = np.full((len(costs), len(costs)), np.inf)
    losses[first, second] = _costs(statistics.paired(first, second), prior) - costs[first] - costs[second]
    while len(costs) > n_groups:
        kept, gone = np.unravel_index(losses.argmin(), losses.shape)
        numbers = np.arange(len(costs)) - (np.arange(len(costs)) > gone)
        numbers[gone] = kept
        statistics = statistics.regrouped(numbers)
        costs, losses = _costs(statistics, prior), np.delete(np.delete(losses, gone, axis=0), gone, axis=1)
        others = np.delete(np.arange(len(costs)), kept)
        merged = _costs(statistics.paired(np.full(len(others), kept), others), prior) - costs[kept] - costs[others]
        losses[np.minimum(kept, others), np.maximum(kept, others)] = merged
    return statistics


def _costs(statistics: GaussianStatistics, prior: CovariancePrior) -> FloatArray:
    """Return −max ln p of each group (groups,) by itself, without terms that no merge changes."""
    scatter = statistics.scatter() + np.diag(prior.scatter)
    rows = np.maximum(statistics.mass + prior.rows, np.finfo(float).tiny)
    log_determinants = np.linalg.slogdet(scatter)[1] - scatter.shape[-1] * np.log(rows)
    shares = statistics.mass * np.log(np.maximum(statistics.mass, np.finfo(float).tiny))
    return np.asarray(0.5 * rows * log_determinants - shares)
