"""The kinds that a column of a table can be of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ColumnKind:
    """What a column of a table can be.

    Parameters
    ----------
    name : str
        What ``family=`` calls it.
    noun, plural : str
        What people call its cells.
    """

    name: str
    noun: str
    plural: str


_KINDS = {
    kind.name: kind
    for kind in (
        ColumnKind("gaussian", "number", "numbers"),
        ColumnKind("poisson", "count", "counts"),
        ColumnKind("bernoulli", "yes or no", "yes or no"),
        ColumnKind("categorical", "category", "categories"),
        ColumnKind("multinomial", "count", "counts"),
    )
}


def kind_named(name: str) -> ColumnKind:
    """Return the kind of a name."""
    return _KINDS[name]


def all_kinds() -> dict[str, ColumnKind]:
    """Return the kinds by their names."""
    return dict(_KINDS)
