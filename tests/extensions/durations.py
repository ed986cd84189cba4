"""A column kind from outside the package, in one file: positive durations, exponential with a Gamma posterior each."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from sidelight._storable import storable
from sidelight.families.conjugate.family import ConjugateFamily, gamma_divergence, symmetric_gamma_divergence
from sidelight.families.evaluators.cells import CellwisePredictive, cell_evaluator
from sidelight.families.exponential import CellStatistics
from sidelight.tables.comparison import RATES
from sidelight.tables.kinds import ColumnKind, register_kind


@storable("durations.ExponentialParameters")
class ExponentialParameters(NamedTuple):
    """Posteriors Gamma(a, rate b) of the rates (components, d)."""

    shapes: np.ndarray
    rates: np.ndarray


@storable("durations.GammaExponential")
@dataclass(frozen=True, eq=False)
class GammaExponential(ConjugateFamily[ExponentialParameters, CellStatistics]):
    """Independent columns of durations x > 0 with density θ exp(−θ x); a missing cell (NaN) is left out."""

    shapes: np.ndarray
    rates: np.ndarray

    def evaluator(self, parameters, backend):
        """Σ_j [ψ(a) − ln b − x a/b]."""
        shapes, rates = parameters
        return cell_evaluator(_fill, digamma(shapes) - np.log(rates), -shapes / rates, CellStatistics)

    def predictive(self, parameters, backend):
        """Score by Lomax densities a b^a / (b + x)^(a + 1)."""
        shapes, rates = parameters

        def log_density(component, cells):
            a, b = shapes[component], rates[component]
            return np.log(a) + a * np.log(b) - (a + 1) * np.log(b + cells)

        return CellwisePredictive(log_density, *shapes.shape)

    def update(self, statistics):
        """Return a = a0 + Σ r and b = b0 + Σ r x, over observed cells."""
        return ExponentialParameters(self.shapes + statistics.cells, self.rates + statistics.sums)

    def log_prior(self, parameters):
        """Return −Σ KL(q ‖ p)."""
        return -float(gamma_divergence(*parameters, self.shapes, self.rates).sum())

    def log_evidence(self, statistics):
        """Return Σ_j ln [Γ(a) b0^a0] − ln [Γ(a0) b^a]."""
        shapes, rates = self.update(statistics)
        terms = gammaln(shapes) - gammaln(self.shapes) + self.shapes * np.log(self.rates) - shapes * np.log(rates)
        return terms.sum(axis=1)

    def divergence(self, parameters):
        """Return the symmetric divergences of all pairs of components."""
        return symmetric_gamma_divergence(*parameters)

    def sample(self, parameters, component, n, random):
        """Draw rows, each with rates of its own."""
        rates = random.gamma(
            parameters.shapes[component], 1.0 / parameters.rates[component], size=(n, len(self.shapes))
        )
        return random.exponential(1.0 / rates)

    def attributes(self, parameters):
        """Return the expected durations (components, d)."""
        return {"durations_": parameters.rates / np.maximum(parameters.shapes - 1.0, 0.5)}

    def around(self, means):
        """Return the prior as often as there are means."""
        return ExponentialParameters(*(np.repeat(part[None], len(means), axis=0) for part in (self.shapes, self.rates)))

    def n_parameters(self, n_components):
        """Return the number of free parameters."""
        return n_components * len(self.shapes)


@register_kind
class Duration(ColumnKind):
    """Columns of durations, recognised by the unit in the name of the column."""

    name, noun, plural = "duration", "duration", "durations"
    takes = "positive numbers"
    comparison = RATES

    def recognises(self, column):
        return column.label.endswith("(s)'") and column.holds == "numbers"

    def misfits(self, cells):
        return ~(np.isnan(cells) | (cells > 0))

    def embed(self, cells, weights, survey, random):
        logs = np.log(cells)
        return np.nan_to_num((logs - np.nanmean(logs, axis=0)) / np.nanstd(logs, axis=0))

    def family(self, survey, categories, settings):
        return GammaExponential(np.ones(len(survey.mean)), survey.mean)


def _fill(cells, out):
    out[:] = cells


def log_evidence(durations, shape, rate):
    """Return ln p(x) of one column with one Gamma prior, in closed form: an oracle for the bound of one component."""
    n = len(durations)
    return gammaln(shape + n) - gammaln(shape) + shape * np.log(rate) - (shape + n) * np.log(rate + durations.sum())
