"""The curve of a selection, drawn for real."""

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from sidelight.plots import SelectionDisplay, StructureDisplay
from sidelight.selection import Selection, StructureSelection

mpl.use("Agg")


def selection(candidates, scores, *, lower):
    return Selection("n_components", np.array(candidates), "held_out", np.array(scores), lower, None)


@pytest.mark.parametrize("lower", [True, False])
def test_the_curve_and_the_choice_are_drawn(lower):
    result = selection([1, 2, 3], [[3.0, 5.0], [1.0, 2.0], [7.0, 9.0]], lower=lower)
    display = SelectionDisplay.from_result(result, ax=Figure().subplots())
    curve, chosen = display.ax_.lines[0], display.ax_.lines[-1]
    np.testing.assert_allclose(curve.get_ydata(), [4, 1.5, 8])
    assert chosen.get_xdata()[0] == (2 if lower else 3)
    assert display.ax_.get_xlabel() == "n_components"
    assert display.ax_.get_ylabel() == "held out"
    assert display.ax_.get_xscale() == "linear"
    np.testing.assert_allclose(display.deviations, np.sqrt([2, 0.5, 2]))
    display.figure_.canvas.draw()


def test_strengths_are_drawn_on_a_logarithmic_scale_without_bars():
    result = selection([0.25, 1.0, 4.0], [[1.0], [2.0], [1.5]], lower=False)
    display = SelectionDisplay.from_result(result, ax=Figure().subplots())
    assert display.ax_.get_xscale() == "log"
    assert display.deviations is None
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["1"]


def test_new_axes_are_made_where_none_are_given():
    from matplotlib import pyplot as plt

    display = SelectionDisplay.from_result(selection([1, 2], [[1.0], [2.0]], lower=True))
    assert display.figure_.axes == [display.ax_]
    plt.close(display.figure_)


def test_each_structure_is_a_line_and_the_lowest_has_a_ring():
    values = np.array([[5.0, 4.0, np.nan], [6.0, 2.0, 3.0]])
    result = StructureSelection("n_components", ("EII", "VVV"), np.array([1, 2, 3]), values, None)
    display = StructureDisplay.from_result(result, ax=Figure().subplots())
    *lines, ring = display.ax_.lines
    np.testing.assert_array_equal([line.get_ydata() for line in lines], values)
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (2, 2.0)
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names == ["EII", "VVV", "lowest: VVV, 2"]
    display.figure_.canvas.draw()


def test_a_table_without_a_choice_has_no_ring():
    result = StructureSelection("n_components", ("VVV",), np.array([1, 2]), np.full((1, 2), np.nan), None)
    assert len(StructureDisplay.from_result(result, ax=Figure().subplots()).ax_.lines) == 1
