import os

import numpy as np
import pytest

from sidelight import EquivalenceMixture, SideInformation
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Cell, Summary
from sidelight.reproduce.framework.running import measure_trial, summarise
from sidelight.reproduce.yu import methods
from sidelight.reproduce.yu import paper as yu
from sidelight.side import draw_links

needs_tables = pytest.mark.skipif("SIDELIGHT_DATA" not in os.environ, reason="SIDELIGHT_DATA names no folder of tables")


def _summary(experiment, settings, means, *, draws=8, spread=0.01):
    """Make up the cells of an experiment: methods at given means, with the same noise for all."""
    noise = spread * np.linspace(-1, 1, draws)
    cells = {
        (setting, method): Cell({name: means.get(method, 0.5) + noise for name in experiment.measures})
        for setting in settings
        for method in experiment.methods
    }
    return Summary(experiment, cells)


def _claim(words):
    return next(claim for claim in yu.PAPER.claims if words in claim.text)


def test_all_figures_with_numbers_are_there():
    assert [experiment.name for experiment in yu.PAPER.experiments] == [
        f"figure-{number}" for number in (3, 4, 5, 6, 7, 8, 9, 10)
    ]


@pytest.mark.parametrize("pairs", ["random", "telling"])
def test_the_links_of_figure_3_say_the_truth(pairs):
    drawn = methods.draw_boundary(2, 2, pairs, 3)
    must, cannot = drawn.side.must_link, drawn.side.cannot_link
    assert len(must) == len(cannot) == 2
    assert (drawn.y[must[:, 0]] == drawn.y[must[:, 1]]).all()
    assert (drawn.y[cannot[:, 0]] != drawn.y[cannot[:, 1]]).all()
    if pairs == "telling":
        left = drawn.X[:, 0] < 0
        assert (left[must[:, 0]] != left[must[:, 1]]).all()
        assert (left[cannot[:, 0]] == left[cannot[:, 1]]).all()


@pytest.mark.parametrize("name", ["figure-3", "figure-8"])
def test_pictures_are_measured_the_same_twice(name):
    experiment = yu.PAPER.experiment(name)
    for trial in experiment.trials(quick=True)[: len(experiment.methods)]:
        once, again = (measure_trial("yu", name, trial)[1] for _ in range(2))
        assert once == again
        assert np.isfinite(list(once.values())).all()


def test_a_method_without_constraints_is_told_nothing():
    with_links, without = (methods.draw_boundary(number, number, "random", 0) for number in (2, 0))
    assert (methods.fitted("GMM", with_links, 0).labels_ == methods.fitted("GMM", without, 0).labels_).all()


@needs_tables
@pytest.mark.parametrize("kind", ["random", "must_link", "cannot_link"])
def test_links_are_of_the_kind_asked_for(kind):
    side = methods.draw("thyroid", 16, kind, 0).side
    if kind == "random":
        assert len(side.must_link) + len(side.cannot_link) == 16
    else:
        assert len(getattr(side, kind)) == 16
        assert len(side.must_link) + len(side.cannot_link) == 16


@needs_tables
def test_sets_have_the_shapes_of_the_paper():
    shapes = {
        name: (methods.table(name).X.shape, int(methods.table(name).y.max()) + 1)
        for name in (*methods.SETS, "COIL-20 10")
    }
    assert shapes == {
        "haberman": ((306, 3), 2),
        "thyroid": ((215, 5), 2),
        "digits 1 2 3": ((3177, 2), 3),
        "digits 4 5 6 7": ((3860, 2), 4),
        "COIL-20 10": ((1440, 10), 20),
    }


@needs_tables
@pytest.mark.parametrize("method", ["GM-PR", "GMM-EC", "EM-PC", "EquivalenceMixture", "HMRFKMeans", ONE_CLUSTER])
def test_methods_are_measured_the_same_twice(method):
    once, again = (yu.measure_links("cannot_link", ("thyroid", 16), method, 1) for _ in range(2))
    assert once == again
    assert all(np.isfinite(value) for value in once.values())


@needs_tables
def test_one_cluster_has_the_share_of_the_largest_class():
    assert yu.measure_links("random", ("haberman", 16), ONE_CLUSTER, 0)["purity"] == pytest.approx(225 / 306)


@needs_tables
@pytest.mark.parametrize("method", ["SSKK", "CSC", "SC"])
def test_graph_methods_find_something_in_coil(method):
    found = yu.measure_coil((10, 100), method, 0)
    assert 0.05 < found["purity"] <= 1


@needs_tables
def test_pairs_that_share_no_row_make_gm_pr_and_gmm_ec_one_model():
    drawn = methods.draw("thyroid", 4, "random", 0)
    ends = np.concatenate([drawn.side.must_link.ravel(), drawn.side.cannot_link.ravel()])
    assert len(np.unique(ends)) == 8
    pairs, graph = (methods.fitted(method, drawn, 0) for method in ("GM-PR", "GMM-EC"))
    np.testing.assert_allclose(pairs.means_, graph.means_, rtol=1e-6)


def test_a_small_run_can_be_judged():
    trials = [trial for trial in yu.FIGURE_8.trials(quick=True) if trial.seed < 2]
    results = dict(measure_trial("yu", "figure-8", trial) for trial in trials)
    verdict = _claim("two moons").judge(summarise(yu.FIGURE_8, results, trials))
    assert verdict.outcome in ("holds", "holds in part", "does not hold")
    assert "paper: GMM 3" in verdict.because


@pytest.mark.parametrize(
    ("pairwise", "graph", "outcome"), [(0.9, 0.8, "holds"), (0.8, 0.8, "does not hold"), (0.7, 0.8, "does not hold")]
)
def test_gm_pr_is_judged_by_whether_it_is_ahead_everywhere(pairwise, graph, outcome):
    made_up = _summary(yu.FIGURE_4, yu.FIGURE_4.settings, {"GM-PR": pairwise, "GMM-EC": graph})
    assert _claim("significantly outperforms").judge(made_up).outcome == outcome


@pytest.mark.parametrize(("spectral", "outcome"), [(0.6, "holds"), (0.8, "holds in part")])
def test_coil_is_judged_by_both_rivals(spectral, outcome):
    made_up = _summary(yu.FIGURE_9, yu.FIGURE_9.settings, {"GM-PR": 0.7, "SSKK": 0.6, "CSC": spectral})
    assert _claim("COIL-20").judge(made_up).outcome == outcome


def test_every_claim_can_be_judged_on_a_quick_run():
    quick = {
        experiment.name: _summary(experiment, experiment.quick, {ONE_CLUSTER: 0.3})
        for experiment in yu.PAPER.experiments
    }
    for claim in yu.PAPER.claims:
        verdict = claim.judge(*(quick[name] for name in claim.needs))
        assert verdict.outcome in ("holds", "holds in part", "does not hold")
        assert verdict.because


def _error_of_weights(model, seed):
    """Fit three classes of known sizes with two links to a row between random rows; return the greatest error."""
    random = np.random.default_rng(seed)
    y = random.choice(3, size=1000, p=[0.6, 0.3, 0.1])
    X = np.array([[0, 0], [4, 0], [0, 4]])[y] + random.normal(size=(1000, 2))
    links = draw_links(y, 2000, random_state=seed)
    side = SideInformation.build(1000, must_link=links.must_link, cannot_link=links.cannot_link)
    weights = model.set_params(init_params="kmeans", random_state=seed).fit(X, side=side).weights_
    return np.abs(np.sort(weights) - np.sort(np.bincount(y) / 1000)).max()


@pytest.mark.parametrize(("method", "before"), [("GM-PR", 0.119), ("GMM-EC", 0.279)])
def test_class_weights_are_biased_by_random_links_as_found_before(method, before):
    drawn = methods.Draw(np.empty((0, 2)), np.arange(3), SideInformation.build(3))
    errors = [_error_of_weights(methods.MODELS[method](drawn, seed), seed) for seed in range(3)]
    assert abs(np.mean(errors) - before) < 0.05


def test_class_weights_are_right_where_the_model_knows_that_links_are_random():
    for seed in range(3):
        assert _error_of_weights(EquivalenceMixture(3, pairs="random", unlinked_weight=1), seed) < 0.005
