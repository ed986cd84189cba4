"""Li, Ying and Campbell: the printed tables, the splits, the likelihood of blocks and the verdicts."""

import os

import numpy as np
import pytest
from scipy.stats import norm

from sidelight import LabelledMixture, LatentProcessDecomposition
from sidelight.reproduce.framework.drawing import save_picture
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Cell, Summary, Trial
from sidelight.reproduce.framework.running import measure_trial
from sidelight.reproduce.li import likelihood, tables
from sidelight.reproduce.li import paper as li

needs_tables = pytest.mark.skipif("SIDELIGHT_DATA" not in os.environ, reason="SIDELIGHT_DATA names no folder of tables")


def _claim(words):
    return next(claim for claim in li.PAPER.claims if words in claim.text)


def _made_up(experiment, value, settings=None):
    """Make up the cells of an experiment from what ``value`` says of a setting and method, the same noise for all."""
    noise = 0.001 * np.linspace(-1, 1, 6)
    cells = {
        (setting, method): Cell({name: value(setting, method) + noise for name in experiment.measures})
        for setting in settings or experiment.settings
        for method in experiment.methods
    }
    return Summary(experiment, cells)


@pytest.mark.parametrize(
    ("experiment", "setting", "method", "value"),
    [
        (li.TABLE_2, ("letter", 0.25), "UKM / CKM", 0.502),
        (li.TABLE_2, ("wine", 0.0), "ULPD / SLPD", 0.930),
        (li.TABLE_2, ("iris", 0.5), "ULPD / SLPD", 0.920),
        (li.TABLE_2, ("digits", 0.5), "UKM / CKM", 0.772),
        (li.TABLE_3, ("lung", 0.25), "ULPD / SLPD", 0.665),
        (li.TABLE_3, ("leukemia, same classes", 0.25), "UKM / CKM", 0.782),
        (li.TABLE_3, ("leukemia, other classes", 0.5), "ULPD / SLPD", 0.851),
    ],
)
def test_numbers_are_those_of_the_paper(experiment, setting, method, value):
    assert experiment.printed[setting, method].value == value


def test_folds_are_the_same_at_every_fraction_and_labels_are_added():
    none, quarter, half = (tables.splits_of("iris", fraction, 4) for fraction in tables.FRACTIONS)
    assert [len(split.y_test) for split in none] == [50, 50, 50]
    for fold in range(3):
        np.testing.assert_array_equal(none[fold].X_test, half[fold].X_test)
        assert [(part[fold].known >= 0).sum() for part in (none, quarter, half)] == [0, 25, 50]
        told = quarter[fold].known >= 0
        np.testing.assert_array_equal(half[fold].known[told], quarter[fold].y[told])


@needs_tables
def test_trials_have_the_sizes_of_the_paper():
    sizes = {
        name: [
            (len(split.y), len(split.y_test), split.X.shape[1], split.n_clusters)
            for split in tables.splits_of(name, 0, 0)
        ]
        for name in (*tables.UCI, *tables.MICROARRAYS)
    }
    assert sizes["letter"] == [(100, 50, 16, 2)] * 3
    assert sizes["digits"] == [(116, 58, 16, 3)] * 3
    assert sizes["leukemia, same classes"] == [(60, 30, 500, 6)] * 3
    assert sizes["leukemia, other classes"] == [(45, 45, 500, 3)]
    assert sum(test for _, test, _, _ in sizes["lung"]) == 203


@needs_tables
def test_other_classes_share_no_class_with_the_training_rows():
    (split,) = tables.splits_of("leukemia, other classes", 0.5, 0)
    assert not set(split.y) & set(split.y_test)


@pytest.mark.parametrize("method", li.TABLE_2.methods)
def test_methods_are_measured_the_same_twice(method):
    split = tables.splits_of("iris", 0.25, 0)[0]
    once, again = (tables._measure_split(split, "iris", method, 0) for _ in range(2))
    assert once == again
    assert once == (0.5, 0.5) if method == ONE_CLUSTER else min(once) > 0.7


def test_a_trial_is_the_mean_of_its_folds():
    folds = [tables._measure_split(split, "iris", "UKM / CKM", 3) for split in tables.splits_of("iris", 0.5, 3)]
    measured = measure_trial("li", "table-2", Trial(("iris", 0.5), "UKM / CKM", 3))[1]
    np.testing.assert_allclose(list(measured.values()), np.mean(folds, axis=0))


@needs_tables
@pytest.mark.parametrize("method", li.TABLE_3.methods)
def test_microarrays_are_measured(method):
    measured = tables.measure_table(("leukemia, other classes", 0.5), method, 0)
    assert all(0 < value <= 1 for value in measured.values())


@pytest.mark.parametrize("labels", ["no labels", "all labels", "labels of one class"])
@pytest.mark.parametrize("method", ["ULPD / SLPD", "LabelledMixture", ONE_CLUSTER])
def test_likelihoods_are_measured_the_same_twice(labels, method):
    once, again = (measure_trial("li", "figure-2", Trial((labels, 2), method, 0))[1] for _ in range(2))
    assert once == again
    assert all(-30 < value < -10 for value in once.values())


def test_a_block_has_the_likelihood_of_the_integral_over_its_shares():
    X = np.array([[0.1, -0.2], [0.4, 1.5], [2.0, 1.9]])
    table = np.repeat([[0.0, 0.0], [2.0, 2.0]], 20, axis=0) + np.random.RandomState(0).normal(size=(40, 2))
    model = LatentProcessDecomposition(2, random_state=0).fit(table)
    blocks = np.array([0, 0, 1])
    random = np.random.RandomState(1)
    shares = random.dirichlet(model.alpha_, size=50_000)
    expected = 0.0
    for block in (0, 1):
        rows = X[blocks == block]
        cells = np.stack([norm(model.means_[k], model.scales_[k]).pdf(rows).ravel() for k in range(2)])
        expected += np.log(np.prod(shares @ cells, axis=1).mean())
    estimates = [likelihood.block_likelihood(model, X, blocks, seed) for seed in range(20)]
    error = np.std(estimates, ddof=1) / np.sqrt(20)
    assert np.mean(estimates) == pytest.approx(expected, abs=4 * error + 0.01)


def test_a_mixture_with_blocks_of_one_row_has_its_own_likelihood():
    X = np.random.RandomState(0).normal(size=(60, 3)) + np.repeat([[0], [4]], 30, axis=0)
    model = LabelledMixture(2, covariance_type="diag", random_state=0).fit(X)
    alone = likelihood._mixture_likelihood(model, X, np.arange(60))
    assert alone == pytest.approx(model.score_samples(X).sum())
    # Rows that share a component cannot be likelier than with a component each of its best.
    together = likelihood._mixture_likelihood(model, X, np.repeat([0, 1], 30))
    assert together <= alone + 60 * np.log(2)


@pytest.mark.parametrize(("peak", "outcome"), [(4, "holds"), (3, "does not hold")])
def test_the_peak_is_judged_by_its_place(peak, outcome):
    made_up = _made_up(li.FIGURE_2, lambda setting, method: -15 - abs(int(setting[1]) - peak))
    assert _claim("peaks at 4").judge(made_up).outcome == outcome


def test_a_peak_that_is_not_sure_holds_in_part():
    noise = {3: np.array([0.5, -0.4, 0.3, -0.2]), 4: np.zeros(4)}
    cells = {
        (setting, method): Cell({name: -15 + noise.get(setting[1], -np.ones(4)) for name in li.FIGURE_2.measures})
        for setting in li.FIGURE_2.settings
        for method in li.FIGURE_2.methods
    }
    assert _claim("peaks at 4").judge(Summary(li.FIGURE_2, cells)).outcome == "holds in part"


@pytest.mark.parametrize(("lpd", "outcome"), [(0.8, "holds"), (0.5, "does not hold")])
def test_k_means_is_the_rival_of_both_tables(lpd, outcome):
    for experiment, words in ((li.TABLE_2, "significant gain"), (li.TABLE_3, "consistently outperforms")):
        made_up = _made_up(experiment, lambda setting, method: lpd if method == "ULPD / SLPD" else 0.6)
        assert _claim(words).judge(made_up).outcome == outcome


def test_every_claim_can_be_judged_on_a_quick_run_and_figure_2_is_drawn(tmp_path):
    quick = {e.name: _made_up(e, lambda setting, method: 0.5, e.quick) for e in li.PAPER.experiments}
    for claim in li.PAPER.claims:
        verdict = claim.judge(*(quick[name] for name in claim.needs))
        assert verdict.outcome in ("holds", "holds in part", "does not hold")
        assert verdict.because
    paths = tmp_path / "once.png", tmp_path / "again.png"
    assert all(save_picture(quick["figure-2"], path) for path in paths)
    assert paths[0].read_bytes() == paths[1].read_bytes()
