"""
Several people, each with their own names
=========================================

Two people have sorted some of the flowers into piles. They agree on what belongs together, but not on what to call it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score

from sidelight import GuidedMixture, SideInformation
from sidelight.plots import ClustersDisplay

X, species = load_iris(return_X_y=True, as_frame=True)
species = species.to_numpy()
random = np.random.default_rng(0)
ann, bob = np.full((2, 150), None)
first, second = random.choice(150, 20, replace=False), random.choice(150, 20, replace=False)
ann[first] = np.array(["small", "medium", "large"], dtype=object)[species[first]]
bob[second] = np.array(["I", "II", "III"], dtype=object)[species[second]]

# %%
# Names of different people cannot be compared, so each pile becomes links: rows of a pile belong together, and piles of
# one person are apart.

side = SideInformation.from_annotators({"Ann": ann, "Bob": bob})
side

# %%

model = GuidedMixture(random_state=0).fit(X, side=side)
print(f"{model.n_clusters_} clusters, agreement with the species {adjusted_rand_score(species, model.labels_):.2f}")
ClustersDisplay.from_estimator(model, X, side=side)
plt.show()
