"""Which rows of a lesson are held out together."""

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.experts.expert import Lesson

N_FOLDS = 5


def stratified_folds(codes: IntArray, random: np.random.RandomState, n_folds: int = N_FOLDS) -> IntArray:
    """Return a fold (m,) for each row; every class is spread over the folds as evenly as it can be."""
    folds = np.empty(len(codes), dtype=np.int64)
    start = 0
    for code in np.unique(codes):
        members = random.permutation(np.flatnonzero(codes == code))
        folds[members] = (start + np.arange(len(members))) % n_folds
        start += len(members)
    return folds


def lesson_of(codes: IntArray, weights: FloatArray, n_classes: int, random: np.random.RandomState) -> Lesson:
    """Return the lesson of rows with codes (n,), -1 where the class is unknown."""
    rows = np.flatnonzero(codes >= 0)
    known = codes[rows].astype(np.int64)
    return Lesson(rows, known, weights[rows], stratified_folds(known, random), n_classes)
