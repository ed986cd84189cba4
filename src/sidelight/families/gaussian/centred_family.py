"""What Gaussian families have in common."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from sidelight._typing import FloatArray
from sidelight.families.gaussian.prior import CovariancePrior
from sidelight.kernels.loops import Backend


@dataclass(frozen=True, eq=False)
class CentredFamily(ABC):
    """A family whose rows are measured from a centre and whose covariances have a prior.

    Parameters
    ----------
    centre : (d,)
        Where rows are measured from in the linear form: the mean of the table.
    prior : CovariancePrior
    """

    centre: FloatArray
    prior: CovariancePrior

    @abstractmethod
    def evaluator(self, parameters: Any, backend: Backend) -> Any:
        """Return an evaluator of log densities and statistics."""

    def predictive(self, parameters: Any, backend: Backend) -> Any:
        """Return what scores new rows: by the parameters as they are."""
        return self.evaluator(parameters, backend)
