"""What makes a cluster, in words."""

import numpy as np

from sidelight.describe.numbers import measured, with_minus
from sidelight.describe.profiles import Profiles
from sidelight.describe.sums import Feature

_LEAST_STRENGTH = 0.3
_LARGEST_RATIO = 1000.0


def profile_words(profiles: Profiles, cluster: int, *, most: int = 4) -> list[str]:
    """Return what tells a cluster from the rest, the strongest first; empty where nothing does.

    Parameters
    ----------
    profiles : Profiles
    cluster : int
        Place among ``profiles.clusters``.
    most : int, default 4
        How many features to speak of; of one column, one.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import LabelledMixture
    >>> from sidelight.plots import cluster_profiles
    >>> X = np.array([[0.0, 5.0], [0.1, 5.1], [0.2, 4.9], [9.0, 5.0], [9.1, 5.2], [9.2, 4.8]])
    >>> model = LabelledMixture(random_state=0).fit(X, ["low", None, None, "up", None, None])
    >>> profile_words(cluster_profiles(model, X), 1)
    ['feature 0 higher (+2.0 sd: 9.10 against 0.10)']
    """
    strength = profiles.strength[cluster]
    words: list[str] = []
    spoken_of: set[int] = set()
    # Of two categories that tell the same, what is there more often reads better than what is not.
    for place in np.lexsort((strength < 0, -np.abs(strength).round(6))):
        feature = profiles.features[place]
        if len(words) == most or abs(strength[place]) < _LEAST_STRENGTH:
            break
        if feature.column not in spoken_of:
            spoken_of.add(feature.column)
            words.append(_words(profiles, cluster, int(place)))
    return words


def written_difference(feature: Feature, difference: float) -> str:
    """Return a difference in the feature's own way: standard deviations, percentage points, or a ratio."""
    if feature.kind == "count":
        ratio = 2.0 ** abs(difference)
        return (
            f"{'×' if difference >= 0 else '÷'}{f'{ratio:.2g}' if ratio < 100 else f'{min(ratio, _LARGEST_RATIO):.0f}'}"
        )
    if feature.kind == "share":
        return f"{_signed(100 * difference, 0)} pp"
    return _signed(difference, 1)


def _signed(number: float, digits: int) -> str:
    """Return a rounded number with its sign; nothing is neither above nor below."""
    rounded = round(number, digits)
    return with_minus(f"{rounded:+.{digits}f}") if rounded else f"{0:.{digits}f}"


def _words(profiles: Profiles, cluster: int, place: int) -> str:
    feature = profiles.features[place]
    inside, outside = float(profiles.inside[cluster, place]), float(profiles.outside[cluster, place])
    if feature.kind == "share":
        often = "more often" if inside > outside else "less often"
        return f"{feature.name} {often} ({100 * inside:.0f} % against {100 * outside:.0f} %)"
    difference = written_difference(feature, float(profiles.difference[cluster, place]))
    unit = "" if feature.kind == "count" else " sd"
    sense = "higher" if inside > outside else "lower"
    scale = max(abs(inside), abs(outside))
    return f"{feature.name} {sense} ({difference}{unit}: {measured(inside, scale)} against {measured(outside, scale)})"
