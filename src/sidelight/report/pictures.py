"""The pictures of the report, each as text that a page can contain."""

import base64
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from sidelight.describe.assignment import has_probabilities
from sidelight.describe.profiles import Profiles
from sidelight.plots import ClustersDisplay, ConvergenceDisplay, MembershipDisplay, ProfilesDisplay
from sidelight.plots.figures import bare_figure
from sidelight.side import SideInformation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_FEATURES = 15
_DOTS_PER_INCH = 144


class Pictures(NamedTuple):
    """Data addresses of the pictures; None for a picture that this model does not have."""

    clusters: str
    profiles: str | None
    membership: str | None
    convergence: str | None


def draw_pictures(model: Any, X: Any, side: SideInformation | None, profiles: Profiles | None) -> Pictures:
    """Draw everything that the report shows; a model of a single cluster has no profiles."""
    with _plain_style():
        return Pictures(
            clusters=_clusters(model, X, side),
            profiles=None if profiles is None else _profiles(profiles),
            membership=_membership(model, X) if has_probabilities(model) and model.n_clusters_ > 1 else None,
            convergence=_convergence(model),
        )


def _clusters(model: Any, X: Any, side: SideInformation | None) -> str:
    figure = bare_figure(9, 5.6)
    ClustersDisplay.from_estimator(model, X, side=side, ax=figure.subplots())
    return _address(figure)


def _profiles(profiles: Profiles) -> str:
    display = ProfilesDisplay(profiles.most_telling(_MOST_FEATURES))
    figure = bare_figure(*display.size)
    display.plot(ax=figure.subplots())
    return _address(figure)


def _membership(model: Any, X: Any) -> str:
    figure = bare_figure(min(4 + 0.45 * model.n_clusters_, 12), 4.6)
    MembershipDisplay.from_estimator(model, X, ax=figure.subplots())
    return _address(figure)


def _convergence(model: Any) -> str | None:
    if len(getattr(model, "lower_bounds_", getattr(model, "objectives_", ()))) < 2:
        return None
    figure = bare_figure(7, 3.4)
    ConvergenceDisplay.from_estimator(model, ax=figure.subplots())
    return _address(figure)


@contextmanager
def _plain_style() -> Iterator[None]:
    """Draw with default settings, so that the bytes are the same every time, and leave text to the reader's fonts.

    The reader's fonts have the letters that matplotlib's own font lacks, so its warning is not needed.
    """
    import matplotlib as mpl
    from matplotlib import style

    with style.context("default"), warnings.catch_warnings():
        mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sidelight"})
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _address(figure: "Figure") -> str:
    """Return a figure as a data address, which needs no file."""
    file = io.BytesIO()
    figure.savefig(file, format="svg", dpi=_DOTS_PER_INCH, metadata={"Date": None, "Creator": None})
    return f"data:image/svg+xml;base64,{base64.b64encode(file.getvalue()).decode('ascii')}"
