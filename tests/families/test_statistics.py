"""Gaussian statistics add up, wherever their rows are measured from."""

import numpy as np
import pytest

from sidelight.families.exponential import GaussianStatistics

K, D, N = 3, 3, 20


def statistics(X, responsibilities, origin, kind):
    origins = np.broadcast_to(origin, (K, D))
    differences = X[:, None] - origins
    second = np.einsum("nk,nki,nkj->kij", responsibilities, differences, differences)
    second = {
        "full": second,
        "tied": second.sum(axis=0, keepdims=True),
        "diag": np.diagonal(second, axis1=1, axis2=2),
        "spherical": np.trace(second, axis1=1, axis2=2),
    }[kind]
    first = np.einsum("nk,nki->ki", responsibilities, differences)
    return GaussianStatistics(responsibilities.sum(axis=0), first, second, origin)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("shapes", [((D,), (K, D)), ((K, D), (D,)), ((K, D), (K, D))])
def test_statistics_with_different_origins_add_up(kind, shapes):
    rng = np.random.default_rng(0)
    X, responsibilities = rng.normal(size=(N, D)) + 3, rng.dirichlet(np.ones(K), size=N)
    own, other = rng.normal(size=shapes[0]), rng.normal(size=shapes[1])
    total = statistics(X[:7], responsibilities[:7], own, kind) + statistics(X[7:], responsibilities[7:], other, kind)
    expected = statistics(X, responsibilities, own, kind)
    assert total.origin is own
    for name in ("mass", "first", "second"):
        np.testing.assert_allclose(getattr(total, name), getattr(expected, name), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_scaled_statistics_count_every_row_so_often(kind):
    rng = np.random.default_rng(1)
    X, responsibilities, origin = rng.normal(size=(N, D)), rng.dirichlet(np.ones(K), size=N), np.ones(D)
    found = statistics(X, responsibilities, origin, kind).scaled(0.25)
    expected = statistics(X, 0.25 * responsibilities, origin, kind)
    for name in ("mass", "first", "second"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("shape", [(D,), (K, D)])
def test_merged_components_have_the_rows_of_both(kind, shape):
    rng = np.random.default_rng(2)
    X, responsibilities, origin = rng.normal(size=(N, D)), rng.dirichlet(np.ones(K), size=N), rng.normal(size=shape)
    found = statistics(X, responsibilities, origin, kind).regrouped(np.array([0, 1, 0]))
    merged = np.column_stack([responsibilities[:, 0] + responsibilities[:, 2], responsibilities[:, 1], np.zeros(N)])
    expected = statistics(X, merged, found.origin, kind)
    for name in ("mass", "first", "second"):
        kept = getattr(expected, name) if name == "second" and kind == "tied" else getattr(expected, name)[:2]
        np.testing.assert_allclose(getattr(found, name), kept, rtol=1e-10, atol=1e-10)
