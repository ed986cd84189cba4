"""The kinds that a column of a table can be of."""

from dataclasses import dataclass

from sidelight.tables.column_summary import (
    Summary,
    range_of_counts,
    range_of_numbers,
    share_of_yes,
    shares_of_categories,
)
from sidelight.tables.comparison import MEANS, RATES, SHARES, Comparison


@dataclass(frozen=True)
class ColumnKind:
    """What a column of a table can be.

    Parameters
    ----------
    name : str
        What ``family=`` calls it.
    noun, plural : str
        What people call its cells.
    comparison : Comparison
        How clusters are compared on such a column, or on each of its categories.
    summary : Summary
        How a report summarises such a column.
    compositional : bool, default False
        Whether a cell counts as its share of the sum of its row.
    """

    name: str
    noun: str
    plural: str
    comparison: Comparison
    summary: Summary
    compositional: bool = False


_KINDS = {
    kind.name: kind
    for kind in (
        ColumnKind("gaussian", "number", "numbers", MEANS, range_of_numbers),
        ColumnKind("poisson", "count", "counts", RATES, range_of_counts),
        ColumnKind("bernoulli", "yes or no", "yes or no", SHARES, share_of_yes),
        ColumnKind("categorical", "category", "categories", SHARES, shares_of_categories),
        ColumnKind("multinomial", "count", "counts", RATES, range_of_counts, compositional=True),
    )
}


def kind_named(name: str) -> ColumnKind:
    """Return the kind of a name."""
    return _KINDS[name]


def all_kinds() -> dict[str, ColumnKind]:
    """Return the kinds by their names."""
    return dict(_KINDS)
