"""Small loops exactly: variables are summed out one by one (bucket elimination), and beliefs handed back.

The order of elimination keeps the tables small (min-fill). Loops of the same shape are taken together, as a batch of
tables; loops whose tables would be too large are left to belief propagation.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight._typing import FloatArray, IntArray
from sidelight.kernels.loops import finite, log, log_sum, potentials

Edge = tuple[int, int]

# Entries of one table: 8 MB.
MAX_ENTRIES = 1_000_000
# Entries of all tables, in units of those of one, and nodes of one loop, that an exact E-step may take; a few seconds.
_ALL_TABLES = 32
_MAX_NODES = 5_000
# Table entries of a batch that are held at once.
_BATCH_ENTRIES = 4_000_000


class Loop(NamedTuple):
    """A connected graph without leaves: its nodes and edges, as places in a forest, and the ends among its nodes."""

    nodes: IntArray
    edges: IntArray
    ends: IntArray


def connected_loops(ends: IntArray, edges: IntArray) -> list[Loop]:
    """Divide the edges (q,) of a graph without leaves, whose nodes are ``ends[edges]``, into connected loops."""
    nodes, inner = np.unique(ends[edges], return_inverse=True)
    inner = inner.reshape(-1, 2).astype(np.int32)
    graph = coo_array((np.ones(len(inner)), (inner[:, 0], inner[:, 1])), shape=(len(nodes), len(nodes)))
    n_loops, part = connected_components(graph, directed=False)
    by_node, by_edge = np.argsort(part, kind="stable"), np.argsort(part[inner[:, 0]], kind="stable")
    node_bounds = np.searchsorted(part[by_node], np.arange(n_loops + 1)).tolist()
    edge_bounds = np.searchsorted(part[inner[by_edge, 0]], np.arange(n_loops + 1)).tolist()
    place = np.empty(len(nodes), dtype=np.int64)
    place[by_node] = np.arange(len(nodes))
    loops = []
    for (a, b), (c, d) in zip(pairwise(node_bounds), pairwise(edge_bounds), strict=True):
        own = by_edge[c:d]
        loops.append(Loop(nodes[by_node[a:b]], edges[own], place[inner[own]] - a))
    return loops


class Bucket(NamedTuple):
    """A variable and the later ones it meets when it is summed out.

    The scope is the variable, then the others in order. Its message goes to the bucket ``parent``, -1 for the last, and
    has the axes ``kept`` of that table. Edges that enter here have their number, and which of the scope they join the
    variable with.
    """

    scope: tuple[int, ...]
    parent: int
    kept: tuple[int, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True, eq=False)
class Shape:
    """How to sum out a graph: its buckets, variables numbered in the order of elimination.

    ``order`` (s,) has the node of each variable.
    """

    order: IntArray
    buckets: tuple[Bucket, ...]

    def n_entries(self, n_classes: int) -> float:
        """Return the number of entries of all tables."""
        return sum(float(n_classes) ** len(bucket.scope) for bucket in self.buckets)


def min_fill(n_nodes: int, edges: list[Edge], most_neighbours: int) -> list[tuple[int, tuple[int, ...]]] | None:
    """Return the nodes in the order of elimination, each with its neighbours then; None where these get too many.

    Of the nodes with at most ``most_neighbours`` neighbours left, the one goes next whose neighbours lack the fewest
    edges among themselves.
    """
    near: list[set[int]] = [set() for _ in range(n_nodes)]
    for a, b in edges:
        near[a].add(b)
        near[b].add(a)

    def rank(node: int) -> tuple[int, int, int]:
        around = near[node]
        if len(around) > most_neighbours:
            return (n_nodes**2, len(around), node)
        lacking = sum(b not in near[a] for a, b in combinations(around, 2))
        return (lacking, len(around), node)

    current = [rank(node) for node in range(n_nodes)]
    heap = current.copy()
    heapify(heap)
    gone = [False] * n_nodes
    steps = []
    while heap:
        entry = heappop(heap)
        node = entry[2]
        if gone[node] or entry != current[node]:
            continue
        around = near[node]
        if len(around) > most_neighbours:
            return None
        steps.append((node, tuple(sorted(around))))
        gone[node] = True
        for other in around:
            near[other].discard(node)
        joined = [(a, b) for a, b in combinations(around, 2) if b not in near[a]]
        for a, b in joined:
            near[a].add(b)
            near[b].add(a)
        # An edge between a and b changes what their common neighbours lack.
        touched = set(around)
        for a, b in joined:
            touched |= near[a] & near[b]
        for other in touched:
            current[other] = rank(other)
            heappush(heap, current[other])
    return steps


def shape_of(n_nodes: int, edges: list[Edge], most_neighbours: int) -> Shape | None:
    """Return how to sum out a connected graph; None where a table would have more than ``most_neighbours`` + 1 axes."""
    steps = min_fill(n_nodes, edges, most_neighbours)
    if steps is None:
        return None
    rank = {node: variable for variable, (node, _) in enumerate(steps)}
    scopes = [(variable, *sorted(rank[node] for node in around)) for variable, (_, around) in enumerate(steps)]
    entering: list[list[Edge]] = [[] for _ in scopes]
    for number, (a, b) in enumerate(edges):
        low, high = sorted((rank[a], rank[b]))
        entering[low].append((number, scopes[low].index(high)))
    buckets = []
    for scope, own in zip(scopes, entering, strict=True):
        parent = scope[1] if len(scope) > 1 else -1
        kept = tuple(scopes[parent].index(variable) for variable in scope[1:]) if parent >= 0 else ()
        buckets.append(Bucket(scope, parent, kept, tuple(own)))
    return Shape(np.array([node for node, _ in steps]), tuple(buckets))


class Batch(NamedTuple):
    """Loops of one shape: variables are columns of ``nodes`` (b, s), edges those of ``edges`` (b, e).

    Log potentials are (b, e).
    """

    shape: Shape
    nodes: IntArray
    edges: IntArray
    log_equal: FloatArray
    log_different: FloatArray


def batch_loops(
    loops: list[Loop], log_equal: FloatArray, log_different: FloatArray, n_classes: int, max_entries: int
) -> tuple[tuple[Batch, ...], list[Loop]]:
    """Divide loops into batches of one shape, which are summed out exactly, and loops that are too large for that.

    Log potentials (q,) are those of the forest's edges; one table may have ``max_entries`` entries.
    """
    most_neighbours = int(np.log(max(max_entries, 1)) / np.log(max(n_classes, 2)) + 1e-9) - 1
    shapes: dict[bytes, Shape | None] = {}
    members: dict[bytes, list[Loop]] = {}
    for loop in loops:
        key = loop.ends.tobytes()
        if key not in shapes:
            # A node that goes takes at most ``most_neighbours`` edges with it.
            small = len(loop.nodes) <= _MAX_NODES and len(loop.edges) <= most_neighbours * len(loop.nodes)
            pairs = [(a, b) for a, b in loop.ends.tolist()] if small else []
            shapes[key] = shape_of(len(loop.nodes), pairs, most_neighbours) if small else None
        members.setdefault(key, []).append(loop)

    def cost(key: bytes) -> float:
        shape = shapes[key]
        return np.inf if shape is None else shape.n_entries(n_classes)

    batches: list[Batch] = []
    left: list[Loop] = []
    budget = float(_ALL_TABLES * max_entries)
    for key in sorted(members, key=cost):
        shape = shapes[key]
        budget -= cost(key) * len(members[key])
        if shape is None or budget < 0:
            left += members[key]
        else:
            nodes = np.stack([loop.nodes for loop in members[key]])[:, shape.order]
            edges = np.stack([loop.edges for loop in members[key]])
            batches.append(Batch(shape, nodes, edges, log_equal[edges], log_different[edges]))
    return tuple(batches), left


def _slices(batch: Batch, n_classes: int) -> Iterator[Batch]:
    size = max(int(_BATCH_ENTRIES / batch.shape.n_entries(n_classes)), 1)
    for start in range(0, len(batch.nodes), size):
        part = slice(start, start + size)
        yield Batch(batch.shape, batch.nodes[part], batch.edges[part], batch.log_equal[part], batch.log_different[part])


def _initial(batch: Batch, scores: FloatArray) -> list[FloatArray]:
    """Return each bucket's table (b, classes, …): the scores of its variable and the edges that enter there."""
    n, n_classes = len(batch.nodes), scores.shape[1]
    tables = []
    for variable, bucket in enumerate(batch.shape.buckets):
        axes = len(bucket.scope)
        table = np.zeros((n,) + (n_classes,) * axes)
        table += scores[batch.nodes[:, variable]].reshape((n, n_classes) + (1,) * (axes - 1))
        for number, place in bucket.edges:
            link = potentials(batch.log_equal[:, number], batch.log_different[:, number], n_classes)
            extent = [n, n_classes] + [1] * (axes - 1)
            extent[1 + place] = n_classes
            table += link.reshape(extent)
        tables.append(table)
    return tables


def _spread(message: FloatArray, kept: tuple[int, ...], axes: int) -> FloatArray:
    """Give a message the axes of a table that has more."""
    extent = [message.shape[0]] + [1] * axes
    for axis, length in zip(kept, message.shape[1:], strict=True):
        extent[1 + axis] = length
    return message.reshape(extent)


def infer_batch(
    batch: Batch, scores: FloatArray, beliefs: FloatArray, same: FloatArray, pairs: FloatArray | None = None
) -> float:
    """Write log marginals of the nodes and ``same`` of the edges (pair marginals too, if asked); return ln Z."""
    total = 0.0
    for part in _slices(batch, scores.shape[1]):
        conditionals, log_partition = _collect(part, scores)
        total += float(log_partition.sum())
        _distribute(part, conditionals, beliefs, same, pairs)
    return total


def _collect(batch: Batch, scores: FloatArray) -> tuple[list[FloatArray], FloatArray]:
    """Sum the variables out; return tables p(variable | later ones of its scope), and ln Z (b,)."""
    buckets = batch.shape.buckets
    tables = _initial(batch, scores)
    conditionals = []
    log_partition = np.zeros(len(batch.nodes))
    for bucket, table in zip(buckets, tables, strict=True):
        message = log_sum(table, axis=1)
        conditionals.append(np.exp(table - finite(message)[:, None]))
        if bucket.parent < 0:
            log_partition += message
        else:
            scale = finite(message.max(axis=tuple(range(1, message.ndim))))
            log_partition += scale
            message -= scale.reshape((-1,) + (1,) * (message.ndim - 1))
            tables[bucket.parent] += _spread(message, bucket.kept, len(buckets[bucket.parent].scope))
    return conditionals, log_partition


def _distribute(
    batch: Batch, conditionals: list[FloatArray], beliefs: FloatArray, same: FloatArray, pairs: FloatArray | None
) -> None:
    """Multiply each conditional by the belief about the later variables, last bucket first."""
    buckets = batch.shape.buckets
    joints: list[FloatArray] = [np.empty(0)] * len(buckets)
    for variable in reversed(range(len(buckets))):
        bucket, joint = buckets[variable], conditionals[variable]
        if bucket.parent >= 0:
            above = joints[bucket.parent]
            lost = tuple(1 + axis for axis in range(above.ndim - 1) if axis not in bucket.kept)
            joint *= above.sum(axis=lost)[:, None]
        joints[variable] = joint
        others = tuple(range(2, joint.ndim))
        beliefs[batch.nodes[:, variable]] = log(joint.sum(axis=others))
        for number, place in bucket.edges:
            lost = tuple(axis for axis in others if axis != 1 + place)
            pair = joint.sum(axis=lost)
            same[batch.edges[:, number]] = np.einsum("bcc->b", pair)
            if pairs is not None:
                # Pair marginals have the lower node first.
                turned = batch.nodes[:, variable] > batch.nodes[:, bucket.scope[place]]
                pairs[batch.edges[:, number]] = np.where(turned[:, None, None], pair.swapaxes(1, 2), pair)


def decide_batch(batch: Batch, scores: FloatArray, classes: IntArray) -> None:
    """Write the most probable classes of the nodes."""
    for part in _slices(batch, scores.shape[1]):
        buckets = part.shape.buckets
        tables = _initial(part, scores)
        for bucket, table in zip(buckets, tables, strict=True):
            if bucket.parent >= 0:
                message = table.max(axis=1)
                tables[bucket.parent] += _spread(message, bucket.kept, len(buckets[bucket.parent].scope))
        every = np.arange(len(part.nodes))
        for variable in reversed(range(len(buckets))):
            later = [classes[part.nodes[:, other]] for other in buckets[variable].scope[1:]]
            given = np.moveaxis(tables[variable], 1, -1)[(every, *later)]
            classes[part.nodes[:, variable]] = given.argmax(axis=1)
