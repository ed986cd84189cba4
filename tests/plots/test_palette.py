"""Colours that can be told apart."""

import matplotlib as mpl
import numpy as np
import pytest

from sidelight.plots.figures import BROKEN, INK, cluster_colours


@pytest.mark.parametrize("n", [0, 1, 8, 24, 40])
def test_colours_differ_from_each_other_and_from_what_marks_statements(n):
    colours = cluster_colours(n)
    assert colours.shape == (n, 3)
    marks = np.array([mpl.colors.to_rgb(colour) for colour in ("white", BROKEN, INK)])
    every_colour = np.vstack([colours, marks])
    distances = np.linalg.norm(every_colour[:, None] - every_colour, axis=2)[: len(colours)]
    apart = distances[np.arange(n)[:, None] != np.arange(len(every_colour))]
    assert (apart > 0.05).all()
