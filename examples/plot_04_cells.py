"""
Single cells: which kind of blood cell?
=======================================

700 cells of human blood, and how active each of 765 genes is in each of them. The table comes with the package
``scanpy``, which the extra ``docs`` installs. Its cell types were themselves found by comparison with purified cells,
so they are not certain either.
"""

import matplotlib.pyplot as plt
import numpy as np
import scanpy as sc

from sidelight import GuidedMixture, SideInformation
from sidelight.metrics import clustering_accuracy_score
from sidelight.plots import ClustersDisplay, ProfilesDisplay

cells = sc.datasets.pbmc68k_reduced()
kind = cells.obs["bulk_labels"].to_numpy(dtype=object)
X = cells.to_df()
X.shape

# %%
# The kinds of T cell are hard to tell apart by so few genes; here they are one kind.

kind = np.array(["T cell" if name.startswith(("CD4+", "CD8+")) else name for name in kind], dtype=object)
names, sizes = np.unique(kind, return_counts=True)
dict(zip(names.tolist(), sizes.tolist(), strict=True))

# %%
# Five labels of each kind are known.

random = np.random.default_rng(0)
labelled = np.concatenate([random.permutation(np.flatnonzero(kind == name))[:5] for name in names])
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
# The genes that tell most about each kind: CD79A and CD79B mark B cells, NKG7 and GNLY natural
# killer cells, CD3D and CD3E T cells.

ProfilesDisplay.from_estimator(model, X, most_features=16)
plt.show()
