"""
Recipe: single cells in AnnData
===============================

``fit_anndata`` reads labels from ``obs`` and an embedding from ``obsm``, and writes clusters and probabilities back,
where scanpy finds them. It needs ``pip install 'sidelight[anndata]'``; without, this recipe says so and does not run.

The table here is small and always there: the nuclei of scikit-learn's breast cancer samples stand for cells.
"""

from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from sidelight import GuidedMixture
from sidelight.anndata import fit_anndata
from sidelight.metrics import clustering_accuracy_score

tissue = load_breast_cancer(as_frame=True)
kind = tissue.target_names[tissue.target].astype(object)
scaled = StandardScaler().fit_transform(tissue.data)
known = np.where(np.arange(len(scaled)) % 25 == 0, kind, None)

# %%


def recipe():
    """Make an AnnData object, cluster it, and look at what was written."""
    import anndata

    cells = anndata.AnnData(
        scaled.astype(np.float32),
        obs=pd.DataFrame({"known": pd.Categorical(known)}, index=[f"cell {number}" for number in range(len(scaled))]),
        var=pd.DataFrame(index=tissue.feature_names),
    )
    cells.obsm["X_pca"] = PCA(10, random_state=0).fit_transform(scaled)
    fit_anndata(GuidedMixture(new_classes=False, random_state=0), cells, label_key="known")
    return cells


if find_spec("anndata") is None:
    print("anndata is not installed, so this recipe is skipped: pip install 'sidelight[anndata]'")
    cells = None
else:
    cells = recipe()
    print(cells)

# %%
# ``obs["sidelight"]`` is a category, so ``scanpy.pl.pca(cells, color=["sidelight", "sidelight_certainty"])`` plots it.
# The same with matplotlib:

if cells is not None:
    unlabelled = np.flatnonzero([name is None for name in known])
    names = cells.obs["sidelight"].astype(str).to_numpy()
    print(f"accuracy: {clustering_accuracy_score(kind, names, rows=unlabelled):.2f}")
    figure, axis = plt.subplots(figsize=(6, 4))
    for name, rows in cells.obs.groupby("sidelight", observed=True).indices.items():
        axis.scatter(
            *cells.obsm["X_pca"][rows, :2].T, s=20 * cells.obs["sidelight_certainty"].to_numpy()[rows] ** 4, label=name
        )
    axis.legend(frameon=False)
    axis.set(xlabel="PC 1", ylabel="PC 2")
    plt.show()
