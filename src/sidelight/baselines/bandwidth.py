"""How wide a Gaussian kernel should be, found from the table."""

import numpy as np

from sidelight._typing import FloatArray
from sidelight.baselines.nearest import nearest_rows

_RANK = 10
_MOST_ROWS = 5000


def neighbour_gamma(X: FloatArray) -> float:
    """Return γ of exp(−γ‖x − y‖²) = exp(−‖x − y‖²/2σ²), with σ the median distance of rows from their 10th neighbour.

    Such a kernel sees the ten nearest rows or so and little beyond, so that it follows clusters of any shape. The mean
    distance of all pairs, which papers often take, sees the whole table and cannot tell two moons apart.
    """
    rank = min(_RANK, len(X) - 1)
    if rank == 0:
        return 1.0
    # On a large table some of the rows, evenly spread, tell the median well enough.
    asked = X[:: -(-len(X) // _MOST_ROWS)]
    distances = nearest_rows(asked, X, rank + 1).distances[:, -1]
    width = float(np.median(distances))
    if width == 0:
        # More than half of the rows are repeated ten times: the distances that are left, if any, decide.
        width = float(distances[distances > 0].mean()) if distances.any() else 1.0
    return 1 / (2 * width**2)
