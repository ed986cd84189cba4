"""Assignments of a few nodes, summed over exactly while what depends on all of them at once is counted.

With rates integrated out, what annotators said depends on the assignment only through counts: how often rows of each
class got each answer, and how often pairs of either kind got either judgement. Nodes are placed one after the other.
Assignments of the nodes placed so far that agree in all counts, and in the classes of nodes with links to later ones,
have the same future: they are one state of a trellis, on which sums over all assignments are a forward and a backward
recursion (Rabiner 1989). Twenty rows of two classes have a million assignments, but hundreds of counts.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.kernels.loops import finite, owners

# States of all steps together, and numbers in the counts of one step, beyond which a trellis is not built.
# Fourteen nodes of two classes always fit.
MOST_STATES = 2**15
_MOST_COUNTS = 2**21


class Counted(NamedTuple):
    """Nodes that choose one class each, and what is counted of their choices.

    Parameters
    ----------
    n_classes : int
    labels : (g,)
        The class of nodes where it is certain, -1 elsewhere.
    said : (g, answers) sparse
        How often each node got each answer.
    edges : (q, 2)
        Different nodes.
    log_equal, log_different : (q,)
        Log potentials of the edges.
    judged : (p,)
        The edge that each judgement is about; -1 where both rows are in one node.
    nodes : (p,)
        A node of each judgement.
    judges : (p,)
        Who judged.
    same : (p,)
        1 for "same", 0 for "different".
    weights : (p,)
        As how many judgements each counts.
    """

    n_classes: int
    labels: IntArray
    said: "csr_array[Any]"
    edges: IntArray
    log_equal: FloatArray
    log_different: FloatArray
    judged: IntArray
    nodes: IntArray
    judges: IntArray
    same: IntArray
    weights: FloatArray


class Step(NamedTuple):
    """One node is placed: arcs (e,) from states before to states after, in the order of the latter.

    Parameters
    ----------
    node : int
    source : (e,)
        The state before.
    choice : (e,)
        The class that the node chooses.
    starts : (states after,)
        The first arc of each state.
    log_links : (e,)
        Log potentials of the edges to nodes placed before.
    closed : (k,)
        These edges.
    same : (e, k)
        Whether both ends are of one class.
    """

    node: int
    source: IntArray
    choice: IntArray
    starts: IntArray
    log_links: FloatArray
    closed: IntArray
    same: BoolArray


class Trellis(NamedTuple):
    """All assignments, and the counts of the last states.

    Parameters
    ----------
    steps : tuple of Step
    said : (states, classes, answers)
        How often rows of each class got each answer.
    judged : (states, judges, 2, 2)
        How often pairs that are different (0) and the same (1) were called so.
    """

    steps: tuple[Step, ...]
    said: FloatArray
    judged: FloatArray


class Forward(NamedTuple):
    """Log sums (states,) over all assignments that lead to each last state, and the share (e,) of every arc in them."""

    log_weights: FloatArray
    shares: tuple[FloatArray, ...]


class Backward(NamedTuple):
    """Masses of classes of the nodes (g, classes, v), and of edges (q, v) whose ends are of one class.

    They are zero for nodes and edges that are not in the trellis.
    """

    marginals: FloatArray
    same: FloatArray


class _States(NamedTuple):
    """States while nodes are placed: counts (states, cells), and the classes (states, f) of open nodes (f,)."""

    counts: FloatArray
    choices: FloatArray
    open_nodes: tuple[int, ...]


class Group(NamedTuple):
    """Nodes that depend on each other, with the answers and the judges of statements about them, each in order."""

    nodes: IntArray
    answers: IntArray
    judges: IntArray


def groups(counted: Counted, authors: IntArray) -> list[Group]:
    """Divide the nodes: those of two groups share neither edges nor annotators; ``authors`` are those of answers."""
    n_nodes, said = len(counted.labels), counted.said.tocoo()
    n = n_nodes + int(max(authors.max(initial=-1), counted.judges.max(initial=-1))) + 1
    one = np.concatenate([said.coords[0], counted.edges[:, 0], counted.nodes])
    other = np.concatenate([n_nodes + authors[said.coords[1]], counted.edges[:, 1], n_nodes + counted.judges])
    together = coo_array((np.ones(len(one)), (one, other)), shape=(n, n))
    n_groups, owner = connected_components(together, directed=False)
    used, judges = np.unique(said.coords[1]), np.unique(counted.judges)

    def divided(members: IntArray, own: IntArray) -> list[IntArray]:
        order = np.argsort(own, kind="stable")
        return np.split(members[order], np.searchsorted(own[order], np.arange(1, n_groups)))

    parts = zip(
        divided(np.arange(n_nodes), owner[:n_nodes]),
        divided(used, owner[n_nodes + authors[used]]),
        divided(judges, owner[n_nodes + judges]),
        strict=True,
    )
    return [Group(*part) for part in parts if len(part[0])]


def trellises(counted: Counted, divided: list[Group], most_states: int = MOST_STATES) -> list[Trellis] | None:
    """Return the trellis of each group, or None where they have more states together."""
    left, built = most_states, []
    if sum(len(group.nodes) for group in divided) > left:
        return None
    edges_of = _edges_of(counted)
    for group in divided:
        found = _trellis(counted, group, edges_of, left)
        if found is None:
            return None
        left -= sum(len(step.starts) for step in found.steps)
        built.append(found)
    return built


def _trellis(counted: Counted, group: Group, edges_of: list[list[tuple[int, int]]], left: int) -> Trellis | None:
    """Return the trellis of a group if it has at most so many states."""
    cut = counted.n_classes * len(group.answers)
    n_cells = cut + 4 * len(group.judges)
    states = _States(np.zeros((1, n_cells)), np.zeros((1, 0)), ())
    steps, remaining = [], set(group.nodes.tolist())
    for node in _ordered(counted, group.nodes).tolist():
        remaining.discard(node)
        if len(states.counts) * counted.n_classes * n_cells > _MOST_COUNTS:
            return None
        step, states = _placed(counted, group, edges_of, states, node, remaining)
        steps.append(step)
        left -= len(step.starts)
        if left < 0 or not len(step.starts):
            return None
    n_states = len(states.counts)
    said = states.counts[:, :cut].reshape(n_states, counted.n_classes, len(group.answers))
    return Trellis(tuple(steps), said, states.counts[:, cut:].reshape(n_states, len(group.judges), 2, 2))


def forward(built: Trellis, scores: FloatArray) -> Forward:
    """Sum over all assignments from the first node to the last, given scores (g, classes) of the nodes."""
    log_weights, shares = np.zeros(1), []
    for step in built.steps:
        log_arcs = log_weights[step.source] + scores[step.node, step.choice] + step.log_links
        owner = owners(step.starts, len(log_arcs))
        top = finite(np.maximum.reduceat(log_arcs, step.starts))
        arcs = np.exp(log_arcs - top[owner])
        totals = np.add.reduceat(arcs, step.starts)
        with np.errstate(divide="ignore"):
            log_weights = np.log(totals) + top
        shares.append(arcs / np.where(totals > 0, totals, 1.0)[owner])
    return Forward(log_weights, tuple(shares))


def backward(built: Trellis, shares: tuple[FloatArray, ...], mass: FloatArray, counted: Counted) -> Backward:
    """Divide the masses (states, v) of the last states among assignments, from the last node to the first."""
    found = Backward(
        np.zeros((len(counted.labels), counted.n_classes, mass.shape[1])), np.zeros((len(counted.edges), mass.shape[1]))
    )
    sizes = [1, *(len(step.starts) for step in built.steps)]
    for step, share, n_before in zip(built.steps[::-1], shares[::-1], sizes[-2::-1], strict=True):
        flow = share[:, None] * mass[owners(step.starts, len(share))]
        found.marginals[step.node] = _sums(flow, step.choice, counted.n_classes)
        found.same[step.closed] = step.same.T.astype(float) @ flow
        mass = _sums(flow, step.source, n_before)
    return found


def _sums(flow: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Return sums (n_groups, v) of rows by their groups."""
    places = (groups, np.arange(len(groups)))
    return np.asarray(csr_array((np.ones(len(groups)), places), shape=(n_groups, len(groups))) @ flow)


def _placed(
    counted: Counted,
    group: Group,
    edges_of: list[list[tuple[int, int]]],
    states: _States,
    node: int,
    remaining: set[int],
) -> tuple[Step, _States]:
    """Place a node; ``remaining`` are those after it."""
    label, n_states = int(counted.labels[node]), len(states.counts)
    possible = np.arange(counted.n_classes) if label < 0 else np.array([label])
    source, choice = np.repeat(np.arange(n_states), len(possible)), np.tile(possible, n_states)
    counts, every = states.counts[source], np.arange(len(source))
    start, stop = counted.said.indptr[node : node + 2]
    places = np.searchsorted(group.answers, counted.said.indices[start:stop])
    for place, times in zip(places, counted.said.data[start:stop], strict=True):
        counts[every, choice * len(group.answers) + place] += times
    closing = [(edge, other) for edge, other in edges_of[node] if other in states.open_nodes]
    same = np.empty((len(source), len(closing)), dtype=bool)
    log_links = np.zeros(len(source))
    for number, (edge, other) in enumerate(closing):
        same[:, number] = states.choices[source, states.open_nodes.index(other)] == choice
        log_links += np.where(same[:, number], counted.log_equal[edge], counted.log_different[edge])
        _judge(counted, group, counts, np.flatnonzero(counted.judged == edge), same[:, number])
    inside = np.flatnonzero((counted.judged < 0) & (counted.nodes == node))
    _judge(counted, group, counts, inside, np.ones(len(source), dtype=bool))
    open_nodes, choices = (*states.open_nodes, node), np.column_stack([states.choices[source], choice])
    still = [place for place, one in enumerate(open_nodes) if any(other in remaining for _, other in edges_of[one])]
    possible_arcs = np.flatnonzero(~np.isneginf(log_links))
    first, target = _distinct(np.column_stack([counts, choices[:, still]])[possible_arcs])
    kept = possible_arcs[first]
    after = _States(counts[kept], choices[kept][:, still], tuple(open_nodes[place] for place in still))
    order = np.argsort(target, kind="stable")
    arcs, starts = possible_arcs[order], np.searchsorted(target[order], np.arange(len(first)))
    closed = np.array([edge for edge, _ in closing], dtype=np.int64)
    return Step(node, source[arcs], choice[arcs], starts, log_links[arcs], closed, same[arcs]), after


def _judge(counted: Counted, group: Group, counts: FloatArray, judgements: IntArray, same: BoolArray) -> None:
    """Count judgements about one pair, in place."""
    cut, every = counted.n_classes * len(group.answers), np.arange(len(counts))
    for one in judgements.tolist():
        place = cut + 4 * int(np.searchsorted(group.judges, counted.judges[one])) + int(counted.same[one])
        counts[every, place + 2 * same] += counted.weights[one]


def _distinct(states: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the first place of each distinct row, and which of them each row is."""
    if not states.shape[1]:
        return np.zeros(min(len(states), 1), dtype=np.int64), np.zeros(len(states), dtype=np.int64)
    rows = np.ascontiguousarray(states)
    keys = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, inverse


def _edges_of(counted: Counted) -> list[list[tuple[int, int]]]:
    """Return the edges of each node, with their other ends."""
    found: list[list[tuple[int, int]]] = [[] for _ in counted.labels]
    for edge, (one, other) in enumerate(counted.edges.tolist()):
        found[one].append((edge, other))
        found[other].append((edge, one))
    return found


def _ordered(counted: Counted, nodes: IntArray) -> IntArray:
    """Return the nodes in an order in which linked ones are near each other (Cuthill and McKee 1969)."""
    place = np.full(len(counted.labels), -1)
    place[nodes] = np.arange(len(nodes))
    ends = place[counted.edges]
    ends = ends[(ends >= 0).all(axis=1)]
    links = coo_array((np.ones(2 * len(ends)), np.concatenate([ends, ends[:, ::-1]]).T), shape=(len(nodes),) * 2)
    return np.asarray(nodes[reverse_cuthill_mckee(csr_array(links), symmetric_mode=True)])
