"""
Gaps and categories: penguins
=============================

A table as it comes from the field: numbers, categories, and cells that were not measured. Where the environment
variable ``SIDELIGHT_DATA`` names a folder with the penguins of the Palmer archipelago, this example uses them; else it
takes scikit-learn's wines and makes a tenth of their cells missing.
"""

import os

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from sidelight import GuidedMixture, SideInformation
from sidelight.metrics import clustering_accuracy_score
from sidelight.plots import ClustersDisplay, MembershipDisplay


def table_with_gaps():
    """Return the penguins where they are, else wines with gaps."""
    if "SIDELIGHT_DATA" in os.environ:
        from sidelight.datasets import load

        penguins = load("penguins")
        return penguins.X, penguins.y
    wine = load_wine(as_frame=True)
    X = wine.data[["alcohol", "flavanoids", "color_intensity", "proline"]].copy()
    X["hue"] = pd.cut(wine.data["hue"], 3, labels=["red", "purple", "blue"]).astype(object)
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)
    return X, np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[wine.target]


X, kind = table_with_gaps()
print(f"{X.isna().sum().sum()} of {X.size} cells are missing")
X.head()

# %%
# Nothing is filled in and no row is dropped: the model takes the cells that are there. Twenty labels are known.

random = np.random.default_rng(1)
labelled = random.choice(len(X), 20, replace=False)
y = np.full(len(X), None)
y[labelled] = kind[labelled]
model = GuidedMixture(random_state=0).fit(X, y)
others = np.setdiff1d(np.arange(len(X)), labelled)
print(f"accuracy on rows without a label: {clustering_accuracy_score(kind, model.labels_, rows=others):.3f}")

# %%
# For the picture only, a missing cell lies at the mean of its column.

ClustersDisplay.from_estimator(model, X, side=SideInformation.build(len(X), y=y))
plt.show()

# %%
# A row of probabilities per row of the table: most rows are clear, some are between two clusters.

MembershipDisplay.from_estimator(model, X)
plt.show()
