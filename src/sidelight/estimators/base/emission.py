"""The emission of a table: that of its columns' kind, or the product of several."""

from typing import Protocol

import numpy as np

from sidelight.families.conjugate.product import ProductFamily
from sidelight.inference.protocols import AnyFamily
from sidelight.tables.kinds import kind_named
from sidelight.tables.schema import Schema
from sidelight.tables.survey import Survey


class EmissionSettings(Protocol):
    """What an estimator decides about the emissions of its columns."""

    def gaussian(self, survey: Survey) -> AnyFamily:
        """Return the family of all Gaussian columns together."""

    def student_t(self, survey: Survey) -> AnyFamily:
        """Return the family of all Student t columns together."""


def emission_of(schema: Schema, survey: Survey, settings: EmissionSettings) -> AnyFamily:
    """Return the family of a table: that of its columns' kind, or the product of several.

    All columns that a family describes are one part. Priors of kinds other than Gaussian are weak and need no choice.
    """
    without = np.isnan(survey.mean) if survey.usual is None else np.isnan(survey.mean) & np.isnan(survey.usual)
    empty = np.flatnonzero(without & [not kind_named(name).ignores for name in schema.kinds])
    if len(empty):
        raise ValueError(f"X: {schema.label(empty[0])} has no cell that is observed and counts; leave it out.")
    parts = []
    for name in sorted(set(schema.families)):
        numbers = schema.of_family(name)
        categories = tuple(schema.categories[number] for number in numbers)
        parts.append((kind_named(name).family(survey.only(numbers), categories, settings), numbers))
    return parts[0][0] if len(parts) == 1 else ProductFamily(tuple(parts))
