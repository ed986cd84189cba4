"""
Classes of several components
=============================

Two moons are not Gaussian, but each is a chain of a few Gaussians. Links say which of them belong together.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import adjusted_rand_score

from sidelight import BayesianMixture, ClassMixture
from sidelight.datasets import two_moons
from sidelight.plots import ClustersDisplay
from sidelight.side import draw_side

X, moon, _ = two_moons(n=300, noise=0.08, random_state=0)
side = draw_side(moon, links=60, random_state=0)

figure, axes = plt.subplots(1, 2, figsize=(12, 4.5))
for axis, model, title in (
    (axes[0], BayesianMixture(random_state=0).fit(X), "BayesianMixture, without links"),
    (axes[1], ClassMixture(8, random_state=0).fit(X, side=side), "ClassMixture, 60 links"),
):
    shown = side if isinstance(model, ClassMixture) else None
    ClustersDisplay.from_estimator(model, X, side=shown, ax=axis)
    axis.set_title(f"{title}: adjusted Rand index {adjusted_rand_score(moon, model.labels_):.2f}")
figure.tight_layout()
plt.show()
