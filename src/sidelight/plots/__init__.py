"""Pictures of fitted models: Display classes in scikit-learn's manner, which need matplotlib (``sidelight[plot]``).

One display per file; what several displays share:

* ``projection``: rows as numeric features, and the plane to look at them in
* ``sampling``: which rows and links of a large table are drawn
* ``components``: components of Gaussian mixtures as ellipses
* ``figures``: figures, axes, legends and colours
"""

from sidelight.describe.profiles import Profiles, cluster_profiles, profile_words
from sidelight.plots.clusters import ClustersDisplay
from sidelight.plots.convergence import ConvergenceDisplay
from sidelight.plots.experts import ExpertsDisplay
from sidelight.plots.history import HistoryDisplay
from sidelight.plots.membership import MembershipDisplay
from sidelight.plots.profiles import ProfilesDisplay
from sidelight.plots.selection import SelectionDisplay, StructureDisplay

__all__ = [
    "ClustersDisplay",
    "ConvergenceDisplay",
    "ExpertsDisplay",
    "HistoryDisplay",
    "MembershipDisplay",
    "Profiles",
    "ProfilesDisplay",
    "SelectionDisplay",
    "StructureDisplay",
    "cluster_profiles",
    "profile_words",
]
