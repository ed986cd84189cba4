"""
Images: handwritten digits
==========================

1 797 images of 8 × 8 pixels. Forty of them have been read by a person.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sidelight import GuidedMixture
from sidelight.exceptions import IgnoredColumnWarning
from sidelight.metrics import clustering_accuracy_score
from sidelight.side import draw_labels

# Some pixels at the border are white in every image, and take no part.
warnings.simplefilter("ignore", IgnoredColumnWarning)

X, digit = load_digits(return_X_y=True)
rows = np.random.default_rng(0).permutation(len(X))[:900]
X, digit = X[rows], digit[rows]
y = draw_labels(digit, per_class=4, random_state=0)

model = GuidedMixture(new_classes=False, random_state=0).fit(X, y)
unlabelled = y < 0
print(f"accuracy: {clustering_accuracy_score(digit, model.labels_, rows=unlabelled):.2f}")

# %%
# The mean image of each cluster, and beside it the four images of which the model is least certain.

certainty = model.posterior_.max(axis=1)
figure, axes = plt.subplots(5, 10, figsize=(9, 5))
for number, column in enumerate(axes.T):
    members = np.flatnonzero(model.labels_ == number)
    doubtful = members[np.argsort(certainty[members])[:4]]
    column[0].imshow(X[members].mean(axis=0).reshape(8, 8), cmap="Greys")
    column[0].set_title(model.cluster_names_[number], fontsize=11)
    for axis, row in zip(column[1:], doubtful, strict=True):
        axis.imshow(X[row].reshape(8, 8), cmap="Greys")
        axis.set_xlabel(f"{certainty[row]:.0%}", fontsize=8)
for axis in axes.ravel():
    axis.set(xticks=[], yticks=[])
figure.tight_layout()
plt.show()

# %%
# Probabilities mean what they say: of the images that are, say, 60 % certain, about 60 % should be right.

right = model.cluster_names_[model.labels_] == digit
edges = np.quantile(certainty[unlabelled], [0, 0.1, 0.25, 0.5, 1])
groups = np.clip(np.searchsorted(edges, certainty, side="right") - 1, 0, len(edges) - 2)
said = [certainty[unlabelled & (groups == g)].mean() for g in range(len(edges) - 1)]
seen = [right[unlabelled & (groups == g)].mean() for g in range(len(edges) - 1)]
figure, axis = plt.subplots(figsize=(4.5, 4))
axis.plot([0, 1], [0, 1], color="lightgrey")
axis.plot(said, seen, "o-")
axis.set(
    xlabel="probability that the model gives", ylabel="share of images that are right", xlim=(0, 1), ylim=(0, 1.02)
)
plt.show()
