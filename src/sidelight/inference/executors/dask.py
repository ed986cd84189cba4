"""A Dask cluster: parameters go to the workers, chunks stay there, and statistics are added up on the way back.

The scheduler sees a few tasks per pass: one that carries the parameters, one for each thread of the cluster, and one
for every eight of these where they are many. Futures of a pass are let go when it ends, so that nothing grows.

Floats that are added in another order give other last digits. So sums are taken along a tree over the partitions that
is the same whoever has them: a worker joins what it can of the tree, and hands on the rest. Results depend on the
partitions, and not on the number of workers, on where partitions are, or on a worker that was lost.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sidelight._typing import AnyArray
from sidelight.inference.executors.threads import ONE_THREAD, Threads, one_blas_thread
from sidelight.inference.visits import PassSums, Visit
from sidelight.tables.dask import DaskTable, part_rows
from sidelight.tables.table import Rows

Worker = TypeVar("Worker")
Part = TypeVar("Part")
Result = TypeVar("Result")

# A node of the tree over parts 0, 1, 2 and so on: node (l, i) has the parts from i 2^l up to (i + 1) 2^l.
Node = tuple[int, int]
# Sums that one task joins.
_FAN_IN = 8


@dataclass(frozen=True)
class Cluster:
    """Run passes on the cluster that has the table; rows that are held here go through threads of this process.

    Parameters
    ----------
    table : DaskTable
    threads : Threads
    """

    table: DaskTable
    threads: Threads

    def total(self, visit: Visit, rows: Rows) -> PassSums:
        """Visit all chunks of the rows on the workers and return what they add up to."""
        table, n_parts = self.table, len(self.table.parts)
        sent = table.submit("parameters", _itself, visit)
        beside = table.beside(rows)
        waiting = [
            table.submit(
                "sums",
                sums_of_parts,
                sent,
                numbers,
                [table.parts[number] for number in numbers],
                [beside[number] for number in numbers],
                n_parts,
                worker=worker,
            )
            for worker, numbers in table.groups()
        ]
        while len(waiting) > _FAN_IN:
            waiting = [
                table.submit("joined", join_all, waiting[start : start + _FAN_IN], n_parts)
                for start in range(0, len(waiting), _FAN_IN)
            ]
        (total,) = join_all(table.client.gather(waiting), n_parts).values()
        return total

    def run(
        self, work: Callable[[Worker, Part], Result], parts: Sequence[Part], make_worker: Callable[[], Worker]
    ) -> Iterator[Result]:
        """Work on every part in threads of this process."""
        return self.threads.run(work, parts, make_worker)


def sums_of_parts(
    visit: Visit, numbers: Sequence[int], values: Sequence[AnyArray], beside: Sequence[Any], n_parts: int
) -> dict[Node, PassSums]:
    """Visit some parts, by their numbers among all, and return sums as far as these can be joined."""
    with one_blas_thread():
        leaves = {
            (0, number): ONE_THREAD.total(visit, part_rows(part, columns))
            for number, part, columns in zip(numbers, values, beside, strict=True)
        }
    return join(leaves, n_parts)


def join_all(sums: Sequence[dict[Node, PassSums]], n_parts: int) -> dict[Node, PassSums]:
    """Join the sums of several workers."""
    return join({node: found for one in sums for node, found in one.items()}, n_parts)


def join(sums: dict[Node, PassSums], n_parts: int) -> dict[Node, PassSums]:
    """Return sums with neighbours put together, up the tree, wherever both of them are there."""
    sums = dict(sums)
    for level in range(max(n_parts - 1, 0).bit_length()):
        for node in sorted(node for node in sums if node[0] == level and node[1] % 2 == 0):
            sibling = (level, node[1] + 1)
            parent = (level + 1, node[1] // 2)
            if sibling[1] << level >= n_parts:
                sums[parent] = sums.pop(node)
            elif sibling in sums:
                sums[parent] = sums.pop(node) + sums.pop(sibling)
    return sums


def _itself(visit: Visit) -> Visit:
    return visit
