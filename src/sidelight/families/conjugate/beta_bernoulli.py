"""Columns of 0 and 1, each with a Beta posterior of its own."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from scipy.special import digamma

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray
from sidelight.families.conjugate.family import (
    ConjugateFamily,
    dirichlet_divergence,
    dirichlet_evidence,
    symmetric_divergence,
)
from sidelight.families.evaluators.cells import cell_evaluator
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import CellStatistics
from sidelight.families.gaussian.full import standardised
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import share_of_yes
from sidelight.tables.comparison import SHARES
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind, observed_integers
from sidelight.tables.survey import Survey


@storable("BernoulliParameters")
class BernoulliParameters(NamedTuple):
    """Posteriors Beta(α, β) of the probabilities of a one, (components, d): ``ones`` are α, ``zeros`` β."""

    ones: FloatArray
    zeros: FloatArray


@storable("BetaBernoulli")
@dataclass(frozen=True, eq=False)
class BetaBernoulli(ConjugateFamily[BernoulliParameters, CellStatistics]):
    """Independent columns of 0 and 1; a missing cell (NaN) is left out. ``ones`` and ``zeros`` (d,) are α0 and β0."""

    ones: FloatArray
    zeros: FloatArray

    @classmethod
    def symmetric(cls, n_columns: int, *, concentration: float = 1.0) -> Self:
        """Return the prior in which a one and a zero count for ``concentration`` rows each."""
        return cls(np.full(n_columns, concentration), np.full(n_columns, concentration))

    def evaluator(self, parameters: BernoulliParameters, backend: Backend) -> Evaluator[CellStatistics]:
        """Return an evaluator of Σ_j [x ψ(α) + (1 − x) ψ(β) − ψ(α + β)] and of the statistics."""
        of_ones, of_zeros = _expected_logs(parameters)
        return cell_evaluator(_fill, of_zeros, of_ones - of_zeros, CellStatistics)

    def predictive(self, parameters: BernoulliParameters, backend: Backend) -> Evaluator[CellStatistics]:
        """Return a scorer of new rows by Π_j α^x β^(1 − x) / (α + β)."""
        of_zeros = np.log(parameters.zeros / (parameters.ones + parameters.zeros))
        return cell_evaluator(_fill, of_zeros, np.log(parameters.ones / parameters.zeros), CellStatistics)

    def update(self, statistics: CellStatistics) -> BernoulliParameters:
        """Return the posteriors: α = α0 + Σ r x and β = β0 + Σ r (1 − x), over observed cells."""
        # Rounding may leave a little less than no zeros.
        zeros = np.maximum(statistics.cells - statistics.sums, 0.0)
        return BernoulliParameters(self.ones + statistics.sums, self.zeros + zeros)

    def log_prior(self, parameters: BernoulliParameters) -> float:
        """Return −Σ_k KL(q(θ_k) ‖ p(θ_k))."""
        prior = np.stack([self.ones, self.zeros], axis=-1)
        return -float(dirichlet_divergence(np.stack(parameters, axis=-1), prior).sum())

    def log_evidence(self, statistics: CellStatistics) -> FloatArray:
        """Return Σ_j ln B(α, β) − ln B(α0, β0)."""
        prior = np.stack([self.ones, self.zeros], axis=-1)
        return dirichlet_evidence(np.stack(self.update(statistics), axis=-1), prior).sum(axis=1)

    def divergence(self, parameters: BernoulliParameters) -> FloatArray:
        """Return Σ_j [(α_k − α_l) (E_k − E_l) ln θ + (β_k − β_l) (E_k − E_l) ln(1 − θ)] of all pairs."""
        natural = np.concatenate(parameters, axis=1)
        return symmetric_divergence(natural, np.concatenate(_expected_logs(parameters), axis=1))

    def sample(self, parameters: BernoulliParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from the posterior predictive distribution of one component."""
        probabilities = self.attributes(parameters)["probabilities_"][component]
        return (random.random_sample((n, len(probabilities))) < probabilities).astype(float)

    def attributes(self, parameters: BernoulliParameters) -> dict[str, FloatArray]:
        """Return the expected probabilities of a one (components, d)."""
        return {"probabilities_": parameters.ones / (parameters.ones + parameters.zeros)}

    def around(self, means: FloatArray) -> BernoulliParameters:
        """Return the prior once for each mean: it has no place of its own."""
        return BernoulliParameters(*(np.repeat(prior[None], len(means), axis=0) for prior in (self.ones, self.zeros)))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return n_components * len(self.ones)


class Bernoulli(ColumnKind):
    """Columns of 0 and 1."""

    name, noun, plural, takes = "bernoulli", "yes or no", "yes or no", "0 and 1"
    comparison = SHARES
    summary = staticmethod(share_of_yes)

    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column holds booleans, or no integers but 0 and 1."""
        seen = observed_integers(column)
        return column.holds == "booleans" or (seen.size > 0 and bool(seen.min() >= 0 and seen.max() <= 1))

    def misfits(self, cells: AnyArray) -> AnyArray:
        """Say of each cell whether it is neither 0 nor 1 nor missing."""
        return ~(np.isnan(cells) | (cells == 0) | (cells == 1))

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return the columns standardised."""
        return standardised(cells, survey)

    def family(self, survey: Survey, categories: Categories, settings: object) -> BetaBernoulli:
        """Return the family in which 0 and 1 count for half a row each (Jeffreys' prior)."""
        return BetaBernoulli.symmetric(len(survey.mean), concentration=0.5)

    def log_widths(self, cells: Any, weights: FloatArray, survey: Survey, categories: Categories) -> FloatArray:
        """Return ln 2 for each column: 0 and 1 are equally probable."""
        return np.full(len(survey.mean), np.log(2.0))


def _expected_logs(parameters: BernoulliParameters) -> tuple[FloatArray, FloatArray]:
    """Return E ln θ and E ln(1 − θ)."""
    of_total = digamma(parameters.ones + parameters.zeros)
    return digamma(parameters.ones) - of_total, digamma(parameters.zeros) - of_total


def _fill(cells: FloatArray, out: FloatArray) -> None:
    out[:] = cells
