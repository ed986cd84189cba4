"""
All methods on four tables
==========================

Every estimator of sidelight on small tables with six labels (rings). No method is best everywhere: look
for the shape of your own clusters.
"""

import re
import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs, make_moons

from sidelight import all_estimators
from sidelight.metrics import clustering_accuracy_score
from sidelight.side import draw_labels

N = 100
tables = {
    "blobs": make_blobs(N, centers=[[-3, -2], [3, -2], [0, 3]], random_state=0),
    "uneven": make_blobs(
        [100, 30, 20], centers=[[-3, 0], [2, 2], [3, -2]], cluster_std=[1.5, 0.5, 0.7], random_state=0
    ),
    "moons": make_moons(N, noise=0.08, random_state=0),
    "above, below": (lambda X, y: (X, (X[:, 1] > 0).astype(int)))(
        *make_blobs(N, centers=[[-5, 0], [5, 0]], random_state=0)
    ),
}

# %%
# The colours are the clusters, the number is the accuracy on rows without a label.

# Two bands of seven methods, one above the other.
figure, axes = plt.subplots(2 * len(tables), 7, figsize=(11, 11), layout="constrained")
for row, (title, (X, truth)) in enumerate(tables.items()):
    y = draw_labels(truth, number=6, stratify=True, random_state=0)
    for column, (name, estimator) in enumerate(all_estimators()):
        model = estimator()
        if "random_state" in model.get_params():
            model.set_params(random_state=0)
        with warnings.catch_warnings():
            # Some methods warn that their result is doubtful, which the picture shows as well.
            warnings.simplefilter("ignore")
            labels = model.fit(X, y).labels_
        band, place = divmod(column, 7)
        axis = axes[band * len(tables) + row, place]
        axis.scatter(*X.T, c=labels, s=7, cmap="viridis")
        axis.scatter(*X[y >= 0].T, s=30, facecolors="none", edgecolors="crimson", linewidths=0.8)
        score = clustering_accuracy_score(truth, labels, rows=y < 0)
        white = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
        axis.text(0.97, 0.03, f"{score:.2f}", transform=axis.transAxes, ha="right", fontsize=9, bbox=white)
        axis.set(xticks=[], yticks=[])
        if not row:
            words = re.sub(r"\B(?=KMeans|(?<!K)[A-Z][a-z])", "\n", name)
            axis.set_title(words, fontsize=9, linespacing=0.9)
        if not place:
            axis.set_ylabel(title, fontsize=10)
plt.show()
