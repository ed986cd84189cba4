"""Statements of annotators on the link graph: rows are nodes, and judged pairs are edges whose weight is learned."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sidelight._typing import BoolArray, FloatArray, IntArray
from sidelight.couplings.annotators.answers import Answers, Judgements
from sidelight.couplings.annotators.reliability import ExpectedLogs, ReliabilityPrior
from sidelight.couplings.annotators.trellis import Counted
from sidelight.couplings.link_graph import LinkedRows, LinkProblem, Plan, infer, linked_rows, plan
from sidelight.couplings.link_graph.problem import MergedEdges, merge
from sidelight.kernels.loops import owners
from sidelight.side import SideInformation
from sidelight.side.annotations import Annotations


class GraphBeliefs(NamedTuple):
    """What is believed of the rows given all statements.

    Parameters
    ----------
    marginals : (g, classes)
        Of the nodes.
    same : (q,)
        Probability that the rows of each judged pair share a class.
    log_partition : float
    messages : optional
        Where the next inference may start.
    """

    marginals: FloatArray
    same: FloatArray
    log_partition: float
    messages: Any


@dataclass(frozen=True, eq=False)
class StatementGraph:
    """Rows with statements as nodes of a link graph.

    Parameters
    ----------
    linked : LinkedRows
        Chunklets of rows, and the links that have no author.
    answers : Answers
        Labels of annotators, of all rows of the table.
    judgements : Judgements
    annotations : Annotations
    n_authors : int
        Number of annotators who may err; one more may stand for statements that are certain.
    """

    linked: LinkedRows
    answers: Answers
    judgements: Judgements
    annotations: Annotations
    n_authors: int

    @cached_property
    def said(self) -> "csr_array[Any]":
        """How often the rows (m,) in the graph got each answer (m, columns)."""
        return self.answers.said[self.linked.rows]

    @cached_property
    def node_of_row(self) -> IntArray:
        """The node (m,) of each row in the graph."""
        return owners(self.linked.starts, len(self.linked.rows))

    @cached_property
    def _merged(self) -> MergedEdges:
        """The edges of both kinds of link, each pair of nodes once; those without an author come first."""
        problem = self.linked.problem
        place = np.full(int(self.linked.rows.max(initial=-1)) + 1, -1, dtype=np.int64)
        place[self.linked.rows] = self.node_of_row
        edges = np.concatenate([problem.edges, place[self.judgements.pairs]])
        return merge(problem.n_nodes, edges, np.zeros(len(edges)), np.zeros(len(edges)))

    @cached_property
    def unlinked(self) -> BoolArray:
        """Nodes (g,) without links."""
        return np.bincount(self._merged.edges.ravel(), minlength=self.linked.problem.n_nodes) == 0

    def infer(self, scores: FloatArray, logs: ExpectedLogs, n_classes: int, messages: Any) -> GraphBeliefs:
        """Return the beliefs given scores (g, classes) of the nodes, the labels' included."""
        merged, problem, judged = self._merged, self.linked.problem, self.judgements
        n_given = len(problem.edges)
        became = merged.became[n_given:]
        inside = became < 0
        weighed = judged.weights[:, None] * logs.rates[judged.annotators, :, judged.same]
        if not len(merged.edges):
            planned = self._edgeless(n_classes)
        else:
            log_different = self._potentials(problem.log_different, weighed[:, 0])
            log_equal = self._potentials(problem.log_equal, weighed[:, 1])
            whole = LinkProblem(problem.n_nodes, merged.edges, log_equal, log_different, problem.labels)
            planned = plan(whole, n_classes)
        found = infer(planned, scores, messages)
        same = self.of_judgements(found.same)
        # Rows of one chunklet share their class in any case.
        constant = float(weighed[inside, 1].sum())
        return GraphBeliefs(found.marginals, same, found.log_partition + constant, found.messages)

    def of_judgements(self, same: FloatArray) -> FloatArray:
        """Return how probably each judged pair (q,) shares a class, given that of the edges."""
        became = self._merged.became[len(self.linked.problem.edges) :]
        # Rows of one chunklet do in any case.
        return np.clip(np.append(same, 1.0)[became], 0.0, 1.0)

    def counted(self, n_classes: int) -> Counted:
        """Return the nodes, and their statements as counts."""
        problem, judged, none = self.linked.problem, self.judgements, np.zeros(len(self.judgements.same))
        place = np.full(int(self.linked.rows.max(initial=-1)) + 1, -1, dtype=np.int64)
        place[self.linked.rows] = self.node_of_row
        said = self.said.tocoo()
        cells = (said.data, (self.node_of_row[said.coords[0]], said.coords[1]))
        return Counted(
            n_classes,
            problem.labels,
            csr_array(cells, shape=(problem.n_nodes, self.said.shape[1])),
            self._merged.edges,
            self._potentials(problem.log_equal, none),
            self._potentials(problem.log_different, none),
            self._merged.became[len(problem.edges) :],
            place[judged.pairs[:, 0]],
            judged.annotators,
            judged.same,
            judged.weights,
        )

    def _potentials(self, given: FloatArray, judged: FloatArray) -> FloatArray:
        """Return the log potentials of the edges: of links without an author and of judgements, added up."""
        merged, total = self._merged, np.concatenate([given, judged])
        kept = merged.became >= 0
        return np.bincount(merged.became[kept], total[kept], minlength=len(merged.edges)).astype(float)

    def _edgeless(self, n_classes: int) -> Plan:
        kept = self.__dict__.setdefault("_plans", {})
        if n_classes not in kept:
            kept[n_classes] = plan(self.linked.problem, n_classes)
        found: Plan = kept[n_classes]
        return found

    def exact(self, n_classes: int) -> bool:
        """Say whether inference with this number of classes is exact."""
        if not len(self._merged.edges):
            return True
        even, problem = np.zeros(len(self._merged.edges)), self.linked.problem
        return plan(LinkProblem(problem.n_nodes, self._merged.edges, even, even, problem.labels), n_classes).exact

    def pair_counts(self, same: FloatArray) -> FloatArray:
        """Return how often each annotator judged pairs of either kind in either way (A, 2, 2), as expected."""
        judged = self.judgements
        place = 2 * judged.annotators + judged.same
        different, same_ones = (
            np.bincount(place, judged.weights * share, minlength=2 * len(self.annotations.annotators)).reshape(-1, 2)
            for share in (1 - same, same)
        )
        return np.stack([different, same_ones], axis=1)

    def prior(self, n_classes: int, **expected: float) -> ReliabilityPrior:
        """Return what is expected of the annotators."""
        n_annotators = len(self.annotations.annotators)
        certain = np.arange(n_annotators) >= self.n_authors
        return ReliabilityPrior.of(self.answers, n_annotators, n_classes, certain=certain, **expected)


def statement_graph(
    side: SideInformation, *, labels_as_statements: bool = False, link_confidence: float | None = None
) -> StatementGraph:
    """Return the graph of all links and of all statements of annotators.

    Parameters
    ----------
    side : SideInformation
        With statements of annotators.
    labels_as_statements : bool
        Labels without an author are classes of nodes. With this they are what a further annotator says, who is always
        right: for mixtures whose components have no classes.
    link_confidence : float, optional
        Of links without an author that are stated as certain.
    """
    assert side.annotations is not None
    annotations, n_authors = side.annotations, len(side.annotations.annotators)
    if labels_as_statements:
        annotations = _with_certain_labels(annotations, side)
    nameless = _without_labels(side, annotations)
    linked = linked_rows(nameless, link_confidence=link_confidence)
    if not labels_as_statements:
        labels = np.maximum.reduceat(side.labels[linked.rows], linked.starts)
        linked = linked._replace(problem=_labelled(linked.problem, labels))
    return StatementGraph(linked, Answers.of(side, annotations), Judgements.of(annotations), annotations, n_authors)


def _labelled(problem: LinkProblem, labels: IntArray) -> LinkProblem:
    return LinkProblem(
        problem.n_nodes, problem.edges, problem.log_equal, problem.log_different, labels.astype(np.int64), problem.names
    )


def _without_labels(side: SideInformation, annotations: Annotations) -> SideInformation:
    return SideInformation(
        n_rows=side.n_rows,
        labels=np.full(side.n_rows, -1),
        label_names=side.label_names[:0],
        must_link=side.must_link,
        cannot_link=side.cannot_link,
        must_link_confidence=side.must_link_confidence,
        cannot_link_confidence=side.cannot_link_confidence,
        blocks=side.blocks,
        block_names=side.block_names,
        ids=side.ids,
        annotations=annotations,
    )


def _with_certain_labels(annotations: Annotations, side: SideInformation) -> Annotations:
    """Add labels without an author as statements of a last annotator."""
    rows = np.flatnonzero(side.labels >= 0)
    code_of = {name: code for code, name in enumerate(annotations.label_names.tolist())}
    missing = [name for name in side.label_names.tolist() if name not in code_of]
    names = np.empty(len(code_of) + len(missing), dtype=object)
    names[:] = [*code_of, *missing]
    code_of.update({name: len(code_of) + place for place, name in enumerate(missing)})
    codes = np.array([code_of[name] for name in side.label_names.tolist()], dtype=np.int64)[side.labels[rows]]
    last = len(annotations.annotators)
    annotators = np.empty(last + 1, dtype=object)
    annotators[:] = [*annotations.annotators.tolist(), None]
    return Annotations(
        annotators,
        names,
        np.concatenate([annotations.label_rows, rows]),
        np.concatenate([annotations.label_codes, codes]),
        np.concatenate([annotations.label_annotators, np.full(len(rows), last)]),
        annotations.pairs,
        annotations.relations,
        annotations.pair_annotators,
        annotations.pair_confidence,
    )
