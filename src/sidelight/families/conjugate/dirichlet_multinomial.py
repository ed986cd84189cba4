"""Rows of counts over words, multinomial with a Dirichlet posterior."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from scipy.sparse import csr_array, diags_array
from scipy.special import digamma
from sklearn.decomposition import TruncatedSVD

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray
from sidelight.families.conjugate.family import (
    ConjugateFamily,
    dirichlet_divergence,
    dirichlet_evidence,
    symmetric_divergence,
)
from sidelight.families.evaluators.counts import CountEvaluator, CountPredictive, log_multinomial_coefficients
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import CountStatistics
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import range_of_counts
from sidelight.tables.comparison import RATES
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind, is_count
from sidelight.tables.survey import Survey

_WORD_OCCURRENCES = 2.0
_UNSEEN_OCCURRENCES = 0.5
# Directions that rows of many words are reduced to.
_DIRECTIONS = 20
# Added to those of every word, so that single occurrences of rare words do not make up most of the distances.
_FURTHER_OCCURRENCES = 10.0


@storable("MultinomialParameters")
class MultinomialParameters(NamedTuple):
    """Dirichlet concentrations (components, words)."""

    concentrations: FloatArray


@storable("DirichletMultinomial")
@dataclass(frozen=True, eq=False)
class DirichletMultinomial(ConjugateFamily[MultinomialParameters, CountStatistics]):
    """Rows of word counts, as an array or in CSR form; given its sum, a row is multinomial.

    Densities are those of the counts given their sum and include the multinomial coefficient n! / Π x_v!, the same
    for all components, so that they are normalised. Missing cells are refused: words share the sum of their row, so
    that a row without one of its counts has no simple density.

    ``concentrations`` (words,) are α0 of every word. ``length``, the sum of the rows that :meth:`sample` draws, is not
    part of the model.
    """

    concentrations: FloatArray
    length: int = 100

    @classmethod
    def symmetric(cls, n_words: int, *, concentration: float = 1.0, length: int = 100) -> Self:
        """Return the prior in which every word counts for ``concentration`` occurrences."""
        return cls(np.full(n_words, concentration), length)

    def evaluator(self, parameters: MultinomialParameters, backend: Backend) -> Evaluator[CountStatistics]:
        """Return an evaluator of Σ_v x_v [ψ(α_v) − ψ(Σα)] + ln n! − Σ_v ln x_v! and of the statistics."""
        return CountEvaluator(_expected_logs(parameters), log_multinomial_coefficients)

    def predictive(self, parameters: MultinomialParameters, backend: Backend) -> CountPredictive:
        """Return a scorer of new rows by Dirichlet-multinomial distributions."""
        return CountPredictive(parameters.concentrations)

    def update(self, statistics: CountStatistics) -> MultinomialParameters:
        """Return the posteriors: α = α0 + Σ r x."""
        return MultinomialParameters(self.concentrations + statistics.counts)

    def log_prior(self, parameters: MultinomialParameters) -> float:
        """Return −Σ_k KL(q(θ_k) ‖ p(θ_k))."""
        return -float(dirichlet_divergence(parameters.concentrations, self.concentrations).sum())

    def log_evidence(self, statistics: CountStatistics) -> FloatArray:
        """Return ln B(α) − ln B(α0)."""
        return dirichlet_evidence(self.update(statistics).concentrations, self.concentrations)

    def divergence(self, parameters: MultinomialParameters) -> FloatArray:
        """Return Σ_v (α_kv − α_lv) (E_k ln θ_v − E_l ln θ_v) of all pairs."""
        return symmetric_divergence(parameters.concentrations, _expected_logs(parameters))

    def sample(self, parameters: MultinomialParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows of ``length`` words from one component, each with probabilities of its own."""
        probabilities = random.dirichlet(parameters.concentrations[component], size=n)
        return np.stack([random.multinomial(self.length, row) for row in probabilities]).astype(float)

    def attributes(self, parameters: MultinomialParameters) -> dict[str, FloatArray]:
        """Return the expected probabilities (components, words)."""
        concentrations = parameters.concentrations
        return {"probabilities_": concentrations / concentrations.sum(axis=1, keepdims=True)}

    def around(self, means: FloatArray) -> MultinomialParameters:
        """Return the prior once for each mean: it has no place of its own."""
        return MultinomialParameters(np.repeat(self.concentrations[None], len(means), axis=0))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return n_components * (len(self.concentrations) - 1)


class Multinomial(ColumnKind):
    """Whole rows of counts, given their sums."""

    name, noun, plural, takes = "multinomial", "count", "counts", "counts 0, 1, 2, …, none of them missing"
    compositional = True
    comparison = RATES
    summary = staticmethod(range_of_counts)

    def recognises(self, column: RawColumn) -> bool:
        """Return False: it describes whole rows, and only where the user wants it."""
        return False

    def misfits(self, cells: AnyArray) -> AnyArray:
        """Say of each cell whether it is not a count; a missing one is not."""
        return ~is_count(cells)

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return rows as proportions over roots of the expected ones (correspondence analysis), at most 20 directions.

        Common words are as noisy as rare ones then. Square roots of proportions would not do: of words that are hardly
        ever met twice in a row they see little more than which are common.
        """
        sizes = np.asarray(cells.sum(axis=1), dtype=float).reshape(-1)
        occurrences = np.asarray(weights @ cells, dtype=float) + _FURTHER_OCCURRENCES
        proportions = diags_array(1.0 / np.maximum(sizes, 1.0)) @ csr_array(cells)
        scaled = proportions @ diags_array(np.sqrt(occurrences.sum() / occurrences))
        if scaled.shape[1] <= _DIRECTIONS:
            return scaled.toarray()
        return TruncatedSVD(min(_DIRECTIONS, scaled.shape[0]), random_state=random).fit_transform(scaled)

    def family(self, survey: Survey, categories: Categories, settings: object) -> DirichletMultinomial:
        """Return the family in which words count for two occurrences on average, in proportion to the table's.

        With the same for all words, another component would have to pay for every common word anew, and sparse tables
        of many words would end up as one cluster.
        """
        # Words that the table lacks may still be met later.
        occurrences = survey.total * survey.mean + _UNSEEN_OCCURRENCES
        concentrations = _WORD_OCCURRENCES * len(occurrences) * occurrences / occurrences.sum()
        return DirichletMultinomial(concentrations, length=max(round(survey.mean.sum()), 1))

    def log_widths(self, cells: Any, weights: FloatArray, survey: Survey, categories: Categories) -> FloatArray:
        """Refuse: given the sum of a row its counts have no widths of their own."""
        raise ValueError(
            "noise is for tables whose columns stand for themselves, and family='multinomial' describes whole rows; "
            "leave noise out, or use family='poisson'."
        )


def _expected_logs(parameters: MultinomialParameters) -> FloatArray:
    concentrations = parameters.concentrations
    return digamma(concentrations) - digamma(concentrations.sum(axis=1, keepdims=True))
