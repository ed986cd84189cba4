"""What a pass does with a chunk of rows that stand alone, at a state: a value that can be sent to another process."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.inference.fused import can_sweep, sweep
from sidelight.inference.protocols import AnyFamily, Assignment, Evaluator, RowCoupling, Scorer
from sidelight.kernels.loops import Backend
from sidelight.tables.table import Block, Rows


@dataclass(frozen=True, eq=False)
class PassSums:
    """Statistics and evidence of some rows; two of them add up to those of all their rows."""

    statistics: Any
    evidence: float

    def __add__(self, other: "PassSums") -> "PassSums":
        return PassSums(self.statistics + other.statistics, self.evidence + other.evidence)


@dataclass(frozen=True, eq=False)
class Visit:
    """Densities, assignment and statistics of rows at fixed parameters.

    Parameters
    ----------
    family : Family
    parameters : the family's
    log_weights : (components,)
    classes : (components,)
        The class of each component.
    coupling : RowCoupling
        How rows are assigned.
    backend : Backend
    """

    family: AnyFamily
    parameters: Any
    log_weights: FloatArray
    classes: IntArray
    coupling: RowCoupling
    backend: Backend

    def evaluator(self) -> Evaluator[Any]:
        """Return what a thread needs to take chunks through the pass."""
        return self.family.evaluator(self.parameters, self.backend)

    def predictive(self) -> Scorer:
        """Return what a thread needs to score rows by their predictive densities."""
        return self.family.predictive(self.parameters, self.backend)

    def sums(self, evaluator: Evaluator[Any], rows: Rows, chunk: slice) -> PassSums:
        """Return statistics and evidence of a chunk."""
        evidence = self._sweep(evaluator, rows, chunk)
        if evidence is None:
            evidence = 0.0
            for block, responsibilities, log_evidence in self._assigned(evaluator, rows, chunk):
                evaluator.accumulate(responsibilities)
                evidence += float(log_evidence @ block.weights)
        return PassSums(evaluator.statistics(), evidence)

    def assignment(self, scorer: Scorer, rows: Rows, chunk: slice) -> Assignment:
        """Return how the rows of a chunk are assigned."""
        numbers, evidence, start = rows.numbers(chunk), 0.0, 0
        n_rows = numbers.stop - numbers.start if isinstance(numbers, slice) else len(numbers)
        posterior, log_density = np.empty((n_rows, scorer.n_components)), np.empty(n_rows)
        for block, responsibilities, log_evidence in self._assigned(scorer, rows, chunk, weighted=False):
            part = slice(start, start + len(log_evidence))
            posterior[part], log_density[part], start = responsibilities.T, log_evidence, part.stop
            evidence += float(log_evidence @ block.weights)
        return Assignment(numbers, posterior, evidence, log_density)

    def _sweep(self, evaluator: Evaluator[Any], rows: Rows, chunk: slice) -> float | None:
        """Accumulate a chunk by a fused loop, where family and coupling have one; return its evidence."""
        compiled = self.backend.quadratic_sweep is not None
        if not (compiled and self.coupling.soft and can_sweep(evaluator, self.backend)):
            return None
        block = rows.whole(chunk)
        evidence = sweep(evaluator, self.backend, block, self.log_weights, classes=self.classes)
        rows.table.release(chunk)
        return evidence

    def _assigned(
        self, scorer: Scorer, rows: Rows, chunk: slice, *, weighted: bool = True
    ) -> Iterator[tuple[Block, FloatArray, FloatArray]]:
        """Yield blocks with their responsibilities (components, rows) and log evidence (rows,)."""
        buffer, ones = np.empty(scorer.block_rows), np.ones(scorer.block_rows)
        for block in rows.blocks(chunk, scorer.block_rows):
            scorer.load(block.values)
            scores = scorer.log_likelihood()
            evidence = buffer[: scores.shape[1]]
            weights = block.weights if weighted else ones[: scores.shape[1]]
            self.coupling(scores, self.log_weights, block.codes, weights, evidence)
            yield block, scores, evidence
