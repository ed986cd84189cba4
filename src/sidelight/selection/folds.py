"""Folds for cross-validation that keep linked rows together."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from sidelight._typing import IntArray
from sidelight.side import SideInformation
from sidelight.side.closure import chain
from sidelight.tables.validation import check_integer


class LinkedKFold(BaseCrossValidator):
    """K folds that keep linked rows together: no link and no block is cut.

    With folds drawn row by row, most links have one end in the training rows and one in the test rows, where neither
    ``fit`` nor a scorer can use them. Here the rows of a component of links and blocks are all in one fold. Labels are
    spread evenly over the folds, as far as links allow.

    Parameters
    ----------
    n_splits : int, default 5
        Number of folds, at least 2.
    side : SideInformation, optional
        Links and blocks. With metadata routing on it can be passed to ``split`` instead, by the function that
        cross-validates.
    cannot_link : bool, default True
        Whether cannot-links are kept whole too. False lets folds cut them, where nearly all rows hang together
        otherwise.
    shuffle : bool, default False
        Whether to deal the rows in random order.
    random_state : int, RandomState or None
        Of the order.

    See Also
    --------
    LinkScorer : How many of the links of a test fold the predictions keep.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import SideInformation
    >>> from sidelight.selection import LinkedKFold
    >>> side = SideInformation.build(6, must_link=[(0, 5)], cannot_link=[(1, 2)])
    >>> [test.tolist() for _, test in LinkedKFold(3, side=side).split(np.zeros((6, 2)))]
    [[0, 5], [1, 2], [3, 4]]
    """

    __metadata_request__split: ClassVar[dict[str, bool]] = {"side": True, "sample_id": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        side: SideInformation | None = None,
        cannot_link: bool = True,
        shuffle: bool = False,
        random_state: Any = None,
    ) -> None:
        check_integer("n_splits", n_splits, least=2)
        self.n_splits = n_splits
        self.side = side
        self.cannot_link = cannot_link
        self.shuffle = shuffle
        self.random_state = random_state

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        *,
        side: SideInformation | None = None,
        sample_id: Any = None,
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the row numbers of the training rows and of the test rows of each fold.

        Parameters
        ----------
        X : (n, d) array or data frame
            The table.
        y : (n,) array, optional
            Labels, complete or partial, to be spread over the folds.
        groups : None
            Ignored; it is there because scikit-learn passes it.
        side : SideInformation, optional
            Links and blocks; None takes those of the constructor.
        sample_id : (n,) array, optional
            Names of the rows, by which ``side`` is found.

        Yields
        ------
        train, test : (m,) int
            Row numbers, in order.
        """
        n = _num_samples(X)
        stated = statements_about(X, self.side if side is None else side, sample_id)
        codes = SideInformation.build(n, y=y).labels
        random = check_random_state(self.random_state) if self.shuffle else None
        fold = balanced_folds(linked_groups(stated, cannot_link=self.cannot_link), codes, self.n_splits, random)
        empty = self.n_splits - len(np.unique(fold))
        if empty:
            raise ValueError(
                f"n_splits={self.n_splits} folds leave {empty} without rows, because {n} rows hang together by links "
                "and blocks in fewer groups; use fewer folds, or cannot_link=False to let folds cut cannot-links."
            )
        for number in range(self.n_splits):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, **given: Any) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups, **given : any
            Ignored; they are there because scikit-learn passes what it passes to ``split``.

        Returns
        -------
        int
            As given.
        """
        return self.n_splits


def statements_about(X: Any, side: SideInformation | None, sample_id: Any) -> SideInformation:
    """Return the statements about the rows of a part of a table.

    Rows are found by ``sample_id``, else by the index of a pandas frame where it has ids of ``side``, else by number.
    """
    if side is None:
        raise ValueError(
            "side is missing: give it to the constructor, or pass params={'side': side, 'sample_id': ids} to "
            "cross_validate with sklearn.set_config(enable_metadata_routing=True)."
        )
    if sample_id is not None:
        return side.align(sample_id)
    index: Any = getattr(X, "index", None)
    if side.ids is not None and hasattr(index, "to_numpy"):
        names = index.to_numpy()
        if not set(side.ids.tolist()).isdisjoint(names.tolist()):
            return side.align(names)
    if side.n_rows == _num_samples(X):
        return side
    raise ValueError(
        f"side has {side.n_rows} rows, but X has {_num_samples(X)}; build side with sample_id and pass sample_id too, "
        "or take the ids as the index of a pandas frame, so that rows are found by name."
    )


def linked_groups(side: SideInformation, *, cannot_link: bool) -> IntArray:
    """Return the component of links and blocks that each row is in, (n,), numbered from 0."""
    in_block = np.flatnonzero(side.blocks >= 0)
    pairs = np.concatenate(
        [
            side.must_link,
            side.cannot_link[: len(side.cannot_link) * cannot_link],
            chain(side.blocks[in_block], in_block),
        ]
    )
    n = side.n_rows
    edges = coo_array((np.ones(len(pairs), dtype=bool), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return connected_components(edges, directed=False)[1].astype(np.int64)


def balanced_folds(groups: IntArray, codes: IntArray, n_folds: int, random: np.random.RandomState | None) -> IntArray:
    """Return the fold of each row, (n,): groups stay whole, and the folds have about as many rows of each code.

    Large groups come first, each to the fold where its rows are most needed; single rows then fill up the folds.
    """
    n = len(groups)
    order = np.arange(n) if random is None else random.permutation(n)
    columns = codes + 1  # rows without a label count as a class of their own
    counts = np.zeros((n_folds, columns.max(initial=0) + 1))
    fold = np.full(n, -1)
    sizes = np.bincount(groups)
    rank = np.argsort(order)
    shared = order[sizes[groups[order]] > 1]
    by_size = shared[np.lexsort((rank[shared], groups[shared], -sizes[groups[shared]]))]
    starts = np.flatnonzero(np.diff(groups[by_size], prepend=-1))
    for rows in np.split(by_size, starts[1:]) if len(by_size) else []:
        held = np.bincount(columns[rows], minlength=counts.shape[1])
        # What the squares of the counts would grow by, and then the number of rows.
        number = np.lexsort((counts.sum(axis=1), counts @ held))[0]
        fold[rows] = number
        counts[number] += held
    for column in range(counts.shape[1]):
        single = order[(sizes[groups[order]] == 1) & (columns[order] == column)]
        # Every fold offers its next places; the lowest are taken, those of the emptier folds first among equals.
        places = counts[:, column, None] + np.arange(len(single))
        emptier = np.argsort(np.argsort(counts.sum(axis=1), kind="stable"))
        taken = np.lexsort((np.repeat(emptier, len(single)), places.ravel()))[: len(single)]
        fold[single] = np.repeat(np.arange(n_folds), len(single))[taken]
        counts += np.bincount(fold[single], minlength=n_folds)[:, None] * (np.arange(counts.shape[1]) == column)
    return fold
