"""Degrees of freedom: the maximum of a concave objective, held between a Cauchy's neighbour and a Gaussian."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from sidelight.families.student.tails import AT_START, LEAST, MOST, tail_degrees


def objective(degrees, mean):
    """Return the part of the expected log density of a row that depends on the degrees."""
    half = 0.5 * degrees
    return half * np.log(half) - gammaln(half) + half * mean


@given(mean=st.floats(-1.9, -1.0005), mass=st.floats(1e-3, 1e6))
def test_no_degrees_lead_higher(mean, mass):
    found = tail_degrees(np.array([mass]), np.array([mass * mean]))[0]
    best = minimize_scalar(lambda degrees: -objective(degrees, mean), bounds=(LEAST, MOST), method="bounded")
    assert LEAST <= found <= MOST
    assert objective(found, mean) >= max(-best.fun, objective(LEAST, mean), objective(MOST, mean)) - 1e-12


def test_ends_are_kept_to():
    # E ln u − E u is −1 where all scales are one.
    assert tail_degrees(np.array([3.0]), np.array([-3.0])) == MOST
    assert tail_degrees(np.array([3.0]), np.array([-30.0])) == LEAST


def test_a_component_without_rows_keeps_its_tails():
    assert tail_degrees(np.zeros(1), np.zeros(1)) == AT_START
