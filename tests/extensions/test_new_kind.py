"""A column kind added from outside, in one file, is recognised, fitted, predicted, profiled, reported and saved."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from durations import GammaExponential, log_evidence
from scipy.integrate import quad
from scipy.stats import gamma

import sidelight
from sidelight import BayesianMixture, LabelledMixture, PairwiseMixture
from sidelight.families.exponential import CellStatistics
from sidelight.plots import cluster_profiles, profile_words
from sidelight.report import html_report
from sidelight.tables.schema import learn_schema

HERE = Path(__file__).parent
Y = np.arange(240) % 3


def frame(missing=0.0):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "call (s)": rng.exponential(np.array([20.0, 300.0, 4000.0])[Y]),
            "hold (s)": rng.exponential(np.array([900.0, 15.0, 15.0])[Y]),
            "age": rng.normal(40, 5, size=240),
        }
    )
    return table.mask(rng.random(table.shape) < missing)


def test_it_is_recognised_and_what_does_not_fit_is_refused():
    assert learn_schema(frame(), "auto").kinds == ("duration", "duration", "gaussian")
    broken = frame()
    broken.loc[7, "call (s)"] = -1.0
    with pytest.raises(ValueError, match=r"-1 in row 7, column 'call \(s\)', which is duration and takes positive"):
        BayesianMixture().fit(broken)


def test_the_bound_of_one_component_is_the_evidence():
    column = frame()[["call (s)"]]
    model = BayesianMixture(1, family="duration", weights="dirichlet", concentration=1.0, random_state=0).fit(column)
    mean = column["call (s)"].mean()
    assert model.lower_bound_ * 240 == pytest.approx(log_evidence(column["call (s)"].to_numpy(), 1.0, mean), rel=1e-10)


def test_the_evidence_of_a_family_is_the_integral_over_its_rates():
    durations = np.array([[2.0, 3.0], [1.0, np.nan], [4.0, 5.0]])
    family = GammaExponential(np.array([1.5, 2.0]), np.array([3.0, 1.0]))
    seen = ~np.isnan(durations)
    statistics = CellStatistics(
        np.array([3.0]), seen.sum(axis=0)[None].astype(float), np.nansum(durations, axis=0)[None]
    )

    def column(number):
        cells = durations[seen[:, number], number]
        prior = gamma(family.shapes[number], scale=1.0 / family.rates[number])
        return quad(lambda rate: prior.pdf(rate) * np.prod(rate * np.exp(-rate * cells)), 0, np.inf)[0]

    expected = np.log(column(0)) + np.log(column(1))
    np.testing.assert_allclose(family.log_evidence(statistics), [expected], rtol=1e-8)


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_it_is_fitted_predicted_and_saved(missing, tmp_path):
    table = frame(missing)
    model = BayesianMixture(random_state=0).fit(table, np.where(np.arange(240) < 30, Y, -1))
    assert np.mean(model.labels_[30:] == Y[30:]) > (0.8 if missing == 0 else 0.7)
    assert isinstance(model._family.parts[0][0], GammaExponential)
    assert np.diff(model.lower_bounds_).min() > -1e-9
    sidelight.save(model, tmp_path / "model")
    again = sidelight.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(table), model.predict_proba(table))
    np.testing.assert_array_equal(again.score_samples(table), model.score_samples(table))


@pytest.mark.parametrize("estimator", [LabelledMixture(family="auto"), PairwiseMixture(3, family="auto")])
def test_every_mixture_takes_it(estimator):
    model = estimator.set_params(random_state=0).fit(frame(), np.where(np.arange(240) < 60, Y, -1))
    assert np.mean(model.labels_[60:] == Y[60:]) > 0.75
    assert np.diff(model.lower_bounds_).min() > -1e-9


def test_it_is_profiled_and_reported():
    table = frame()
    model = BayesianMixture(random_state=0).fit(table, np.where(np.arange(240) < 30, Y, -1))
    profiles = cluster_profiles(model, table)
    words = profile_words(profiles, 2)
    assert words[0].startswith("call (s) higher (×")
    page = html_report(model, table)
    assert "<td>duration</td>" in page.replace(' class="text"', "")


def test_the_command_line_finds_it(tmp_path):
    frame().to_csv(tmp_path / "calls.csv", index=False)
    command = "import durations; from sidelight.cli.main import main; main()"
    arguments = ["fit", "calls.csv", "-o", "result", "--no-report"]
    done = subprocess.run(
        [sys.executable, "-c", command, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{HERE}:{Path(sidelight.__file__).parents[1]}", "PATH": "", "HOME": str(tmp_path)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "durations: call (s), hold (s)" in done.stderr + done.stdout
    summary = json.loads((tmp_path / "result" / "summary.json").read_text(encoding="utf-8"))
    assert summary["columns"]["call (s)"]["kind"] == "durations"
