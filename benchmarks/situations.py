"""Real tables and statements about their rows: the situations that `quality.py` compares methods in.

A table is taken as it is: numbers, categories, counts, empty cells, more columns than rows. Of a table with more than
1000 rows a draw is a random part. All situations of a draw use one order of the rows and one list of pairs: five labels
per class include the two, 30 % of the labels the 10 %, and n links the n/4, so that what more statements add is not
mixed up with which rows they are about. Tables that scikit-learn does not have are read from the folder that
SIDELIGHT_DATA names.
"""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.decomposition import PCA

from further_tables import SOURCES
from sidelight.side import draw_links
from sidelight.side.sampling.labels import rank_within

SHIPPED = ("iris", "wine", "digits")
OF_THE_PAPERS = (
    *("glass", "yeast", "haberman", "thyroid", "mnist_test", "coil20", "ecoli", "liver", "pima", "ionosphere"),
    *("breast_cancer_wisconsin", "letter", "pendigits", "leukemia_yeoh", "lung_bhattacharjee"),
)
OTHERS = (
    *("sonar", "vehicle", "segment", "satimage", "seeds", "zoo", "mushroom", "penguins", "dermatology", "authorship"),
    *("pbmc68k_reduced", "srbct"),
)
# "breast_cancer" is scikit-learn's (30 numbers), "breast_cancer_wisconsin" the older one of nine whole numbers.
TABLES = (*SHIPPED, "breast_cancer", *OF_THE_PAPERS, *OTHERS)
# Tables on which no default was chosen; `further_tables.py` fetches them.
FURTHER = tuple(SOURCES)
# Written down, so that what is stored can be reported where the tables are not at hand.
TWO_CLASSES = frozenset(
    (
        *("breast_cancer", "haberman", "liver", "pima", "ionosphere", "breast_cancer_wisconsin", "sonar", "mushroom"),
        *("votes", "spam", "musk", "promoters", "banknotes", "cell_images", "dhfr", "body", "vertebrae", "credit"),
        *("recurrence", "labor", "heart"),
    )
)
MOST_ROWS = 1000


def read_table(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table as it is, and the names of its classes."""
    loader = getattr(datasets, f"load_{name}", None)
    if loader is not None:
        found = loader(as_frame=True)
        return found.data, np.asarray(found.target).astype(str)
    if "SIDELIGHT_DATA" not in os.environ:
        raise ValueError(f"scikit-learn has no table {name!r}: set SIDELIGHT_DATA to the folder of the others")
    folder = Path(os.environ["SIDELIGHT_DATA"])
    if (folder / f"{name}.npz").exists():
        arrays = np.load(folder / f"{name}.npz")
        return pd.DataFrame(arrays["X"].astype(float)), arrays["y"].astype(str)
    X = pd.read_csv(folder / f"{name}.csv.gz", dtype={"target": str})
    return X, X.pop("target").to_numpy().astype(str)


def standardised(X: pd.DataFrame) -> np.ndarray:
    """Return the columns as numbers of variance one: categories as indicators, empty cells at the mean."""
    numbers = pd.get_dummies(X, dtype=float).astype(float)
    deviations = numbers.std(ddof=0).replace(0.0, 1.0)
    return ((numbers - numbers.mean()) / deviations).fillna(0.0).to_numpy()


def components(Z: np.ndarray, number: int, above: int) -> np.ndarray:
    """Return principal components of a table with more than ``above`` columns, another table as it is."""
    return Z if Z.shape[1] <= above else PCA(min(number, len(Z) - 1), random_state=0).fit_transform(Z)


# --- draws ------------------------------------------------------------------------------------------------------------


class Draw(NamedTuple):
    """A table with at most 1000 rows: as it is, standardised, its classes, and an order of its rows."""

    X: pd.DataFrame
    Z: np.ndarray
    y: np.ndarray
    order: np.ndarray
    pairs: np.ndarray


def part_of(y: np.ndarray, most: int, random: np.random.Generator) -> np.ndarray:
    """Return at most ``most`` rows, drawn at random, two of each class among them where it has two."""
    shuffled = random.permutation(len(y))
    codes = np.unique(y, return_inverse=True)[1][shuffled]
    first = rank_within(codes) < 2
    return np.sort(np.concatenate([shuffled[first], shuffled[~first]])[:most])


@lru_cache(maxsize=64)
def drawn(name: str, seed: int) -> Draw:
    """Draw rows of a table, and the order in which statements about them are made."""
    X, y = read_table(name)
    random = np.random.default_rng(seed)
    rows = part_of(y, MOST_ROWS, random)
    X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    # Pairs in random order, whatever the classes of their rows.
    pairs = draw_links(np.zeros(len(y), dtype=int), len(y), random_state=seed).must_link
    return Draw(X, standardised(X), y, random.permutation(len(y)), pairs)


# --- situations -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Situation:
    """Which statements there are about the rows of a table.

    Parameters
    ----------
    title : str
    per_class : int
        Labels of each class, as far as it has rows.
    fraction : float
        Labels of each class as a fraction of its rows, at least one; instead of ``per_class``.
    third_unlabelled : bool
        Whether a third of the classes (rounded down, at least one) have no labels; only with three classes or more.
    links_per_row : float
        Random pairs of rows whose relation is stated, per row.
    wrong : float
        Fraction of the links with the wrong relation.
    more : str, optional
        The situation that has the same statements and further ones.
    """

    title: str
    per_class: int = 0
    fraction: float = 0.0
    third_unlabelled: bool = False
    links_per_row: float = 0.0
    wrong: float = 0.0
    more: str | None = None

    @property
    def has_labels(self) -> bool:
        """Whether rows are labelled."""
        return self.per_class > 0 or self.fraction > 0

    @property
    def has_links(self) -> bool:
        """Whether rows are linked."""
        return self.links_per_row > 0


SITUATIONS = {
    "2-per-class": Situation("2 labels per class", per_class=2, more="5-per-class"),
    "5-per-class": Situation("5 labels per class", per_class=5, more="labels-and-links"),
    "10%": Situation("10 % of labels", fraction=0.1, more="30%"),
    "30%": Situation("30 % of labels", fraction=0.3),
    "unlabelled-classes": Situation("10 %, a third of the classes never", fraction=0.1, third_unlabelled=True),
    "n/4-links": Situation("n/4 links", links_per_row=0.25, more="n-links"),
    "n-links": Situation("n links", links_per_row=1.0),
    "wrong-links": Situation("n/2 links, 10 % wrong", links_per_row=0.5, wrong=0.1),
    "labels-and-links": Situation("5 per class and n/4 links", per_class=5, links_per_row=0.25),
    "nothing": Situation("nothing"),
}


class Problem(NamedTuple):
    """A table in a situation, with the true classes.

    Attributes
    ----------
    X : DataFrame
        The table as it is.
    Z : (n, d)
        The same as standardised numbers.
    y : (n,) of str
        The true classes.
    labels : (n,) of str or None
        The labels.
    must_link, cannot_link : (m, 2) int
        The links.
    unmentioned : (n,) bool
        Rows in no statement.
    still_unmentioned : (n,) bool
        Rows in no statement of the situation with more statements either; those of ``unmentioned`` where there is none.
    seed : int
    """

    X: pd.DataFrame
    Z: np.ndarray
    y: np.ndarray
    labels: np.ndarray
    must_link: np.ndarray
    cannot_link: np.ndarray
    unmentioned: np.ndarray
    still_unmentioned: np.ndarray
    seed: int

    @property
    def n_classes(self) -> int:
        """The true number of classes."""
        return len(set(self.y))

    @property
    def labelled(self) -> np.ndarray:
        """The rows with a label."""
        return np.flatnonzero([label is not None for label in self.labels])

    @property
    def known(self) -> np.ndarray:
        """The classes with a label."""
        return np.unique(self.y[self.labelled])


def applies(table: str, situation: str) -> bool:
    """Say whether a table has enough classes for a situation."""
    return not SITUATIONS[situation].third_unlabelled or table not in TWO_CLASSES


def problem(table: str, situation: str, seed: int) -> Problem:
    """Draw a table and the statements of a situation."""
    draw, wanted = drawn(table, seed), SITUATIONS[situation]
    rows = labelled_rows(draw, wanted, seed)
    labels = np.full(len(draw.y), None, dtype=object)
    labels[rows] = draw.y[rows]
    pairs, must = links(draw, wanted)
    unmentioned = ~mentioned(draw, wanted, seed)
    more = unmentioned if wanted.more is None else ~mentioned(draw, SITUATIONS[wanted.more], seed)
    return Problem(draw.X, draw.Z, draw.y, labels, pairs[must], pairs[~must], unmentioned, more, seed)


def labelled_rows(draw: Draw, wanted: Situation, seed: int) -> np.ndarray:
    """Return the rows that are labelled: the first of each class in the draw's order."""
    codes, sizes = np.unique(draw.y, return_inverse=True, return_counts=True)[1:]
    numbers = np.full(len(sizes), wanted.per_class)
    if wanted.fraction:
        numbers = np.maximum(np.rint(wanted.fraction * sizes).astype(int), 1)
    if wanted.third_unlabelled:
        numbers[np.random.default_rng(seed).permutation(len(sizes))[: max(len(sizes) // 3, 1)]] = 0
    ordered = codes[draw.order]
    return np.sort(draw.order[rank_within(ordered) < numbers[ordered]])


def links(draw: Draw, wanted: Situation) -> tuple[np.ndarray, np.ndarray]:
    """Return the linked pairs, the first of the draw's, and which of them are stated to be of one class."""
    pairs = draw.pairs[: round(wanted.links_per_row * len(draw.y))]
    must = draw.y[pairs[:, 0]] == draw.y[pairs[:, 1]]
    must[: round(wanted.wrong * len(pairs))] ^= True
    return pairs, must


def mentioned(draw: Draw, wanted: Situation, seed: int) -> np.ndarray:
    """Return which rows are in a statement."""
    found = np.zeros(len(draw.y), dtype=bool)
    found[labelled_rows(draw, wanted, seed)] = True
    found[links(draw, wanted)[0].ravel()] = True
    return found
