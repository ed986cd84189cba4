"""Safe save and load of fitted models: JSON and plain arrays in a folder, no pickle."""

from sidelight.exceptions import ForeignFileError
from sidelight.persistence.models import load, save, write_model

__all__ = ["ForeignFileError", "load", "save", "write_model"]
