"""Annotated tables of single cells: labels and embeddings from an AnnData object, clusters and probabilities back.

Nothing here imports anndata; any object with ``obs``, ``obsm``, ``uns`` and ``obs_names`` will do.
"""

from collections.abc import MutableMapping
from typing import Any, Protocol, TypeVar

import numpy as np

from sidelight._typing import AnyArray
from sidelight.estimators.base.clusterer import SemiSupervisedClusterer
from sidelight.side import SideInformation

__all__ = ["fit_anndata"]

Clusterer = TypeVar("Clusterer", bound=SemiSupervisedClusterer)


class Annotated(Protocol):
    """What is needed of an AnnData object."""

    X: Any
    obs: Any
    obsm: MutableMapping[str, Any]
    uns: MutableMapping[str, Any]
    obs_names: Any


def fit_anndata(
    model: Clusterer,
    adata: Annotated,
    *,
    label_key: str | None = None,
    use_rep: str | None = "X_pca",
    key_added: str = "sidelight",
    side: SideInformation | None = None,
) -> Clusterer:
    """Fit an estimator to the cells of an AnnData object, and write the result into it.

    Parameters
    ----------
    model : estimator
        It is fitted.
    adata : AnnData
        Written are ``obs[key_added]``, the name of each cell's cluster, a category that scanpy plots; where the
        estimator has probabilities, ``obsm[key_added + "_posterior"]`` and ``obs[key_added + "_certainty"]``; and
        ``uns[key_added]``, the names of the columns of the posterior and how they were found.
    label_key : str, optional
        Column of ``obs`` with partial labels; a cell without one has NaN or None.
    use_rep : str or None, default "X_pca"
        Entry of ``obsm`` to cluster; None clusters ``X``.
    key_added : str, default "sidelight"
        Under which names the result is written.
    side : SideInformation, optional
        Further statements. Where it has ids, they are names of cells (``obs_names``).

    Returns
    -------
    estimator
        The model, fitted.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from types import SimpleNamespace
    >>> from sidelight import LabelledMixture
    >>> from sidelight.anndata import fit_anndata
    >>> cells = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0, 0], [9, 0]], 20, axis=0)
    >>> obs = pd.DataFrame({"known": [None] * 40}, index=[f"cell {number}" for number in range(40)], dtype=object)
    >>> obs.loc[["cell 0", "cell 39"], "known"] = ["B cell", "T cell"]
    >>> adata = SimpleNamespace(X=None, obs=obs, obsm={"X_pca": cells}, uns={}, obs_names=obs.index)
    >>> model = fit_anndata(LabelledMixture(random_state=0), adata, label_key="known")
    >>> adata.obs["sidelight"].value_counts().to_dict()
    {'B cell': 20, 'T cell': 20}
    >>> adata.obsm["sidelight_posterior"].shape
    (40, 2)
    """
    table = _table(adata, use_rep)
    labels = None if label_key is None else _labels(adata, label_key)
    ids = np.asarray(adata.obs_names) if side is None or side.ids is not None else None
    model.fit(table, labels, side=side, sample_id=ids)
    names = _written_names(model)
    adata.obs[key_added] = _category(names[model.labels_], names)
    posterior = getattr(model, "posterior_", None)
    if posterior is not None:
        adata.obsm[f"{key_added}_posterior"] = np.asarray(posterior)
        adata.obs[f"{key_added}_certainty"] = np.asarray(posterior).max(axis=1)
    adata.uns[key_added] = {
        "clusters": names[:-1].tolist(),
        "params": {"estimator": type(model).__name__, "use_rep": use_rep or "X", "label_key": label_key or ""},
    }
    return model


def _table(adata: Annotated, use_rep: str | None) -> Any:
    if use_rep is None:
        return adata.X.toarray() if hasattr(adata.X, "toarray") else np.asarray(adata.X)
    if use_rep not in adata.obsm:
        there = ", ".join(repr(name) for name in adata.obsm) or "nothing"
        raise ValueError(
            f"use_rep={use_rep!r} is not in obsm, which has {there}; run scanpy.pp.pca(adata) first, or give another "
            "name, or None for X."
        )
    return np.asarray(adata.obsm[use_rep])


def _labels(adata: Annotated, label_key: str) -> AnyArray:
    if label_key not in adata.obs:
        there = ", ".join(repr(name) for name in adata.obs)
        raise ValueError(f"label_key={label_key!r} is not a column of obs, which has {there or 'none'}.")
    column = adata.obs[label_key].astype(object)
    return column.where(column.notna(), None).to_numpy()


def _written_names(model: Any) -> AnyArray:
    """Return the names of the clusters as text, and that of noise, which number -1 finds, at the end."""
    return np.array([*(str(name) for name in model.cluster_names_), "noise"], dtype=object)


def _category(values: AnyArray, names: AnyArray) -> Any:
    import pandas as pd

    present = [name for name in names.tolist() if (values == name).any()]
    return pd.Categorical(values, categories=present)
