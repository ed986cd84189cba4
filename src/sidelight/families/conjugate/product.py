"""Columns of several kinds: each kind has its family, independent of the others given the component."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.random import RandomState

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.families.conjugate.family import ConjugateFamily
from sidelight.families.evaluators.evaluator import Evaluator, Scorer
from sidelight.kernels.loops import Backend


@storable("ProductStatistics")
@dataclass(frozen=True, eq=False)
class ProductStatistics:
    """The statistics of each part, in their order."""

    parts: tuple[Any, ...]

    @property
    def mass(self) -> FloatArray:
        """Sum of the responsibilities of each component, the same in all parts."""
        return self.parts[0].mass

    def means(self) -> FloatArray:
        """Return the means of the columns of all parts, part after part."""
        return np.concatenate([part.means() for part in self.parts], axis=1)

    def __add__(self, other: "ProductStatistics") -> "ProductStatistics":
        return ProductStatistics(tuple(own + their for own, their in zip(self.parts, other.parts, strict=True)))

    def scaled(self, factor: float) -> "ProductStatistics":
        """Return the statistics of the same rows, each counted ``factor`` times."""
        return ProductStatistics(tuple(part.scaled(factor) for part in self.parts))

    def regrouped(self, groups: IntArray) -> "ProductStatistics":
        """Return the statistics of groups of components put together; those of group -1 are left out."""
        return ProductStatistics(tuple(part.regrouped(groups) for part in self.parts))

    def paired(self, first: IntArray, second: IntArray) -> "ProductStatistics":
        """Return the statistics of pairs of components put together."""
        return ProductStatistics(tuple(part.paired(first, second) for part in self.parts))


class ProductPredictive(Scorer):
    """Sum the log densities of parts, each on columns of its own."""

    def __init__(self, scorers: Sequence[Scorer], columns: list[slice | IntArray]) -> None:
        self.n_components = scorers[0].n_components
        self.block_rows = min(scorer.block_rows for scorer in scorers)
        self._scorers = scorers
        self._columns = columns

    def load(self, block: AnyArray) -> None:
        """Take a block of rows."""
        for scorer, columns in zip(self._scorers, self._columns, strict=True):
            scorer.load(block[:, columns])

    def log_likelihood(self) -> FloatArray:
        """Return the log densities (components, rows) of the block, in a buffer that the next call overwrites."""
        first, *others = self._scorers
        scores = first.log_likelihood()
        for scorer in others:
            scores += scorer.log_likelihood()
        return scores


class ProductEvaluator(ProductPredictive, Evaluator[ProductStatistics]):
    """The same with the statistics of the parts."""

    def __init__(self, evaluators: Sequence[Evaluator[Any]], columns: list[slice | IntArray]) -> None:
        super().__init__(evaluators, columns)
        self._evaluators = evaluators

    def accumulate(self, responsibilities: FloatArray) -> None:
        """Add the statistics of the block, weighted by responsibilities (components, rows)."""
        for evaluator in self._evaluators:
            evaluator.accumulate(responsibilities)

    def statistics(self) -> ProductStatistics:
        """Return the statistics accumulated since the last call, and start anew."""
        return ProductStatistics(tuple(evaluator.statistics() for evaluator in self._evaluators))


@storable("ProductFamily")
@dataclass(frozen=True, eq=False)
class ProductFamily(ConjugateFamily[tuple[Any, ...], ProductStatistics]):
    """Independent groups of columns, given the component; parameters are a tuple of the parts' own.

    ``parts`` are families with the numbers of the columns they describe. Columns that no part names are left out.
    """

    parts: tuple[tuple[ConjugateFamily[Any, Any], IntArray], ...]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("parts is empty; a product needs at least one family.")

    def evaluator(self, parameters: tuple[Any, ...], backend: Backend) -> ProductEvaluator:
        """Return an evaluator of the sum of the parts' expected log densities and of their statistics."""
        evaluators = [family.evaluator(part, backend) for family, _, part in self._with(parameters)]
        return ProductEvaluator(evaluators, self._columns())

    def predictive(self, parameters: tuple[Any, ...], backend: Backend) -> ProductPredictive:
        """Return a scorer of new rows by the product of the parts' predictive densities."""
        scorers = [family.predictive(part, backend) for family, _, part in self._with(parameters)]
        return ProductPredictive(scorers, self._columns())

    def update(self, statistics: ProductStatistics) -> tuple[Any, ...]:
        """Return the posteriors of all parts."""
        return tuple(family.update(part) for family, _, part in self._with(statistics.parts))

    def log_prior(self, parameters: tuple[Any, ...]) -> float:
        """Return −Σ_k KL(q(θ_k) ‖ p(θ_k)), the sum of the parts'."""
        return sum(family.log_prior(part) for family, _, part in self._with(parameters))

    def log_evidence(self, statistics: ProductStatistics) -> FloatArray:
        """Return the log evidence of each component, the sum of the parts'."""
        return np.sum([family.log_evidence(part) for family, _, part in self._with(statistics.parts)], axis=0)

    def relearned(self, statistics: ProductStatistics) -> Self:
        """Return the product of the families whose priors are learned."""
        parts = tuple((family.relearned(part), columns) for family, columns, part in self._with(statistics.parts))
        unchanged = all(new is old for (new, _), (old, _) in zip(parts, self.parts, strict=True))
        return self if unchanged else replace(self, parts=parts)

    def divergence(self, parameters: tuple[Any, ...]) -> FloatArray:
        """Return the symmetric divergences of all pairs, the sum of the parts'."""
        first, *others = [family.divergence(part) for family, _, part in self._with(parameters)]
        return sum(others, start=first)

    def sample(self, parameters: tuple[Any, ...], component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component; columns that no part names are NaN."""
        rows = np.full((n, 1 + max(int(np.max(columns)) for _, columns in self.parts)), np.nan)
        for family, columns, part in self._with(parameters):
            rows[:, columns] = family.sample(part, component, n, random)
        return rows

    def attributes(self, parameters: tuple[Any, ...]) -> dict[str, Any]:
        """Return the parts' attributes as a list, for several parts may use the same names."""
        return {"parts_": [family.attributes(part) for family, _, part in self._with(parameters)]}

    def select(self, parameters: tuple[Any, ...], components: IntArray) -> tuple[Any, ...]:
        """Return the parameters of these components, in this order."""
        return tuple(family.select(part, components) for family, _, part in self._with(parameters))

    def narrowed(self, components: IntArray) -> Self:
        """Return the product of the families narrowed to these components."""
        return replace(self, parts=tuple((family.narrowed(components), columns) for family, columns in self.parts))

    def around(self, means: FloatArray) -> tuple[Any, ...]:
        """Return the prior once for each of these means, of all columns of the table."""
        return tuple(family.around(means[:, columns]) for family, columns in self.parts)

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return sum(family.n_parameters(n_components) for family, _ in self.parts)

    def _with(self, values: tuple[Any, ...]) -> list[tuple[ConjugateFamily[Any, Any], IntArray, Any]]:
        """Return each part's family and columns with its value."""
        return [(family, columns, value) for (family, columns), value in zip(self.parts, values, strict=True)]

    def _columns(self) -> list[slice | IntArray]:
        return [_as_slice(columns) for _, columns in self.parts]


def _as_slice(columns: IntArray) -> slice | IntArray:
    """Return neighbouring columns as a slice, which takes no copy."""
    start, stop = int(columns[0]), int(columns[-1]) + 1
    return slice(start, stop) if np.array_equal(columns, np.arange(start, stop)) else columns
