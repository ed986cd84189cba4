"""Labels as a mask: a labelled row may only choose among the components of its class."""

import numpy as np

from sidelight._typing import FloatArray, IntArray


def forbid_other_classes(scores: FloatArray, codes: IntArray | None, classes: IntArray) -> None:
    """Set scores (components, rows) to -inf, in place, where a row's label rules the component out.

    Parameters
    ----------
    codes : (rows,), optional
        The class of each labelled row, -1 for the others; None where no row has a label.
    classes : (components,)
        The class of each component.
    """
    if codes is None:
        return
    labelled = np.flatnonzero(codes >= 0)
    if labelled.size:
        forbidden = classes[:, None] != codes[labelled]
        scores[:, labelled] = np.where(forbidden, -np.inf, scores[:, labelled])
