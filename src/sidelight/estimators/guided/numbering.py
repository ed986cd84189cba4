"""Numbers of clusters that stay the same from fit to fit."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidelight._typing import IntArray, LabelArray


def in_earlier_order(labels: IntArray | LabelArray, earlier: IntArray | LabelArray, order: IntArray) -> IntArray:
    """Return the order of classes in which clusters have the numbers they had before, as far as possible.

    Classes (n,) are matched with earlier clusters (n,) so that most rows keep their number. A number beyond those in
    use goes to the next free place.

    Examples
    --------
    >>> import numpy as np
    >>> in_earlier_order(np.array([0, 0, 1, 1, 2]), np.array([1, 1, 0, 0, 0]), np.array([0, 1, 2])).tolist()
    [1, 0, 2]
    """
    table = np.zeros((int(labels.max()) + 1, int(earlier.max()) + 1), dtype=np.int64)
    np.add.at(table, (labels, earlier), 1)
    table = table[order]
    found = np.full(len(order), -1)
    for place, number in zip(*linear_sum_assignment(table, maximize=True), strict=True):
        if number < len(order) and table[place, number]:
            found[number] = order[place]
    found[found < 0] = order[~np.isin(order, found)]
    return found
