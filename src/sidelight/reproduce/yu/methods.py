"""The data of Yu, Elhabian and Whitaker, and the methods they compare, with their settings."""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from sidelight import (
    ConstrainedKernelKMeans,
    ConstrainedSpectralClustering,
    EquivalenceMixture,
    HMRFKMeans,
    PairwiseMixture,
    PosteriorConstraintMixture,
    SideInformation,
)
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.datasets import horizontal_boundary, load, two_moons
from sidelight.metrics import purity_score
from sidelight.reproduce.framework.experiment import ONE_CLUSTER
from sidelight.side import draw_links

SETS = ("haberman", "thyroid", "digits 1 2 3", "digits 4 5 6 7")
DIGITS = SETS[2:]
PURITY, FREE, RAND, WRONG = "purity", "purity, no link", "adjusted Rand, no link", "rows in the wrong class"
MEASURES = (PURITY, FREE, RAND)
# Next to no prior: maximum likelihood where no covariance is singular.
AS_PUBLISHED: Mapping[str, Any] = {"prior_rows": 1e-3, "prior_scale": 1.0, "init_params": "k-means++"}


class Table(NamedTuple):
    """A table with its classes as numbers."""

    X: FloatArray
    y: IntArray


class Draw(NamedTuple):
    """A table, the links given, and the number of components that GM-PR gives each class."""

    X: FloatArray
    y: IntArray
    side: SideInformation
    components: int = 1

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1

    @property
    def has_both_kinds(self) -> bool:
        """Whether there are must-links and cannot-links."""
        return len(self.side.must_link) > 0 and len(self.side.cannot_link) > 0


@cache
def table(name: str) -> Table:
    """Return a real set as the paper uses it; "COIL-20 10" in ten principal components."""
    if name.startswith("COIL-20"):
        X, y, _ = load("coil20")
        return Table(PCA(int(name.split()[1]), random_state=0).fit_transform(X), _numbered(y))
    if name.startswith("digits"):
        X, y, _ = load("mnist_test")
        chosen = np.isin(y, [int(digit) for digit in name.split()[1:]])
        return Table(PCA(2, random_state=0).fit_transform(X[chosen] / 255.0), _numbered(y[chosen]))
    X, y, _ = load(name)
    return Table(np.asarray(X, dtype=float), _numbered(y == "normal" if name == "thyroid" else y))


def _numbered(y: AnyArray) -> IntArray:
    return np.unique(y, return_inverse=True)[1]


def draw(name: str, n_links: int, kind: str, seed: int, components: int = 1) -> Draw:
    """Return a real set with links of a kind between random rows."""
    X, y = table(name)
    links = draw_links(y, n_links, kind=kind, random_state=seed)
    side = SideInformation.build(len(y), must_link=links.must_link, cannot_link=links.cannot_link)
    return Draw(X, y, side, components)


def draw_boundary(n_must: int, n_cannot: int, pairs: str, seed: int) -> Draw:
    """Return two flat classes above each other, with links between random or informative rows."""
    X, y, _ = horizontal_boundary(n=40, random_state=seed)
    first, second = np.triu_indices(len(y), k=1)
    same, one_side = y[first] == y[second], (X[first, 0] < 0) == (X[second, 0] < 0)
    if pairs == "telling":
        must, cannot = same & ~one_side, ~same & one_side
    else:
        must, cannot = same, ~same
    random = np.random.default_rng(seed)
    drawn = [
        np.column_stack([first, second])[random.permutation(np.flatnonzero(which))[:number]]
        for which, number in ((must, n_must), (cannot, n_cannot))
    ]
    return Draw(X, y, SideInformation.build(len(y), must_link=drawn[0], cannot_link=drawn[1]))


def draw_moons(seed: int) -> Draw:
    """Return two moons with two must-links and two cannot-links."""
    X, y, _ = two_moons(n=50, random_state=seed)
    links = draw_links(y, n_must=2, n_cannot=2, random_state=seed)
    return Draw(X, y, SideInformation.build(len(y), must_link=links.must_link, cannot_link=links.cannot_link))


def _pairwise(drawn: Draw, seed: int, components: int) -> PairwiseMixture:
    return PairwiseMixture(drawn.n_classes, components_per_class=components, random_state=seed, **AS_PUBLISHED)


def _shental(drawn: Draw, seed: int) -> EquivalenceMixture:
    return EquivalenceMixture(
        drawn.n_classes, pairs="conditional", unlinked_weight=1, random_state=seed, **AS_PUBLISHED
    )


def _equivalence(drawn: Draw, seed: int) -> EquivalenceMixture:
    # Links of one kind alone carry no information on class sizes.
    pairs = "random" if drawn.has_both_kinds else "conditional"
    return EquivalenceMixture(drawn.n_classes, pairs=pairs, random_state=seed)


class Kernel(NamedTuple):
    """γ of the Gaussian kernel as wide as the mean squared distance, and the mean sum of its rows."""

    gamma: float
    row_sum: float


def wide_kernel(X: FloatArray) -> Kernel:
    """Return the kernel that the paper gives graph methods."""
    squares = pairwise_distances(X, metric="sqeuclidean")
    gamma = 1 / (2 * float(squares.mean()))
    return Kernel(gamma, float(np.exp(-gamma * squares).sum(axis=1).mean()))


def _kernel_kmeans(drawn: Draw, seed: int) -> ConstrainedKernelKMeans:
    gamma, row_sum = wide_kernel(drawn.X)
    n_links = len(drawn.side.must_link) + len(drawn.side.cannot_link)
    weight = len(drawn.y) / (drawn.n_classes * n_links)
    return ConstrainedKernelKMeans(
        drawn.n_classes, gamma=gamma, row_weights="uniform", link_weight=weight / row_sum, random_state=seed
    )


def _wide_spectral(drawn: Draw, seed: int, link_weight: float | None) -> ConstrainedSpectralClustering:
    gamma = wide_kernel(drawn.X).gamma
    return ConstrainedSpectralClustering(
        drawn.n_classes, affinity="rbf", gamma=gamma, link_weight=link_weight, random_state=seed
    )


SEVERAL = tuple(f"GM-PR, m_K = {components}" for components in (1, 2, 3, 4))
MODELS: Mapping[str, Callable[[Draw, int], Any]] = {
    "GMM": lambda drawn, seed: _pairwise(drawn, seed, 1),
    "GM-PR": lambda drawn, seed: _pairwise(drawn, seed, drawn.components),
    "GMM-EC": _shental,
    "EM-PC": lambda drawn, seed: PosteriorConstraintMixture(drawn.n_classes, random_state=seed, **AS_PUBLISHED),
    "SC": partial(_wide_spectral, link_weight=0.0),
    "SSKK": _kernel_kmeans,
    "CSC": partial(_wide_spectral, link_weight=None),
    "EquivalenceMixture": _equivalence,
    "HMRFKMeans": lambda drawn, seed: HMRFKMeans(drawn.n_classes, random_state=seed),
    "ConstrainedSpectralClustering": lambda drawn, seed: ConstrainedSpectralClustering(
        drawn.n_classes, random_state=seed
    ),
    **{name: partial(_pairwise, components=components) for components, name in enumerate(SEVERAL, start=1)},
}


def fitted(method: str, drawn: Draw, seed: int) -> Any:
    """Return a fitted model; methods without constraints get no links."""
    side = SideInformation.build(len(drawn.y)) if method in ("GMM", "SC") else drawn.side
    return MODELS[method](drawn, seed).fit(drawn.X, side=side)


def scores(method: str, drawn: Draw, seed: int) -> dict[str, float]:
    """Fit, and return all measures."""
    y, rows = drawn.y, ~drawn.side.mentioned
    labels = np.zeros(len(y), dtype=int) if method == ONE_CLUSTER else fitted(method, drawn, seed).labels_
    purity = purity_score(y, labels)
    return {
        PURITY: purity,
        FREE: purity_score(y, labels, rows=rows),
        RAND: float(adjusted_rand_score(y[rows], labels[rows])),
        WRONG: round((1 - purity) * len(y)),
    }
