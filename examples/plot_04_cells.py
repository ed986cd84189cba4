"""
Cells: nuclei under the microscope
==================================

569 samples of breast tissue, described by thirty measurements of their cell nuclei. Where ``SIDELIGHT_DATA`` names a
folder with single cells of blood (PBMC), these are used instead.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from sidelight import GuidedMixture, SideInformation
from sidelight.metrics import clustering_accuracy_score
from sidelight.plots import ClustersDisplay, ProfilesDisplay


def cells():
    """Return single cells of blood where they are, else samples of tissue."""
    if "SIDELIGHT_DATA" in os.environ:
        from sidelight.datasets import load

        blood = load("pbmc68k_reduced")
        return blood.X, blood.y
    tissue = load_breast_cancer(as_frame=True)
    return tissue.data, tissue.target_names[tissue.target].astype(object)


X, kind = cells()
X.shape, np.unique(kind).tolist()

# %%
# Five labels of each kind are known.

random = np.random.default_rng(0)
labelled = np.concatenate([random.permutation(np.flatnonzero(kind == name))[:5] for name in np.unique(kind)])
y = np.full(len(X), None)
y[labelled] = kind[labelled]
model = GuidedMixture(new_classes=False, random_state=0).fit(X, y)
others = np.setdiff1d(np.arange(len(X)), labelled)
print(
    f"{len(labelled)} labels, accuracy on the others: {clustering_accuracy_score(kind, model.labels_, rows=others):.2f}"
)

# %%

ClustersDisplay.from_estimator(model, X, side=SideInformation.build(len(X), y=y))
plt.show()

# %%
# The measurements that tell most about each kind.

ProfilesDisplay.from_estimator(model, X, most_features=10)
plt.show()
