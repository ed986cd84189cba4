"""Rows of counts over words, multinomial with a Dirichlet posterior."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from scipy.special import digamma

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.conjugate import divergences
from sidelight.families.conjugate.counts import CountEvaluator, CountPredictive, log_multinomial_coefficients
from sidelight.families.conjugate.family import ConjugateFamily, is_no_count, refuse_cells
from sidelight.families.conjugate.statistics import CountStatistics
from sidelight.kernels.loops import Backend


@storable("MultinomialParameters")
class MultinomialParameters(NamedTuple):
    """Dirichlet concentrations (components, words)."""

    concentrations: FloatArray


@storable("DirichletMultinomial")
@dataclass(frozen=True, eq=False)
class DirichletMultinomial(ConjugateFamily):
    """Rows of word counts, as an array or in CSR form; given its sum, a row is multinomial.

    Densities are those of the counts given their sum and include the multinomial coefficient n! / Π x_v!, the same
    for all components, so that they are normalised. Missing cells are refused: words share the sum of their row, so
    that a row without one of its counts has no simple density.

    Parameters
    ----------
    concentrations : (words,)
        α0 of every word.
    length : int
        The sum of the rows that :meth:`sample` draws; no part of the model.
    """

    concentrations: FloatArray
    length: int = 100

    @classmethod
    def symmetric(cls, n_words: int, *, concentration: float = 1.0, length: int = 100) -> Self:
        """Return the prior in which every word counts for ``concentration`` occurrences."""
        return cls(np.full(n_words, concentration), length)

    def evaluator(self, parameters: MultinomialParameters, backend: Backend) -> CountEvaluator:
        """Return an evaluator of Σ_v x_v [ψ(α_v) − ψ(Σα)] + ln n! − Σ_v ln x_v! and of the statistics."""
        return CountEvaluator(_expected_logs(parameters), log_multinomial_coefficients)

    def predictive(self, parameters: MultinomialParameters, backend: Backend) -> CountPredictive:
        """Return what scores new rows by Dirichlet-multinomial distributions."""
        return CountPredictive(parameters.concentrations)

    def update(self, statistics: CountStatistics) -> MultinomialParameters:
        """Return the posteriors: α = α0 + Σ r x."""
        return MultinomialParameters(self.concentrations + statistics.counts)

    def log_prior(self, parameters: MultinomialParameters) -> float:
        """Return −Σ_k KL(q(θ_k) ‖ p(θ_k))."""
        return -float(divergences.dirichlet(parameters.concentrations, self.concentrations).sum())

    def divergence(self, parameters: MultinomialParameters) -> FloatArray:
        """Return Σ_v (α_kv − α_lv) (E_k ln θ_v − E_l ln θ_v) of all pairs."""
        return divergences.symmetric(parameters.concentrations, _expected_logs(parameters))

    def sample(
        self, parameters: MultinomialParameters, component: int, n: int, random: np.random.RandomState
    ) -> FloatArray:
        """Draw n rows of ``length`` words from one component, each with probabilities of its own."""
        probabilities = random.dirichlet(parameters.concentrations[component], size=n)
        return np.stack([random.multinomial(self.length, row) for row in probabilities]).astype(float)

    def attributes(self, parameters: MultinomialParameters) -> dict[str, FloatArray]:
        """Return the expected probabilities (components, words)."""
        concentrations = parameters.concentrations
        return {"probabilities_": concentrations / concentrations.sum(axis=1, keepdims=True)}

    def around(self, means: FloatArray) -> MultinomialParameters:
        """Return the prior as often as there are means: it has no place of its own."""
        return MultinomialParameters(np.repeat(self.concentrations[None], len(means), axis=0))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return n_components * (len(self.concentrations) - 1)

    def check(self, block: Any, start: int = 0, columns: IntArray | None = None) -> None:
        """Raise a ValueError that names the first cell that is no count; NaN is none here."""
        if issparse(block):
            bad = np.flatnonzero(_is_bad(block.data))
            if bad.size:
                row = int(np.searchsorted(block.indptr, bad[0], side="right")) - 1
                self.check(block[[row]].toarray(), start + row, columns)
        else:
            refuse_cells(_is_bad(block), block, start, columns, "counts 0, 1, 2, …, and none may be missing")


def _is_bad(cells: AnyArray) -> AnyArray:
    return is_no_count(cells) | np.isnan(cells)


def _expected_logs(parameters: MultinomialParameters) -> FloatArray:
    concentrations = parameters.concentrations
    return digamma(concentrations) - digamma(concentrations.sum(axis=1, keepdims=True))
