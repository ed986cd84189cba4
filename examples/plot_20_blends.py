"""
Rows that blend several clusters
================================

In latent process decomposition a row is a blend: every cell may come from another process. Patients who are between two
diseases are an example; here, wines.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from sidelight import LatentProcessDecomposition
from sidelight.plots import MembershipDisplay

wine = load_wine(as_frame=True)
X = wine.data
cultivar = np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[wine.target]
y = np.where(np.arange(len(X)) % 10 == 0, cultivar, None)
model = LatentProcessDecomposition(random_state=0).fit(X, y)

# %%
# One line per wine. Its colours are the shares of the processes.

MembershipDisplay.from_estimator(model, X)
plt.show()

# %%
# Which measurements tell the first two processes apart?

ranking = model.rank_attributes(0, 1)
figure, axis = plt.subplots(figsize=(6, 4))
axis.barh(ranking.names[:8][::-1].astype(str), ranking.distances[:8][::-1])
axis.set(xlabel="Bhattacharyya distance", title=f"{model.cluster_names_[0]} against {model.cluster_names_[1]}")
figure.tight_layout()
plt.show()
