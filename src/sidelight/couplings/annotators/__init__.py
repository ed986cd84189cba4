"""Annotators who err: how often is learned together with the clusters.

In the order of reading:

answers        what annotators can say, as columns: each annotator's own names, or the names of the classes
reliability    confusion matrices and rates: priors, expected logarithms, updates, divergences
coupling       the E-step of a mixture: statements of annotators beside certain ones
trellis        sums over all assignments of a few nodes, while what depends on all of them is counted
integrated     the E-step where statements are few: reliabilities integrated out, classes summed over exactly
opinions       the same for rows whose class probabilities are given, by experts or by nothing
pairs          what is said of each judged pair by itself
accuracy       how often annotators are right, given counts
results        reliability of each annotator, doubtful statements, whom to ask again
agreement      how often annotators agree, observed and by chance
"""

from sidelight.couplings.annotators.agreement import Agreement, agreement
from sidelight.couplings.annotators.answers import Answers, Judgements
from sidelight.couplings.annotators.coupling import AnnotatedRows, annotated_rows
from sidelight.couplings.annotators.graph import StatementGraph, statement_graph
from sidelight.couplings.annotators.integrated import IntegratedRows, integrated
from sidelight.couplings.annotators.opinions import Resolved, resolve
from sidelight.couplings.annotators.pairs import JudgedPairs, agreed_pairs, judged_pairs
from sidelight.couplings.annotators.reliability import Reliability, ReliabilityPrior
from sidelight.couplings.annotators.results import (
    AnnotatorReport,
    AnnotatorRow,
    Beliefs,
    Doubt,
    Question,
    annotator_report,
)

__all__ = [
    "Agreement",
    "AnnotatedRows",
    "AnnotatorReport",
    "AnnotatorRow",
    "Answers",
    "Beliefs",
    "Doubt",
    "IntegratedRows",
    "JudgedPairs",
    "Judgements",
    "Question",
    "Reliability",
    "ReliabilityPrior",
    "Resolved",
    "StatementGraph",
    "agreed_pairs",
    "agreement",
    "annotated_rows",
    "annotator_report",
    "integrated",
    "judged_pairs",
    "resolve",
    "statement_graph",
]
