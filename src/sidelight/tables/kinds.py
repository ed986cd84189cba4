"""The kinds that a column of a table can be of, by their names."""

from sidelight.families.conjugate import Bernoulli, Categorical, Gaussian, Multinomial, Poisson
from sidelight.families.conjugate.column_kind import ColumnKind

_KINDS: dict[str, ColumnKind] = {
    kind.name: kind for kind in (Gaussian(), Poisson(), Bernoulli(), Categorical(), Multinomial())
}


def kind_named(name: str) -> ColumnKind:
    """Return the kind of a name."""
    return _KINDS[name]


def all_kinds() -> dict[str, ColumnKind]:
    """Return the kinds by their names."""
    return dict(_KINDS)
