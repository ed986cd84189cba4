"""Zhao and Miller 2005: links, the two methods as the paper has them, and what is measured of both."""

from sklearn.metrics import adjusted_rand_score

from sidelight import EquivalenceMixture, SideInformation
from sidelight._typing import AnyArray
from sidelight.metrics import purity_accuracy_score
from sidelight.side import draw_side

RHO, FREE, RAND, RIGHT = "ρ", "ρ, unlinked", "adjusted Rand, unlinked", "classes right"
BY_BIC = "ClassMixture, K by BIC"
_FRACTION = 0.3


def linked(y: AnyArray, seed: int) -> SideInformation:
    """Link 30 % of the rows in random disjoint pairs."""
    return draw_side(y, links={"n_links": round(_FRACTION * len(y) / 2), "disjoint": True}, random_state=seed)


def shental_form(n_classes: int, d: int, seed: int, covariance_type: str = "full") -> EquivalenceMixture:
    """Return the mixture with equivalence constraints as Shental et al. have it."""
    return EquivalenceMixture(
        n_classes,
        covariance_type=covariance_type,
        pairs="conditional",
        unlinked_weight=1.0,
        prior_rows=float(d + 2),
        prior_scale=0.02,
        random_state=seed,
    )


def scores(y: AnyArray, labels: AnyArray, free: AnyArray) -> dict[str, float]:
    """Return ρ of all rows, and ρ and the adjusted Rand index of those nothing was said about."""
    return {
        RHO: purity_accuracy_score(y, labels),
        FREE: purity_accuracy_score(y, labels, rows=free),
        RAND: float(adjusted_rand_score(y[free], labels[free])),
    }
