"""The first questions: representatives of clusters, "are these two clusters one class?" (as COBRAS asks first).

A cluster that no statement is about yet is introduced by its most typical row. It is compared with the most typical
row of the nearest cluster that is larger, so that the questions form a tree over the clusters: whatever the answers,
none follows from the others.
"""

import numpy as np

from sidelight._typing import BoolArray, FloatArray, IntArray

# Smaller clusters, in rows of the sample, are not introduced.
_LEAST_ROWS = 3.0
# Introductions take at most this share of a batch.
_MOST_SHARE = 0.6


def introductions(
    posterior: FloatArray, similarity: FloatArray, mentioned: BoolArray, n_pairs: int
) -> list[tuple[int, int]]:
    """Return pairs of candidates that introduce clusters, those of the largest clusters first.

    Parameters
    ----------
    posterior : (m, clusters)
    similarity : (m, m)
        Of the candidates.
    mentioned : (m,)
        Candidates that statements are about.
    n_pairs : int
        Number of questions of the batch.
    """
    sizes = posterior.sum(axis=0)
    clusters = np.argsort(-sizes, kind="stable")
    clusters = clusters[sizes[clusters] >= _LEAST_ROWS]
    if len(clusters) < 2:
        return []
    # How similar a row is to the rows of its cluster, weighted by how sure its membership is.
    typical = (similarity @ posterior) * posterior
    representatives: IntArray = typical.argmax(axis=0)
    known = _known(posterior, mentioned)
    between = posterior.T @ similarity @ posterior / np.outer(sizes, sizes).clip(min=1e-300)
    found: list[tuple[int, int]] = []
    for place, cluster in enumerate(clusters.tolist()):
        if place == 0 or known[cluster]:
            continue
        larger = clusters[:place]
        partner = int(larger[between[cluster, larger].argmax()])
        if representatives[cluster] != representatives[partner]:
            found.append((int(representatives[cluster]), int(representatives[partner])))
    return found[: int(_MOST_SHARE * n_pairs)]


def _known(posterior: FloatArray, mentioned: BoolArray) -> BoolArray:
    """Return which clusters have a row that is more probably theirs than not, and that a statement is about."""
    return np.asarray((posterior[mentioned] > 0.5).any(axis=0))
