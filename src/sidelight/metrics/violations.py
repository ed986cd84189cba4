"""Which statements of the user a labelling breaks."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from sidelight._html import html_table
from sidelight._storable import storable
from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray
from sidelight._wording import count, percent
from sidelight.side import SideInformation
from sidelight.side.parsing.columns import as_vector, encode_complete, refuse_missing

# How many broken statements of a kind notebooks show.
_SHOWN = 10


@storable("Suspicions")
@dataclass(frozen=True, eq=False)
class Suspicions:
    """How probable it is that links are wrong, judged by the table and all other statements.

    Attributes
    ----------
    pairs : (q, 2) int
        All links, the most suspicious first.
    must_link : (q,) bool
        Which of them are must-links.
    wrong : (q,) float
        Probability that the link is wrong.
    ids : (q, 2), optional
        The same links by the ids of their rows, where the side information has ids.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import SideInformation
    >>> from sidelight.metrics import Suspicions
    >>> side = SideInformation.build(4, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)])
    >>> found = Suspicions.of(side, np.array([0.1, 0.8, 0.2]))
    >>> found.pairs.tolist(), found.odds.round(2).tolist(), found.doubtful.tolist()
    ([[1, 2], [2, 3], [0, 1]], [4.0, 0.25, 0.11], [[1, 2]])
    >>> print(found)
    1 of 3 links probably wrong:
    must-link 1 – 2 (80 %)

    Links that were given by ids are shown by them:

    >>> side = SideInformation.build(3, must_link=[("u", "v"), ("v", "w")], sample_id=["u", "v", "w"])
    >>> found = Suspicions.of(side, np.array([0.1, 0.8]))
    >>> found.pairs.tolist(), found.doubtful_ids.tolist()
    ([[1, 2], [0, 1]], [['v', 'w']])
    >>> print(found)
    1 of 2 links probably wrong:
    must-link v – w (80 %)
    """

    pairs: IntArray
    must_link: BoolArray
    wrong: FloatArray
    ids: AnyArray | None = None

    @classmethod
    def of(cls, side: SideInformation, wrong: FloatArray) -> "Suspicions":
        """Sort links by the probability that they are wrong.

        Parameters
        ----------
        side : SideInformation
            Has the links.
        wrong : (q,) float
            Probability of each that it is wrong; must-links first.

        Returns
        -------
        Suspicions
            The most suspicious first.
        """
        pairs = np.concatenate([side.must_link, side.cannot_link])
        order = np.argsort(-wrong, kind="stable")
        return cls(pairs[order], order < len(side.must_link), wrong[order], _ids_of(side, pairs[order]))

    @property
    def odds(self) -> FloatArray:
        """Odds that each link is wrong: 3 means three to one."""
        wrong = np.clip(self.wrong, 1e-12, 1 - 1e-12)
        return np.asarray(wrong / (1 - wrong))

    @property
    def doubtful(self) -> IntArray:
        """Links (m, 2) that are more probably wrong than right, the most suspicious first."""
        return self.pairs[self.wrong > 0.5]

    @property
    def doubtful_ids(self) -> AnyArray | None:
        """The same links (m, 2) by the ids of their rows; None where these have no ids."""
        return None if self.ids is None else self.ids[self.wrong > 0.5]

    def __str__(self) -> str:
        found = [f"{kind} {rows} ({wrong})" for kind, rows, wrong in self._first()]
        more = ["…"] if len(self.doubtful) > len(found) else []
        return "\n".join([f"{self._total()}{':' if found else ''}", *found, *more])

    def _repr_html_(self) -> str:
        """Return what notebooks show: the links that are probably wrong, the most suspicious first."""
        return html_table(
            self._total(), ("link", "rows" if self.ids is None else "ids", "probably wrong"), self._first()
        )

    def _total(self) -> str:
        return f"{len(self.doubtful)} of {count(len(self.pairs), 'link')} probably wrong"

    def _first(self) -> list[tuple[str, str, str]]:
        """Return the first doubtful links in words."""
        named = self.pairs if self.ids is None else self.ids
        return [
            ("must-link" if must else "cannot-link", f"{first} – {second}", percent(wrong))
            for (first, second), must, wrong in zip(named.tolist(), self.must_link, self.wrong, strict=True)
            if wrong > 0.5
        ][:_SHOWN]


@storable("Violations")
@dataclass(frozen=True, eq=False)
class Violations:
    """Statements that a labelling breaks; true where there are any.

    Attributes
    ----------
    labels : (k,) int
        Labelled rows outside the cluster matched to their label.
    must_link : (m, 2) int
        Must-linked rows in different clusters.
    cannot_link : (q, 2) int
        Cannot-linked rows in one cluster.
    blocks : (b,) int
        Rows outside the cluster that holds most of their block.
    n_labels, n_must_link, n_cannot_link, n_blocks : int
        Number of statements of each kind: labelled rows, links, and rows in blocks of at least two.
    suspicions : Suspicions, optional
        How probable it is that each link is wrong, by estimators that tell: see `GuidedMixture`.
    ids : (r,) column, optional
        Ids of the rows that broken statements are about, in the order of :meth:`rows`, where the side information has
        ids.

    Examples
    --------
    >>> from sidelight import SideInformation
    >>> from sidelight.metrics import violations
    >>> broken = violations(SideInformation.build(3, must_link=[(0, 1), (1, 2)]), [0, 0, 1])
    >>> broken.must_link.tolist(), broken.total, bool(broken)
    ([[1, 2]], 1, True)
    """

    labels: IntArray
    must_link: IntArray
    cannot_link: IntArray
    blocks: IntArray
    n_labels: int
    n_must_link: int
    n_cannot_link: int
    n_blocks: int
    suspicions: Suspicions | None = None
    ids: AnyArray | None = None

    @property
    def total(self) -> int:
        """Number of statements broken."""
        return len(self.labels) + len(self.must_link) + len(self.cannot_link) + len(self.blocks)

    @property
    def n_statements(self) -> int:
        """Total number of statements."""
        return self.n_labels + self.n_must_link + self.n_cannot_link + self.n_blocks

    @property
    def fraction(self) -> float:
        """Fraction of the statements that are broken; 0 where there are none."""
        return self.total / max(self.n_statements, 1)

    def rows(self) -> IntArray:
        """Return the rows that broken statements are about, in order.

        Returns
        -------
        (m,) array of int
            Each row once.
        """
        return np.unique(np.concatenate([self.labels, self.must_link.ravel(), self.cannot_link.ravel(), self.blocks]))

    def named(self, rows: IntArray) -> AnyArray:
        """Return the ids of rows that broken statements are about; the row numbers where rows have no ids.

        Parameters
        ----------
        rows : array of int
            Of any shape: ``labels``, ``must_link``, ``cannot_link`` or ``blocks``, say.

        Returns
        -------
        array of the same shape
            Ids, or row numbers.

        Examples
        --------
        >>> from sidelight import SideInformation
        >>> from sidelight.metrics import violations
        >>> side = SideInformation.build(3, must_link=[("u", "v"), ("v", "w")], sample_id=["u", "v", "w"])
        >>> broken = violations(side, [0, 0, 1])
        >>> broken.must_link.tolist(), broken.named(broken.must_link).tolist()
        ([[1, 2]], [['v', 'w']])
        """
        return rows if self.ids is None else self.ids[np.searchsorted(self.rows(), rows)]

    def with_ids(self, ids: AnyArray) -> "Violations":
        """Return the same for rows that have ids, where the side information had none.

        Parameters
        ----------
        ids : (n,) array
            Of all rows of the table.

        Returns
        -------
        Violations
            With the ids of rows.

        Examples
        --------
        >>> import numpy as np
        >>> from sidelight import SideInformation
        >>> from sidelight.metrics import violations
        >>> broken = violations(SideInformation.build(3, must_link=[(0, 1), (1, 2)]), [0, 0, 1])
        >>> broken.with_ids(np.array(["u", "v", "w"])).ids.tolist()
        ['v', 'w']
        """
        found = self.suspicions
        if found is not None:
            found = replace(found, ids=_storable_ids(ids[found.pairs]))
        return replace(self, suspicions=found, ids=_storable_ids(ids[self.rows()]))

    def __bool__(self) -> bool:
        return self.total > 0

    def __str__(self) -> str:
        kinds = (
            (len(self.labels), self.n_labels, "labels"),
            (len(self.must_link), self.n_must_link, "must-links"),
            (len(self.cannot_link), self.n_cannot_link, "cannot-links"),
            (len(self.blocks), self.n_blocks, "block members"),
        )
        broken = ", ".join(f"{number} of {of} {name}" for number, of, name in kinds if number)
        if not broken:
            return f"none of {self.n_statements} statements broken"
        return f"{self.total} of {self.n_statements} statements broken: {broken}"

    def _repr_html_(self) -> str:
        """Return what notebooks show: the broken statements of each kind, and the first rows that they are about."""
        kinds = (
            ("labels", self.labels, self.n_labels),
            ("must-links", self.must_link, self.n_must_link),
            ("cannot-links", self.cannot_link, self.n_cannot_link),
            ("block members", self.blocks, self.n_blocks),
        )
        return html_table(
            str(self),
            ("statements", "broken", "of", f"{'rows' if self.ids is None else 'ids'} of the first"),
            [
                (
                    name,
                    len(rows),
                    of,
                    "; ".join(" – ".join(map(str, np.atleast_1d(row))) for row in self.named(rows[:_SHOWN]))
                    + ("; …" if len(rows) > _SHOWN else ""),
                )
                for name, rows, of in kinds
                if of
            ],
        )


def violations(side: SideInformation, labels: Any, *, noise: Any = None) -> Violations:
    """List the statements that a labelling breaks.

    Parameters
    ----------
    side : SideInformation
        The statements. Links count whatever their confidence, and statements count as given, not closed transitively.
    labels : (n,) column
        Cluster of each row, of any type; every value, -1 too, is a cluster unless ``noise`` says otherwise.
    noise : optional
        The value of rows that belong to no cluster. Two such rows keep a must-link, because they are treated alike, and
        a cannot-link, because they share no cluster; a labelled one is a violation.

    Returns
    -------
    Violations
        Clusters have no names, so labels are matched to them one to one with the fewest violations; all rows of a
        label without a cluster are violations. A block belongs in the cluster that holds most of its rows (of equal
        ones, the first in order).

    Examples
    --------
    >>> side = SideInformation.build(4, y=["a", "a", None, "b"], must_link=[(2, 3)])
    >>> print(violations(side, [0, 0, 0, 1]))
    1 of 4 statements broken: 1 of 1 must-links
    """
    found = as_vector(labels, "labels")
    if len(found) != side.n_rows:
        raise ValueError(f"labels has {len(found)} values, but the side information is about {side.n_rows} rows")
    refuse_missing(found, "labels")
    # Only rows with statements are needed: in a large table they are few.
    mentioned = np.flatnonzero(side.mentioned)
    if not len(mentioned):
        return Violations(mentioned, side.must_link, side.cannot_link, mentioned, 0, 0, 0, 0)
    codes = encode_complete(found[mentioned], "labels")

    def clusters(rows: IntArray) -> IntArray:
        return codes[np.searchsorted(mentioned, rows)]

    nowhere = np.zeros(side.n_rows, dtype=bool) if noise is None else np.asarray(found == noise)
    must, cannot = clusters(side.must_link), clusters(side.cannot_link)
    together = (cannot[:, 0] == cannot[:, 1]) & ~nowhere[side.cannot_link[:, 0]]
    labelled = np.flatnonzero(side.labels >= 0)
    sizes = np.bincount(side.blocks[side.blocks >= 0], minlength=len(side.block_names))
    blocked = np.flatnonzero(side.blocks >= 0)
    blocked = blocked[sizes[side.blocks[blocked]] >= 2]
    broken = Violations(
        labels=_outside_matched(labelled, side.labels[labelled], clusters(labelled), nowhere[labelled]),
        must_link=side.must_link[must[:, 0] != must[:, 1]],
        cannot_link=side.cannot_link[together],
        blocks=_outside_majority(blocked, side.blocks[blocked], clusters(blocked)),
        n_labels=len(labelled),
        n_must_link=len(side.must_link),
        n_cannot_link=len(side.cannot_link),
        n_blocks=len(blocked),
    )
    return replace(broken, ids=_ids_of(side, broken.rows()))


def _ids_of(side: SideInformation, rows: IntArray) -> AnyArray | None:
    """Return the ids of rows; None where rows have none."""
    return None if side.ids is None else _storable_ids(side.ids[rows])


def _storable_ids(ids: AnyArray) -> AnyArray:
    """Return ids as saved models can hold them: text and numbers as they are, others as text."""
    if ids.dtype.kind in "iuUf":
        return ids
    found = np.empty(ids.shape, dtype=object)
    found.ravel()[:] = [each if isinstance(each, str | int | float) else str(each) for each in ids.ravel()]
    return found


def _outside_matched(rows: IntArray, labels: IntArray, clusters: IntArray, nowhere: BoolArray) -> IntArray:
    """Return the rows outside the cluster that is matched to their label; none is matched to noise."""
    table = np.zeros((labels.max(initial=-1) + 1, clusters.max(initial=-1) + 1), dtype=np.int64)
    np.add.at(table, (labels[~nowhere], clusters[~nowhere]), 1)
    match = np.full(len(table), -1, dtype=np.int64)
    label, cluster = linear_sum_assignment(table, maximize=True)
    match[label] = cluster
    return rows[(match[labels] != clusters) | nowhere]


def _outside_majority(rows: IntArray, blocks: IntArray, clusters: IntArray) -> IntArray:
    """Return the rows outside the cluster that holds most of their block."""
    # Parts of a block are the rows it has in one cluster; there may be too many blocks for a table with all clusters.
    part_of_row = blocks * (clusters.max(initial=-1) + 1) + clusters
    parts, first, inverse, sizes = np.unique(part_of_row, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((parts, -sizes, blocks[first]))
    _, largest = np.unique(blocks[first][order], return_index=True)
    return rows[~np.isin(inverse, order[largest])]
