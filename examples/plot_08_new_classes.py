"""
A class that has no label
=========================

Labels are known for two of three cultivars. The third is in the table, but no label names it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from sidelight import GuidedMixture, SideInformation
from sidelight.plots import ClustersDisplay

wine = load_wine(as_frame=True)
X = wine.data
cultivar = np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[wine.target]
known = np.flatnonzero(cultivar != "Barbera")
labelled = np.random.default_rng(0).choice(known, 40, replace=False)
y = np.full(len(X), None)
y[labelled] = cultivar[labelled]

model = GuidedMixture(random_state=0).fit(X, y)
model.cluster_names_

# %%
# "new 1" holds the rows among which labels should be, and are not. Which wines are they?

for name in model.cluster_names_:
    inside = cultivar[model.cluster_names_[model.labels_] == name]
    print(name, {str(kind): int((inside == kind).sum()) for kind in np.unique(inside)})

# %%
# ``new_classes=False`` puts every row in a labelled class instead. Both, side by side:

closed = GuidedMixture(new_classes=False, random_state=0).fit(X, y)
side = SideInformation.build(len(X), y=y)
figure, axes = plt.subplots(1, 2, figsize=(12, 5))
for axis, fitted, title in zip(axes, (model, closed), ("new classes allowed", "labelled classes only"), strict=True):
    ClustersDisplay.from_estimator(fitted, X, side=side, ax=axis)
    axis.set_title(title)
figure.tight_layout()
plt.show()
