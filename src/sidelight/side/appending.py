"""What is known about the rows of two tables, put one below the other."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sidelight.side.information import SideInformation


def append(upper: "SideInformation", lower: "SideInformation") -> "SideInformation":
    """Return what is known about the rows of both; a label is the same in both, blocks and links are their own."""
    n = upper.n_rows
    confidence = {
        kind: np.concatenate([getattr(upper, f"{kind}_confidence"), getattr(lower, f"{kind}_confidence")])
        for kind in ("must_link", "cannot_link")
    }
    return type(upper).build(
        n + lower.n_rows,
        y=np.concatenate([_named(upper), _named(lower)]),
        must_link=np.concatenate([upper.must_link, lower.must_link + n]),
        cannot_link=np.concatenate([upper.cannot_link, lower.cannot_link + n]),
        blocks=np.concatenate([upper.blocks, np.where(lower.blocks < 0, -1, lower.blocks + len(upper.block_names))]),
        confidence=confidence,
    )


def _named(side: "SideInformation") -> np.ndarray:
    names = np.full(side.n_rows, None, dtype=object)
    labelled = side.labels >= 0
    names[labelled] = side.label_names[side.labels[labelled]]
    return names
