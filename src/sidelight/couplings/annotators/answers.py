"""What annotators can say, as columns of a sparse matrix: annotator after annotator, each with the names it uses.

An annotator whose names are the classes can say each of them, and so has as many columns as there are classes. One with
names of its own has a column for each of these; which class a name stands for is learned.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.side import SideInformation
from sidelight.side.annotations import Annotations, vocabularies


class Answers(NamedTuple):
    """The labels that annotators gave, and the answers that each could have given.

    Parameters
    ----------
    said : (n, columns) sparse
        How often each row got each answer.
    starts : (A,)
        The first column of each annotator; annotators without labels have none.
    annotators : (columns,)
        Whose answer a column is.
    classes : (columns,)
        The class that an answer names, -1 where an annotator uses names of its own.
    names : (columns,)
        Names of the answers.
    """

    said: "csr_array[Any]"
    starts: IntArray
    annotators: IntArray
    classes: IntArray
    names: AnyArray

    @classmethod
    def of(cls, side: SideInformation, annotations: Annotations) -> "Answers":
        """Return the labels of annotators; the classes are the labels of the side information."""
        given = side.label_names[np.unique(side.labels[side.labels >= 0])]
        own = vocabularies(annotations, given).of_annotator
        known = annotations.label_codes >= 0
        rows, codes, authors = (
            part[known] for part in (annotations.label_rows, annotations.label_codes, annotations.label_annotators)
        )
        class_of = {name: code for code, name in enumerate(side.label_names.tolist())}
        classes_of = np.array([class_of.get(name, -1) for name in annotations.label_names.tolist()], dtype=np.int64)
        starts: list[int] = []
        annotators: list[int] = []
        classes: list[int] = []
        names: list[Any] = []
        column = np.full((len(annotations.annotators), len(annotations.label_names)), -1, dtype=np.int64)
        has_labels = np.bincount(authors, minlength=len(annotations.annotators)) > 0
        for number in range(len(annotations.annotators)):
            starts.append(len(names))
            if not has_labels[number]:
                continue
            if own[number] == 0:
                possible = np.arange(len(side.label_names))
                column[number, classes_of >= 0] = len(names) + classes_of[classes_of >= 0]
                classes.extend(possible.tolist())
                names.extend(side.label_names.tolist())
            else:
                shared = np.isin(authors, np.flatnonzero(own == own[number]))
                used = np.unique(codes[shared])
                column[number, used] = len(names) + np.arange(len(used))
                classes.extend([-1] * len(used))
                names.extend(annotations.label_names[used].tolist())
            annotators.extend([number] * (len(names) - starts[-1]))
        said: csr_array[Any] = csr_array(
            (np.ones(len(rows)), (rows, column[authors, codes])), shape=(side.n_rows, len(names))
        )
        named = np.empty(len(names), dtype=object)
        named[:] = names
        first, authors_of, meant = (np.array(part, dtype=np.int64) for part in (starts, annotators, classes))
        return cls(said, first, authors_of, meant, named)

    @property
    def n_columns(self) -> int:
        """How many answers there are."""
        return len(self.annotators)


class Judgements(NamedTuple):
    """Pairs that annotators judged, "unsure" left out.

    Parameters
    ----------
    pairs : (q, 2)
    same : (q,)
        1 where the annotator says "same", 0 where "different".
    annotators : (q,)
    weights : (q,)
        1 for a judgement that its annotator is sure of; 2c − 1 where a confidence c was stated, so that one of
        confidence 0.5 says nothing.
    """

    pairs: IntArray
    same: IntArray
    annotators: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, annotations: Annotations) -> "Judgements":
        """Return the judgements that say something."""
        sure = annotations.relations >= 0
        return cls(
            annotations.pairs[sure],
            annotations.relations[sure],
            annotations.pair_annotators[sure],
            2 * annotations.pair_confidence[sure] - 1,
        )
