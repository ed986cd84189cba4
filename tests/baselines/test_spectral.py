import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from sidelight.baselines import ConstrainedSpectralClustering
from sidelight.baselines.spectral import constrained_eigenvectors, normalised_cut
from sidelight.baselines.support.similarity import link_matrix, soft_links
from sidelight.graphs.neighbours import row_graph
from sidelight.side import SideInformation, draw_links


def small_problem():
    X, y = make_blobs(30, centers=2, cluster_std=2.0, random_state=0)
    links = draw_links(y, 12, random_state=0)
    side = SideInformation.build(30, must_link=links.must_link, cannot_link=links.cannot_link)
    graph = row_graph(X, "rbf", n_neighbors=5, gamma=0.2)
    root = np.diag(1 / np.sqrt(graph.toarray().sum(axis=1)))
    laplacian = np.eye(30) - root @ graph.toarray() @ root
    constraint = root @ link_matrix(soft_links(side), 30).toarray() @ root
    return graph, soft_links(side), laplacian, constraint


@pytest.mark.parametrize("multiplier", [0.1, 1.0, 5.0])
def test_the_vector_solves_the_program_of_wang_and_davidson(multiplier):
    graph, links, laplacian, constraint = small_problem()
    vector = constrained_eigenvectors(graph, links, multiplier, 1, np.random.RandomState(0))[:, 0]
    value = vector @ (laplacian - multiplier * constraint) @ vector
    satisfied = vector @ constraint @ vector
    # It is an eigenvector of their generalised problem L v = γ (Q − α I) v, with α = −value / γ.
    right = multiplier * (constraint + value / multiplier * np.eye(30)) @ vector
    np.testing.assert_allclose(laplacian @ vector, right, atol=1e-9)
    # And no unit vector that satisfies the links as well cuts less.
    rng = np.random.default_rng(0)
    n_better = 0
    for _ in range(3000):
        other = vector + rng.normal(size=30) * rng.choice([0.01, 0.1, 1.0])
        other /= np.linalg.norm(other)
        if other @ constraint @ other >= satisfied:
            n_better += 1
            assert other @ laplacian @ other >= vector @ laplacian @ vector - 1e-12
    assert n_better > 50


def test_the_normalised_cut_is_that_of_its_definition():
    graph, _, _, _ = small_problem()
    z = np.arange(30) % 3
    W = graph.toarray()
    expected = sum(W[np.ix_(z == k, z != k)].sum() / W[z == k].sum() for k in range(3))
    assert normalised_cut(graph, z, 3) == pytest.approx(expected)


def test_two_moons_with_bandwidth_and_link_weight_found():
    scores = []
    for seed in range(20):
        X, y = make_moons(400, noise=0.08, random_state=seed)
        links = draw_links(y, 40, random_state=seed)
        model = ConstrainedSpectralClustering(2, random_state=seed)
        model.fit(X, must_link=links.must_link, cannot_link=links.cannot_link)
        scores.append(adjusted_rand_score(y, model.labels_))
    assert sum(score >= 0.95 for score in scores) >= 18


def test_ten_clusters_gain_from_links():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    gains = []
    for seed in range(3):
        links = draw_links(y, 300, random_state=seed)
        free = np.setdiff1d(np.arange(600), np.concatenate([links.must_link.ravel(), links.cannot_link.ravel()]))
        plain = ConstrainedSpectralClustering(10, random_state=seed).fit(X)
        told = ConstrainedSpectralClustering(10, random_state=seed)
        told.fit(X, must_link=links.must_link, cannot_link=links.cannot_link)
        gains.append(
            adjusted_rand_score(y[free], told.labels_[free]) - adjusted_rand_score(y[free], plain.labels_[free])
        )
    assert np.mean(gains) > 0.02


def test_a_precomputed_graph_gives_the_same_and_may_be_sparse():
    X, y = make_moons(120, noise=0.05, random_state=0)
    links = draw_links(y, 15, random_state=0)
    known = {"must_link": links.must_link, "cannot_link": links.cannot_link}
    first = ConstrainedSpectralClustering(2, random_state=0).fit(X, **known)
    given_ = ConstrainedSpectralClustering(2, affinity="precomputed", random_state=0)
    for graph in (first.affinity_matrix_, first.affinity_matrix_.toarray(), csr_array(first.affinity_matrix_)):
        np.testing.assert_array_equal(given_.fit(graph, **known).labels_, first.labels_)
    assert given_.predict(graph[:5]).shape == (5,)
    assert first.link_weight_ >= 0


def test_misuse_is_refused():
    model = ConstrainedSpectralClustering(2, affinity="precomputed")
    with pytest.raises(ValueError, match="needs a square X"):
        model.fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="negative"):
        model.fit(np.array([[0.0, -1.0], [-1.0, 0.0]]))
    with pytest.raises(ValueError, match="symmetric"):
        model.fit(np.array([[0.0, 1.0], [0.5, 0.0]]))


def test_one_row():
    model = ConstrainedSpectralClustering(1, random_state=0).fit([[3.0, 4.0]])
    assert model.labels_.tolist() == [0]
    assert model.predict([[3.0, 4.0], [9.0, 9.0]]).tolist() == [0, 0]
    assert np.isfinite(model.gamma_)
