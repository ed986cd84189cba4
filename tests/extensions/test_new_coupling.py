"""A coupling added from outside, in one file, with parameters of its own: raters who may swap the two classes."""

from dataclasses import dataclass

import numpy as np

from oracles.mixtures import family_for, mixture_of, random_state
from sidelight.inference.loop import ascend
from sidelight.inference.protocols import Assignment, CoupledExpectation, CouplingState
from sidelight.kernels.loops import softly


@dataclass(frozen=True, eq=False)
class NoisyLabels:
    """Labels of two classes that are right with a probability ρ, which is learned under a Beta(9, 1) prior.

    A row's score for class c gains ln ρ where its label is c and ln(1 − ρ) elsewhere; its E-step is Bayes' rule, and
    the M-step of ρ is (8 + expected number of right labels) / (8 + labels): the mode under the prior.
    """

    rows: np.ndarray
    labels: np.ndarray
    monotone = True
    takes_rows = True

    def _scores(self, log_likelihood, log_weights, reliability):
        logs = np.where(self.labels[:, None] == np.arange(2), np.log(reliability), np.log1p(-reliability))
        return log_likelihood + log_weights + logs

    def expect(self, rows, log_weights, state):
        reliability = 0.7 if state.parameters is None else state.parameters
        posterior, value = softly(self._scores(rows.log_likelihood(), log_weights, reliability))
        right = posterior[np.arange(len(self.rows)), self.labels].sum()
        used = CouplingState(reliability, None)
        return CoupledExpectation(rows.statistics(posterior), posterior.sum(axis=0), float(value.sum()), used, right)

    def assign(self, rows, log_weights, state):
        posterior, value = softly(self._scores(rows.log_likelihood(), log_weights, state.parameters))
        yield Assignment(self.rows, posterior, float(value.sum()))

    def update(self, counts):
        return (8 + counts) / (8 + len(self.rows))

    def log_prior(self, parameters):
        return 8 * np.log(parameters)

    def regrouped(self, state, groups):
        return CouplingState(state.parameters, None)


def problem(wrong):
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.normal(size=(200, 2)) + 3.0 * y[:, None]
    labels = np.where(rng.random(100) < wrong, 1 - y[:100], y[:100])
    family = family_for(X, "full", rows=2.0, fraction=0.1)
    mixture = mixture_of(X, family, 2, couplings=(NoisyLabels(np.arange(100), labels),))
    state = random_state(rng, X, family, "full", 2)
    means = np.array([[0.0, 0.0], [3.0, 3.0]])
    return mixture, state._replace(parameters=family.parameters(means, np.stack([np.eye(2)] * 2))), y


def test_its_rows_leave_the_pass_by_themselves():
    mixture, _, _ = problem(0.2)
    assert mixture.alone.total_weight() == 100


def test_its_parameter_is_learned_and_the_objective_never_falls():
    mixture, state, y = problem(0.2)
    trace = ascend(mixture.step, state, max_iter=100, tol=1e-8)
    assert np.diff(trace.objectives).min() > -1e-9
    assert 0.72 < trace.state.couplings[0].parameters < 0.88
    found = np.concatenate([part.posterior for part in mixture.assign(trace.state)]).argmax(axis=1)
    assert np.mean(found == y[np.concatenate([np.arange(100, 200), np.arange(100)])]) > 0.95


def test_two_couplings_share_a_mixture():
    mixture, state, y = problem(0.2)
    (whole,) = mixture.couplings
    halves = tuple(NoisyLabels(whole.rows[part], whole.labels[part]) for part in (slice(0, 50), slice(50, 100)))
    divided = mixture_of(mixture.rows.table.array, mixture.family, 2, couplings=halves)
    trace = ascend(divided.step, state, max_iter=100, tol=1e-8)
    assert np.diff(trace.objectives).min() > -1e-9
    for half, own in zip(halves, trace.state.couplings, strict=True):
        right = np.sum(half.labels == y[half.rows])
        assert abs(own.parameters - (8 + right) / 58) < 0.05
