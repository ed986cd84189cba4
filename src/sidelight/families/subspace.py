"""The subspace in which the rows of a table differ most, and its rank: probabilistic principal components.

Rows are x = c + s ∘ (W z + e), with the means c and standard deviations s of the columns, W (d, q) with orthonormal
columns, scores z of the row and noise e ~ N(0, σ² (I − WWᵀ)) in the directions that W leaves (Tipping and Bishop 1999).
Standard deviations come first, so that units do not matter: the noise of column j has the variance σ² s_j².
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray

# Full covariances of more scores than this cost more than they tell.
MOST_FACTORS = 20
# The least noise, and the least variance of a score, as a fraction of a column's variance and of the largest score's.
_LEAST_NOISE, _LEAST_SHARE = 1e-6, 1e-9
# What rounding may change of an evidence, as a fraction.
_ROUNDING = 1e-12
# How often missing cells are filled in anew while the subspace is learned.
_FILLING_STEPS = 5


@storable("Subspace")
@dataclass(frozen=True, eq=False)
class Subspace:
    """Where rows lie: c and s (d,), W (d, q), the ``variances`` (q,) of the scores in the table, and σ², the noise."""

    centre: FloatArray
    scale: FloatArray
    directions: FloatArray
    variances: FloatArray
    noise: float

    @property
    def n_columns(self) -> int:
        """Number of columns, d."""
        return self.directions.shape[0]

    @property
    def rank(self) -> int:
        """Number of scores, q."""
        return self.directions.shape[1]

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of the rows outside the subspace and of the subspace itself.

        They are the q (d − q) of a subspace, the d − q means outside of it, and the d variances of the noise. With as
        many scores as columns there are none: the scores have a distribution of their own.
        """
        outside = self.n_columns - self.rank
        return self.rank * outside + outside + self.n_columns if outside else 0

    def standardised(self, rows: AnyArray) -> FloatArray:
        """Return rows (m, d) in standard deviations from the means."""
        differences = rows - self.centre
        differences /= self.scale
        return differences

    def scores(self, rows: AnyArray) -> FloatArray:
        """Return the scores (m, q) of rows; with missing cells (NaN) those expected from the others."""
        points = self.standardised(rows)
        missing = np.isnan(points)
        points[missing] = 0.0
        scores = points @ self.directions
        lost = np.flatnonzero(missing.any(axis=1))
        if len(lost):
            shape = np.diag(self.variances)[None]
            seen = seen_part(points[lost], missing[lost], self.directions)
            scores[lost] = condition(seen, np.zeros((1, self.rank)), shape, self.noise).means[:, 0]
        return scores

    def rows(self, scores: FloatArray) -> FloatArray:
        """Return the rows (m, d) of these scores, without noise."""
        return self.centre + self.scale * (scores @ self.directions.T)


class SeenPart(NamedTuple):
    """What the observed cells y_o of standardised rows say of their scores.

    Parameters
    ----------
    n_cells : (m,)
        How many cells are observed.
    squares : (m,)
        y_oᵀ y_o
    projections : (m, q)
        W_oᵀ y_o
    products : (m, q, q)
        W_oᵀ W_o
    """

    n_cells: FloatArray
    squares: FloatArray
    projections: FloatArray
    products: FloatArray


def seen_part(points: FloatArray, missing: AnyArray, directions: FloatArray) -> SeenPart:
    """Return what the observed cells of standardised rows (m, d), zero where ``missing``, say of their scores."""
    q = directions.shape[1]
    # Of wide rows few cells are missing as a rule, and W has orthonormal columns: W_oᵀ W_o = I − W_mᵀ W_m.
    products = np.stack([np.eye(q) - directions[lost].T @ directions[lost] for lost in missing])
    squares = np.einsum("nj,nj->n", points, points)
    return SeenPart((~missing).sum(axis=1).astype(float), squares, points @ directions, products)


class ConditionedScores(NamedTuple):
    """Scores of rows given their observed cells, of every component.

    Parameters
    ----------
    log_density : (m, components)
        ln N(y_o; W_o m, Σ_oo)
    means : (m, components, q)
    covariances : (m, components, q, q)
    """

    log_density: FloatArray
    means: FloatArray
    covariances: FloatArray


def condition(seen: SeenPart, means: FloatArray, covariances: FloatArray, noise: float) -> ConditionedScores:
    """Return densities of the observed cells of rows, and their scores given these cells.

    Scores of component k are N(m, C), so that rows are N(W m, W A Wᵀ + σ² I) with A = C − σ² I. With M = W_oᵀ W_o,
    b = W_oᵀ (y_o − W_o m) and T = σ² I + M A, the matrix inversion lemma gives

        ln|Σ_oo| = (|o| − q) ln σ² + ln|T|,   (y_o − W_o m)ᵀ Σ_oo⁻¹ (y_o − W_o m) = (|y_o − W_o m|² − bᵀ A T⁻¹ b) / σ²,
        E[z | y_o] = m + C T⁻¹ b,             Cov[z | y_o] = C − C T⁻¹ M C,

    in matrices of q columns. Means are (components, q) and covariances (components, q, q).
    """
    q = means.shape[1]
    shapes = covariances - noise * np.eye(q)
    offsets = seen.projections[:, None] - np.einsum("nij,kj->nki", seen.products, means)
    crossed = np.einsum("nki,ki->nk", seen.projections[:, None] + offsets, means)
    squares = seen.squares[:, None] - crossed
    mixed = noise * np.eye(q) + seen.products[:, None] @ shapes
    right = np.concatenate([offsets[..., None], np.broadcast_to(seen.products[:, None], mixed.shape)], axis=3)
    solved = np.linalg.solve(mixed, right)
    solved_offsets, solved_products = solved[..., 0], solved[..., 1:]
    explained = np.einsum("nki,kij,nkj->nk", offsets, shapes, solved_offsets)
    log_determinants = (seen.n_cells - q)[:, None] * np.log(noise) + np.linalg.slogdet(mixed)[1]
    log_density = -0.5 * (seen.n_cells[:, None] * np.log(2 * np.pi) + log_determinants + (squares - explained) / noise)
    moved = means + np.einsum("kij,nkj->nki", covariances, solved_offsets)
    return ConditionedScores(log_density, moved, covariances - covariances @ solved_products @ covariances)


def principal_subspace(
    rows: AnyArray,
    weights: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    *,
    total: float,
    most: int = MOST_FACTORS,
) -> Subspace:
    """Return the principal subspace of some rows of a table, of the rank that the evidence asks for.

    Cells that are missing are filled in by what the subspace expects of them, a few times over; the noise counts
    observed cells only.

    Parameters
    ----------
    rows : (m, d)
        NaN where a cell is missing.
    weights : (m,)
        How many rows each stands for.
    mean, variance : (d,)
        Of the columns of the table.
    total : float
        How many rows the table counts for.
    most : int
        Most scores there may be.
    """
    scale = np.where(variance > 0, np.sqrt(variance), 1.0)
    points = (np.asarray(rows, dtype=float) - mean) / scale
    missing = np.isnan(points)
    points[missing] = 0.0
    observed = 1.0 - float(weights @ missing.mean(axis=1)) / weights.sum()
    space = _fitted(points, weights, mean, scale, total, most, observed)
    if missing.any():
        for _ in range(_FILLING_STEPS):
            expected = space.scores(rows) @ space.directions.T
            points[missing] = expected[missing]
            space = _fitted(points, weights, mean, scale, total, most, observed)
    return space


def _fitted(
    points: FloatArray,
    weights: FloatArray,
    mean: FloatArray,
    scale: FloatArray,
    total: float,
    most: int,
    observed: float,
) -> Subspace:
    d = points.shape[1]
    shares = weights / weights.sum()
    variances, directions = principal_axes(points, shares, min(most + 1, d))
    whole = float(shares @ np.einsum("nj,nj->n", points, points))
    rank = evident_rank(variances, whole, d, total, most)
    # With as many scores as columns there is no noise; one is as good a unit as any then.
    noise = (whole - float(variances[:rank].sum())) / (d - rank) / observed if rank < d else 1.0
    # Contiguous, as it is when it comes back from disk, so that rounding is the same.
    kept = np.ascontiguousarray(directions[:, :rank])
    return Subspace(mean, scale, kept, variances[:rank], max(noise, _LEAST_NOISE))


def principal_axes(points: FloatArray, shares: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    """Return the largest eigenvalues of Σ share x xᵀ over points (m, d) and their directions (d, eigenvalues).

    Eigenvectors are those of the smaller of XXᵀ and XᵀX, so that nothing is as large as d × d where d > m. At least one
    is returned.
    """
    m, d = points.shape
    weighted = np.sqrt(shares)[:, None] * points
    gram = weighted @ weighted.T if m < d else weighted.T @ weighted
    size = len(gram)
    values, vectors = eigh(gram, subset_by_index=(max(size - most, 0), size - 1))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    kept = max(int((values > _LEAST_SHARE * values[0]).sum()), 1)
    values, vectors = values[:kept], vectors[:, :kept]
    if m < d:
        # Of a table without any variance every direction is as good.
        vectors = np.linalg.qr(weighted.T @ vectors)[0] if values[0] > 0 else np.eye(d, 1)
    # Signs are arbitrary, and must not depend on how the vectors were found.
    largest = np.abs(vectors).argmax(axis=0)
    return values, vectors * np.where(vectors[largest, np.arange(vectors.shape[1])] < 0, -1.0, 1.0)


def evident_rank(variances: FloatArray, whole: float, d: int, total: float, most: int) -> int:
    """Return the first rank at which Schwarz's approximation to the evidence of probabilistic PCA is highest.

    With the eigenvalues λ of the covariance, ln p ≈ −(n/2) [Σ_{i≤q} ln λ_i + (d − q) ln σ²_q] − ½ m_q ln n. Here σ²_q
    is the mean of the other eigenvalues, and m_q = dq − q (q − 1) / 2, and one more for σ² where q < d (Minka 2000, who
    takes the maximum over all ranks). The first maximum is taken because, with fewer rows than columns, σ²_q and with
    it the evidence lose their meaning as q comes near the number of rows.

    Parameters
    ----------
    variances : (r,)
        The largest eigenvalues, in falling order.
    whole : float
        The sum of all eigenvalues.
    d : int
    total : float
        n
    most : int
        Largest rank.
    """
    ranks = np.arange(1, min(len(variances), most) + 1)
    noise = np.maximum((whole - np.cumsum(variances)[: len(ranks)]) / np.maximum(d - ranks, 1), _LEAST_NOISE)
    signal = np.cumsum(np.log(np.maximum(variances, _LEAST_NOISE)))[: len(ranks)]
    counts = d * ranks - 0.5 * ranks * (ranks - 1) + (ranks < d)
    evidence = -0.5 * total * (signal + (d - ranks) * np.log(noise)) - 0.5 * counts * np.log(max(total, 2.0))
    # Ranks d − 1 and d are the same model, and rounding must not decide between them.
    falls = np.flatnonzero(np.diff(evidence) < -_ROUNDING * np.abs(evidence).max())
    return int(ranks[falls[0]] if len(falls) else ranks[-1])
