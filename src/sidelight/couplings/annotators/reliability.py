"""How reliable annotators are: a confusion matrix each for labels, two rates each for pairs, with conjugate priors.

Annotator a gives a row of class c the answer l with probability π^a_cl (Dawid and Skene 1979), and says "same" of a
pair that is t (same or different) with probability ρ^a_t. Rows π^a_c have Dirichlet priors and ρ^a_t Beta priors, which
expect annotators to be right. The posteriors are of the same kind (variational Bayes).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from sidelight._storable import storable
from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.couplings.annotators.answers import Answers

# How often an annotator is expected to be right, and how many statements this expectation is worth: of all classes
# together, and about each of the two kinds of pair.
_EXPECTED = 0.9
_STATEMENTS = 10.0
_LEAST_PER_CLASS = 1.0
_PAIR_STATEMENTS = 5.0
# What a name of an annotator's own is expected to have been said of each class.
_OWN_NAMES = 0.5
# Log probability of an error of an annotator who never errs: finite, and zero as a probability.
_NEVER = -1000.0


@storable("AnnotatorReliability")
class Reliability(NamedTuple):
    """Posteriors of what annotators say.

    Parameters
    ----------
    confusion : (classes, columns)
        Parameters of the Dirichlet distribution of each annotator's answers about rows of a class.
    rates : (A, 2, 2)
        Parameters of the Beta distributions: of each annotator, of pairs that are different (0) and the same (1), for
        saying "different" (0) and "same" (1).
    allocation : (components, classes)
        Probability that a component is of a class.
    """

    confusion: FloatArray
    rates: FloatArray
    allocation: FloatArray


class ExpectedLogs(NamedTuple):
    """Expected logarithms of the probabilities of answers (classes, columns) and of judgements (A, 2, 2)."""

    confusion: FloatArray
    rates: FloatArray


class ReliabilityPrior(NamedTuple):
    """What is expected of annotators: as in `Reliability`; the allocation of components is uniform where it is learned.

    ``starts`` (A,) has the first column of each annotator; columns of annotators who never err are ``certain``.
    """

    confusion: FloatArray
    rates: FloatArray
    starts: IntArray
    certain: BoolArray
    right: BoolArray

    @classmethod
    def of(
        cls,
        answers: Answers,
        n_annotators: int,
        n_classes: int,
        *,
        certain: BoolArray | None = None,
        expected: float = _EXPECTED,
        statements: float = _STATEMENTS,
        pair_statements: float = _PAIR_STATEMENTS,
    ) -> "ReliabilityPrior":
        """Return weak priors that make an annotator who is alone nearly reliable.

        Parameters
        ----------
        certain : (A,) bool, optional
            Annotators who never err; none where absent.
        expected : float
            How often an annotator is expected to be right.
        statements, pair_statements : float
            How many labels, and judgements of each kind of pair, this expectation is worth.
        """
        worth = max(statements / n_classes, _LEAST_PER_CLASS)
        sizes = np.diff(np.append(answers.starts, answers.n_columns))[answers.annotators]
        named = answers.classes >= 0
        right = answers.classes == np.arange(n_classes)[:, None]
        unnamed_class = ~np.isin(np.arange(n_classes), answers.classes)[:, None]
        wrong = worth * (1 - expected) / np.maximum(sizes - 1, 1)
        confusion = np.where(right, worth * expected, wrong)
        # Nothing is expected of a class without a name, nor of names whose class is not known.
        confusion = np.where(named & ~unnamed_class, confusion, _OWN_NAMES)
        matrix = pair_statements * np.array([[expected, 1 - expected], [1 - expected, expected]])
        sure = np.zeros(n_annotators, dtype=bool) if certain is None else certain
        rates = np.repeat(matrix[None], n_annotators, axis=0)
        return cls(confusion, rates, answers.starts, sure[answers.annotators], right)

    def begin(self, allocation: FloatArray) -> Reliability:
        """Return what is believed before any statement has been looked at."""
        return Reliability(self.confusion, self.rates, allocation)

    def updated(self, label_counts: FloatArray, pair_counts: FloatArray, allocation: FloatArray) -> Reliability:
        """Return the posterior given expected counts: (components, columns) of labels, (A, 2, 2) of judgements."""
        learned = np.where(self.certain, 0.0, allocation.T @ label_counts)
        return Reliability(self.confusion + learned, self.rates + pair_counts, allocation)

    def divergence(self, found: Reliability) -> float:
        """Return the divergence KL(q ‖ p) of the posteriors of all annotators from their priors."""
        total = 0.0
        if self.confusion.size:
            starts, sizes = self._blocks()
            expected = expected_log_shares(found.confusion, starts, sizes)
            total += float(((found.confusion - self.confusion) * expected).sum())
            total += float((_log_beta(self.confusion, starts) - _log_beta(found.confusion, starts)).sum())
        total += float(((found.rates - self.rates) * expected_log_rates(found.rates)).sum())
        first = np.zeros(1, dtype=np.int64)
        return total + float((_log_beta(self.rates, first) - _log_beta(found.rates, first)).sum())

    def expected_logs(self, found: Reliability) -> ExpectedLogs:
        """Return the expected logarithms under the posterior."""
        confusion = found.confusion
        if confusion.size:
            confusion = expected_log_shares(confusion, *self._blocks())
            confusion = np.where(self.certain, np.where(self.right, 0.0, _NEVER), confusion)
        return ExpectedLogs(confusion, expected_log_rates(found.rates))

    def _blocks(self) -> tuple[IntArray, IntArray]:
        """Return where the columns of annotators with labels start, and how many each has."""
        sizes = np.diff(np.append(self.starts, self.confusion.shape[1]))
        return self.starts[sizes > 0], sizes[sizes > 0]


def expected_log_shares(parameters: FloatArray, starts: IntArray, sizes: IntArray) -> FloatArray:
    """Return E ln π of Dirichlet distributions, whose parameters stand side by side in blocks of columns."""
    totals = np.add.reduceat(parameters, starts, axis=-1)
    return np.asarray(digamma(parameters) - np.repeat(digamma(totals), sizes, axis=-1))


def expected_log_rates(rates: FloatArray) -> FloatArray:
    """Return E ln ρ and E ln(1 − ρ) of Beta distributions, whose parameters are the last axis."""
    return expected_log_shares(rates, np.zeros(1, dtype=np.int64), np.array([2]))


def _log_beta(parameters: FloatArray, starts: IntArray) -> FloatArray:
    """Return ln B(α) of the blocks of columns."""
    totals = np.add.reduceat(parameters, starts, axis=-1)
    return np.asarray(np.add.reduceat(gammaln(parameters), starts, axis=-1) - gammaln(totals))
