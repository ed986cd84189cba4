"""The conjugate family of a table, made of those of its columns."""

from typing import Any

import numpy as np

from sidelight.families.conjugate import ConjugateFamily, GaussianPrior, ProductFamily
from sidelight.tables.kinds import kind_named
from sidelight.tables.schema import Columns
from sidelight.tables.survey import Survey


def family_of(columns: Columns, survey: Survey, gaussian: GaussianPrior) -> ConjugateFamily[Any, Any]:
    """Return the family of a table: that of its columns' kind, or the product of several.

    All columns of a kind together are one part. The priors of parts that are not Gaussian are weak and need no choice.

    Parameters
    ----------
    columns : Columns
    survey : Survey
        Of the encoded table.
    gaussian : GaussianPrior
        Unused where no column is Gaussian.
    """
    _refuse_unobserved(columns, survey)
    parts = []
    for kind in sorted(set(columns.kinds)):
        numbers = columns.of_kind(kind)
        categories = tuple(columns.categories[number] for number in numbers)
        parts.append((kind_named(kind).family(survey.only(numbers), categories, gaussian), numbers))
    return parts[0][0] if len(parts) == 1 else ProductFamily(tuple(parts))


def _refuse_unobserved(columns: Columns, survey: Survey) -> None:
    empty = np.flatnonzero(np.isnan(survey.mean))
    if len(empty):
        raise ValueError(f"X: {columns.label(empty[0])} has no cell that is observed and counts; leave it out.")
