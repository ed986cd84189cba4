"""The pairs of rows whose answers are the most informative."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import FloatArray, IntArray
from sidelight.asking.batch import Batch, Question, find_candidates
from sidelight.asking.belief import answer_entropy, count_clusters, row_similarity
from sidelight.asking.consistency import without_contradictions, without_disbelieved
from sidelight.asking.introductions import introductions
from sidelight.describe.assignment import has_probabilities, with_noise
from sidelight.side import SideInformation

_MAX_BASE_RATE = 0.5


class Questions(NamedTuple):
    """Pairs of rows to ask about, the most informative first.

    Parameters
    ----------
    pairs : (m, 2) int
        Row numbers.
    chance_same : (m,)
        The probability that the two rows share a class, before the expert is asked.
    gain : (m,)
        The information of the answer, in bits.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.asking import informative_pairs
    >>> posterior = np.array([[1.0, 0.0], [0.9, 0.1], [0.5, 0.5], [0.0, 1.0]])
    >>> asked = informative_pairs(posterior, n_pairs=1, random_state=0)
    >>> asked.pairs.shape, 2 in asked.pairs[0], bool(asked.gain[0] > 0)
    ((1, 2), True, True)
    """

    pairs: IntArray
    chance_same: FloatArray
    gain: FloatArray


def informative_pairs(
    posterior: Any,
    side: Any = None,
    *,
    n_pairs: int = 20,
    X: Any = None,
    random_state: Any = None,
) -> Questions:
    """Choose the pairs of rows whose answers, same class or not, are the most informative.

    The answer about one pair of rows is worth at most one bit, and most for a pair on the border of two clusters, from
    which other rows learn little. So the information of the answer is multiplied by its reach: how much uncertainty
    about all rows it removes. Rows are compared with the groups that earlier answers have formed, as in the
    explore-and-consolidate scheme of Basu et al. (2004) and the neighbourhoods of Xiong et al. (2014), the most
    probable group first where two questions are equally informative. We depart from both in that a batch is chosen at
    once, without the answers in between: a chosen row counts as known when the next is chosen, which spreads a batch
    over the data. The model is never trusted completely, so that there are also questions about clusters that may hold
    two classes, and about pairs of clusters that may be one class.

    No pair is chosen whose answer is stated, with or without a confidence, or entailed by statements that the model
    does not find wrong. The questions of a batch form no cycle, so that positive answers never entail another answer of
    the batch. A batch has at most three questions about a row.

    Parameters
    ----------
    posterior : (n, K) or estimator
        Probabilities of clusters for each row: a fitted model's ``posterior_``, or ``predict_proba``. A fitted model
        itself stands for what it says about the table ``X``, or for its ``posterior_`` where there is no table.
    side : SideInformation, optional
        The statements so far. After a model, the table may stand here: ``informative_pairs(model, X)``. Nothing is
        concluded from must-links that are more probably wrong than right by the posterior and, where links contradict
        each other, from the least probable ones.
    n_pairs : int
        Number of questions. There are fewer where nothing more is left to ask.
    X : (n, d) array, optional
        Positions of the rows; a missing cell (NaN) counts as the mean of its column. Without positions, only the
        posterior tells which rows are similar. The table of a model may have columns of other kinds; it then gives no
        positions.
    random_state : int, RandomState or None
        For the sample of rows considered, 1500 of those without statements, and for ties.

    Returns
    -------
    Questions
        The pairs, the most informative first.

    References
    ----------
    S. Basu, A. Banerjee, R. J. Mooney (2004). Active semi-supervision for pairwise constrained clustering.
    Proceedings of the SIAM International Conference on Data Mining, 333–344.

    S. Xiong, J. Azimi, X. Z. Fern (2014). Active learning of constraints for semi-supervised clustering. IEEE
    Transactions on Knowledge and Data Engineering 26(1), 43–54.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import BayesianMixture
    >>> from sidelight.asking import informative_pairs
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = BayesianMixture(random_state=0).fit(X)
    >>> questions = informative_pairs(model, X, n_pairs=5, random_state=0)
    >>> questions.pairs.shape
    (5, 2)
    """
    if isinstance(n_pairs, bool) or not isinstance(n_pairs, int | np.integer) or n_pairs < 1:
        raise ValueError(f"n_pairs must be a whole number of at least 1, not {n_pairs!r}.")
    if isinstance(posterior, BaseEstimator):
        if X is None and side is not None and not isinstance(side, SideInformation):
            side, X = None, side
        posterior, X = _of_model(posterior, X)
    probabilities = _read_posterior(posterior)
    n = len(probabilities)
    positions = None if X is None else _read_positions(X, n)
    stated = SideInformation.build(n)
    if side is not None:
        stated = without_contradictions(without_disbelieved(_read_side(side, n), probabilities), probabilities)
    candidates = find_candidates(stated, check_random_state(random_state))
    sample = probabilities[candidates.rows]
    if len(sample) < 2:
        return _as_questions([], candidates.rows)
    places = None if positions is None else np.asarray(positions[candidates.rows], dtype=float)
    # The probability that two random rows share a class, if classes are as large as clusters. Questions assume that
    # there is more than one class, even where the model has found one cluster.
    base_rate = min(float((probabilities.mean(axis=0) ** 2).sum()), _MAX_BASE_RATE)
    counts = count_clusters(candidates.members, sample, candidates.settled)
    similarity = row_similarity(sample, counts, places, n_pairs)
    batch = Batch(candidates, counts, similarity, sample, base_rate)
    chosen: list[Question] = []
    for first, second in introductions(sample, similarity, candidates.group >= 0, n_pairs):
        if batch.is_open(first, second):
            introduced = Question(first, second, base_rate, float(answer_entropy(np.array(base_rate))))
            batch.take(introduced)
            chosen.append(introduced)
    while len(chosen) < n_pairs and (question := batch.next()) is not None:
        batch.take(question)
        chosen.append(question)
    return _as_questions(chosen, candidates.rows)


def _as_questions(chosen: list[Question], rows: IntArray) -> Questions:
    pairs = np.array([(question.first, question.second) for question in chosen], dtype=np.int64).reshape(-1, 2)
    probability = np.array([question.probability for question in chosen], dtype=float)
    return Questions(np.sort(rows[pairs], axis=1), probability, answer_entropy(probability))


def _of_model(model: Any, X: Any) -> tuple[FloatArray, Any]:
    """Return what a fitted model says about a table, and the table where it gives positions."""
    check_is_fitted(model)
    if not has_probabilities(model):
        raise ValueError(
            f"posterior: {type(model).__name__} gives no probabilities of clusters, which questions are chosen by; use "
            "a mixture, such as BayesianMixture."
        )
    if X is None:
        return with_noise(model, model.posterior_), None
    probabilities = with_noise(model, model.predict_proba(X))
    return probabilities, X if np.asarray(X).dtype.kind in "biuf" else None


def _read_posterior(posterior: Any) -> FloatArray:
    probabilities = np.asarray(posterior, dtype=float)
    if probabilities.ndim != 2:
        raise ValueError(f"posterior must be a table of rows and clusters, not of shape {probabilities.shape}.")
    if len(probabilities) < 2:
        raise ValueError(f"posterior has {len(probabilities)} rows; a question needs two.")
    wrong = np.flatnonzero(~(np.all(probabilities >= 0, axis=1) & (np.abs(probabilities.sum(axis=1) - 1) < 1e-6)))
    if len(wrong):
        raise ValueError(
            f"posterior: row {wrong[0]} holds no probabilities that sum to one; pass a model's posterior_ or the "
            "result of predict_proba; of a model with noise, with noise_probability_ as a further column."
        )
    return probabilities


def _read_positions(X: Any, n: int) -> Any:
    positions = np.asarray(X)
    if positions.ndim != 2 or len(positions) != n:
        raise ValueError(
            f"X must have one row for each of the {n} rows of posterior, but is of shape {positions.shape}."
        )
    if positions.dtype.kind not in "biuf":
        raise ValueError(
            "X must hold numbers; leave out columns of other kinds, or leave X out: the posterior then tells which "
            "rows are similar."
        )
    if np.isinf(positions).any():
        row = np.flatnonzero(np.isinf(positions).any(axis=1))[0]
        raise ValueError(f"X: row {row} holds an infinite number; make it finite or missing (NaN).")
    return positions


def _read_side(side: Any, n: int) -> SideInformation:
    if not isinstance(side, SideInformation):
        raise TypeError(
            f"side must be a SideInformation, not {type(side).__name__}; make one with SideInformation.build(n, …)."
        )
    if side.n_rows != n:
        raise ValueError(f"side has {side.n_rows} rows, but posterior has {n}.")
    return side
