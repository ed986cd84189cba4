"""What Gaussian families have in common."""

from dataclasses import dataclass

from sidelight._typing import FloatArray
from sidelight.families.gaussian.prior import CovariancePrior


@dataclass(frozen=True, eq=False)
class CentredFamily:
    """A family whose rows are measured from a centre and whose covariances have a prior.

    Parameters
    ----------
    centre : (d,)
        Where rows are measured from in the linear form: the mean of the table.
    prior : CovariancePrior
    """

    centre: FloatArray
    prior: CovariancePrior
