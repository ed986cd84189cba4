"""The compiled form of the E-step and the choice between the two forms."""

import numpy as np
import pytest
from plain_processes import random_problem

from sidelight.admixture.decomposition import accumulate, kernel_for


@pytest.mark.parametrize("missing", [False, True])
def test_compiled_form_gives_the_same_sums(missing):
    pytest.importorskip("numba")
    compiled = kernel_for(1, threshold=1)
    assert compiled is not accumulate
    table = {"blocks": True, "missing": missing, "n": 70, "d": 9, "n_processes": 5}
    expected, found = (
        problem.decomposition.expect(problem.state)
        for problem in (random_problem(1, **table), random_problem(1, **table, kernel=compiled))
    )
    assert found.evidence == pytest.approx(expected.evidence, rel=1e-12)
    np.testing.assert_allclose(found.mass, expected.mass, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found.sums, expected.sums, rtol=1e-11, atol=1e-12)


def test_compiled_form_is_chosen_for_many_cells_only():
    pytest.importorskip("numba")
    assert kernel_for(1000) is accumulate
    assert kernel_for(10**12) is not accumulate
    assert kernel_for(10**12, threshold=10**13) is accumulate
