"""Random statements about the rows of a table, and the field they make."""

import numpy as np

from sidelight.couplings.potts import PottsField, atoms_of, lay_stages
from sidelight.kernels.loops import NUMPY
from sidelight.side import SideInformation


def random_side(rng, n, *, labels=True, links=True, blocks=True):
    """Return statements that contradict neither each other nor a hidden truth."""
    truth = rng.integers(0, 3, size=n)
    y = np.where(rng.random(n) < 0.4, truth, -1) if labels else None
    pairs = np.array([(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 0.15]).reshape(-1, 2)
    same = truth[pairs[:, 0]] == truth[pairs[:, 1]]
    confidence = np.where(rng.random(len(pairs)) < 0.5, 1.0, 0.8)
    parts = [np.where(truth == c, c, -1) for c in range(3)]
    return SideInformation.build(
        n,
        y=y,
        must_link=pairs[same] if links else None,
        cannot_link=pairs[~same] if links else None,
        confidence=np.concatenate([confidence[same], confidence[~same]]) if links else None,
        blocks=np.where(rng.random(n) < 0.3, parts[0], -1) if blocks else None,
    )


def field_of(side, strength, repulsion, *, weights=None, backend=NUMPY):
    """Return the Potts field of some statements as a tuple of couplings, empty where there is no statement."""
    atoms = atoms_of(side, certain=strength)
    return () if atoms is None else (PottsField(lay_stages(atoms, weights), strength, repulsion, backend),)
