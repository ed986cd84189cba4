"""Zhao and Miller: the printed table, the clouds, the measures and the verdicts."""

import os

import numpy as np
import pytest

from sidelight.reproduce.framework.drawing import save_picture
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Cell, Summary, Trial
from sidelight.reproduce.framework.running import measure_trial, summarise
from sidelight.reproduce.zhao import clouds, methods, table
from sidelight.reproduce.zhao import paper as zhao

needs_tables = pytest.mark.skipif("SIDELIGHT_DATA" not in os.environ, reason="SIDELIGHT_DATA names no folder of tables")


def _claim(words):
    return next(claim for claim in zhao.PAPER.claims if words in claim.text)


def _made_up(experiment, means, settings=None):
    """Make up the cells of an experiment: (method, measure) at given means, the same noise for all."""
    noise = 0.001 * np.linspace(-1, 1, 6)
    cells = {
        (setting, method): Cell({name: means.get((method, name), 0.5) + noise for name in experiment.measures})
        for setting in settings or experiment.settings
        for method in experiment.methods
    }
    return Summary(experiment, cells)


@pytest.mark.parametrize(
    ("setting", "method", "value"),
    [
        (("ecoli", "full"), "SGMM", 0.7925),
        (("ecoli", "tied"), "MCGMM", 0.8742),
        (("liver", "tied"), "SGMM", 0.6527),
        (("pima", "full"), "MCGMM", 0.7103),
        (("breast cancer", "tied"), "SGMM", 0.9720),
        (("ionosphere", "full"), "SGMM", 0.9054),
        (("ionosphere", "tied"), "MCGMM", 0.8041),
    ],
)
def test_numbers_are_those_of_the_paper(setting, method, value):
    assert zhao.TABLE_1.printed[setting, method].value == value


@needs_tables
def test_sets_have_the_shapes_of_the_paper():
    shapes = {name: (*table._table(name)[0].shape, len(np.unique(table._table(name)[1]))) for name in table.TABLE}
    assert shapes == {
        "ecoli": (336, 5, 3),
        "liver": (345, 6, 2),
        "pima": (768, 6, 2),
        "breast cancer": (683, 4, 2),
        "ionosphere": (351, 15, 2),
    }


def test_three_rows_in_ten_are_linked_once_and_truly():
    y = np.arange(200) % 3
    side = methods.linked(y, 0)
    ends = np.concatenate([side.must_link.ravel(), side.cannot_link.ravel()])
    assert len(ends) == len(np.unique(ends)) == 60
    assert (y[side.must_link[:, 0]] == y[side.must_link[:, 1]]).all()
    assert (y[side.cannot_link[:, 0]] != y[side.cannot_link[:, 1]]).all()


@needs_tables
def test_one_class_scores_above_all_that_is_printed_for_liver_and_pima():
    for name, trivial in (("liver", 0.734), ("pima", 0.789)):
        measured = table.measure_table((name, "full"), ONE_CLUSTER, 0)
        assert measured["ρ"] == pytest.approx(trivial, abs=5e-4)
        assert measured["adjusted Rand, unlinked"] == 0
        assert measured["ρ"] > max(*table.TABLE[name].sgmm, *table.TABLE[name].mcgmm)


@needs_tables
@pytest.mark.parametrize("method", zhao.TABLE_1.methods)
def test_methods_are_measured_the_same_twice(method):
    once, again = (table.measure_table(("ecoli", "tied"), method, 1) for _ in range(2))
    assert once == again
    assert set(once) == set(zhao.TABLE_1.measures)
    assert np.isfinite(list(once.values())).all()
    if method in ("SGMM", "MCGMM"):
        assert once["components"] == {"SGMM": 3, "MCGMM": 5}[method]


def test_components_are_found_where_there_is_one_mean_at_each_centre():
    drawn = clouds.eight_in_three(6.0, 0)
    order = np.random.RandomState(0).permutation(8)
    assert drawn.components_found(drawn.centres[order] + 0.5)
    assert not drawn.components_found(drawn.centres[:7])
    assert not drawn.components_found(drawn.centres + 2)
    doubled = drawn.centres.copy()
    doubled[1] = doubled[0] + 0.1
    assert not drawn.components_found(doubled)


def test_clouds_are_as_described():
    three, eight = clouds.three_in_two(5.0, 0), clouds.eight_in_three(6.0, 0)
    assert three.X.shape == (300, 2)
    assert np.mean(three.best == three.y) > 0.98
    assert np.bincount(eight.y).tolist() == [300, 300, 200]
    assert np.mean(eight.best == eight.y) > 0.98


def test_a_run_is_judged_and_drawn(tmp_path):
    methods = (*zhao.FIGURE_1.published, "ClassMixture, K by BIC")
    trials = [Trial(("3 in 2", 5.0), method, 0) for method in methods]
    summary = summarise(zhao.FIGURE_1, dict(measure_trial("zhao", "figure-1", trial) for trial in trials), trials)
    found = {method: summary.cells[("3 in 2", 5.0), method] for method in methods}
    assert found["MCGMM"].mean("components found") == found["MCGMM"].mean("classes found") == 1
    assert found["SGMM, true classes"].mean("classes found") == 0
    assert found["SGMM, one per component"].mean("classes found") == 0
    verdict = _claim("accurately learns").judge(summary)
    assert verdict.outcome == "holds"
    assert "3 in 2, 5.0 apart, MCGMM: 100%" in verdict.because
    assert save_picture(summary, tmp_path / "figure-1.png")


@pytest.mark.parametrize(
    ("ahead", "outcome"),
    [((0.9, 0.9, 0.9), "holds"), ((0.9, 0.3, 0.9), "holds in part"), ((0.3,) * 3, "does not hold")],
)
def test_best_on_most_is_judged_on_unlinked_rows_too(ahead, outcome):
    means = {("MCGMM", name): value for name, value in zip(zhao.TABLE_1.measures[:3], ahead, strict=True)}
    assert _claim("best on most").judge(_made_up(zhao.TABLE_1, means)).outcome == outcome


def test_every_claim_can_be_judged_on_a_quick_run():
    quick = {e.name: _made_up(e, {}, e.quick) for e in zhao.PAPER.experiments}
    for claim in zhao.PAPER.claims:
        verdict = claim.judge(*(quick[name] for name in claim.needs))
        assert verdict.outcome in ("holds", "holds in part", "does not hold")
        assert verdict.because
