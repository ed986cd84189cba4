"""
Gaps and categories: penguins
=============================

344 penguins of three species from the Palmer archipelago: four measurements, the island, the sex and the year. Some
cells were not recorded. The table comes with the package ``palmerpenguins``, which the extra ``docs`` installs.
"""

import matplotlib.pyplot as plt
import numpy as np
from palmerpenguins import load_penguins

from sidelight import GuidedMixture, SideInformation
from sidelight.metrics import clustering_accuracy_score
from sidelight.plots import ClustersDisplay, MembershipDisplay

penguins = load_penguins()
X, species = penguins.drop(columns="species"), penguins["species"].to_numpy(dtype=object)
print(f"{X.isna().sum().sum()} of {X.size} cells are missing")
X.head()

# %%
# Nothing is filled in and no row is dropped: the model takes the cells that are there. Twenty labels are known.

random = np.random.default_rng(1)
labelled = random.choice(len(X), 20, replace=False)
y = np.full(len(X), None)
y[labelled] = species[labelled]
model = GuidedMixture(random_state=0).fit(X, y)
others = np.setdiff1d(np.arange(len(X)), labelled)
print(f"accuracy on rows without a label: {clustering_accuracy_score(species, model.labels_, rows=others):.3f}")

# %%
# For the picture only, a missing cell lies at the mean of its column.

ClustersDisplay.from_estimator(model, X, side=SideInformation.build(len(X), y=y))
plt.show()

# %%
# A row of probabilities per row of the table: most rows are clear, some are between two clusters.

MembershipDisplay.from_estimator(model, X)
plt.show()
