"""What GuidedMixture listens to: experts that give the probability of each class for each row, and their weights.

In the order of reading:

expert        what an expert is: it learns from rows whose class is known, and gives its opinion on all of them
view          the table as experts see it: features on common scales, and few coordinates
folds         which rows are held out together
linear        multinomial logistic regression
forest        trees, half of them extremely randomised
neighbours    labels that spread over a graph of neighbours
dendrograms   Ward's trees, read through the labels
clusters      clusters found without labels, read through the labels
gaussians     Gaussian classes, with and without the rows whose class is unknown
axes          an expert that sees the table along the few axes on which its rows vary most
stack         how far to trust each: weights learned on opinions about rows held out, and on links
"""

from sidelight.experts.axes import PrincipalExpert
from sidelight.experts.clusters import ClusterExpert
from sidelight.experts.dendrograms import DendrogramExpert
from sidelight.experts.expert import Expert, LearnedExpert, Lesson, Opinion
from sidelight.experts.forest import ForestExpert
from sidelight.experts.gaussians import GaussianExpert
from sidelight.experts.linear import LinearExpert
from sidelight.experts.neighbours import NeighbourExpert
from sidelight.experts.stack import learn_weights
from sidelight.experts.view import TableView, View, learn_view

__all__ = [
    "ClusterExpert",
    "DendrogramExpert",
    "Expert",
    "ForestExpert",
    "GaussianExpert",
    "LearnedExpert",
    "Lesson",
    "LinearExpert",
    "NeighbourExpert",
    "Opinion",
    "PrincipalExpert",
    "TableView",
    "View",
    "learn_view",
    "learn_weights",
]
