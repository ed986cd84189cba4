"""Draw labels and links together."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sidelight.side.closure import NO_PAIRS
from sidelight.side.information import SideInformation
from sidelight.side.parsing.columns import as_vector
from sidelight.side.parsing.rows import read_ids
from sidelight.side.sampling.labels import draw_labels
from sidelight.side.sampling.links import Links, draw_links


def draw_side(
    y: Any,
    *,
    labels: float | Mapping[str, Any] | None = None,
    links: int | Mapping[str, Any] | None = None,
    confidence: Any = None,
    sample_id: Any = None,
    random_state: Any = None,
) -> SideInformation:
    """Draw labels and links from a ground truth, as a SideInformation.

    Parameters
    ----------
    y : (n,) column
        The truth.
    labels : float, int or mapping, optional
        A fraction (float) or number (int) of labels, or the keywords of `draw_labels`.
    links : int or mapping, optional
        A number of random links, or the keywords of `draw_links`.
    confidence : float, column or mapping, optional
        Confidence of the links, as in `SideInformation.build`.
    sample_id : (n,) column, optional
        Names of the rows.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    SideInformation
        What was drawn.

    Examples
    --------
    >>> from sidelight.side import draw_side
    >>> draw_side([0] * 50 + [1] * 50, labels=0.1, links={"n_must": 12, "n_cannot": 8}, random_state=0)
    SideInformation(100 rows: 10 labels of 2 classes, 12 must-links, 8 cannot-links)
    """
    random = check_random_state(random_state)
    truth = as_vector(y, "y")
    partial = None
    drawn = Links(NO_PAIRS, NO_PAIRS, np.empty(0, dtype=bool))
    if labels is not None:
        if not isinstance(labels, Mapping):
            labels = {"number" if isinstance(labels, (int, np.integer)) else "fraction": labels}
        partial = draw_labels(truth, random_state=random, **labels)
    if links is not None:
        if not isinstance(links, Mapping):
            links = {"n_links": links}
        drawn = draw_links(truth, random_state=random, **links)
    ids = None if sample_id is None else read_ids(sample_id, len(truth))
    return SideInformation.build(
        len(truth),
        y=partial,
        must_link=drawn.must_link if ids is None else ids[drawn.must_link],
        cannot_link=drawn.cannot_link if ids is None else ids[drawn.cannot_link],
        confidence=confidence,
        sample_id=ids,
    )
