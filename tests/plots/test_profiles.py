"""The heat map of profiles, drawn for real."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs

from sidelight import BayesianMixture, COPKMeans
from sidelight.plots import ProfilesDisplay, cluster_profiles
from sidelight.plots.figures import bare_figure

mpl.use("Agg")


def test_the_heat_map_shows_names_colours_and_values():
    random = np.random.default_rng(1)
    group = np.arange(120) % 3
    frame = pd.DataFrame(
        {
            "income": np.array([20.0, 45, 80])[group] + random.normal(0, 5, 120),
            "member": random.random(120) < np.array([0.9, 0.5, 0.1])[group],
            "visits": random.poisson(np.array([1, 5, 12])[group]),
        }
    )
    profiles = cluster_profiles(BayesianMixture(3, random_state=0).fit(frame), frame)
    display = ProfilesDisplay(profiles).plot(ax=bare_figure(8, 5.2).subplots())
    ax = display.ax_
    np.testing.assert_allclose(ax.images[0].get_array(), profiles.strength.T)
    assert [text.get_text() for text in ax.get_xticklabels()] == profiles.names
    assert [text.get_text() for text in ax.get_yticklabels()] == [feature.name for feature in profiles.features]
    written = [text.get_text() for text in ax.texts]
    assert len(written) == profiles.strength.size
    assert any(words.endswith(" pp") for words in written)
    assert any(words.startswith("×") for words in written)
    assert any(words.startswith("÷") for words in written)
    assert any(words.startswith("−1.") for words in written)
    display.figure_.canvas.draw()


def test_of_many_features_and_clusters_only_colours_are_drawn():
    table, _ = make_blobs(1000, centers=20, n_features=40, random_state=0)
    display = ProfilesDisplay.from_estimator(COPKMeans(20, n_init=1, random_state=0).fit(table), table)
    assert len(display.ax_.get_yticklabels()) == 15
    assert not display.ax_.texts
    mpl.pyplot.close(display.figure_)
