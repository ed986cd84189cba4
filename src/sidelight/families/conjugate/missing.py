"""Missing cells: NaN."""

import numpy as np

from sidelight._typing import AnyArray


def has_missing(block: AnyArray) -> bool:
    """Say whether any cell of a block is missing."""
    # The smallest number is NaN if any is, and needs no array of its own.
    return block.size > 0 and bool(np.isnan(block.min()))
