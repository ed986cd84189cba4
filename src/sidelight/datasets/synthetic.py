"""The synthetic data of the papers, with parameters read off their figures, since no paper prints them."""

from typing import Any

import numpy as np
from sklearn.datasets import make_moons
from sklearn.utils import check_random_state

from sidelight._typing import FloatArray, IntArray
from sidelight.datasets.loading import Dataset


def four_gaussians(*, half_distance: float = 1.2, n: int = 400, random_state: Any = None) -> Dataset:
    """Four Gaussians, one below, one above and two in the middle that are one class (Echraibi et al. 2019, figure 2).

    Parameters
    ----------
    half_distance : float, default 1.2
        Of the middle two from the axis, in standard deviations; at 1.2 they overlap, at 4 they do not.
    n : int, default 400
        Rows, a quarter of each Gaussian.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.

    Returns
    -------
    Dataset
        Rows, their classes and a description.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.datasets import four_gaussians
    >>> table = four_gaussians(half_distance=4, random_state=0)
    >>> table.X.shape, np.bincount(table.y).tolist()
    ((400, 2), [100, 100, 200])
    """
    centres = np.array([[0.0, 6.0], [0.0, -6.0], [-half_distance, 0.0], [half_distance, 0.0]])
    return _gaussians(centres, [0, 1, 2, 2], n, random_state, "Four Gaussians in three classes.")


def two_views(*, view: str = "horizontal", n: int = 400, random_state: Any = None) -> Dataset:
    """Four Gaussians that make two classes in either of two ways (Echraibi et al. 2019, figures 6 and 7).

    Parameters
    ----------
    view : {"horizontal", "vertical"}, default "horizontal"
        "horizontal": the two at the top against the two at the bottom. "vertical": left against right.
    n : int, default 400
        Rows, a quarter of each Gaussian.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.

    Returns
    -------
    Dataset
        Rows, their classes and a description.

    Examples
    --------
    >>> from sidelight.datasets import two_views
    >>> rows, columns = two_views(random_state=0), two_views(view="vertical", random_state=0)
    >>> bool((rows.X == columns.X).all()), bool((rows.y == columns.y).all())
    (True, False)
    """
    classes = {"horizontal": [0, 0, 1, 1], "vertical": [0, 1, 0, 1]}
    if view not in classes:
        raise ValueError(f"view={view!r} must be one of {', '.join(classes)}.")
    centres = np.array([[-4.0, 3.0], [4.0, 3.0], [-4.0, -3.0], [4.0, -3.0]])
    return _gaussians(centres, classes[view], n, random_state, "Four Gaussians with two views of two classes.")


def horizontal_boundary(*, n: int = 200, random_state: Any = None) -> Dataset:
    """Two flat classes, one above the other, that a plain mixture splits the other way (Yu et al., figures 1 and 3).

    Each class is uniform over two separate rectangles, left and right, so that two Gaussians fit left and right better,
    while the classes are above and below.

    Parameters
    ----------
    n : int, default 200
        Rows, half of each class.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.

    Returns
    -------
    Dataset
        Rows, their classes and a description.

    Examples
    --------
    >>> from sidelight.datasets import horizontal_boundary
    >>> table = horizontal_boundary(random_state=0)
    >>> bool(table.X[table.y == 0, 1].min() > table.X[table.y == 1, 1].max())
    True
    """
    random = check_random_state(random_state)
    y = np.repeat([0, 1], [n // 2, n - n // 2])
    left = random.permutation(n) % 2 == 0
    across = np.where(left, -2.0, 2.0) + random.uniform(-1.2, 1.2, size=n)
    up = np.where(y == 0, 1.0, -1.0) + random.uniform(-0.7, 0.7, size=n)
    return Dataset(np.column_stack([across, up]), y, "Two flat classes, one above the other.")


def two_moons(*, n: int = 200, noise: float = 0.1, random_state: Any = None) -> Dataset:
    """Two moons, classes that are not Gaussian (Yu et al., figure 8; scikit-learn's ``make_moons``).

    Parameters
    ----------
    n : int, default 200
        Number of rows.
    noise : float, default 0.1
        Standard deviation about the moons.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.

    Returns
    -------
    Dataset
        Rows, their classes and a description.

    Examples
    --------
    >>> from sidelight.datasets import two_moons
    >>> moons = two_moons(n=100, random_state=0)
    >>> moons.X.shape, sorted(set(moons.y.tolist()))
    ((100, 2), [0, 1])
    """
    X, y = make_moons(n, noise=noise, random_state=random_state)
    return Dataset(X, y, "Two moons.")


def three_components(*, spacing: float = 5.0, n: int = 300, random_state: Any = None) -> Dataset:
    """Three Gaussians in two classes, the outer two being one (Zhao and Miller 2005, figure 1).

    Parameters
    ----------
    spacing : float, default 5.0
        Between neighbouring centres, in standard deviations.
    n : int, default 300
        Rows, a third of each Gaussian.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.

    Returns
    -------
    Dataset
        Rows, their classes and a description.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.datasets import three_components
    >>> np.bincount(three_components(random_state=0).y).tolist()
    [200, 100]
    """
    centres = spacing * np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    return _gaussians(centres, [0, 1, 0], n, random_state, "Three Gaussians in two classes.")


def _gaussians(centres: FloatArray, classes: list[int], n: int, random_state: Any, description: str) -> Dataset:
    """Draw equal numbers of rows of unit variance around the centres."""
    random = check_random_state(random_state)
    component: IntArray = np.arange(n) * len(centres) // n
    X = centres[component] + random.normal(size=(n, centres.shape[1]))
    return Dataset(X, np.asarray(classes)[component], description)
