"""Mixtures with annotators who err: first a fit to what they agree on, then one that learns how reliable each is."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.couplings.annotators import (
    AnnotatedRows,
    AnnotatorReport,
    AnnotatorRow,
    Beliefs,
    JudgedPairs,
    Reliability,
    agreed_pairs,
    annotated_rows,
    annotator_report,
    integrated,
    resolve,
    statement_graph,
)
from sidelight.estimators.base.all_or_nothing import all_or_nothing
from sidelight.estimators.base.clusters import Layout
from sidelight.estimators.base.mixture import MixtureEstimator
from sidelight.estimators.base.model import Fitted
from sidelight.estimators.starts.sample import Problem
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.inference.loop import Trace, go_on, warn_unless_converged
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import AnyFamily
from sidelight.inference.pruning import Fit
from sidelight.kernels.loops import backend_for
from sidelight.side import SideInformation
from sidelight.side.annotations import Annotations
from sidelight.tables.survey import Survey

# A row whose class is less probable than this, by what annotators say, has no label to start from.
_LEAST_CERTAIN = 0.55
# The most that annotators who agree on a pair are believed at first.
_MOST_CONFIDENCE = 0.999


@storable("AnnotatedState")
class AnnotatedState(NamedTuple):
    """Where a fit with annotators ended, so that further answers can refine it; classes as in `Fitted`."""

    family: Any
    state: MixtureState
    classes: IntArray
    label_names: AnyArray


def consensus(side: SideInformation) -> SideInformation:
    """Return what annotators agree on, by the model of Dawid and Skene with priors, without a look at the table.

    Labels of rows on which annotators are divided are left out; a judged pair becomes a link with a confidence.
    Statements without an author stay.
    """
    assert side.annotations is not None
    plain = replace(side, annotations=None)
    annotations = side.annotations
    return _with_agreed_links(_with_agreed_labels(plain, side, annotations), side)


def _with_agreed_labels(plain: SideInformation, side: SideInformation, annotations: Annotations) -> SideInformation:
    if not (annotations.label_codes >= 0).any():
        return plain
    nothing = np.empty(0, dtype=np.int64)
    labels_only = replace(
        annotations,
        pairs=np.empty((0, 2), dtype=np.int64),
        relations=nothing,
        pair_annotators=nothing,
        pair_confidence=np.empty(0),
    )
    graph = statement_graph(_without_links(side, labels_only))
    found = resolve(graph, np.zeros((side.n_rows, len(side.label_names))))
    return believed_labels(plain, found.rows, found.shares)


def _without_links(side: SideInformation, annotations: Annotations) -> SideInformation:
    none, never = np.empty((0, 2), dtype=np.int64), np.empty(0)
    return replace(
        side,
        must_link=none,
        cannot_link=none,
        must_link_confidence=never,
        cannot_link_confidence=never,
        blocks=np.full(side.n_rows, -1),
        block_names=side.block_names[:0],
        annotations=annotations,
    )


def believed_labels(plain: SideInformation, rows: IntArray, shares: FloatArray) -> SideInformation:
    """Return side information where rows (m,) whose class (m, classes) is probable enough have it as their label."""
    n_named = len(plain.label_names)
    sure = (shares.max(axis=1) >= _LEAST_CERTAIN) & (shares.argmax(axis=1) < n_named)
    labels = plain.labels.copy()
    labels[rows[sure]] = shares[sure].argmax(axis=1)
    return replace(plain, labels=np.where(plain.labels >= 0, plain.labels, labels))


def _with_agreed_links(plain: SideInformation, side: SideInformation) -> SideInformation:
    """Add judged pairs as links: of each pair, whether its rows are the same is a class of its own."""
    graph = statement_graph(side)
    if not len(graph.judgements.pairs):
        return plain
    return believed_links(plain, agreed_pairs(graph, graph.prior(max(len(side.label_names), 1))))


def believed_links(plain: SideInformation, judged: JudgedPairs) -> SideInformation:
    """Add judged pairs as links, as sure as what is said of them."""
    pairs, same = judged
    confidence = np.minimum(np.maximum(same, 1 - same), _MOST_CONFIDENCE)
    telling = confidence >= _LEAST_CERTAIN
    must, cannot = telling & (same > 0.5), telling & (same <= 0.5)
    return replace(
        plain,
        must_link=np.concatenate([plain.must_link, pairs[must]]),
        cannot_link=np.concatenate([plain.cannot_link, pairs[cannot]]),
        must_link_confidence=np.concatenate([plain.must_link_confidence, confidence[must]]),
        cannot_link_confidence=np.concatenate([plain.cannot_link_confidence, confidence[cannot]]),
    )


class AnnotatedFit(MixtureEstimator):
    """A mixture that takes statements of annotators who err.

    A subclass whose components have classes says so by ``components_have_classes``; the others learn which class each
    component belongs to.
    """

    components_have_classes = True

    annotators_: list[AnnotatorRow]
    annotation_report_: AnnotatorReport | None
    _annotated: AnnotatedState | None

    def _fit_annotated(self, agreed: Fitted, problem: Problem, survey: Survey) -> Fitted:
        """Go on from a fit to what annotators agree on, learning how reliable each is."""
        classes = agreed.fit.mixture.weights.classes if agreed.classes is None else agreed.classes
        mixture = self._annotated_mixture(agreed.fit.mixture, classes, problem)
        total = self._total_weight(mixture, survey)
        state = agreed.fit.trace.state.afresh()
        fit = Fit(mixture, self._learn_reliability(mixture, state, total, self._watchers(self.callbacks)))
        if self.components_have_classes:
            return Fitted(fit, total)
        return Fitted(fit, total, self._learned_classes(fit, problem.side, classes))

    def _annotated_mixture(self, plain: Mixture, classes: IntArray, problem: Problem) -> Mixture:
        """Return the mixture with the statements of annotators in place of what they agree on."""
        side, weights = problem.side, problem.row_weights()
        n_components = len(plain.weights.classes)
        has_noise = len(classes) < n_components or bool((classes < 0).any())
        row_weights = weights if plain.rows.weights is None else plain.rows.weights
        counted = np.where(side.mentioned, weights, row_weights)
        if self.components_have_classes:
            graph = statement_graph(side)
            n_classes = int(classes.max()) + 1
            coupling = integrated(
                annotated_rows(graph, counted, classes=classes, allocation=np.eye(n_classes)[classes])
            )
        else:
            graph = statement_graph(side, labels_as_statements=True)
            allocation = _first_allocation(classes, n_components, max(len(side.label_names), 1))
            coupling = integrated(annotated_rows(graph, counted, classes=None, allocation=allocation, noise=has_noise))
        rows = replace(plain.rows, weights=None if plain.rows.weights is None else counted)
        return replace(plain, rows=rows, couplings=(coupling,))

    def _learn_reliability(
        self, mixture: Mixture, state: MixtureState, total_weight: float, callbacks: Iterable[Callback]
    ) -> Trace[MixtureState]:
        """Step until the bound no longer rises; the bounds of the fit before are of another model, and left out."""
        tol = self.tol * total_weight
        return go_on(Trace(state), mixture.step, "annotators", max_iter=self.max_iter, tol=tol, callbacks=callbacks)

    def _evidence_of_statements(self, fitted: Fitted) -> float:
        """Return the log probability of all statements, or a bound on it, given the table and the clusters."""
        mixture, state = fitted.fit.mixture, fitted.fit.trace.state
        (part,), (coupling,) = mixture.expect_coupled(state), mixture.couplings
        return float(part.counts.stated + coupling.log_prior(part.counts.used))

    def _learned_classes(self, fit: Fit, side: SideInformation, classes: IntArray) -> IntArray:
        """Return the class of each component, as it was allocated; those without labelled rows keep theirs."""
        (part,) = fit.mixture.expect_coupled(fit.trace.state)
        said = part.counts.labels.sum(axis=1)[: len(classes)]
        reliability: Reliability = part.counts.used
        allocated = reliability.allocation[: len(classes)].argmax(axis=1)
        n_named = len(side.label_names)
        found = np.where((said >= 1.0) & (n_named > 0), allocated, classes)
        new = found >= n_named
        found[new] = n_named + np.unique(found[new], return_inverse=True)[1]
        return found

    def _store_annotators(self, fitted: Fitted, side: SideInformation) -> None:
        """Set what is learned about annotators."""
        self.annotators_, self.annotation_report_, self._annotated = [], None, None
        mixture, state = fitted.fit.mixture, fitted.fit.trace.state
        coupling = mixture.couplings[0] if mixture.couplings else None
        if not isinstance(coupling, AnnotatedRows):
            return
        (part,) = mixture.expect_coupled(state)
        used: Reliability = part.counts.used
        mixtures = coupling.mixtures(part.counts)
        beliefs = Beliefs(part.counts.shares, part.counts.same, used, mixtures, coupling.prior)
        names = class_names(side, used.allocation.shape[1])
        self.annotation_report_ = annotator_report(coupling.graph, beliefs, side, names)
        self.annotators_ = self.annotation_report_.annotators
        classes = mixture.weights.classes if fitted.classes is None else fitted.classes
        kept = state._replace(couplings=())
        self._annotated = AnnotatedState(mixture.family, kept, classes, side.label_names)

    @all_or_nothing
    def refine(self, X: Any, side: SideInformation, *, sample_id: Any = None, sample_weight: Any = None) -> Self:
        """Go on from the fit with more statements of annotators about the rows of the same table.

        Clusters start where they are, and move as far as the new answers move them. It takes a few steps, where ``fit``
        would search for clusters anew.

        Parameters
        ----------
        X : (n, d) array or data frame
            The table that was fitted; further rows may follow.
        side : SideInformation
            All statements, those before included: ``old | new`` joins them.
        sample_id, sample_weight : (n,) arrays, optional
            As in ``fit``.

        Returns
        -------
        self
            The fitted estimator.

        Examples
        --------
        >>> import numpy as np
        >>> from sidelight import EquivalenceMixture, SideInformation
        >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [7, 7]], 30, axis=0)
        >>> said = {"row": [0, 1, 30, 31], "label": list("aabb"), "annotator": ["Ann"] * 4}
        >>> first = SideInformation.from_annotations(60, labels=said)
        >>> model = EquivalenceMixture(random_state=0).fit(X, side=first)
        >>> more = {"row": [2, 32], "label": ["a", "b"], "annotator": ["Ben"] * 2}
        >>> model = model.refine(X, first | SideInformation.from_annotations(60, labels=more))
        >>> [row.annotator for row in model.annotators_]
        ['Ann', 'Ben']
        """
        check_is_fitted(self)
        if getattr(self, "_annotated", None) is None:
            raise ValueError("this model was fitted without annotators; fit it to their statements first.")
        assert self._annotated is not None
        family, state, classes, label_names = self._annotated
        problem = self._read_problem(X, None, None, None, side, sample_id, sample_weight, reset=False)
        if problem.side.annotations is None:
            raise ValueError("side has no statements of annotators; make it with SideInformation.from_annotations.")
        if problem.side.label_names.tolist() != label_names.tolist():
            raise ValueError(
                f"side names the classes {problem.side.label_names.tolist()}, but the model has "
                f"{label_names.tolist()}; a class more or less is a matter for fit."
            )
        with one_blas_thread():
            survey = self._survey(problem.table, problem.weights)
            plain = self._plain_mixture(problem, family, classes, state)
            mixture = self._annotated_mixture(plain, classes, problem)
            total = self._total_weight(mixture, survey)
            trace = self._learn_reliability(mixture, state, total, self._watchers(self.callbacks))
            warn_unless_converged(trace, self.max_iter)
            fit = Fit(mixture, trace)
            own = None if self.components_have_classes else self._learned_classes(fit, problem.side, classes)
            self._store(Fitted(fit, total, own), problem.side)
        return self

    def _plain_mixture(self, problem: Problem, family: AnyFamily, classes: IntArray, state: MixtureState) -> Mixture:
        """Return the mixture of what annotators agree on, with the components that were found."""
        agreed = problem._replace(side=consensus(problem.side))
        n_components = len(classes)
        layout = Layout(
            classes if self.components_have_classes else np.arange(n_components), len(agreed.side.label_names)
        )
        return self._mixture(agreed, family, layout, backend_for(self.passes_expected * problem.n_rows * n_components))


def class_names(side: SideInformation, n_classes: int) -> AnyArray:
    """Return a name (object) for each class: that of its label, or a new one."""
    n_labels = len(side.label_names)
    names: AnyArray = np.empty(n_classes, dtype=object)
    names[:] = [*side.label_names.tolist()[:n_classes], *(f"new {place + 1}" for place in range(n_classes - n_labels))]
    return names


def _first_allocation(classes: IntArray, n_components: int, n_classes: int) -> FloatArray:
    """Return the probability of each class for components (components, classes); even for those without labels."""
    allocation = np.full((n_components, n_classes), 1 / n_classes)
    for component, own in enumerate(classes.tolist()):
        if 0 <= own < n_classes:
            allocation[component] = np.arange(n_classes) == own
    return allocation
