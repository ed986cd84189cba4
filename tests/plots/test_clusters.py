"""Pictures of clusters, drawn for real."""

import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.colors import to_rgba
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_blobs
from sklearn.mixture import GaussianMixture

from sidelight import BayesianMixture, COPKMeans, HMRFKMeans, LabelledMixture, SideInformation
from sidelight.plots import ClustersDisplay
from sidelight.plots.figures import BROKEN, bare_figure
from sidelight.side import draw_links

mpl.use("Agg")
X, Y = load_iris(return_X_y=True)


def draw(model, table, **options):
    return ClustersDisplay.from_estimator(model, table, ax=bare_figure(8, 5.2).subplots(), **options)


def legend(display):
    found = display.ax_.get_legend()
    return [] if found is None else [text.get_text() for text in found.get_texts()]


def mixed_frame(n=120):
    random = np.random.default_rng(0)
    group = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "income": np.array([20.0, 45, 80])[group] + random.normal(0, 5, n),
            "region": np.array(["north", "south", "east"], dtype=object)[group],
            "member": group == 1,
            "visits": random.poisson(np.array([1, 5, 12])[group]),
        }
    )
    frame.loc[::7, "income"] = np.nan
    frame.loc[::11, "region"] = None
    return frame


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_rows_and_components_are_drawn(covariance_type, d):
    model = LabelledMixture(3, covariance_type=covariance_type, random_state=0).fit(X[:, :d])
    display = draw(model, X[:, :d], known=Y == 0)
    assert display.points.shape == (150, 2)
    assert len(display.ax_.patches) == 3
    clusters = ["cluster 0", "cluster 1", "cluster 2"]
    if d == 1:  # clusters stand above each other, each at its name
        assert legend(display) == ["label given (50)"]
        assert [text.get_text() for text in display.ax_.get_yticklabels()] == clusters
        np.testing.assert_array_equal(display.points[:, 1].round(), model.labels_)
    else:
        assert legend(display) == [*clusters, "label given (50)"]
    ringed = [c for c in display.ax_.collections if len(c.get_offsets()) == 50 and not len(c.get_facecolors())]
    assert len(ringed) == 1


def test_ellipses_cover_about_as_many_rows_as_they_should():
    rng = np.random.default_rng(0)
    table = rng.multivariate_normal([3, -2], [[4.0, 1.5], [1.5, 1.0]], size=4000)
    display = draw(LabelledMixture(1, random_state=0).fit(table), table)
    ellipse = display.ax_.patches[0]
    inside = ellipse.get_patch_transform().inverted().transform(display.points)
    # Two standard deviations of a plane Gaussian hold 1 - exp(-2) of it.
    assert abs(np.mean(np.square(inside).sum(axis=1) <= 1) - (1 - np.exp(-2))) < 0.02


def test_uncertain_rows_are_paler():
    table, _ = make_blobs(400, centers=[[0, 0], [3, 0]], random_state=0)
    display = draw(LabelledMixture(2, random_state=0).fit(table), table)
    shades = display.ax_.collections[0].get_facecolors()[:, 3]
    certain, doubtful = display.certainty > 0.99, display.certainty < 0.7
    assert shades[certain].min() > shades[doubtful].max()


def test_links_are_solid_and_dashed_lines_and_broken_ones_are_marked_and_counted():
    model = LabelledMixture(3, random_state=0).fit(X, np.where(np.arange(150) % 5 == 0, Y, -1))
    where = {cluster: np.flatnonzero(model.labels_ == cluster) for cluster in range(3)}
    y = np.full(150, -1)
    y[[where[0][0], where[1][0], where[2][0], where[2][1]]] = 0, 1, 2, 2
    side = SideInformation.build(
        150,
        y=y,
        must_link=[where[0][:2], where[1][:2], [where[0][3], where[1][3]]],
        cannot_link=[[where[0][4], where[1][4]], where[2][:2]],
        blocks=[where[0][5:8].tolist()],
    )
    display = draw(model, X, side=side)
    lines = {text: c for c, text in zip(display.ax_.get_legend().legend_handles, legend(display), strict=True)}
    assert list(lines) == [
        "0",
        "1",
        "2",
        "label given (4)",
        "must-link (2)",
        "broken must-link (1)",
        "cannot-link (1)",
        "broken cannot-link (1)",
        "block (2)",
    ]
    drawn = [c for c in display.ax_.collections if hasattr(c, "get_segments") and len(c.get_segments())]
    assert [len(c.get_segments()) for c in drawn] == [2, 1, 1, 1, 2]
    broken = [c for c in drawn if np.allclose(c.get_colors()[0], to_rgba(BROKEN))]
    assert len(broken) == 2
    dashes = [c.get_linestyle()[0][1] for c in drawn]
    assert dashes[0] is None
    assert dashes[1] is None
    assert dashes[2] is not None
    assert dashes[2] != dashes[4]
    # Lines end where their rows are drawn.
    np.testing.assert_allclose(drawn[1].get_segments()[0], display.points[[where[0][3], where[1][3]]])


def test_labels_that_the_clusters_break_have_red_rings():
    model = COPKMeans(3, random_state=0).fit(X)
    y = np.where(np.arange(150) % 10 == 0, model.labels_, -1)
    wrong = np.flatnonzero(y == 0)[0]
    y[wrong] = 1
    display = draw(model, X, side=SideInformation.build(150, y=y))
    assert legend(display)[3:] == ["label given (14)", "broken label (1)"]
    np.testing.assert_array_equal(np.flatnonzero(display.broken), [wrong])
    assert (display.certainty == 1).all()


def test_of_many_links_a_readable_number_is_drawn_with_both_ends_and_the_legend_says_so():
    table, group = make_blobs(8000, centers=5, random_state=0)
    side = SideInformation.build(8000, must_link=draw_links(group, n_must=900, n_cannot=0, random_state=0).must_link)
    model = HMRFKMeans(5, n_init=1, random_state=0).fit(table)
    display = draw(model, table, side=side)
    assert len(display.points) == 5000
    assert legend(display)[-1] == "5000 of 8000 rows drawn"
    (links,) = display.links
    assert links.n_kept + links.n_broken == len(side.must_link)
    assert len(links.pairs) == 60
    assert f"must-link ({np.count_nonzero(~links.broken)} of {links.n_kept})" in legend(display)
    # The rows drawn hold the ends of every line: their distances are those in the table.
    assert set(map(tuple, display.points[links.pairs.ravel()])) <= set(map(tuple, table))


@pytest.mark.parametrize("native", ["pandas", "polars"])
def test_frames_with_columns_of_several_kinds_and_missing_cells_are_drawn(native):
    frame = mixed_frame()
    table = frame if native == "pandas" else pl.from_pandas(frame)
    model = BayesianMixture(4, random_state=0).fit(table)
    display = draw(model, table)
    assert display.points.shape == (120, 2)
    assert np.isfinite(display.points).all()
    assert not display.ax_.patches
    # What the model tells apart is apart in the picture.
    centres = np.array([display.points[display.labels == c].mean(axis=0) for c in np.unique(display.labels)])
    nearest = np.linalg.norm(display.points[:, None] - centres, axis=2).argmin(axis=1)
    assert np.mean(np.unique(display.labels)[nearest] == display.labels) > 0.95


def test_sparse_counts_are_drawn():
    random = np.random.default_rng(0)
    shares = random.dirichlet(np.full(40, 0.2), 3)
    group = np.arange(90) % 3
    counts = csr_array(np.array([random.multinomial(60, shares[g]) for g in group]).astype(float))
    model = BayesianMixture(4, family="multinomial", random_state=0).fit(counts)
    display = draw(model, counts)
    centres = np.array([display.points[group == g].mean(axis=0) for g in range(3)])
    nearest = np.linalg.norm(display.points[:, None] - centres, axis=2).argmin(axis=1)
    assert np.mean(nearest == group) > 0.95


def test_large_tables_are_thinned_and_many_clusters_are_coloured_and_named_where_they_are():
    table, _ = make_blobs(6000, centers=25, cluster_std=0.3, random_state=0)
    display = draw(LabelledMixture(25, random_state=0, keep_posterior=False).fit(table), table)
    assert len(display.points) == 5000
    assert len({tuple(colour[:3]) for colour in display.ax_.collections[0].get_facecolors()}) == 25
    assert [text.get_text() for text in display.ax_.texts] == [str(number) for number in range(25)]
    assert legend(display) == ["5000 of 6000 rows drawn"]


def test_names_are_written_as_they_are():
    names = np.array(["_hidden", "$x^2$ & $", "a name that goes on and on and on"], dtype=object)
    y = np.where(np.arange(150) % 5 == 0, names[Y], None)
    display = draw(LabelledMixture(random_state=0).fit(X, y), X)
    assert legend(display)[:3] == [r"\$x^2\$ & \$", "_hidden", "a name that goes on and o…"]
    display.figure_.canvas.draw()


def test_legends_stand_beside_the_points():
    display = draw(LabelledMixture(3, random_state=0).fit(X), X)
    display.figure_.canvas.draw()
    inside = display.ax_.get_window_extent()
    beside = display.ax_.get_legend().get_window_extent()
    assert beside.x0 >= inside.x1
    assert beside.x1 <= display.figure_.bbox.x1


def test_one_cluster_and_two_have_planes_of_their_own():
    one = draw(LabelledMixture(1, random_state=0).fit(X), X)
    assert one.ax_.get_xlabel() == "first principal component (73% of the variance)"
    two = draw(LabelledMixture(2, random_state=0).fit(X), X)
    assert two.ax_.get_xlabel() == "discriminant of the two clusters"
    left, right = (two.points[two.labels == cluster, 0] for cluster in range(2))
    assert left.max() < right.min() or right.max() < left.min()


def test_rows_that_are_all_the_same_are_drawn_in_one_place():
    table = np.ones((6, 3))
    for labels in (np.zeros(6, dtype=np.int32), np.arange(6, dtype=np.int32) % 2):
        model = COPKMeans(1).fit(table)
        model.labels_, model.cluster_names_ = labels, ["a", "b"]
        assert not draw(model, table).points.any()


def test_clusters_of_one_row_are_drawn():
    table = np.vstack([np.random.default_rng(0).normal(size=(40, 4)), np.full((1, 4), 30.0)])
    model = COPKMeans(2, random_state=0).fit(table)
    assert sorted(np.bincount(model.labels_)) == [1, 40]
    across = draw(model, table).points[:, 0]
    assert across[-1] > across[:-1].max() + 5


def test_discriminants_are_those_of_scikit_learn():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    model = LabelledMixture(3, random_state=0).fit(X)
    points = draw(model, X).points
    reference = LinearDiscriminantAnalysis(n_components=2).fit(X, model.labels_).transform(X)
    for place in range(2):
        assert abs(np.corrcoef(points[:, place], reference[:, place])[0, 1]) > 0.999


def test_mixtures_of_scikit_learn_are_drawn():
    display = draw(GaussianMixture(3, random_state=0).fit(X), X)
    assert len(display.ax_.patches) == 3
    assert legend(display) == ["cluster 0", "cluster 1", "cluster 2"]


def test_tables_and_statements_of_another_size_are_refused():
    model = LabelledMixture(2, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"X has 100 rows, but LabelledMixture was fitted to 150; pass the table"):
        draw(model, X[:100])
    with pytest.raises(ValueError, match=r"X has 3 columns, but LabelledMixture was fitted to 4; pass the table"):
        draw(model, X[:, :3])
    with pytest.raises(ValueError, match=r"known has shape \(3,\), but X has 150 rows"):
        draw(model, X, known=[True, False, True])
    with pytest.raises(ValueError, match=r"side has 9 rows, but X has 150; pass side.align"):
        draw(model, X, side=SideInformation.build(9))


def test_new_axes_are_made_where_none_are_given():
    from matplotlib import pyplot as plt

    display = ClustersDisplay.from_estimator(LabelledMixture(3, random_state=0).fit(X), X)
    display.figure_.canvas.draw()
    assert display.ax_.get_xlabel() == "first discriminant"
    plt.close(display.figure_)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    model = LabelledMixture(2, random_state=0).fit(X)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'sidelight\[plot\]'"):
        ClustersDisplay.from_estimator(model, X)
