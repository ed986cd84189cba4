"""
Recipe: single cells in AnnData
===============================

``fit_anndata`` reads labels from ``obs`` and an embedding from ``obsm``, and writes clusters and probabilities back,
where scanpy finds them. It needs ``pip install 'sidelight[anndata]'``; without, this recipe says so and does not run.

The cells are 700 of human blood, a table that comes with scanpy.
"""

from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np

from sidelight import GuidedMixture
from sidelight.anndata import fit_anndata
from sidelight.metrics import clustering_accuracy_score

TYPES = {
    "CD14+ Monocyte": "monocyte",
    "CD19+ B": "B cell",
    "CD34+": "stem cell",
    "CD56+ NK": "killer cell",
    "Dendritic": "dendritic cell",
}
COLOURS = dict(
    zip((*TYPES.values(), "T cell"), ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#a06030"), strict=True)
)

# %%
# The type is known of every fifteenth cell; the others have NaN in the column ``known``.


def recipe():
    """Take cells with some labels, and cluster them."""
    import scanpy as sc

    cells = sc.datasets.pbmc68k_reduced()
    cells.obs["type"] = [TYPES.get(name, "T cell") for name in cells.obs["bulk_labels"]]
    cells.obs["known"] = cells.obs["type"].where(np.arange(cells.n_obs) % 15 == 0)
    fit_anndata(GuidedMixture(new_classes=False, random_state=0), cells, label_key="known", use_rep="X_pca")
    return cells


if find_spec("scanpy") is None:
    print("scanpy is not installed, so this recipe is skipped: pip install 'sidelight[anndata]'")
    cells = None
else:
    cells = recipe()
    print(cells)

# %%
# ``obs["sidelight"]`` is a category, and ``obs["sidelight_certainty"]`` a number: scanpy plots both. The model is least
# certain where two types lie side by side.

if cells is not None:
    import scanpy as sc

    unknown = np.flatnonzero(cells.obs["known"].isna())
    score = clustering_accuracy_score(cells.obs["type"], cells.obs["sidelight"], rows=unknown)
    print(f"{cells.n_obs - len(unknown)} labels, accuracy on the other cells: {score:.2f}")
    figure, axes = plt.subplots(2, 2, figsize=(10, 7.5))
    for axis, column in zip(axes.flat, ("known", "type", "sidelight", "sidelight_certainty"), strict=True):
        sc.pl.umap(cells, color=column, palette=COLOURS, ax=axis, show=False)
    figure.tight_layout()
    plt.show()
