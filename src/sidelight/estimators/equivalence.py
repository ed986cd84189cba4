"""Mixtures with equivalence constraints: links as a graph, with everything that follows from them."""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from sidelight._typing import IntArray
from sidelight.couplings.link_graph import HARD, SOFT, LinkedRows, LinkGraphs, Prior, link_graphs, linked_rows, plan
from sidelight.couplings.link_graph.feasibility import feasible_number
from sidelight.estimators.base.annotated import AnnotatedFit, consensus
from sidelight.estimators.base.clusters import Layout, lay_out_classes
from sidelight.estimators.base.likelihood_gaussians import structure_unless_given
from sidelight.estimators.base.link_mixture import LINK_STARTS, LinkMixture, LinkStart
from sidelight.estimators.base.model import Fitted, Model
from sidelight.estimators.registry import register
from sidelight.estimators.starts.partitions import links_of, number_of_classes
from sidelight.estimators.starts.sample import Problem, StartRows, embedding
from sidelight.exceptions import ContradictionError, InfeasibleError
from sidelight.inference.loop import go_on
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.progress import Callback, Progress
from sidelight.inference.protocols import AnyFamily
from sidelight.inference.pruning import Fit
from sidelight.kernels.loops import Backend
from sidelight.side import SideInformation
from sidelight.tables.schema import FamilyChoice
from sidelight.tables.survey import Survey
from sidelight.tables.validation import check_choice, check_number
from sidelight.weights import ConditionalWeights, MaximumLikelihoodWeights

_PAIRS = ("random", "conditional")
# How much higher, in nats, the bound of a fit must be to be taken instead of one that took all links for certain: links
# say more about which classes are meant than a slightly better fit does.
_DECISIVE = 10.0
# How much more probable, in nats, the statements of annotators must be under clusters of one covariance.
_TELLING = 3.0
# Components softly, classes of a whole graph at once.
_DECIDED = SOFT._replace(classes=HARD.classes)


@register
class EquivalenceMixture(AnnotatedFit, LinkMixture):
    """Gaussian mixture with links between rows as equivalence constraints (GMM-EC; Shental et al. 2004).

    Rows bound by must-links and blocks form chunklets, which have one class each; cannot-links keep chunklets apart.
    The posterior is that of the whole graph of links, so that what follows from links counts as much as what is
    stated. Inference is exact for two classes with certain links, for trees and for loops of moderate size, and belief
    propagation elsewhere. Links may be less than certain, and labels say which class a row is of.

    Shental et al. maximise the likelihood given the links (``pairs="conditional"``). The default here is the likelihood
    of rows and links together where the links of random pairs were asked for, which needs no normaliser; also, rows in
    no link count less, covariances have a prior, and a fit starts from several places, some found with the links.

    Parameters
    ----------
    n_classes : int, optional
        Number of classes. None takes as many as have a label. Without labels it takes the number with which groups of
        rows predict links best that were held back, two where there are links of one kind only; and no fewer than
        certain links need.
    components_per_class : int, default 1
        Gaussians that each class is a mixture of.
    covariance_type : str, default "auto"
        As in LabelledMixture; "auto" is "full", and "diag" for tables of more than 200 numbers, of which full
        covariances would be large matrices. With annotators "auto" also tries "tied", and takes it where their
        statements are clearly more probable given such clusters.
    family : as in LabelledMixture
        As in LabelledMixture.
    pairs : {"random", "conditional"}, default "random"
        How links came about. "random": pairs were chosen without looking at their classes and their relation was then
        told, so that links tell about class sizes too and every row is a draw of a class. "conditional": links are
        given, as where only must-links were collected; a chunklet is one draw, and draws are repeated until they
        respect the links.
    link_confidence : float, optional
        Probability, above 0.5, that a link stated as certain is right; below 1 links may be broken. Where they do not
        contradict each other, the model is first fitted as if they were certain; relaxing it, or starting elsewhere, is
        followed where that leads to something decidedly better.
    unlinked_weight : float, default 0.05
        How much a row counts that nothing is known about, from 0 to 1, where something is known about others. Below 1,
        links have more say in what the classes are; with 1 the many rows in no link have.
    prior_rows : float, optional
        Rows that the prior on covariances is worth; None is the number of features + 10.
    prior_scale : float, default 0.2
        Variances of the prior relative to those of the table. Its penalty is part of the objective.
    init_params : {"links", "chunklets", "ward", "kmeans", "k-means++"}, default "links"
        Where to start: the best of several short runs from all the others, at chunklets, at Ward's clusters on a graph
        of neighbours, at k-means, or at k-means++ centres.
    means_init : (components, d), optional
        Means to start from instead, class by class, labelled classes first.
    n_init, max_iter, tol, random_state, n_jobs, keep_posterior, callbacks, verbose : as in LabelledMixture
        As in LabelledMixture.

    Attributes
    ----------
    labels_ : (n,)
        Cluster of each row. Linked rows are decided together, by the most probable assignment, so that certain links
        hold wherever inference is exact.
    posterior_ : (n, n_clusters_)
        Probability of each cluster for each row, using the links.
    n_clusters_, cluster_names_, component_clusters_
        Number and names of the clusters, and the cluster of each component.
    weights_, means_, covariances_ : arrays
        Of the components, ordered by cluster, in scikit-learn's shapes.
    covariance_type_ : str
        The structure of the covariances: ``covariance_type``, or what "auto" chose.
    lower_bound_, lower_bounds_ : float, list of float
        The objective divided by the weight of the rows: at the end, and before and after every step.
    n_iter_, converged_ : int, bool
    exact_ : bool
        Whether inference on the links is exact, so that every step raises the objective.
    violations_ : Violations
        Statements that ``labels_`` break.
    annotators_, annotation_report_ : list of AnnotatorRow, AnnotatorReport or None
        How reliable each annotator is, with an interval, and everything else that was learned about them; empty and
        None without annotators.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import EquivalenceMixture
    >>> X = np.array([[0.0, 0], [0.2, 1], [4.0, 0], [4.1, 1], [0.1, 0.2], [4.2, 0.9]])
    >>> by_height = [(0, 2), (2, 4)], [(0, 1), (2, 3)]  # must-links, cannot-links
    >>> EquivalenceMixture(2, random_state=0).fit(X, must_link=by_height[0], cannot_link=by_height[1]).labels_.tolist()
    [0, 1, 0, 1, 0, 1]
    """

    takes: ClassVar[frozenset[str]] = frozenset(
        {"labels", "must_link", "cannot_link", "blocks", "confidence", "annotators"}
    )
    starts: ClassVar[Mapping[str, LinkStart]] = LINK_STARTS

    def __init__(
        self,
        n_classes: int | None = None,
        *,
        components_per_class: int = 1,
        covariance_type: str = "auto",
        family: FamilyChoice = "gaussian",
        pairs: str = "random",
        link_confidence: float | None = None,
        unlinked_weight: float = 0.05,
        prior_rows: float | None = None,
        prior_scale: float = 0.2,
        init_params: str = "links",
        means_init: Any = None,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_posterior: bool | None = None,
        callbacks: Iterable[Callback] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(n_init, max_iter, tol, random_state, n_jobs, keep_posterior, callbacks, verbose)
        self._set_link_options(
            n_classes, components_per_class, covariance_type, family, prior_rows, prior_scale, init_params, means_init
        )
        self.pairs = pairs
        self.link_confidence = link_confidence
        self.unlinked_weight = unlinked_weight

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("pairs", self.pairs, _PAIRS)
        check_number("unlinked_weight", self.unlinked_weight, least=0, most=1)
        if self.link_confidence is not None:
            check_number("link_confidence", self.link_confidence, least=0.5, most=1)
            if self.link_confidence == 0.5:
                raise ValueError("link_confidence=0.5 would make links say nothing; it must be above 0.5.")

    def _read_side(
        self, n: int, y: Any, must_link: Any, cannot_link: Any, side: SideInformation | None, sample_id: Any
    ) -> SideInformation:
        if self.link_confidence is None or self.link_confidence == 1:
            return super()._read_side(n, y, must_link, cannot_link, side, sample_id)
        # Links that may be wrong may contradict each other, so they are made uncertain before anybody looks.
        links = SideInformation.build(n, must_link=must_link, cannot_link=cannot_link, sample_id=sample_id)
        if isinstance(side, SideInformation):
            side = _with_confidence(side, self.link_confidence)
        known = super()._read_side(n, y, None, None, side, sample_id)
        return known.combine(_with_confidence(links, self.link_confidence))

    def _layout(
        self, problem: Problem, few: StartRows, family: AnyFamily, survey: Survey, random: np.random.RandomState
    ) -> Layout:
        layout = super()._layout(problem, few, family, survey, random)
        if self.n_classes is not None or layout.n_labelled:
            return layout
        links = links_of(few.problem.side)
        n_classes = layout.n_classes
        if links.same.any() and not links.same.all():
            points = embedding(few.values, few.problem.row_weights(), self._schema, survey, random)
            n_classes = number_of_classes(points, links, random)
        linked = _linked(problem.side)
        if linked is not None:
            n_classes = feasible_number(linked.problem, n_classes)
        return lay_out_classes(problem.side, n_classes, self.components_per_class)

    def _model(self, problem: Problem, family: AnyFamily, layout: Layout, backend: Backend) -> Model:
        """Couple the rows in links and blocks by their graph; let rows without statements count less."""
        side, classes, weights = problem.side, layout.classes, problem.weights
        couplings: tuple[LinkGraphs, ...] = ()
        class_weights, row_weights = MaximumLikelihoodWeights(classes), weights
        linked = _linked(side)
        if linked is not None:
            heavy = problem.row_weights()[linked.rows]
            draws = np.add.reduceat(heavy, linked.starts) if self.pairs == "random" else np.ones(len(linked.starts))
            couplings = (link_graphs(linked, classes, draws=draws, row_weights=heavy),)
            if self.pairs == "conditional":
                unnamed = plan(linked.problem.without_labels(), layout.n_classes)
                class_weights = ConditionalWeights(classes, Prior.of(unnamed, draws))
        if not side.is_empty and self.unlinked_weight != 1:
            row_weights = np.where(side.mentioned, 1.0, self.unlinked_weight) * (1.0 if weights is None else weights)
        return Model(class_weights, couplings, row_weights, side.labels if layout.n_labelled else None)

    def _fit(self, problem: Problem, survey: Survey) -> Fitted:
        """Fit to what is certain; with annotators to what they agree on, then to what each of them says."""
        if problem.side.annotations is None:
            return self._fit_links(problem, survey)
        tried = [(structure, self._fit_structure(structure, problem, survey)) for structure in self._structures()]
        chosen, fitted = tried[0]
        for structure, other in tried[1:]:
            if self._evidence_of_statements(other) > self._evidence_of_statements(fitted) + _TELLING:
                chosen, fitted = structure, other
        self.covariance_type_ = chosen
        return fitted

    def _structures(self) -> tuple[str, ...]:
        """Return the structures of covariances to try with annotators, who leave more room to clusters than labels do.

        The many parameters of full covariances then follow something other than classes where rows are few, and
        annotators are blamed for it.
        """
        usual = structure_unless_given(self.covariance_type, self._schema)
        return (usual, "tied") if self.covariance_type == "auto" and usual == "full" else (usual,)

    def _fit_structure(self, structure: str, problem: Problem, survey: Survey) -> Fitted:
        """Fit with covariances of a structure to what annotators agree on, then to what each of them says."""
        trial = copy(self)
        trial.covariance_type = structure
        agreed = trial._fit_links(problem._replace(side=consensus(problem.side)), survey)
        return trial._fit_annotated(agreed, problem, survey)

    def _fit_links(self, problem: Problem, survey: Survey) -> Fitted:
        """Fit; where links may be wrong, also as if they were certain, and relax that fit."""
        ascent = self._ascend(problem, survey)
        fitted = Fitted(ascent.fit, ascent.total_weight)
        if "confidence" not in problem.side.statements:
            return fitted
        try:
            sure = problem._replace(side=_certain(problem.side))
            certain = self._ascend(sure, survey, first_start=self.n_init + 1).fit.trace
        except (ContradictionError, InfeasibleError):
            return fitted
        mixture, trace = ascent.fit
        heard: list[Progress] = []
        begin = certain._replace(state=certain.state.afresh())
        tol = self.tol * ascent.total_weight
        relaxed = go_on(begin, mixture.step, "relaxing", max_iter=self.max_iter, tol=tol, callbacks=[heard.append])
        at_certain = relaxed.objectives[len(certain.objectives)]
        if trace.objectives[-1] > relaxed.objectives[-1] + _DECISIVE:
            return fitted
        if relaxed.objectives[-1] <= at_certain + _DECISIVE:
            return fitted._replace(fit=Fit(mixture, begin))
        for progress in heard:
            for callback in self._watchers(self.callbacks):
                callback(progress)
        return fitted._replace(fit=Fit(mixture, relaxed))

    def _store(self, fitted: Fitted, side: SideInformation) -> None:
        super()._store(fitted, side)
        self._store_annotators(fitted, side)
        self.exact_ = all(coupling.monotone for coupling in fitted.fit.mixture.couplings)

    def _decided_together(self, mixture: Mixture, state: MixtureState) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield linked rows with the most probable joint assignment of their classes."""
        classes = mixture.weights.classes
        decided = tuple(
            LinkGraphs(tuple(replace(graph, assignment=_DECIDED) for graph in coupling.graphs))
            for coupling in mixture.couplings
            if isinstance(coupling, LinkGraphs)
        )
        for part in replace(mixture, couplings=decided).assign_coupled(state.afresh()):
            assert not isinstance(part.numbers, slice)
            yield part.numbers, classes[part.posterior.argmax(axis=1)]


def _linked(side: SideInformation) -> LinkedRows | None:
    """Return the rows in links and blocks as chunklets; None where there are none.

    Rows of one label stay chunklets of their own: a label is a draw of a class for every row that carries it.
    """
    unnamed = replace(side, labels=np.full(side.n_rows, -1), label_names=side.label_names[:0])
    if unnamed.is_empty:
        return None
    linked = linked_rows(unnamed)
    labels = np.maximum.reduceat(side.labels[linked.rows], linked.starts)
    return linked._replace(problem=replace(linked.problem, labels=labels))


def _with_confidence(side: SideInformation, confidence: float) -> SideInformation:
    """Return the same statements, with links that were certain of this confidence."""
    must, cannot = side.must_link_confidence, side.cannot_link_confidence
    return replace(
        side,
        must_link_confidence=np.where(must == 1, confidence, must),
        cannot_link_confidence=np.where(cannot == 1, confidence, cannot),
    )


def _certain(side: SideInformation) -> SideInformation:
    """Return the same statements, with all links certain."""
    must, cannot = side.must_link_confidence, side.cannot_link_confidence
    return replace(side, must_link_confidence=np.ones_like(must), cannot_link_confidence=np.ones_like(cannot))
