"""The colour of a cluster, by its key: it stays through refits."""

import colorsys

# Colours of the plots that can be told apart by most colour-blind readers, dark enough for a white page.
_COLOURS = (
    "#0072b2", "#d97706", "#009e73", "#c0569a", "#3b9ddd", "#7a4b1f", "#6a51a3", "#8a8a00",
    "#c2410c", "#0f766e", "#9f1239", "#4338ca", "#65a30d", "#b45309", "#0e7490", "#86198f",
)  # fmt: skip


def colour_of(key: int) -> str:
    """Return the colour of the cluster with a key.

    Examples
    --------
    >>> colour_of(1), colour_of(17) == colour_of(18)
    ('#0072b2', False)
    """
    if key <= len(_COLOURS):
        return _COLOURS[key - 1]
    # Beyond these, hues a golden angle apart.
    red, green, blue = colorsys.hls_to_rgb((key * 0.381966) % 1.0, 0.4, 0.65)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"
