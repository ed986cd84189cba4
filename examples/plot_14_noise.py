"""
Rows that belong nowhere
========================

One row in ten is rubbish. A component for noise takes these rows, and the clusters keep their shape.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from sidelight import BayesianMixture, SideInformation
from sidelight.plots import ClustersDisplay

random = np.random.default_rng(0)
good, kind = make_blobs(270, centers=[[-4, 0], [4, 0], [0, 6]], random_state=0)
X = np.vstack([good, random.uniform(-14, 14, (30, 2))])
y = np.full(300, None)
y[[0, 1, 2, 3, 4, 5]] = np.array(["left", "right", "top"], dtype=object)[kind[:6]]

figure, axes = plt.subplots(1, 2, figsize=(12, 5))
side = SideInformation.build(300, y=y)
for axis, noise, title in zip(axes, (False, True), ("without noise", "with noise"), strict=True):
    model = BayesianMixture(noise=noise, random_state=0).fit(X, y)
    ClustersDisplay.from_estimator(model, X, side=side, ax=axis)
    axis.set_title(f"{title}: {model.n_clusters_} clusters")
figure.tight_layout()
plt.show()

# %%
# Noise has the label −1, and the name "noise" where clusters have names. Of the thirty rows of rubbish:

print(f"{np.sum(model.labels_[270:] == -1)} are noise, and so are {np.sum(model.labels_[:270] == -1)} of the others")
print(model.predict([[0.0, 6.0], [13.0, -13.0]]))
