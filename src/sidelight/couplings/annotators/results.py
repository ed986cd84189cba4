"""What is learned about annotators: how reliable each is, which statements are probably wrong, whom to ask again."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import gammaln, xlogy
from scipy.stats import beta

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.couplings.annotators.accuracy import CountMixture, OwnCounts, accuracy, interval, own_counts
from sidelight.couplings.annotators.agreement import Agreement, agreement, krippendorff
from sidelight.couplings.annotators.graph import StatementGraph
from sidelight.couplings.annotators.reliability import Reliability, ReliabilityPrior
from sidelight.side import SideInformation

# Statements and questions that are listed.
_MOST_LISTED = 200
# A confusion of two classes is reported when it is this probable that it is the rule.
_SURE = 0.95
# Answers are at random unless the log odds are above this that they depend on the class, and where the annotator is
# probably right less often than this: few statements of a good annotator say nothing either way.
_DECISIVE = float(np.log(100.0))
_SELDOM_RIGHT = 0.8


@storable("AnnotatorRow")
class AnnotatorRow(NamedTuple):
    """How reliable an annotator is.

    Parameters
    ----------
    annotator : any
        The name.
    reliability : float
        Expected share of the annotator's statements that are right.
    low, high : float
        Between which it lies with a probability of 95 %.
    n_statements : int
        Labels and judgements, "unsure" not counted.
    remark : str
        "answers at random" where statements do not depend on the class more than chance explains, the classes that are
        taken for others, or empty.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import EquivalenceMixture, SideInformation
    >>> X, species = load_iris(return_X_y=True)
    >>> rows = np.arange(0, 150, 3)
    >>> slips = np.where(np.arange(50) % 5 == 0, (species[rows] + 1) % 3, species[rows])
    >>> said = {"row": [*rows, *rows], "label": [*species[rows], *slips], "annotator": ["Ann"] * 50 + ["Ben"] * 50}
    >>> side = SideInformation.from_annotations(150, labels=said)
    >>> model = EquivalenceMixture(3, random_state=0).fit(X, side=side)
    >>> [(row.annotator, round(row.reliability, 1)) for row in model.annotators_]
    [('Ann', 1.0), ('Ben', 0.8)]
    """

    annotator: Any
    reliability: float
    low: float
    high: float
    n_statements: int
    remark: str = ""


@storable("DoubtfulStatement")
class Doubt(NamedTuple):
    """A statement that is probably wrong.

    Parameters
    ----------
    rows : tuple
        Numbers or ids of the row, or of the two rows of a judged pair.
    said : any
        The label, or the judgement.
    annotator : any
        The author.
    likely : any
        What is more probable.
    odds : float
        That it is wrong: 3 means three to one.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import EquivalenceMixture, SideInformation
    >>> X, species = load_iris(return_X_y=True)
    >>> rows = np.arange(0, 150, 3)
    >>> slips = np.where(np.arange(50) % 5 == 0, (species[rows] + 1) % 3, species[rows])
    >>> said = {"row": [*rows, *rows], "label": [*species[rows], *slips], "annotator": ["Ann"] * 50 + ["Ben"] * 50}
    >>> side = SideInformation.from_annotations(150, labels=said)
    >>> model = EquivalenceMixture(3, random_state=0).fit(X, side=side)
    >>> found = model.annotation_report_.doubtful[0]
    >>> found.rows, found.said, found.annotator, found.likely
    ((0,), 1, 'Ben', 0)
    """

    rows: tuple[Any, ...]
    said: Any
    annotator: Any
    likely: Any
    odds: float


@storable("AnnotatorQuestion")
class Question(NamedTuple):
    """A row or pair to ask about again, and whom.

    Parameters
    ----------
    rows : tuple
        Numbers or ids of the row, or of the two rows of a pair.
    annotator : any
        Whom to ask.
    gain : float
        What the answer is expected to tell, in nats.

    Examples
    --------
    >>> from sidelight.couplings.annotators import Question
    >>> Question(rows=(3, 17), annotator="Ann", gain=0.25).annotator
    'Ann'
    """

    rows: tuple[Any, ...]
    annotator: Any
    gain: float


@storable("AnnotatorReport")
@dataclass(frozen=True, eq=False)
class AnnotatorReport:
    """Everything that is learned about annotators and their statements.

    Attributes
    ----------
    annotators : list of AnnotatorRow
        A table that pandas takes: ``pandas.DataFrame(report.annotators)``.
    agreement : list of Agreement
        Of annotators who have judged common rows or pairs.
    label_alpha, pair_alpha : float
        Krippendorff's α of all labels and of all judged pairs; NaN where none was judged twice.
    n_doubtful : int
        Number of statements that are more probably wrong than right.
    doubtful : list of Doubt
        These statements, the most doubtful first, at most 200.
    questions : list of Question
        What to ask again and whom, the most telling first, at most 200.
    names : dict
        Of annotators with names of their own: the class that each name stands for.
    confusion : dict of (classes, answers) arrays
        Expected confusion matrix of each annotator with labels; of answers in the order of the classes, or of the
        annotator's own names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import EquivalenceMixture, SideInformation
    >>> X, species = load_iris(return_X_y=True)
    >>> rows = np.arange(0, 150, 3)
    >>> slips = np.where(np.arange(50) % 5 == 0, (species[rows] + 1) % 3, species[rows])
    >>> said = {"row": [*rows, *rows], "label": [*species[rows], *slips], "annotator": ["Ann"] * 50 + ["Ben"] * 50}
    >>> side = SideInformation.from_annotations(150, labels=said)
    >>> model = EquivalenceMixture(3, random_state=0).fit(X, side=side)
    >>> report = model.annotation_report_
    >>> report.n_doubtful, round(report.agreement[0].observed, 1)
    (10, 0.8)
    """

    annotators: list[AnnotatorRow]
    agreement: list[Agreement]
    label_alpha: float
    pair_alpha: float
    n_doubtful: int
    doubtful: list[Doubt]
    questions: list[Question]
    names: dict[Any, dict[Any, Any]]
    confusion: dict[Any, FloatArray]


class Beliefs(NamedTuple):
    """What is believed at the end: of the rows (m, classes) in the graph, of judged pairs (q,), of annotators.

    ``mixtures`` is the posterior of the counts that reliabilities follow from.
    """

    shares: FloatArray
    same: FloatArray
    reliability: Reliability
    mixtures: tuple[CountMixture, ...]
    prior: ReliabilityPrior


def annotator_report(
    graph: StatementGraph, beliefs: Beliefs, side: SideInformation, class_names: AnyArray
) -> AnnotatorReport:
    """Put together what is learned about annotators; ``class_names`` has a name for each class."""
    answers = graph.answers
    aligned = _aligned(graph, beliefs)
    names = side.annotations.annotators.tolist() if side.annotations is not None else []
    rows, of_own, confusion = [], {}, {}
    for number, name in enumerate(names):
        columns = np.flatnonzero(answers.annotators == number)
        found = own_counts(beliefs.mixtures, columns, number, len(beliefs.reliability.confusion))
        mean, low, high = _reliability(found, beliefs.prior, columns, aligned, number)
        n_statements = int(graph.annotations.n_statements[number])
        rows.append(
            AnnotatorRow(name, mean, low, high, n_statements, _remark(graph, beliefs, number, high, class_names))
        )
        if len(columns):
            confusion[name] = _expected_shares(found.weights, beliefs.prior.confusion[:, columns] + found.labels)
            if (answers.classes[columns] < 0).all():
                of_own[name] = {answers.names[column]: class_names.tolist()[aligned[column]] for column in columns}
    assert side.annotations is not None
    label_alpha, pair_alpha = krippendorff(side.annotations)
    doubts = _doubts(graph, beliefs, aligned)
    return AnnotatorReport(
        rows,
        agreement(side.annotations)[:_MOST_LISTED],
        label_alpha,
        pair_alpha,
        len(doubts.labels) + len(doubts.pairs),
        _listed(graph, beliefs, side, doubts, class_names),
        _questions(graph, beliefs, side, names),
        of_own,
        confusion,
    )


def _counts(beliefs: Beliefs, columns: IntArray) -> FloatArray:
    """Return the expected counts (classes, columns) of some answers."""
    return np.asarray(beliefs.reliability.confusion[:, columns] - beliefs.prior.confusion[:, columns])


def _aligned(graph: StatementGraph, beliefs: Beliefs) -> IntArray:
    """Return the class (columns,) of each answer: the one it names, or the one that its annotator's name goes with."""
    classes = graph.answers.classes.copy()
    own = classes < 0
    for number in np.unique(graph.answers.annotators[own]):
        columns = np.flatnonzero(own & (graph.answers.annotators == number))
        counts = _counts(beliefs, columns)
        classes[columns] = counts.argmax(axis=0)
        chosen, place = linear_sum_assignment(counts, maximize=True)
        classes[columns[place]] = chosen
    return classes


def _reliability(
    counts: OwnCounts, prior: ReliabilityPrior, columns: IntArray, aligned: IntArray, number: int
) -> tuple[float, float, float]:
    """Return mean and interval of the share of an annotator's statements that are right."""
    right = (aligned[columns] == np.arange(counts.labels.shape[1])[:, None]).astype(float)
    parts = [accuracy(counts.labels, prior.confusion[:, columns], right)] if len(columns) else []
    return interval(counts.weights, [*parts, accuracy(counts.pairs, prior.rates[number], np.eye(2))])


def _expected_shares(weights: FloatArray, parameters: FloatArray) -> FloatArray:
    """Return the mean of a mixture of Dirichlet distributions with parameters (states, kinds, answers)."""
    means = parameters / parameters.sum(axis=2, keepdims=True)
    return np.asarray(np.tensordot(weights / weights.sum(), means, axes=1))


def _remark(graph: StatementGraph, beliefs: Beliefs, number: int, high: float, class_names: AnyArray) -> str:
    """Say what stands out about an annotator, who is right at most as often as ``high``."""
    columns = np.flatnonzero(graph.answers.annotators == number)
    evidence = 0.0
    if len(columns):
        evidence += _skill(_counts(beliefs, columns), beliefs.prior.confusion[:, columns])
    if (graph.judgements.annotators == number).any():
        prior = beliefs.prior.rates[number]
        evidence += _skill(beliefs.reliability.rates[number] - prior, prior)
    if evidence < _DECISIVE and high < _SELDOM_RIGHT:
        return "answers at random"
    named = columns[graph.answers.classes[columns] >= 0]
    return _confusions(beliefs.reliability.confusion[:, named], graph.answers.classes[named], class_names)


def _skill(counts: FloatArray, prior: FloatArray) -> float:
    """Return the log odds that answers (classes, answers) depend on the class, against that they do not."""

    def evidence(found: FloatArray, expected: FloatArray) -> float:
        together = gammaln(expected.sum(axis=-1)) - gammaln((expected + found).sum(axis=-1))
        return float((together + (gammaln(expected + found) - gammaln(expected)).sum(axis=-1)).sum())

    dependent = evidence(counts, prior)
    free = evidence(counts, np.full_like(counts, 1.0))
    return float(np.logaddexp(dependent, free) - np.log(2.0)) - evidence(counts.sum(axis=0), np.ones(counts.shape[1]))


def _confusions(parameters: FloatArray, classes: IntArray, class_names: AnyArray) -> str:
    """Say which classes are taken for another as a rule."""
    if not len(classes):
        return ""
    matrix = parameters[:, np.argsort(classes)]
    right = np.diagonal(matrix)[: len(matrix), None]
    probable = beta.sf(0.5, matrix[: len(right)], right)
    # Where one class is surely taken for another, the other way round need only be likelier than not.
    sure = probable > _SURE
    wrong = sure | (sure.T & (probable > 0.5)) if sure.shape[0] == sure.shape[1] else sure
    found = {(int(one), int(other)) for one, other in np.argwhere(wrong) if one != other}
    words = []
    for one, other in sorted(found):
        if (other, one) in found:
            if one < other:
                words.append(f"swaps {class_names[one]} and {class_names[other]}")
        else:
            words.append(f"takes {class_names[one]} for {class_names[other]}")
    return "; ".join(words)


def _row_name(side: SideInformation, row: int) -> Any:
    return int(row) if side.ids is None else side.ids[row : row + 1].tolist()[0]


class _Doubts(NamedTuple):
    """Places of labels and of judgements that are probably wrong, the most doubtful first, with probabilities."""

    labels: IntArray
    label_wrong: FloatArray
    pairs: IntArray
    pair_wrong: FloatArray


def _doubts(graph: StatementGraph, beliefs: Beliefs, aligned: IntArray) -> _Doubts:
    """Find statements that are more probably wrong than right."""
    row, column = graph.said.tocoo().coords
    wrong = 1 - beliefs.shares[row, aligned[column]]
    labels = np.flatnonzero((wrong > 0.5) & (graph.answers.annotators[column] < graph.n_authors))
    judged = np.where(graph.judgements.same == 1, 1 - beliefs.same, beliefs.same)
    pairs = np.flatnonzero(judged > 0.5)
    labels = labels[np.argsort(-wrong[labels], kind="stable")]
    pairs = pairs[np.argsort(-judged[pairs], kind="stable")]
    return _Doubts(labels, wrong[labels], pairs, judged[pairs])


def _listed(
    graph: StatementGraph, beliefs: Beliefs, side: SideInformation, doubts: _Doubts, class_names: AnyArray
) -> list[Doubt]:
    """Return the most doubtful statements in words."""
    row, column = graph.said.tocoo().coords
    names, classes, words = graph.annotations.annotators.tolist(), class_names.tolist(), ("different", "same")
    found = []
    for place, wrong in zip(doubts.labels[:_MOST_LISTED], doubts.label_wrong, strict=False):
        named, author = graph.answers.names[column[place]], names[graph.answers.annotators[column[place]]]
        likely = classes[beliefs.shares[row[place]].argmax()]
        found.append(Doubt((_row_name(side, graph.linked.rows[row[place]]),), named, author, likely, _odds(wrong)))
    judged = graph.judgements
    for place, wrong in zip(doubts.pairs[:_MOST_LISTED], doubts.pair_wrong, strict=False):
        pair = tuple(_row_name(side, end) for end in judged.pairs[place])
        same, author = judged.same[place], names[judged.annotators[place]]
        found.append(Doubt(pair, words[same], author, words[1 - same], _odds(wrong)))
    return sorted(found, key=lambda doubt: -doubt.odds)[:_MOST_LISTED]


def _odds(probability: float) -> float:
    return float(probability / max(1 - probability, 1e-12))


def _questions(graph: StatementGraph, beliefs: Beliefs, side: SideInformation, names: list[Any]) -> list[Question]:
    """Return the least certain rows and pairs, each with the annotator, new to it, who is expected to tell most."""
    found = []
    asked = {(int(row), int(author)) for row, author in zip(*_label_authors(graph), strict=True)}
    uncertainty = -xlogy(beliefs.shares, beliefs.shares).sum(axis=1)
    labellers = np.unique(graph.answers.annotators[graph.answers.annotators < graph.n_authors])
    matrices = {}
    for author in labellers.tolist():
        parameters = beliefs.reliability.confusion[:, graph.answers.annotators == author]
        matrices[author] = parameters / parameters.sum(axis=1, keepdims=True)
    for place in np.argsort(-uncertainty, kind="stable")[:_MOST_LISTED] if len(labellers) else []:
        gains = {
            author: _information(beliefs.shares[place], matrix)
            for author, matrix in matrices.items()
            if (int(graph.linked.rows[place]), author) not in asked
        }
        if gains:
            best = max(gains, key=gains.__getitem__)
            found.append(Question((_row_name(side, graph.linked.rows[place]),), names[best], gains[best]))
    found += _pair_questions(graph, beliefs, side, names)
    return sorted(found, key=lambda question: -question.gain)[:_MOST_LISTED]


def _pair_questions(graph: StatementGraph, beliefs: Beliefs, side: SideInformation, names: list[Any]) -> list[Question]:
    judged, found = graph.judgements, []
    if not len(judged.same):
        return []
    pairs, first, place = np.unique(judged.pairs, axis=0, return_index=True, return_inverse=True)
    same = beliefs.same[first]
    asked = set(zip(place.ravel().tolist(), judged.annotators.tolist(), strict=True))
    rates = beliefs.reliability.rates / beliefs.reliability.rates.sum(axis=2, keepdims=True)
    judges = np.unique(judged.annotators).tolist()
    for number in np.argsort(np.abs(same - 0.5), kind="stable")[:_MOST_LISTED].tolist():
        shares = np.array([1 - same[number], same[number]])
        gains = {author: _information(shares, rates[author]) for author in judges if (number, author) not in asked}
        if gains:
            best = max(gains, key=gains.__getitem__)
            rows = tuple(_row_name(side, row) for row in pairs[number])
            found.append(Question(rows, names[best], gains[best]))
    return found


def _label_authors(graph: StatementGraph) -> tuple[IntArray, IntArray]:
    said = graph.said.tocoo()
    row, column = said.coords
    return graph.linked.rows[row], graph.answers.annotators[column]


def _information(shares: FloatArray, matrix: FloatArray) -> float:
    """Return the mutual information, in nats, of a class with these shares and an answer given by its matrix row."""
    joint = shares[:, None] * matrix
    answers = joint.sum(axis=0)
    return float(max(xlogy(joint, joint).sum() - xlogy(shares, shares).sum() - xlogy(answers, answers).sum(), 0.0))
