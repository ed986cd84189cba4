"""The penalty of pairs that share a component or class, written out pair by pair and choice by choice."""

from itertools import product

import numpy as np

from sidelight import SideInformation


def random_side(rng, n, *, links=True, labels=True, blocks=True):
    """Return statements about n rows: some links of different confidence, some labels, some blocks."""
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    drawn = rng.permutation(len(pairs))[: n if links else 0]
    half = len(drawn) // 2
    return SideInformation.build(
        n,
        must_link=pairs[drawn[:half]],
        cannot_link=pairs[drawn[half:]],
        confidence=rng.choice([0.6, 0.9, 1.0], size=len(drawn)),
        y=rng.choice([-1, -1, 0, 1, 2], size=n) if labels else None,
        blocks=rng.choice([-1, -1, 0, 1], size=n) if blocks else None,
    )


def signed_pairs(side):
    """Return C over all rows, (n, n): every pair that anything is said about, listed."""
    C = np.zeros((side.n_rows, side.n_rows))
    for links, sure, sign in (
        (side.must_link, side.must_link_confidence, -1),
        (side.cannot_link, side.cannot_link_confidence, 1),
    ):
        for (i, j), q in zip(links, sure, strict=True):
            C[i, j] += sign * (2 * q - 1)
            C[j, i] += sign * (2 * q - 1)
    for i, j in product(range(side.n_rows), repeat=2):
        if i != j and side.labels[i] >= 0 and side.labels[j] >= 0:
            C[i, j] += -1 if side.labels[i] == side.labels[j] else 1
        if i != j and side.blocks[i] >= 0 and side.blocks[i] == side.blocks[j]:
            C[i, j] -= 1
    return C


def shares(n_components, n_classes):
    """Return J over choices (component, class): one where two share the component or the class."""
    choices = list(product(range(n_components), range(n_classes)))
    return np.array([[float(a[0] == b[0] or a[1] == b[1]) for b in choices] for a in choices])


def free_energy(joint, scores, C, strength):
    """Return F of joint posteriors (m, components, classes) by its definition."""
    m, n_components, n_classes = joint.shape
    r, J = joint.reshape(m, -1), shares(n_components, n_classes)
    alone = np.sum(r * (np.log(r) - scores.reshape(m, -1)))
    return alone + 0.5 * strength * sum(C[i, j] * r[i] @ J @ r[j] for i in range(m) for j in range(m))


def log_partition(scores, C, strength):
    """Return ln Σ exp(−U) over all choices of all rows: what −F is a lower bound of."""
    m, n_components, n_classes = scores.shape
    flat, J = scores.reshape(m, -1), shares(n_components, n_classes)
    values = []
    for choice in product(range(n_components * n_classes), repeat=m):
        pairs = sum(C[i, j] * J[choice[i], choice[j]] for i in range(m) for j in range(i))
        values.append(sum(flat[i, c] for i, c in enumerate(choice)) - strength * pairs)
    return np.logaddexp.reduce(values)
