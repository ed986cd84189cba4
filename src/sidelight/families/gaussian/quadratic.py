"""Log densities that are quadratic in the row, c − ½ |C(x − m)|²: one matrix product where it keeps its digits."""

from functools import cache, partial

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.gaussian.centred import TriangularEvaluator
from sidelight.families.gaussian.precision import LARGEST_QUADRATIC_DIMENSION, linear_form_is_exact
from sidelight.families.gaussian.statistics import GaussianStatistics
from sidelight.families.linear import LinearEvaluator
from sidelight.kernels.loops import Backend, Links


def quadratic_evaluator(
    means: FloatArray,
    factors: FloatArray,
    deviations: FloatArray,
    constants: FloatArray,
    centre: FloatArray,
    backend: Backend,
) -> LinearEvaluator[GaussianStatistics] | TriangularEvaluator:
    """Return the quickest evaluator of c − ½ |C(x − m)|² that is exact enough.

    Parameters
    ----------
    means : (components, d)
    factors : (components, d, d)
        Lower triangular C.
    deviations : (components, d)
        How far the rows of each component lie from its mean: square roots of the diagonal of (CᵀC)⁻¹.
    constants : (components,)
        c, the value at the mean.
    centre : (d,)
        Where rows are measured from in the linear form.
    backend : Backend
    """
    if len(centre) <= LARGEST_QUADRATIC_DIMENSION:
        offsets = means - centre
        precisions = factors.swapaxes(1, 2) @ factors
        if linear_form_is_exact(np.abs(offsets) + deviations, precisions):
            fill = partial(_fill, centre=centre, backend=backend)
            coefficients = _coefficients(offsets, precisions, factors, constants)
            sweep = None if backend.quadratic_sweep is None else partial(_sweep, centre, backend)
            return LinearEvaluator(fill, coefficients, partial(_collect, centre=centre), sweep)
    return TriangularEvaluator(means, factors, constants=constants)


@cache
def _upper_triangle(d: int) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the upper triangle, in the order of the quadratic features."""
    return np.triu_indices(d)


def _fill(block: AnyArray, out: FloatArray, *, centre: FloatArray, backend: Backend) -> None:
    # One layout and type for the compiled loop, which would else be compiled again for each.
    backend.quadratic_features(np.require(block, np.float64, ["C", "W"]), centre, out)


def _sweep(
    centre: FloatArray,
    backend: Backend,
    rows: AnyArray,
    coefficients: FloatArray,
    offsets: FloatArray,
    codes: IntArray,
    classes: IntArray,
    weights: FloatArray,
    links: Links | None,
    block_rows: int,
    sums: FloatArray,
) -> float:
    assert backend.quadratic_sweep is not None
    assert backend.linked_sweep is not None
    values = np.require(rows, np.float64, ["C", "W"])
    if links is None:
        return backend.quadratic_sweep(values, centre, coefficients, offsets, codes, classes, weights, block_rows, sums)
    return backend.linked_sweep(values, centre, coefficients, offsets, weights, links, block_rows, sums)


def _coefficients(
    offsets: FloatArray, precisions: FloatArray, factors: FloatArray, constants: FloatArray
) -> FloatArray:
    """Return what [1, x_i, x_i x_j (i <= j)] is multiplied with, x measured from the centre."""
    whitened = np.einsum("kij,kj->ki", factors, offsets)
    constant = constants - 0.5 * np.square(whitened).sum(axis=1)
    linear = np.einsum("kij,kj->ki", precisions, offsets)
    rows, columns = _upper_triangle(offsets.shape[1])
    quadratic = np.where(rows == columns, -0.5, -1.0) * precisions[:, rows, columns]
    return np.concatenate([constant[:, None], linear, quadratic], axis=1)


def _collect(sums: FloatArray, *, centre: FloatArray) -> GaussianStatistics:
    d = len(centre)
    rows, columns = _upper_triangle(d)
    second = np.empty((len(sums), d, d))
    second[:, rows, columns] = sums[:, d + 1 :]
    second[:, columns, rows] = sums[:, d + 1 :]
    return GaussianStatistics(sums[:, 0], sums[:, 1 : d + 1], second, centre)
