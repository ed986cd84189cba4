"""Mixtures whose classes are groups of components, found from links, labels and blocks."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from sidelight._typing import FloatArray
from sidelight.couplings.class_penalty.coupling import ClassPenalty, MeanFieldMemory, overlap
from sidelight.couplings.class_penalty.pair_sums import PairSums
from sidelight.estimators.base.clusters import Layout, lay_out
from sidelight.estimators.base.emission import EmissionSettings
from sidelight.estimators.base.likelihood_gaussians import (
    COVARIANCE_TYPES,
    LikelihoodGaussians,
    structure_unless_given,
)
from sidelight.estimators.base.mixture import MixtureEstimator
from sidelight.estimators.base.model import Ascent, Fitted, Model
from sidelight.estimators.class_allocation import allocate, unreached
from sidelight.estimators.registry import register
from sidelight.estimators.starts.merging import Stage, lowest_bic, merge_down
from sidelight.estimators.starts.sample import STARTS, Problem, Sample, StartRows, at_means
from sidelight.inference.loop import ascend
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import AnyFamily
from sidelight.inference.pruning import Fit
from sidelight.kernels.loops import NUMPY, Backend
from sidelight.side import SideInformation
from sidelight.tables.schema import FamilyChoice
from sidelight.tables.survey import Survey
from sidelight.tables.table import ArrayTable, Rows
from sidelight.tables.validation import check_choice, check_integer, check_number
from sidelight.weights import MaximumLikelihoodWeights

_STARTS = ("short_runs", "kmeans", "k-means++")
_UPDATES = ("parallel", "sequential")
_UNREACHED = ("attach", "own")
_MOST_COMPONENTS_TRIED = 10
_MOST_MERGED = 4
_COMPARING_STEPS = 24


@register
class ClassMixture(MixtureEstimator):
    """Gaussian mixture in which a class may have several components, and links tell which components make a class.

    Zhao and Miller ("Semisupervised learning of mixture models with class constraints", MCGMM): components follow the
    density of the table, and pairs of rows that must or cannot share a class say, softly, which components belong
    together, so that the number of classes need not be known. Labels and blocks enter as all the pairs they entail.

    Parameters
    ----------
    n_components : int, optional
        Number of components, at least as many as labelled classes. None takes the number up to 10 with the lowest BIC.
    max_classes : int, optional
        Most classes there may be; None for as many as components.
    covariance_type : str, default "auto"
        As in LabelledMixture; "auto" is "full", and "diag" for tables of more than 200 numbers, of which full
        covariances would be large matrices.
    family : as in LabelledMixture
        As in LabelledMixture.
    strength : float, default 2
        What a pair pays, in nats, that shares a component or class and must not, or gains that does and must. Choose
        it by held-out links with :func:`sidelight.selection.select_strength`. A link of confidence q has 2q − 1 of it.
    unreached : {"attach", "own"}, default "attach"
        Components without statements join the class they share most rows with, or each is a class of its own.
        Without any statement, each is one.
    updates : {"parallel", "sequential"}, default "parallel"
        How the mean field of the rows in pairs is found: all at once with damped steps, or row after row.
    prior_rows, prior_scale : float
        The prior on covariances: worth ``prior_rows`` rows, with variances ``prior_scale`` times those of the table.
        Its penalty is part of the objective. ``prior_rows=0`` is maximum likelihood.
    init_params : {"short_runs", "kmeans", "k-means++"}, default "short_runs"
        Where to start: the best of several short runs on at most 5000 rows, one of which starts with up to 4 components
        too many, merged; k-means; or k-means++ centres.
    means_init : (n_components, d) array, optional
        Where to start instead.
    n_init, max_iter, tol, random_state, n_jobs, keep_posterior, callbacks, verbose : as in LabelledMixture
        As in LabelledMixture.

    Attributes
    ----------
    labels_ : (n,)
        Class of each row, given the statements.
    posterior_ : (n, n_clusters_)
        Probability of each class for each row, given the statements.
    n_components_, n_classes_ : int
        Number of components, and of classes that have any.
    n_clusters_ : int
        The same as ``n_classes_``, unless a label has no component of its own; its cluster is empty then.
    cluster_names_ : (n_clusters_,)
        The label of each class, or "new 1", "new 2", … where no label is left.
    classes_of_components_, component_clusters_ : (n_components_,)
        The class of each component.
    allocation_ : (n_components_, max_classes)
        β, how probable each class is within each component, in the fit's own order of components and classes; absent
        without statements.
    weights_, means_, covariances_ : arrays
        Of the components, ordered by class, in scikit-learn's shapes.
    covariance_type_ : str
        The structure of the covariances: ``covariance_type``, or what "auto" chose.
    lower_bound_, lower_bounds_ : float, list of float
        The objective per row: at the end, and before and after every step.
    n_iter_, converged_ : int, bool
    violations_ : Violations
        Statements that ``labels_`` break.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import ClassMixture
    >>> X = np.repeat([[0.0], [5.0], [10.0]], 20, axis=0) + np.random.RandomState(0).normal(size=(60, 1))
    >>> model = ClassMixture(3, random_state=0).fit(X, must_link=[(0, 40), (1, 41)], cannot_link=[(2, 20), (42, 21)])
    >>> model.n_classes_, model.labels_[[0, 20, 40]].tolist()
    (2, [0, 1, 0])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels", "must_link", "cannot_link", "blocks", "confidence"})

    def __init__(
        self,
        n_components: int | None = None,
        *,
        max_classes: int | None = None,
        covariance_type: str = "auto",
        family: FamilyChoice = "gaussian",
        strength: float = 2.0,
        unreached: str = "attach",
        updates: str = "parallel",
        prior_rows: float = 1.0,
        prior_scale: float = 0.02,
        init_params: str = "short_runs",
        means_init: Any = None,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_posterior: bool | None = None,
        callbacks: Iterable[Callback] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(n_init, max_iter, tol, random_state, n_jobs, keep_posterior, callbacks, verbose)
        self.n_components = n_components
        self.max_classes = max_classes
        self.covariance_type = covariance_type
        self.family = family
        self.strength = strength
        self.unreached = unreached
        self.updates = updates
        self.prior_rows = prior_rows
        self.prior_scale = prior_scale
        self.init_params = init_params
        self.means_init = means_init

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("n_components", "max_classes"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), least=1)
        check_choice("covariance_type", self.covariance_type, (*COVARIANCE_TYPES, "auto"))
        check_choice("unreached", self.unreached, _UNREACHED)
        check_choice("updates", self.updates, _UPDATES)
        check_choice("init_params", self.init_params, _STARTS)
        for name in ("strength", "prior_rows", "prior_scale"):
            check_number(name, getattr(self, name), least=0)

    def _settings(self, problem: Problem, survey: Survey) -> EmissionSettings:
        self.covariance_type_ = structure_unless_given(self.covariance_type, self._schema)
        return LikelihoodGaussians(self.covariance_type_, self.prior_rows, self.prior_scale)

    def _layout(
        self, problem: Problem, few: StartRows, family: AnyFamily, survey: Survey, random: np.random.RandomState
    ) -> Layout:
        label_names, n_components = problem.side.label_names, self.n_components
        if n_components is None:
            n_components = self._find_number(few, family, survey, random)
        return lay_out(label_names, n_components, 1)

    def _model(self, problem: Problem, family: AnyFamily, layout: Layout, backend: Backend) -> Model:
        """Couple the rows with statements by a penalty on their pairs; which class a component is of is found later."""
        side, n_components = problem.side, layout.n_components
        couplings: tuple[ClassPenalty, ...] = ()
        if not side.is_empty:
            penalty = ClassPenalty(
                rows=np.flatnonzero(side.mentioned),
                pairs=PairSums.stated(side, problem.weights),
                strength=self.strength,
                max_classes=min(self.max_classes or n_components, n_components),
                sequential=self.updates == "sequential",
            )
            couplings = (penalty,)
        return Model(MaximumLikelihoodWeights(np.arange(n_components)), couplings, problem.weights)

    def _sample(
        self,
        few: StartRows,
        family: AnyFamily,
        layout: Layout,
        survey: Survey,
        backend: Backend,
        random: np.random.RandomState,
    ) -> Sample:
        sample = super()._sample(few, family, layout, survey, backend, random)
        # Where each labelled class has one component, runs may start at the labels. Where a class may have several, its
        # labelled rows belong to different ones, and it is not known which.
        if layout.n_labelled == layout.n_components:
            return sample
        return sample._replace(codes=np.full(len(sample.codes), -1), layout=layout._replace(n_labelled=0))

    def _start(self, mixture: Mixture, sample: Sample, survey: Survey, random: np.random.RandomState) -> MixtureState:
        """Return where to start: at ``means_init``, or where ``init_params`` leads."""
        if self.means_init is not None:
            return at_means(sample, self.means_init, self._schema, survey)
        found = STARTS[self.init_params](sample, random)
        return found if self.init_params != "short_runs" else self._or_merged(found, sample, survey, random)

    def _or_merged(
        self, found: MixtureState, sample: Sample, survey: Survey, random: np.random.RandomState
    ) -> MixtureState:
        """Return the best of short runs, or where merging a few components too many leads, if that is better."""
        n_components, total = sample.layout.n_components, float(sample.weights.sum())
        n_distinct = len(np.unique(sample.values, axis=0))
        most = min(n_components + min(n_components, _MOST_MERGED), max(n_distinct, n_components))
        *_, last = self._merged(sample, sample.mixture.family, survey, random, most, n_components)
        traces = [
            ascend(sample.mixture.step, start, max_iter=_COMPARING_STEPS, tol=self.tol * total)
            for start in (found, last.state)
        ]
        return max(traces, key=lambda trace: trace.objectives[-1]).state.afresh()

    def _refine(self, ascent: Ascent, problem: Problem, survey: Survey) -> Fitted:
        """Give every component its class, now that the mixture is fitted."""
        mixture, trace = ascent.fit
        if not mixture.couplings:
            return Fitted(ascent.fit, ascent.total_weight, np.arange(len(mixture.weights.classes)))
        (penalty,), ((log_allocation, memory),) = mixture.couplings, trace.state.couplings
        assert isinstance(penalty, ClassPenalty)
        assert isinstance(memory, MeanFieldMemory)
        assert log_allocation is not None
        posterior = np.exp(memory.log_joint).sum(axis=2)
        alone = unreached(penalty.reach(posterior))
        attach = bool(alone.any()) and self.unreached == "attach"
        overlaps = _overlaps(ascent.sample, trace.state) if attach else None
        label_counts = penalty.pairs.labelled.T @ (penalty.pairs.weights[:, None] * posterior)
        allocation = allocate(log_allocation, alone, overlaps, label_counts)
        self.allocation_ = np.exp(log_allocation)
        settled = replace(mixture, couplings=(penalty.settled(allocation.carriers),))
        return Fitted(Fit(settled, trace), ascent.total_weight, allocation.classes)

    def _store(self, fitted: Fitted, side: SideInformation) -> None:
        super()._store(fitted, side)
        self.n_components_ = len(self.weights_)
        self.classes_of_components_ = self.component_clusters_
        self.n_classes_ = len(np.unique(self.component_clusters_))

    def _find_number(self, few: StartRows, family: AnyFamily, survey: Survey, random: np.random.RandomState) -> int:
        """Return the number of components with the lowest BIC on the rows to start from, without side information."""
        least = max(len(few.problem.side.label_names), 1)
        most = max(min(_MOST_COMPONENTS_TRIED, len(np.unique(few.values, axis=0))), least)
        return lowest_bic(self._merged(few, family, survey, random, most, least), survey.total)

    def _merged(
        self,
        rows: StartRows | Sample,
        family: AnyFamily,
        survey: Survey,
        random: np.random.RandomState,
        most: int,
        least: int,
    ) -> Iterator[Stage]:
        """Merge components of the rows to start from, without side information."""
        weights = rows.problem.weights if isinstance(rows, StartRows) else rows.mixture.rows.weights
        problem = Problem(ArrayTable(rows.values), SideInformation.build(len(rows.values)), weights)
        silent = StartRows(problem, rows.values, rows.whole)
        sample = self._sample(silent, family, Layout(np.arange(most), 0), survey, NUMPY, random)

        def mixture_of(n_components: int) -> Mixture:
            return self._mixture(problem, family, Layout(np.arange(n_components), 0), NUMPY)

        return merge_down(mixture_of, STARTS["kmeans"](sample, random), most, least, float(sample.weights.sum()))


def _overlaps(sample: Sample, state: MixtureState) -> FloatArray:
    """Return how far components share rows of the sample, by the mixture alone, (components, components)."""
    mixture = sample.mixture
    alone = replace(mixture, rows=Rows(mixture.rows.table), couplings=())
    posterior = np.concatenate([part.posterior for part in alone.assign(state.afresh())])
    return overlap(posterior, sample.weights)
