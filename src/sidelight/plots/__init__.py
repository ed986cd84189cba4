"""Pictures of fitted models: Display classes in scikit-learn's manner, which need matplotlib (``sidelight[plot]``)."""

from sidelight.plots.clusters import ClustersDisplay
from sidelight.plots.selection import SelectionDisplay

__all__ = ["ClustersDisplay", "SelectionDisplay"]
