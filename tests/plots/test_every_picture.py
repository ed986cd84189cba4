"""Every picture of every estimator: drawn, or refused with a reason."""

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris

from sidelight import SideInformation, all_estimators
from sidelight.plots import (
    ClustersDisplay,
    ConvergenceDisplay,
    HistoryDisplay,
    MembershipDisplay,
    ProfilesDisplay,
)
from sidelight.plots.figures import bare_figure
from sidelight.side import draw_labels

mpl.use("Agg")
FRAME = load_iris(as_frame=True).data
PARTIAL = draw_labels(load_iris().target, fraction=0.2, random_state=0)


@pytest.mark.parametrize("name", [name for name, _ in all_estimators()])
def test_every_estimator_has_its_pictures(name):
    model = dict(all_estimators())[name]().fit(FRAME, PARTIAL)
    figure = bare_figure(12, 9)
    first, second, third, fourth = figure.subplots(2, 2).flat
    side = SideInformation.build(150, y=PARTIAL)
    clusters = ClustersDisplay.from_estimator(model, FRAME, side=side, ax=first)
    assert np.isfinite(clusters.points).all()
    np.testing.assert_array_equal(clusters.labels, model.labels_)
    assert len(clusters.ax_.patches) == (len(model.means_) if hasattr(model, "covariances_") else 0)
    profiles = ProfilesDisplay.from_estimator(model, FRAME, ax=second)
    assert profiles.profiles.strength.shape == (model.n_clusters_, 4)
    assert "petal" in profiles.profiles.features[0].name
    assert ConvergenceDisplay.from_estimator(model, ax=third).objectives[-1] == pytest.approx(
        getattr(model, "lower_bound_", getattr(model, "objective_", None))
    )
    if hasattr(model, "predict_proba"):
        display = MembershipDisplay.from_estimator(model, FRAME, ax=fourth)
        np.testing.assert_allclose(display.posterior.sum(axis=1), 1)
    else:
        with pytest.raises(ValueError, match=f"{name} puts every row in one cluster and gives no probabilities"):
            MembershipDisplay.from_estimator(model, FRAME, ax=fourth)
    if hasattr(model, "history_"):
        assert HistoryDisplay.from_estimator(model, FRAME, figure=bare_figure(9, 6)).panels
    else:
        with pytest.raises(ValueError, match=f"{name} keeps no history_"):
            HistoryDisplay.from_estimator(model, FRAME)


def test_matplotlib_is_loaded_by_the_first_picture_only():
    program = "import sys, sidelight.plots, sidelight.report; print('matplotlib' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"
