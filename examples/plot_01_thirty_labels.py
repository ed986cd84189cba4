"""
Thirty labels: wines
====================

178 wines from three cultivars, thirteen chemical measurements each. A taster has named the cultivar of thirty.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from sidelight import GuidedMixture, SideInformation
from sidelight.metrics import clustering_accuracy_score
from sidelight.plots import ClustersDisplay, ProfilesDisplay

wine = load_wine(as_frame=True)
X = wine.data
cultivar = np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[wine.target]

labelled = np.random.default_rng(0).choice(len(X), 30, replace=False)
y = np.full(len(X), None)
y[labelled] = cultivar[labelled]

# %%
# ``y`` holds the thirty labels, and ``None`` elsewhere. That is all that ``fit`` needs.

model = GuidedMixture(random_state=0).fit(X, y)
model.cluster_names_

# %%
# On the 148 wines without a label, the clusters agree with the cultivars:

others = np.setdiff1d(np.arange(len(X)), labelled)
print(f"accuracy: {clustering_accuracy_score(cultivar, model.labels_, rows=others):.3f}")

# %%
# The model itself says how far it can be trusted: it has predicted every label once without having seen it.

print(f"held-out accuracy: {model.held_out_.accuracy:.3f}")

# %%
# The plane that separates the clusters best. Rings are labels, and paler wines are less certain.

side = SideInformation.build(len(X), y=y)
ClustersDisplay.from_estimator(model, X, side=side)
plt.show()

# %%
# What makes each cultivar: distances from the other wines, in standard deviations.

ProfilesDisplay.from_estimator(model, X, most_features=8)
plt.show()

# %%
# New wines get a cultivar and a probability.

new = X.iloc[[0, 70, 150]]
for name, probabilities in zip(model.predict(new), model.predict_proba(new), strict=True):
    print(f"{name}: {probabilities.max():.2f}")
