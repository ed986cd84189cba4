"""
Clusters as features
====================

``transform`` gives the probabilities of the clusters, as a table with their names. A regression can use them beside the
other columns. Here: how much proline is in a wine?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_wine
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import LabelledMixture

wine = load_wine(as_frame=True)
X, proline = wine.data.drop(columns="proline"), wine.data["proline"]
cultivar = np.array(["Barolo", "Grignolino", "Barbera"], dtype=object)[wine.target]

# %%
# Twenty labels name the clusters, and the columns of ``transform``.

y = np.where(np.arange(len(X)) % 9 == 0, cultivar, None)
model = LabelledMixture(random_state=0).set_output(transform="pandas").fit(X, y)
model.transform(X).iloc[::40].round(2)

# %%
# A pipeline passes its own target to every step, and the mixture would take it for labels. Frozen, it keeps what it has
# learned.

chemistry = ["alcohol", "ash", "magnesium"]
plain = make_pipeline(StandardScaler(), Ridge())
with_clusters = make_pipeline(
    ColumnTransformer(
        [("numbers", StandardScaler(), chemistry), ("kind", FrozenEstimator(model), list(X.columns))],
        verbose_feature_names_out=False,
    ),
    Ridge(),
)
with_clusters.fit(X, proline)[:-1].get_feature_names_out()

# %%

order = np.random.default_rng(0).permutation(len(X))
figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
for axis, regression, columns, title in (
    (axes[0], plain, chemistry, "three columns"),
    (axes[1], with_clusters, list(X.columns), "three columns and the clusters"),
):
    predicted = cross_val_predict(regression, X.loc[order, columns], proline[order], cv=5)
    error = np.sqrt(np.mean((predicted - proline[order]) ** 2))
    for name in np.unique(cultivar):
        rows = cultivar[order] == name
        axis.scatter(proline[order][rows], predicted[rows], s=12, label=name)
    axis.axline((300, 300), slope=1, color="lightgrey")
    axis.set(title=f"{title}: error {error:.0f}", xlabel="proline", xlim=(200, 1700))
axes[0].set_ylabel("predicted")
axes[1].legend(frameon=False, loc="lower right")
figure.tight_layout()
plt.show()
