"""Products of families: everything adds up over the parts."""

import numpy as np
import pytest

from oracles.conjugate import COMPONENTS, case, collect, scores
from sidelight.families.conjugate import ProductFamily
from sidelight.kernels.loops import NUMPY


def shuffled(given):
    """Return the case's family and table with columns in another order, which slices cannot follow."""
    order = np.random.default_rng(0).permutation(given.X.shape[1])
    place = np.argsort(order)
    parts = tuple((family, place[columns]) for family, columns in given.family.parts)
    return ProductFamily(parts), given.X[:, order]


@pytest.mark.parametrize("face", ["evaluator", "predictive"])
def test_log_densities_are_the_sums_of_the_parts(face):
    given = case("product", seed=1, missing=0.2)
    expected = sum(
        scores(getattr(family, face)(part, NUMPY), given.X[:, columns])
        for (family, columns), part in zip(given.family.parts, given.parameters, strict=True)
    )
    np.testing.assert_allclose(
        scores(getattr(given.family, face)(given.parameters, NUMPY), given.X), expected, rtol=1e-12
    )
    family, X = shuffled(given)
    np.testing.assert_allclose(scores(getattr(family, face)(given.parameters, NUMPY), X), expected, rtol=1e-12)


def test_divergences_priors_and_counts_are_the_sums_of_the_parts():
    given = case("product", seed=2)
    pairs = [(family, part) for (family, _), part in zip(given.family.parts, given.parameters, strict=True)]
    np.testing.assert_allclose(
        given.family.divergence(given.parameters), sum(family.divergence(part) for family, part in pairs)
    )
    np.testing.assert_allclose(
        given.family.log_prior(given.parameters), sum(family.log_prior(part) for family, part in pairs)
    )
    assert given.family.n_parameters(4) == sum(family.n_parameters(4) for family, _ in pairs)
    names = [set(attributes) for attributes in given.family.attributes(given.parameters)["parts_"]]
    assert names == [set(family.attributes(part)) for family, part in pairs]


def test_the_order_of_columns_does_not_matter():
    given = case("product", seed=3, missing=0.2)
    family, X = shuffled(given)
    updated = family.update(collect(family, given.parameters, X, given.responsibilities))
    plain = given.family.update(collect(given.family, given.parameters, given.X, given.responsibilities))
    for found, expected in zip(updated, plain, strict=True):
        for value, wanted in zip(found, expected, strict=True):
            np.testing.assert_allclose(value, wanted, rtol=1e-10)
    sample = family.sample(given.parameters, 1, 50, np.random.RandomState(0))
    ordered = given.family.sample(given.parameters, 1, 50, np.random.RandomState(0))
    for (_, columns), (_, before) in zip(family.parts, given.family.parts, strict=True):
        np.testing.assert_array_equal(sample[:, columns], ordered[:, before])


def test_columns_that_no_part_names_are_left_out():
    given = case("bernoulli", seed=4)
    family = ProductFamily(((given.family, np.array([1, 2, 3, 4])),))
    X = np.column_stack([np.full(len(given.X), np.inf), given.X])
    np.testing.assert_allclose(
        scores(family.evaluator((given.parameters,), NUMPY), X),
        scores(given.family.evaluator(given.parameters, NUMPY), given.X),
    )
    drawn = family.sample((given.parameters,), 0, 3, np.random.RandomState(0))
    assert np.isnan(drawn[:, 0]).all()
    assert not np.isnan(drawn[:, 1:]).any()
    assert family.n_parameters(COMPONENTS) == 4 * COMPONENTS


def test_a_product_of_nothing_is_an_error():
    with pytest.raises(ValueError, match="parts is empty"):
        ProductFamily(())
