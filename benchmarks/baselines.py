"""Speed and quality of the k-means baselines, compared with active-semi-supervised-clustering.

    python benchmarks/baselines.py [--draws 20] [--skip speed|quality]

Speed is CPU time in one process: the two libraries take turns, and BLAS uses one thread. The peer is not a dependency;
install it with ``pip install --no-deps active-semi-supervised-clustering metric-learn``.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from sidelight.baselines import HMRFKMeans
from sidelight.side import draw_links

try:
    from active_semi_clustering.exceptions import EmptyClustersException
    from active_semi_clustering.semi_supervised.pairwise_constraints import MPCKMeans, PCKMeans
except ImportError as missing:
    raise SystemExit(
        f"active-semi-supervised-clustering is not installed ({missing}). To compare with it: "
        "pip install --no-deps active-semi-supervised-clustering metric-learn"
    ) from None

_LINKS = 100


class Case(NamedTuple):
    """A table, its classes, and links between its rows."""

    X: np.ndarray
    y: np.ndarray
    must: np.ndarray
    cannot: np.ndarray

    @property
    def unlinked(self) -> np.ndarray:
        """Rows without a link."""
        return np.setdiff1d(np.arange(len(self.y)), np.concatenate([self.must.ravel(), self.cannot.ravel()]))


class Contest(NamedTuple):
    """A method of the peer, our settings for it, the ratio we want, and the most rows that the peer can take."""

    name: str
    peer: type[Any]
    ours: dict[str, Any]
    wanted: float
    most_rows: int


CONTESTS = (
    Contest(
        "PCKMeans",
        PCKMeans,
        {"metric": "euclidean", "violation": "constant", "link_weight": 1, "n_init": 5},
        30,
        100_000,
    ),
    Contest("MPCKMeans", MPCKMeans, {"metric": "diag", "violation": "distance"}, 100, 500),
)


def main() -> None:
    """Compare and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--skip", choices=("speed", "quality"))
    asked = parser.parse_args()
    # The peer sets NumPy to raise on underflow when it is imported.
    np.seterr(all="warn")
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if asked.skip != "speed":
            for contest in CONTESTS:
                compare_speed(contest)
        if asked.skip != "quality":
            for contest in CONTESTS:
                for name, load in (("iris", load_iris), ("wine", load_wine), ("digits", load_digits)):
                    compare_quality(contest, name, load, asked.draws)


def compare_speed(contest: Contest) -> None:
    """Time both on n = 4000, d = 10, 5 clusters and 400 links.

    The peer's MPCKMeans visits all pairs of rows in each iteration, which takes minutes. It runs one iteration, ours
    runs to convergence, so the ratio is a lower bound.
    """
    rounds, iterations = (5, 100) if contest.name == "PCKMeans" else (1, 1)
    mine, theirs = [], []
    for seed in range(rounds):
        X, y = make_blobs(4000, n_features=10, centers=5, cluster_std=4, random_state=seed)
        drawn = draw_links(y, 400, random_state=seed)
        case = Case(X, y, drawn.must_link, drawn.cannot_link)
        mine.append(cpu_seconds(lambda case=case, seed=seed: fit_ours(contest, case, 5, seed)))
        theirs.append(cpu_seconds(lambda case=case, seed=seed: fit_peer(contest, case, 5, seed, iterations)))
    ratio = median(b / a for a, b in zip(mine, theirs, strict=True))
    bound = "" if iterations > 1 else " (one iteration of the peer only)"
    print(
        f"{contest.name}: ours {median(mine):.3f} s, peer {median(theirs):.2f} s{bound}, "
        f"{ratio:.0f} times as fast (wanted: {contest.wanted:.0f})",
        flush=True,
    )


def compare_quality(contest: Contest, name: str, load: Callable[[], Any], n_draws: int) -> None:
    """Compare the adjusted Rand index on rows without links over several draws of links."""
    mine, theirs = [], []
    data = load()
    for seed, case in enumerate(draws(data.data[: contest.most_rows], data.target[: contest.most_rows], n_draws)):
        n_clusters, rows = len(np.unique(case.y)), case.unlinked
        mine.append(adjusted_rand_score(case.y[rows], fit_ours(contest, case, n_clusters, seed)[rows]))
        theirs.append(adjusted_rand_score(case.y[rows], fit_peer(contest, case, n_clusters, seed)[rows]))
    print(
        f"{contest.name} on {name} ({len(case.X)} rows): ours {np.mean(mine):.3f} ± {np.std(mine):.3f}, "
        f"peer {np.mean(theirs):.3f} ± {np.std(theirs):.3f} (mean ARI on unlinked rows, {n_draws} draws)",
        flush=True,
    )


def draws(X: np.ndarray, y: np.ndarray, number: int) -> Iterator[Case]:
    """Draw links, ``number`` times."""
    for seed in range(number):
        drawn = draw_links(y, _LINKS, random_state=seed)
        yield Case(X, y, drawn.must_link, drawn.cannot_link)


def fit_ours(contest: Contest, case: Case, n_clusters: int, seed: int) -> np.ndarray:
    """Return our clusters."""
    model = HMRFKMeans(n_clusters, random_state=seed, **contest.ours)
    return model.fit(case.X, must_link=case.must, cannot_link=case.cannot).labels_


def fit_peer(contest: Contest, case: Case, n_clusters: int, seed: int, iterations: int | None = None) -> np.ndarray:
    """Return the peer's clusters; it draws from NumPy's global state and raises an error where a cluster is empty."""
    options = {} if iterations is None else {"max_iter": iterations}
    for attempt in range(20):
        np.random.seed(1000 * attempt + seed)  # noqa: NPY002
        model = contest.peer(n_clusters=n_clusters, **options)
        try:
            model.fit(case.X, ml=case.must.tolist(), cl=case.cannot.tolist())
        except EmptyClustersException:
            continue
        return model.labels_
    return np.zeros(len(case.X), dtype=int)


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU time that some work takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
