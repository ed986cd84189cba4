"""Oracle: what side information entails, found by looking at every partition of a few rows."""

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from sidelight.side import SideInformation


def partitions(n):
    """All ways to divide n rows into classes, as tuples of class numbers."""
    found = [()]
    for _ in range(n):
        found = [(*head, k) for head in found for k in range(max(head, default=-1) + 2)]
    return found


def satisfying(side):
    """The partitions that agree with every certain statement."""
    must = [tuple(p) for p, q in zip(side.must_link.tolist(), side.must_link_confidence, strict=True) if q == 1]
    cannot = [tuple(p) for p, q in zip(side.cannot_link.tolist(), side.cannot_link_confidence, strict=True) if q == 1]
    for i, j in combinations(range(side.n_rows), 2):
        if side.blocks[i] == side.blocks[j] >= 0:
            must.append((i, j))
        if side.labels[i] >= 0 and side.labels[j] >= 0:
            (must if side.labels[i] == side.labels[j] else cannot).append((i, j))
    return [
        z
        for z in partitions(side.n_rows)
        if all(z[i] == z[j] for i, j in must) and all(z[i] != z[j] for i, j in cannot)
    ]


def entailed(side, rows=None):
    """Pairs together in every satisfying partition, pairs apart in every one, and rows' known labels."""
    rows = range(side.n_rows) if rows is None else rows
    models = satisfying(side)
    assert models
    pairs = list(combinations(range(len(rows)), 2))
    together = {(a, b) for a, b in pairs if all(z[rows[a]] == z[rows[b]] for z in models)}
    apart = {(a, b) for a, b in pairs if all(z[rows[a]] != z[rows[b]] for z in models)}
    names = {
        a: side.label_names[side.labels[other]]
        for a, row in enumerate(rows)
        for other in range(side.n_rows)
        if side.labels[other] >= 0 and all(z[row] == z[other] for z in models)
    }
    return together, apart, names


@st.composite
def sides(draw, n=None, ids=False):
    """Small side information with statements of every kind, often contradictory."""
    n = draw(st.integers(1, 6)) if n is None else n
    row = st.integers(0, n - 1)
    pair = st.tuples(row, row).filter(lambda p: p[0] != p[1])
    links = st.lists(pair, max_size=4) if n > 1 else st.just([])
    must, cannot = draw(links), draw(st.lists(pair, max_size=2) if n > 1 else st.just([]))
    sure = st.lists(
        st.sampled_from([1.0, 1.0, 0.8]), min_size=len(must) + len(cannot), max_size=len(must) + len(cannot)
    )
    names = draw(st.permutations([f"id{i}" for i in range(n)])) if ids else None
    rename = (lambda pairs: [(names[a], names[b]) for a, b in pairs]) if ids else list
    return SideInformation.build(
        n,
        y=draw(st.lists(st.sampled_from([-1, -1, 4, 7]), min_size=n, max_size=n)),
        must_link=rename(must),
        cannot_link=rename(cannot),
        blocks=np.array(draw(st.lists(st.sampled_from([-1, -1, 0, 1]), min_size=n, max_size=n))),
        confidence=draw(sure),
        sample_id=names,
    )
