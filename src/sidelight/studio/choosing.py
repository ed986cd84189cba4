"""The questions that a refit prepares: informative ones, checks, those within a cluster, and a reserve."""

from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.asking import informative_pairs
from sidelight.side import SideInformation

_CHECKS = 40
_LONGER = 3
_SPLIT_QUESTIONS = 8
_SPLIT_ROWS = 400
_RESERVE = 3000
# Questions about the first clusters, before there is a model.
_OPENING_CLUSTERS = 8


class Prepared(NamedTuple):
    """Pairs of rows (m, 2), and what the model believes of them.

    Parameters
    ----------
    pairs : (m, 2)
        The most informative first.
    gains : (m,)
        The information of each answer, in bits.
    checks : (c, 2)
        Random pairs, to measure agreement with.
    splits : dict
        For each place of a cluster, pairs within it whose answers say whether it holds two classes.
    reserve : (r, 2)
        Uncertain rows, each with a row of a cluster that it may belong to: when the others are used up.
    again : (a, 2)
        Pairs whose answers the model finds more probably wrong than right.
    """

    pairs: IntArray
    gains: FloatArray
    checks: IntArray
    splits: dict[int, IntArray]
    reserve: IntArray
    again: IntArray

    def gain_of(self, number: int) -> float:
        """Return the expected information of the next answers, in bits."""
        return float(self.gains[:number].sum())

    def as_lists(self) -> dict[str, Any]:
        """Return the same as lists."""
        return {
            "pairs": self.pairs.tolist(),
            "gains": self.gains.round(4).tolist(),
            "checks": self.checks.tolist(),
            "splits": {str(place): pairs.tolist() for place, pairs in self.splits.items()},
            "reserve": self.reserve.tolist(),
            "again": self.again.tolist(),
        }

    @classmethod
    def from_lists(cls, stored: dict[str, Any]) -> "Prepared":
        """Return what `as_lists` wrote."""
        return cls(
            _pairs(stored["pairs"]),
            np.array(stored["gains"], dtype=float),
            _pairs(stored["checks"]),
            {int(place): _pairs(pairs) for place, pairs in stored["splits"].items()},
            _pairs(stored["reserve"]),
            _pairs(stored.get("again", [])),
        )


def prepare(
    posterior: FloatArray,
    side: SideInformation,
    positions: FloatArray,
    places: IntArray,
    doubtful: IntArray,
    number: int,
    seed: int,
) -> Prepared:
    """Choose questions by a posterior (n, k); ``doubtful`` (a, 2) are links that are probably wrong."""
    random = np.random.default_rng(seed)
    # A short batch has the best questions; those of a longer one follow, for when the next refit takes its time.
    chosen = informative_pairs(posterior, side, n_pairs=number, X=positions, random_state=seed)
    further = informative_pairs(posterior, side, n_pairs=_LONGER * number, X=positions, random_state=seed)
    known = {tuple(pair) for pair in chosen.pairs.tolist()}
    new = np.array([tuple(pair) not in known for pair in further.pairs.tolist()], dtype=bool)
    return Prepared(
        np.concatenate([chosen.pairs, further.pairs[new]]),
        np.concatenate([chosen.gain, further.gain[new]]),
        _checks(places, random),
        {
            int(place): _split(np.flatnonzero(places == place), posterior, side, positions, random, seed)
            for place in np.unique(places)
        },
        _reserve(posterior, random),
        np.sort(doubtful, axis=1),
    )


def opening(positions: FloatArray, side: SideInformation, number: int, seed: int) -> Prepared:
    """Choose questions before there is a model: by the nearness to a few centres, found by k-means."""
    from sklearn.cluster import MiniBatchKMeans

    n = len(positions)
    k = min(_OPENING_CLUSTERS, n)
    centres = MiniBatchKMeans(k, n_init=1, random_state=seed, batch_size=1024).fit(positions)
    squared = np.square(centres.transform(positions))
    closeness = -squared / max(float(squared.min(axis=1).mean()), 1e-12)
    posterior = np.exp(closeness - closeness.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    places = posterior.argmax(axis=1)
    random = np.random.default_rng(seed)
    chosen = informative_pairs(posterior, side, n_pairs=number, X=positions, random_state=seed)
    return Prepared(chosen.pairs, chosen.gain, _checks(places, random), {}, _reserve(posterior, random), _pairs([]))


def _pairs(rows: Any) -> IntArray:
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _distinct(first: IntArray, second: IntArray) -> IntArray:
    """Return pairs of different rows, each once, in order."""
    pairs = np.sort(np.column_stack([first, second]), axis=1)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    _, at = np.unique(pairs, axis=0, return_index=True)
    return pairs[np.sort(at)]


def _checks(places: IntArray, random: np.random.Generator) -> IntArray:
    """Return random pairs, half of them within a cluster: most random pairs are of two clusters and say little."""
    n = len(places)
    first = random.integers(0, n, _CHECKS)
    second = random.integers(0, n, _CHECKS)
    for at in range(0, _CHECKS, 2):
        inside = np.flatnonzero(places == places[first[at]])
        second[at] = inside[random.integers(0, len(inside))]
    return _distinct(first, second)


def _split(
    rows: IntArray,
    posterior: FloatArray,
    side: SideInformation,
    positions: FloatArray,
    random: np.random.Generator,
    seed: int,
) -> IntArray:
    """Return pairs within a cluster: of the two halves that are furthest apart, whose answers say if it holds two."""
    if len(rows) < 2:
        return _pairs([])
    sample = np.sort(random.choice(rows, min(len(rows), _SPLIT_ROWS), replace=False))
    if len(sample) < 8:
        return _distinct(sample[:-1], sample[1:])[:_SPLIT_QUESTIONS]
    from sklearn.cluster import KMeans

    halves = KMeans(2, n_init=2, random_state=seed).fit(positions[sample])
    squared = np.square(halves.transform(positions[sample]))
    near = np.exp(-squared / max(float(squared.min(axis=1).mean()), 1e-12))
    shares = near / np.maximum(near.sum(axis=1, keepdims=True), 1e-300)
    shares = np.where(shares.sum(axis=1, keepdims=True) > 0.5, shares, 0.5)
    shares /= shares.sum(axis=1, keepdims=True)
    asked = informative_pairs(
        shares, side.restrict(sample), n_pairs=_SPLIT_QUESTIONS, X=positions[sample], random_state=seed
    )
    return sample[asked.pairs]


def _reserve(posterior: FloatArray, random: np.random.Generator) -> IntArray:
    """Return uncertain rows, each with a random row of one of its two most probable clusters."""
    n, k = posterior.shape
    if k == 1:
        return _distinct(random.integers(0, n, _RESERVE), random.integers(0, n, _RESERVE))
    best = np.sort(posterior, axis=1)[:, -1]
    rows = np.argsort(best + 0.05 * random.random(n), kind="stable")[: min(n, _RESERVE)]
    rows = np.resize(rows, _RESERVE)
    two = np.argsort(posterior[rows], axis=1)[:, -2:]
    wanted = two[np.arange(_RESERVE), random.integers(0, 2, _RESERVE)]
    labels = posterior.argmax(axis=1)
    partner = random.integers(0, n, _RESERVE)
    for place in np.unique(wanted):
        inside = np.flatnonzero(labels == place)
        here = np.flatnonzero(wanted == place)
        if len(inside):
            partner[here] = random.choice(inside, len(here))
    return _distinct(rows, partner)
