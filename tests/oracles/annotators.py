"""Statements of annotators on tiny problems: every assignment, rates by quadrature, and the best q by an optimiser."""

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import digamma, expit, gammaln, logsumexp
from scipy.stats import beta


def assignments(n, n_classes):
    """Return all assignments (m, n) of n rows to classes."""
    return np.array(list(product(range(n_classes), repeat=n)))


def counts_of(z, labels, pairs, n_annotators, n_classes, n_names):
    """Return counts of labels (A, classes, names) and of judgements (A, 2, 2) under one assignment."""
    said = np.zeros((n_annotators, n_classes, n_names))
    for row, name, annotator in labels:
        said[annotator, z[row], name] += 1
    judged = np.zeros((n_annotators, 2, 2))
    for a, b, same, annotator in pairs:
        judged[annotator, int(z[a] == z[b]), same] += 1
    return np.concatenate([said.ravel(), judged.ravel()])


def log_beta(parameters):
    """Return ln B of the last axis."""
    return gammaln(parameters).sum(axis=-1) - gammaln(parameters.sum(axis=-1))


class Tiny:
    """A problem to enumerate: scores of rows, labels (row, name, annotator), pairs (a, b, same, annotator)."""

    def __init__(self, scores, labels, pairs, confusion_prior, rate_prior):
        self.scores, self.labels, self.pairs = scores, labels, pairs
        self.confusion_prior, self.rate_prior = confusion_prior, rate_prior
        n, n_classes = scores.shape
        n_annotators, _, n_names = confusion_prior.shape
        self.z = assignments(n, n_classes)
        self.log_scores = scores[np.arange(n), self.z].sum(axis=1)
        self.counts = np.array([counts_of(z, labels, pairs, n_annotators, n_classes, n_names) for z in self.z])

    def _split(self, counts):
        cut = self.confusion_prior.size
        return counts[:cut].reshape(self.confusion_prior.shape), counts[cut:].reshape(self.rate_prior.shape)

    def log_marginal(self, counts):
        """Return ln ∫ p(statements | rates) p(rates) d rates for (expected) counts, in closed form."""
        said, judged = self._split(counts)
        return float(
            (log_beta(self.confusion_prior + said) - log_beta(self.confusion_prior)).sum()
            + (log_beta(self.rate_prior + judged) - log_beta(self.rate_prior)).sum()
        )

    def exact(self):
        """Return the exact log evidence, marginals (n, classes) and mean rates, all rates integrated out."""
        log_joint = self.log_scores + np.array([self.log_marginal(counts) for counts in self.counts])
        weights = np.exp(log_joint - logsumexp(log_joint))
        said, judged = self._split(np.zeros(self.counts.shape[1]))
        means = [np.zeros_like(said), np.zeros_like(judged)]
        for weight, counts in zip(weights, self.counts, strict=True):
            for place, (found, prior) in enumerate(
                zip(self._split(counts), (self.confusion_prior, self.rate_prior), strict=True)
            ):
                means[place] += weight * (prior + found) / (prior + found).sum(axis=-1, keepdims=True)
        return float(logsumexp(log_joint)), self.marginals(weights), means

    def marginals(self, weights):
        """Return the marginals (n, classes) of weighted assignments."""
        n, n_classes = self.scores.shape
        return np.stack([[weights[self.z[:, row] == c].sum() for c in range(n_classes)] for row in range(n)])

    def best_bound(self, start):
        """Return the highest bound over q(z) q(rates), q(z) any distribution over assignments, and its marginals.

        q(rates) is put in closed form: given q(z) its best choice has counts Σ q(z) counts(z).
        """

        def negative(free):
            q = np.exp(free - logsumexp(free))
            mean = q @ self.counts
            entropy = -(q * (free - logsumexp(free))).sum()
            step = 1e-6
            value = q @ self.log_scores + self.log_marginal(mean) + entropy
            slope = np.array(
                [
                    (self.log_marginal(mean + step * unit) - self.log_marginal(mean - step * unit)) / (2 * step)
                    for unit in np.eye(len(mean))
                ]
            )
            by_q = self.log_scores + self.counts @ slope - (free - logsumexp(free)) - 1
            return -value, -q * (by_q - q @ by_q)

        found = minimize(negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-15})
        return -found.fun, self.marginals(np.exp(found.x - logsumexp(found.x)))


def expected_log_by_quadrature(a, b):
    """Return E ln π and E ln(1 − π) under Beta(a, b), by quadrature."""
    q = beta(a, b)
    return tuple(quad(lambda p, f=f: f(p) * q.pdf(p), 0, 1, epsabs=1e-12)[0] for f in (np.log, lambda p: np.log1p(-p)))


def dawid_and_skene(answers, rate_prior, n_steps=2000):
    """Return the log odds of "yes" by each task's answers, after variational Bayes on tasks with two answers.

    ``answers`` (tasks, A) are 1 for yes, 0 for no, -1 for none; the share of yes has an even prior and is learned.
    """
    rates, odds = rate_prior, np.zeros(len(answers))
    yes = np.zeros(2)
    for _ in range(n_steps):
        logs = digamma(rates) - digamma(rates.sum(axis=2, keepdims=True))
        odds = np.array(
            [sum(logs[a, 1, said] - logs[a, 0, said] for a, said in enumerate(row) if said >= 0) for row in answers]
        )
        shares = expit(odds + digamma(1 + yes[1]) - digamma(1 + yes[0]))
        yes = np.array([(1 - shares).sum(), shares.sum()])
        counts = [
            [[(kind * (answers[:, a] == said)).sum() for said in (0, 1)] for kind in (1 - shares, shares)]
            for a in range(answers.shape[1])
        ]
        rates = rate_prior + np.array(counts)
    return odds


@cache
def stick_integral(right, left, n_right, n_left, log=None):
    """Return ∫ u^(right + n_right − 1) (1 − u)^(left + n_left − 1) du by quadrature, with a factor ln u or ln(1 − u).

    ``log`` is "u", "1 - u" or None.
    """
    kind = {None: "alg", "u": "alg-loga", "1 - u": "alg-logb"}[log]
    return quad(
        lambda u: u**n_right * (1 - u) ** n_left, 0, 1, weight=kind, wvar=(right - 1, left - 1), epsabs=0, epsrel=1e-12
    )[0]


def sticks(alpha, counts):
    """Yield priors and counts of the sticks u, v, … of a Dirichlet distribution: p = u, (1 − u) v, (1 − u)(1 − v) …"""
    for place in range(len(alpha) - 1):
        rest = slice(place + 1, None)
        yield float(alpha[place]), float(alpha[rest].sum()), float(counts[place]), float(counts[rest].sum())


def dirichlet_by_quadrature(alpha, counts):
    """Return ln ∫ Π p^n Dir(p) dp, E p and E ln p given the counts, by quadrature stick by stick."""
    evidence, mean, logs, rest, log_rest = 0.0, [], [], 1.0, 0.0
    for right, left, n_right, n_left in sticks(alpha, counts):
        total = stick_integral(right, left, n_right, n_left)
        evidence += np.log(total / stick_integral(right, left, 0.0, 0.0))
        share = stick_integral(right, left, n_right + 1, n_left) / total
        mean.append(rest * share)
        logs.append(log_rest + stick_integral(right, left, n_right, n_left, "u") / total)
        rest *= 1 - share
        log_rest += stick_integral(right, left, n_right, n_left, "1 - u") / total
    return evidence, np.array([*mean, rest]), np.array([*logs, log_rest])


class Integrated(NamedTuple):
    """The exact posterior: evidence, marginals (n, classes), "same" of pairs, means and mean logs of all rates."""

    evidence: float
    marginals: np.ndarray
    same: np.ndarray
    confusion: np.ndarray
    rates: np.ndarray
    log_confusion: np.ndarray
    log_rates: np.ndarray


def integrated_by_quadrature(
    scores, labels, pairs, confusion_prior, rate_prior, log_links=lambda z: 0.0, class_of=None
):
    """Return the exact posterior by enumerating assignments, with rates by quadrature under each.

    ``labels`` are (row, name, annotator), ``pairs`` (a, b, same, annotator, weight); ``log_links`` has what an
    assignment weighs for all other reasons. Rows choose components where ``class_of`` (components,) has their classes;
    labels are about these then.
    """
    n, n_classes = scores.shape
    z = assignments(n, n_classes)
    kept, found = [], []
    for one in z:
        log_weight = scores[np.arange(n), one].sum() + log_links(one)
        if np.isneginf(log_weight):
            continue
        said, judged = np.zeros(confusion_prior.shape), np.zeros(rate_prior.shape)
        for row, name, annotator in labels:
            said[annotator, one[row] if class_of is None else class_of[one[row]], name] += 1
        for a, b, same, annotator, weight in pairs:
            judged[annotator, int(one[a] == one[b]), same] += weight
        parts = [
            [dirichlet_by_quadrature(alpha, counts) for alpha, counts in zip(*flat, strict=True)]
            for flat in (
                (confusion_prior.reshape(-1, confusion_prior.shape[-1]), said.reshape(-1, said.shape[-1])),
                (rate_prior.reshape(-1, 2), judged.reshape(-1, 2)),
            )
        ]
        kept.append(one)
        found.append((log_weight + sum(part[0] for side in parts for part in side), parts))
    log_joint = np.array([one[0] for one in found])
    weights = np.exp(log_joint - logsumexp(log_joint))
    shapes = (confusion_prior.shape, rate_prior.shape)
    means, logs = (
        [
            sum(w * np.array([part[which] for part in one[1][side]]) for w, one in zip(weights, found, strict=True))
            for side in (0, 1)
        ]
        for which in (1, 2)
    )
    rows = np.array(kept)
    return Integrated(
        float(logsumexp(log_joint)),
        np.stack([weights @ (rows == c) for c in range(n_classes)], axis=1),
        np.array([weights @ (rows[:, a] == rows[:, b]) for a, b, *_ in pairs]),
        *(found.reshape(shape) for found, shape in zip(means, shapes, strict=True)),
        *(found.reshape(shape) for found, shape in zip(logs, shapes, strict=True)),
    )
