"""Name the conflict when no assignment respects the cannot-links."""

import numpy as np

from sidelight._typing import IntArray
from sidelight.couplings.link_graph.feasibility import MAX_SHOWN, list_links, list_rows
from sidelight.exceptions import InfeasibleError
from sidelight.graphs.colouring import Conflict
from sidelight.side import Closure, SideInformation


def out_of_budget(n_clusters: int, max_tries: int) -> InfeasibleError:
    """Return the error for a search that ran out of its budget."""
    return InfeasibleError(
        f"no assignment to n_clusters={n_clusters} clusters that respects every cannot-link was found in "
        f"max_tries={max_tries} tries, and none was ruled out; raise max_tries or n_clusters, or use HMRFKMeans, "
        "which may break links.",
        proven=False,
    )


def explain(conflict: Conflict, side: SideInformation, closure: Closure, n_clusters: int) -> InfeasibleError:
    """Put a conflict into words, with the rows and links that make it."""
    links = _links_among(conflict.nodes, side, closure)
    rows = sorted({row for link in links for row in link})
    noun = "rows" if side.ids is None else "ids"
    said = list_links(links, [min(side.labels[list(link)]) >= 0 for link in links], side.ids)
    if conflict.is_clique:
        members = [int(np.flatnonzero(closure.chunklets == chunklet)[0]) for chunklet in conflict.nodes]
        reason = (
            f"{noun} {list_rows(members, side.ids)} (and what they are bound to by must-links) are all kept apart from "
            f"each other, which takes {len(members)} clusters"
        )
    else:
        shown = list_rows(rows[:MAX_SHOWN], side.ids) + (", …" if len(rows) > MAX_SHOWN else "")
        reason = f"the {len(rows)} {noun} {shown} cannot be divided among so few"
    return InfeasibleError(
        f"n_clusters={n_clusters} is too few for the cannot-links: {reason}. The links are {said}. "
        "Raise n_clusters, remove one of these links, or use HMRFKMeans, which may break links.",
        tuple(rows),
        tuple(links),
    )


def _links_among(chunklets: list[int], side: SideInformation, closure: Closure) -> list[tuple[int, int]]:
    """Return one pair of rows for each two of the chunklets that are kept apart: a stated link where there is one."""
    wanted = np.isin(closure.separated(), chunklets).all(axis=1)
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    for a, b in closure.separated()[wanted].tolist():
        pairs[a, b] = (_carrier(a, side, closure), _carrier(b, side, closure))
    stated: IntArray = side.cannot_link[np.isin(closure.chunklets[side.cannot_link], chunklets).all(axis=1)]
    for first, second in stated[::-1].tolist():
        a, b = sorted((int(closure.chunklets[first]), int(closure.chunklets[second])))
        pairs[a, b] = (first, second)
    return list(pairs.values())


def _carrier(chunklet: int, side: SideInformation, closure: Closure) -> int:
    """Return a row of a chunklet, a labelled one where there is one."""
    rows = np.flatnonzero(closure.chunklets == chunklet)
    return int(rows[np.argmax(side.labels[rows] >= 0)])
