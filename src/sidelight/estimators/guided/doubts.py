"""What speaks against a result: labels and links that experts, without having seen them, would not have guessed."""

from dataclasses import dataclass

import numpy as np

from sidelight._storable import storable
from sidelight._typing import BoolArray
from sidelight._warnings import warn
from sidelight._wording import count, percent, printable
from sidelight.estimators.guided.link_beliefs import believe_links
from sidelight.estimators.guided.rounds import Round, Statements
from sidelight.metrics import Suspicions

# Fewer labels say little about how well experts do.
_LEAST_LABELS = 10
# A share of doubtful links that deserves a warning, and the least number of links for it.
_DOUBTFUL_LINKS = 0.05
_LEAST_LINKS = 20
# Doubtful links that a warning names.
_PAIRS_NAMED = 3


@storable("HeldOutScores")
@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """How well statements are predicted by opinions that have not seen them.

    Attributes
    ----------
    n_labels, n_links : int
        Number of labels and of links that were held out.
    accuracy : float
        Share of the labels that the experts together name; NaN without labels, as are the next three.
    linear_accuracy : float
        Share that logistic regression alone names.
    largest_class : float
        Share of the most frequent label: what is right without looking at the table.
    information : float
        What the table says about a label at least: the mean log probability of the labels less that by their shares
        alone, in nats, less one standard error of this mean.
    doubtful_links : (n_links,) bool
        Links that are more probably wrong than right, must-links first, in the order of the side information.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sidelight import GuidedMixture
    >>> X, species = load_iris(return_X_y=True)
    >>> model = GuidedMixture(random_state=0).fit(X, np.where(np.arange(150) % 5 == 0, species, -1))
    >>> model.held_out_.n_labels, bool(model.held_out_.accuracy > 0.9), model.held_out_.label_doubt
    (30, True, '')
    """

    n_labels: int
    n_links: int
    accuracy: float
    linear_accuracy: float
    largest_class: float
    information: float
    doubtful_links: BoolArray

    @property
    def label_doubt(self) -> str:
        """What speaks against the labels, in a sentence; empty where nothing does."""
        if self.n_labels < _LEAST_LABELS or self.information > 0:
            return ""
        return (
            f"Of {self.n_labels} labels, a model that has not seen them predicts {self.accuracy:.0%} right; "
            f"always naming the largest class is right for {self.largest_class:.0%}."
        )

    @property
    def link_doubt(self) -> str:
        """What speaks against the links, in a sentence; empty where nothing does."""
        n_doubtful = int(self.doubtful_links.sum())
        if self.n_links < _LEAST_LINKS or n_doubtful <= _DOUBTFUL_LINKS * self.n_links:
            return ""
        return f"{n_doubtful} of {self.n_links} links are probably wrong, judged by the table and the other links."

    def __str__(self) -> str:
        parts = []
        if self.n_labels:
            linear, largest = percent(self.linear_accuracy), percent(self.largest_class)
            parts.append(
                f"{percent(self.accuracy)} of {count(self.n_labels, 'label')} predicted when held out "
                f"(logistic regression {linear}, the largest class {largest})"
            )
        if self.n_links:
            parts.append(f"{self.doubtful_links.sum()} of {count(self.n_links, 'link')} doubtful")
        return "; ".join(parts)


def held_out_scores(found: Round, statements: Statements) -> HeldOutScores:
    """Compare opinions that have not seen the statements with the statements."""
    labelled = np.flatnonzero(statements.codes >= 0)
    codes = statements.codes[labelled]
    accuracy = linear = largest = information = float("nan")
    if len(labelled):
        accuracy = float(np.mean(found.log_shares[labelled].argmax(axis=1) == codes))
        linear = float(found.accuracies[0])
        counts = np.bincount(codes)
        largest = float(counts.max() / len(codes))
        known = found.log_shares[labelled, codes] - np.log(counts[codes] / len(codes))
        information = float(known.mean() - known.std() / np.sqrt(len(known)))
    doubtful = np.zeros(0, dtype=bool)
    if len(statements.pairs):
        doubtful = believe_links(found.log_shares, statements.side, found.link_error).wrong > 0.5
    return HeldOutScores(len(labelled), len(statements.pairs), accuracy, linear, largest, information, doubtful)


def warn_of_doubts(scores: HeldOutScores, suspicions: Suspicions | None) -> None:
    """Say what speaks against the result, and what can be done; pairs are named where rows have ids."""
    if scores.label_doubt:
        warn(
            f"{scores.label_doubt} The columns say little about these classes: check the labels, add columns that tell "
            "the classes apart, or label more rows.",
        )
    if scores.link_doubt:
        ids = None if suspicions is None else suspicions.doubtful_ids
        pairs = [] if ids is None else [f"{first} and {second}" for first, second in ids[:_PAIRS_NAMED].tolist()]
        more = ["…"] if ids is not None and len(ids) > len(pairs) else []
        named = f": {printable('; '.join([*pairs, *more]))};" if pairs else ":"
        warn(f"{scores.link_doubt} Check these pairs again{named} violations_.suspicions lists them.")


def warn_of_other_number(asked: int | None, found: int, n_labelled: int) -> None:
    """Say why there are more or fewer clusters than were asked for."""
    if asked is None or asked == found:
        return
    if asked < n_labelled:
        warn(f"n_clusters={asked}, but the labels name {n_labelled} classes, and each is a cluster.")
        return
    warn(
        f"n_clusters={asked}, but {count(found, 'cluster')} {'was' if found == 1 else 'were'} found: where there are "
        "labels, a cluster without any needs evidence. Label a row of it, or leave n_clusters out.",
    )
