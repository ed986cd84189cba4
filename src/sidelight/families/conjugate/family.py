"""What conjugate families have in common."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.kernels.loops import Backend


class ConjugateFamily(ABC):
    """An emission whose components have posteriors in the family of their prior; parameters are those posteriors'.

    With q(θ_k) the posterior of component k and p(θ) the prior, the variational bound of a mixture is made of
    E_q ln p(x | θ_k), which the evaluator gives, and −Σ_k KL(q(θ_k) ‖ p(θ_k)), which is :meth:`log_prior`.
    """

    @abstractmethod
    def evaluator(self, parameters: Any, backend: Backend) -> Any:
        """Return an evaluator of E_q ln p(x | θ_k) and of the sufficient statistics."""

    @abstractmethod
    def predictive(self, parameters: Any, backend: Backend) -> Any:
        """Return what scores blocks of new rows by their log posterior predictive densities (components, rows)."""

    @abstractmethod
    def update(self, statistics: Any) -> Any:
        """Return the posteriors that maximise the bound given these statistics."""

    @abstractmethod
    def log_prior(self, parameters: Any) -> float:
        """Return −Σ_k KL(q(θ_k) ‖ p(θ_k))."""

    @abstractmethod
    def divergence(self, parameters: Any) -> FloatArray:
        """Return the symmetric divergences KL(q_k ‖ q_l) + KL(q_l ‖ q_k) (components, components)."""

    @abstractmethod
    def sample(self, parameters: Any, component: int, n: int, random: np.random.RandomState) -> FloatArray:
        """Draw n rows from one component's posterior predictive distribution, each with parameters of its own."""

    @abstractmethod
    def attributes(self, parameters: Any) -> dict[str, Any]:
        """Return the parameters by the names that a fitted estimator shows them under."""

    @abstractmethod
    def around(self, means: FloatArray) -> Any:
        """Return the prior once for each of these means (components, d), moved there where it has a mean.

        Where a mean is NaN the prior's own is kept.
        """

    @abstractmethod
    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters of the emissions."""

    def select(self, parameters: Any, components: IntArray) -> Any:
        """Return the parameters of these components, in this order."""
        return type(parameters)(*(values[components] for values in parameters))

    def narrowed(self, components: IntArray) -> Self:
        """Return the family whose priors are those of these components, in this order.

        Where all components share one prior, that is the family itself.
        """
        return self

    def check(self, block: AnyArray, start: int = 0, columns: IntArray | None = None) -> None:
        """Raise a ValueError that names the first cell the family has no density for; NaN marks a missing cell.

        Parameters
        ----------
        block : (rows, d)
        start : int
            The number of the block's first row in the table.
        columns : (d,), optional
            The numbers of the block's columns in the table.
        """
        refuse_cells(np.isinf(block), block, start, columns, "finite numbers, or NaN where one is missing")


def refuse_cells(bad: AnyArray, block: AnyArray, start: int, columns: IntArray | None, wanted: str) -> None:
    """Raise a ValueError for the first cell marked as bad, if there is one."""
    if bad.any():
        row, column = np.argwhere(bad)[0]
        number = column if columns is None else columns[column]
        raise ValueError(f"X[{start + row}, {number}] is {block[row, column]:g}; the column's family takes {wanted}.")


def is_no_count(cells: AnyArray) -> AnyArray:
    """Say of each cell whether it is neither 0, 1, 2, … nor missing."""
    return ~(np.isnan(cells) | ((cells >= 0) & (cells == np.floor(cells)) & (cells < np.inf)))
