"""Cells in and out of AnnData objects, with scanpy's own reader of the result where it is installed."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from sidelight import BayesianMixture, LabelledMixture, SeededKMeans, SideInformation
from sidelight.anndata import fit_anndata

X, Y = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
CELLS = np.array([f"cell {number}" for number in range(60)])
NAMES = np.array(["B", "NK", "T"], dtype=object)[Y]


def observations():
    known = np.where(np.arange(60) % 10 == 0, NAMES, None)
    return pd.DataFrame({"known": pd.Categorical(known)}, index=CELLS)


def stand_in():
    obs = observations()
    return SimpleNamespace(X=X, obs=obs, obsm={"X_pca": X}, uns={}, obs_names=obs.index)


def test_clusters_and_probabilities_are_written():
    cells = stand_in()
    model = fit_anndata(LabelledMixture(random_state=0), cells, label_key="known")
    assert cells.obs["sidelight"].tolist() == NAMES.tolist()
    assert cells.obs["sidelight"].cat.categories.tolist() == ["B", "NK", "T"]
    np.testing.assert_array_equal(cells.obsm["sidelight_posterior"], model.posterior_)
    np.testing.assert_array_equal(cells.obs["sidelight_certainty"], model.posterior_.max(axis=1))
    assert cells.uns["sidelight"]["clusters"] == ["B", "NK", "T"]


def test_links_name_cells_and_a_method_without_probabilities_writes_none():
    cells = stand_in()
    some = [np.flatnonzero(Y == 2)[0], np.flatnonzero(Y == 0)[0]]
    side = SideInformation.build(2, y=["left", "right"], sample_id=CELLS[some])
    fit_anndata(SeededKMeans(3, random_state=0), cells, use_rep=None, side=side, key_added="found")
    assert cells.obs["found"].iloc[some].tolist() == ["left", "right"]
    assert list(cells.obsm) == ["X_pca"]


def test_noise_is_a_category_of_its_own():
    cells = stand_in()
    cells.obsm["X_pca"] = np.vstack([X[:-1], [[400.0, 400.0]]])
    fit_anndata(BayesianMixture(3, noise=0.05, random_state=0), cells, label_key="known")
    assert cells.obs["sidelight"].iloc[-1] == "noise"


def test_what_is_not_there_is_named():
    with pytest.raises(ValueError, match="use_rep='X_umap' is not in obsm, which has 'X_pca'; run scanpy"):
        fit_anndata(LabelledMixture(), stand_in(), use_rep="X_umap")
    with pytest.raises(ValueError, match="label_key='type' is not a column of obs, which has 'known'"):
        fit_anndata(LabelledMixture(), stand_in(), label_key="type")


@pytest.mark.filterwarnings("ignore")
def test_an_anndata_object_goes_to_disk_and_comes_back(tmp_path):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed: pip install 'sidelight[anndata]'")
    cells = anndata.AnnData(X.astype(np.float32), obs=observations(), obsm={"X_pca": X})
    fit_anndata(LabelledMixture(random_state=0), cells, label_key="known")
    cells.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert again.obs["sidelight"].tolist() == NAMES.tolist()
    assert list(again.uns["sidelight"]["clusters"]) == ["B", "NK", "T"]


@pytest.mark.filterwarnings("ignore")
def test_scanpy_plots_what_was_written(tmp_path):
    reason = "scanpy is not installed: pip install 'sidelight[anndata]'"
    scanpy, anndata = pytest.importorskip("scanpy", reason=reason), pytest.importorskip("anndata", reason=reason)
    cells = anndata.AnnData(X.astype(np.float32), obs=observations(), obsm={"X_pca": X})
    fit_anndata(LabelledMixture(random_state=0), cells, label_key="known")
    scatter, certainty = scanpy.pl.pca(cells, color=["sidelight", "sidelight_certainty"], show=False)
    assert [text.get_text() for text in scatter.get_legend().get_texts()] == ["B", "NK", "T"]
    assert len(certainty.collections[0].get_offsets()) == 60
