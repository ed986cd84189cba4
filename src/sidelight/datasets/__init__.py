"""Data sets of the literature, checked before use, and the synthetic data of the papers."""

from sidelight.datasets.catalogue import CATALOGUE
from sidelight.datasets.loading import Dataset, load
from sidelight.datasets.synthetic import (
    four_gaussians,
    horizontal_boundary,
    three_components,
    two_moons,
    two_views,
)
from sidelight.exceptions import DatasetError

__all__ = [
    "CATALOGUE",
    "Dataset",
    "DatasetError",
    "four_gaussians",
    "horizontal_boundary",
    "load",
    "three_components",
    "two_moons",
    "two_views",
]
