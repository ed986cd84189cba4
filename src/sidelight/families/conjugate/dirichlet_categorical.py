"""Columns of categories, each with a Dirichlet posterior of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from scipy.special import digamma

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.families.conjugate.family import (
    ConjugateFamily,
    dirichlet_divergence,
    dirichlet_evidence,
    symmetric_divergence,
)
from sidelight.families.evaluators.codes import MANY_CATEGORIES, code_evaluator
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import CountStatistics
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import shares_of_categories
from sidelight.tables.comparison import SHARES
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind
from sidelight.tables.survey import Survey

# Categories of a column that have a direction of their own; the others are too rare to make centres.
_EMBEDDED_CATEGORIES = 30


@storable("CategoricalParameters")
class CategoricalParameters(NamedTuple):
    """Dirichlet concentrations (components, Σ categories), column after column."""

    concentrations: FloatArray


@storable("DirichletCategorical")
@dataclass(frozen=True, eq=False)
class DirichletCategorical(ConjugateFamily[CategoricalParameters, CountStatistics]):
    """Independent columns of category codes 0 … V_j − 1; a missing code (NaN) is left out.

    ``categories`` are V_j, the number of categories of each column, and ``concentrations`` (Σ categories,) α0 of every
    category, column after column.
    """

    categories: tuple[int, ...]
    concentrations: FloatArray

    @classmethod
    def symmetric(cls, categories: tuple[int, ...], *, concentration: float = 1.0) -> Self:
        """Return the prior in which every category counts for ``concentration`` rows."""
        return cls(tuple(categories), np.full(sum(categories), concentration))

    @cached_property
    def _starts(self) -> IntArray:
        """Where the categories of each column start."""
        return np.cumsum([0, *self.categories[:-1]])

    def evaluator(
        self, parameters: CategoricalParameters, backend: Backend, *, many_categories: int = MANY_CATEGORIES
    ) -> Evaluator[CountStatistics]:
        """Return an evaluator of Σ_j [ψ(α_jx) − ψ(Σ_v α_jv)] and of the statistics.

        With more than ``many_categories`` categories per column, rows are sparse: their products are quicker then.
        """
        return code_evaluator(self._relative(parameters, digamma), self.categories, many_categories)

    def predictive(
        self, parameters: CategoricalParameters, backend: Backend, *, many_categories: int = MANY_CATEGORIES
    ) -> Evaluator[CountStatistics]:
        """Return a scorer of new rows by Π_j α_jx / Σ_v α_jv."""
        return code_evaluator(self._relative(parameters, np.log), self.categories, many_categories)

    def _relative(self, parameters: CategoricalParameters, function: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Return f(α_jv) − f(Σ_v α_jv)."""
        concentrations = parameters.concentrations
        totals = np.add.reduceat(concentrations, self._starts, axis=1)
        return function(concentrations) - np.repeat(function(totals), self.categories, axis=1)

    def update(self, statistics: CountStatistics) -> CategoricalParameters:
        """Return the posteriors: α = α0 + Σ r [x = v]."""
        return CategoricalParameters(self.concentrations + statistics.counts)

    def log_prior(self, parameters: CategoricalParameters) -> float:
        """Return −Σ_k KL(q(θ_k) ‖ p(θ_k))."""
        pairs = zip(
            np.split(parameters.concentrations, self._starts[1:], axis=1),
            np.split(self.concentrations, self._starts[1:]),
            strict=True,
        )
        return -float(sum(dirichlet_divergence(posterior, prior).sum() for posterior, prior in pairs))

    def log_evidence(self, statistics: CountStatistics) -> FloatArray:
        """Return Σ_j ln B(α_j) − ln B(α0_j)."""
        pairs = zip(
            np.split(self.update(statistics).concentrations, self._starts[1:], axis=1),
            np.split(self.concentrations, self._starts[1:]),
            strict=True,
        )
        return np.sum([dirichlet_evidence(posterior, prior) for posterior, prior in pairs], axis=0)

    def divergence(self, parameters: CategoricalParameters) -> FloatArray:
        """Return Σ_jv (α_kv − α_lv) (E_k ln θ_v − E_l ln θ_v) of all pairs."""
        return symmetric_divergence(parameters.concentrations, self._relative(parameters, digamma))

    def sample(self, parameters: CategoricalParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows of codes from the posterior predictive distribution of one component."""
        rows = np.empty((n, len(self.categories)))
        for column, concentrations in enumerate(np.split(parameters.concentrations[component], self._starts[1:])):
            rows[:, column] = random.choice(len(concentrations), n, p=concentrations / concentrations.sum())
        return rows

    def attributes(self, parameters: CategoricalParameters) -> dict[str, Any]:
        """Return the expected probabilities: a list of arrays (components, categories), one per column."""
        columns = np.split(parameters.concentrations, self._starts[1:], axis=1)
        return {"probabilities_": [values / values.sum(axis=1, keepdims=True) for values in columns]}

    def around(self, means: FloatArray) -> CategoricalParameters:
        """Return the prior once for each mean: a category has no place."""
        return CategoricalParameters(np.repeat(self.concentrations[None], len(means), axis=0))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return n_components * (sum(self.categories) - len(self.categories))


class Categorical(ColumnKind):
    """Columns of categories, encoded by their numbers."""

    name, noun, plural = "categorical", "category", "categories"
    encodes = True
    comparison = SHARES
    summary = staticmethod(shares_of_categories)

    def recognises(self, column: RawColumn) -> bool:
        """Say whether a column holds text or categories without an order."""
        return column.holds == "text" and column.levels is None

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return a direction for each of the most frequent categories of every column."""
        return np.concatenate([_indicators(codes, weights) for codes in cells.T], axis=1)

    def family(self, survey: Survey, categories: Categories, settings: object) -> DirichletCategorical:
        """Return the family in which every category counts for half a row (Jeffreys' prior)."""
        sizes = tuple(len(values) for values in categories if values is not None)
        return DirichletCategorical.symmetric(sizes, concentration=0.5)

    def log_widths(self, cells: Any, weights: FloatArray, survey: Survey, categories: Categories) -> FloatArray:
        """Return the logarithms of the numbers of categories."""
        return np.log([len(values) for values in categories if values is not None])


def _indicators(codes: FloatArray, weights: FloatArray) -> FloatArray:
    """Return a column's categories (m, categories), centred, so that their variances add up to one."""
    seen = ~np.isnan(codes)
    counts = np.bincount(codes[seen].astype(np.intp), weights=weights[seen], minlength=1)
    frequent = np.argsort(-counts, kind="stable")[:_EMBEDDED_CATEGORIES]
    shares = counts[frequent] / max(counts.sum(), np.finfo(float).tiny)
    centred = np.where(seen[:, None], (codes[:, None] == frequent) - shares, 0.0)
    variance = float(shares @ (1.0 - shares))
    return centred / np.sqrt(variance) if variance > 0 else centred
