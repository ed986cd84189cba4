"""Student t columns: their kind, and components by maximum likelihood with any Gaussian's covariance type."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import RandomState

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.families.evaluators.evaluator import Evaluator
from sidelight.families.exponential import GaussianStatistics
from sidelight.families.gaussian.full import CentredFamily, standardised
from sidelight.families.student.rows import QuadraticSource, StudentEvaluator, StudentParameters, StudentStatistics
from sidelight.families.student.tails import AT_START, tail_degrees
from sidelight.kernels.loops import Backend
from sidelight.tables.column_summary import range_of_numbers
from sidelight.tables.comparison import MEANS
from sidelight.tables.frame import RawColumn
from sidelight.tables.kinds import Categories, ColumnKind
from sidelight.tables.survey import Survey


class StudentT(ColumnKind):
    """Columns of numbers with heavy tails."""

    name, noun, plural = "student_t", "number", "heavy-tailed numbers"
    comparison = MEANS
    summary = staticmethod(range_of_numbers)

    def recognises(self, column: RawColumn) -> bool:
        """Return False: numbers are Gaussian unless the user says otherwise."""
        return False

    def embed(self, cells: Any, weights: FloatArray, survey: Survey, random: RandomState) -> FloatArray:
        """Return the columns standardised."""
        return standardised(cells, survey)

    def family(self, survey: Survey, categories: Categories, settings: Any) -> Any:
        """Return one family of all such columns, as the estimator has it."""
        return settings.student_t(survey)


@storable("StudentMixture")
@dataclass(frozen=True, eq=False)
class LikelihoodStudent:
    """Student t components by maximum likelihood (Peel and McLachlan 2000), or MAP with the Gaussians' prior.

    ``gaussian`` is the family of the rows given their scales, with covariances of any type. Degrees of freedom are
    learned, one per component, from 2 to 200.
    """

    gaussian: CentredFamily[Any]

    def evaluator(self, parameters: StudentParameters, backend: Backend) -> Evaluator[StudentStatistics]:
        """Return an evaluator of log densities and statistics."""
        gaussians = self.gaussian.evaluator(parameters.gaussians, backend)
        means = parameters.gaussians[0]
        peaks, d = _at_means(gaussians, means), means.shape[1]
        source = QuadraticSource(gaussians, peaks, peaks + 0.5 * d * math.log(2 * math.pi), d)
        return StudentEvaluator(source, parameters.tails)

    def predictive(self, parameters: StudentParameters, backend: Backend) -> Evaluator[StudentStatistics]:
        """Return a scorer of new rows: by the parameters as they are."""
        return self.evaluator(parameters, backend)

    def update(self, statistics: StudentStatistics) -> StudentParameters:
        """Return the parameters that maximise the expected log density plus the prior.

        Means are Σ r u x / Σ r u, covariances (Σ r u (x − μ)(x − μ)ᵀ + Ψ) / (Σ r + ν0): measured from those means,
        with Σ r for their number of rows, the statistics of scaled rows are those of a Gaussian.
        """
        scaled = statistics.scaled_rows
        assert isinstance(scaled, GaussianStatistics)
        means = scaled.means()
        about = scaled.measured_from(means)
        rows = replace(about, mass=statistics.mass, first=np.zeros_like(about.first))
        tails = tail_degrees(statistics.mass, statistics.deviations)
        return StudentParameters(self.gaussian.update(rows), tails)

    def log_prior(self, parameters: StudentParameters) -> float:
        """Return the prior's part of the objective."""
        return self.gaussian.log_prior(parameters.gaussians)

    def sample(self, parameters: StudentParameters, component: int, n: int, random: RandomState) -> FloatArray:
        """Draw n rows from one component."""
        half = 0.5 * parameters.tails[component]
        scales = random.gamma(half, 1.0 / half, size=n)
        mean = parameters.gaussians[0][component]
        rows = self.gaussian.sample(parameters.gaussians, component, n, random)
        return mean + (rows - mean) / np.sqrt(scales)[:, None]

    def attributes(self, parameters: StudentParameters) -> dict[str, FloatArray]:
        """Return the parameters by name; ``covariances_`` are those of rows of scale one, Σ."""
        return {**self.gaussian.attributes(parameters.gaussians), "tail_degrees_": parameters.tails}

    def select(self, parameters: StudentParameters, components: IntArray) -> StudentParameters:
        """Return the parameters of these components, in this order."""
        return StudentParameters(self.gaussian.select(parameters.gaussians, components), parameters.tails[components])

    def around(self, means: FloatArray) -> StudentParameters:
        """Return components with these means, each as wide as the whole table."""
        return StudentParameters(self.gaussian.around(means), np.full(len(means), AT_START))

    def n_parameters(self, n_components: int) -> int:
        """Return the number of free parameters."""
        return self.gaussian.n_parameters(n_components) + n_components


def _at_means(gaussians: Evaluator[GaussianStatistics], means: FloatArray) -> FloatArray:
    """Return the log density of each component at its own mean."""
    peaks = np.empty(len(means))
    for start in range(0, len(means), gaussians.block_rows):
        part = np.arange(start, min(start + gaussians.block_rows, len(means)))
        gaussians.load(means[part])
        peaks[part] = gaussians.log_likelihood()[part, part - start]
    return peaks
