"""Gaussian mixtures whose classes are groups of components, found from links, labels and blocks."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.couplings.class_penalty.coupling import ClassMemory, ClassPenalty, overlap
from sidelight.couplings.class_penalty.pair_sums import PairSums
from sidelight.couplings.independent import Independent
from sidelight.estimators.base.layout import Layout, lay_out
from sidelight.estimators.base.mixture import Fitted, MixtureEstimator
from sidelight.estimators.base.parameters import check_choice, check_integer, check_number
from sidelight.estimators.class_allocation import Allocation, allocate, unreached
from sidelight.estimators.gaussians import COVARIANCE_TYPES, gaussian_family
from sidelight.estimators.registry import register
from sidelight.estimators.starts.merging import Stage, lowest_bic, merge_down
from sidelight.estimators.starts.sample import Data, scale_of
from sidelight.estimators.starts.short_runs import STARTS, Sample, from_given_means
from sidelight.inference.executors.threads import thread_count
from sidelight.inference.loop import Callback, ascend
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import Family
from sidelight.inference.restarts import climb_from
from sidelight.inference.rows import Rows
from sidelight.inference.starts import SAMPLE_ROWS, choose_rows, row_order
from sidelight.kernels.loops import NUMPY, Backend, backend_for
from sidelight.side import SideInformation
from sidelight.tables.survey import Survey
from sidelight.weights import MaximumLikelihoodWeights

_STARTS = ("short_runs", "kmeans", "k-means++")
_UPDATES = ("parallel", "sequential")
_UNREACHED = ("attach", "own")
_MOST_COMPONENTS_TRIED = 10
_MOST_MERGED = 4
_COMPARING_STEPS = 24
_PASSES_EXPECTED = 10


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
    covariance_type : {"full", "tied", "diag", "spherical"}, default "full"
        As in scikit-learn.
    strength : float, default 2
        What a pair pays, in nats, that shares a component or class and must not, or gains that does and must. Choose
        it by held-out links with :func:`sidelight.selection.select_strength`. A link of confidence q has 2q − 1 of it.
    unreached : {"attach", "own"}, default "attach"
        Components that no statement speaks of join the class they share most rows with, or each is a class of its own.
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
    n_init : int, default 1
        Number of starts; the fit with the highest bound is kept.
    max_iter : int, default 100
    tol : float, default 1e-3
        Stop when the bound per row changes by less.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads; the results do not depend on their number.
    keep_posterior : bool, optional
        Whether to keep ``posterior_``; None keeps it up to 64 MB.
    callbacks : iterable of callable, optional
        Each is called with a ``Progress(iteration, objective, change)`` after every step.
    verbose : bool, default False
        Show a progress bar.

    Attributes
    ----------
    labels_ : (n,)
        Class of each row, using what is known about it.
    posterior_ : (n, n_clusters_)
        Probability of each class for each row, using what is known about it.
    n_components_, n_classes_ : int
        Number of components, and of classes that have any.
    n_clusters_ : int
        The same as ``n_classes_``, unless a label has no component of its own; its cluster is empty then.
    cluster_names_ : (n_clusters_,)
        The label of each class, or "new 1", "new 2", … where no label is left.
    classes_of_components_, component_clusters_ : (n_components_,)
        The class of each component.
    weights_, means_, covariances_ : arrays
        Of the components, ordered by class, in scikit-learn's shapes.
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
        covariance_type: str = "full",
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
        self.n_components = n_components
        self.max_classes = max_classes
        self.covariance_type = covariance_type
        self.strength = strength
        self.unreached = unreached
        self.updates = updates
        self.prior_rows = prior_rows
        self.prior_scale = prior_scale
        self.init_params = init_params
        self.means_init = means_init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_posterior = keep_posterior
        self.callbacks = callbacks
        self.verbose = verbose

    def _check_parameters(self) -> None:
        for name in ("n_components", "max_classes"):
            if getattr(self, name) is not None:
                check_integer(name, getattr(self, name), least=1)
        check_choice("covariance_type", self.covariance_type, COVARIANCE_TYPES)
        check_choice("unreached", self.unreached, _UNREACHED)
        check_choice("updates", self.updates, _UPDATES)
        check_choice("init_params", self.init_params, _STARTS)
        for name in ("strength", "prior_rows", "prior_scale", "tol"):
            check_number(name, getattr(self, name), least=0)
        check_integer("n_init", self.n_init, least=1)
        check_integer("max_iter", self.max_iter, least=1)

    def _fit(self, X: AnyArray, side: SideInformation, sample_weight: FloatArray | None, survey: Survey) -> Fitted:
        random = check_random_state(self.random_state)
        family = gaussian_family(self.covariance_type, survey, prior_rows=self.prior_rows, prior_scale=self.prior_scale)
        data = Data(X, side, sample_weight)
        few = _start_from(data, random)

        n_components = self.n_components
        if n_components is None:
            n_components = self._find_number(few, family, survey, random)
        layout = lay_out(side.label_names, n_components, 1)
        if layout.n_components > len(few.X):
            raise ValueError(
                f"n_components={layout.n_components} is more than the n_samples = {len(few.X)} rows that count; "
                "use fewer components."
            )
        backend = backend_for(_PASSES_EXPECTED * len(X) * layout.n_components)
        sample = self._sample(few, family, layout, survey, backend)
        mixture = self._assemble(data, family, layout.n_components, backend)
        trace = climb_from(
            [lambda: self._start(few, sample, survey, random)] * self.n_init,
            mixture.step,
            max_iter=self.max_iter,
            tol=self.tol,
            total_weight=survey.total,
            callbacks=self.callbacks or (),
            verbose=self.verbose,
        )
        if not isinstance(mixture.joint, ClassPenalty):
            return Fitted(mixture, trace, survey.total, np.arange(layout.n_components))
        allocation = self._settle(mixture.joint, trace.state, sample)
        settled = replace(mixture, joint=mixture.joint.settled(allocation.carriers))
        return Fitted(settled, trace, survey.total, allocation.classes)

    def _assemble(self, data: Data, family: Family[Any, Any], n_components: int, backend: Backend) -> Mixture:
        """Put family, weights and couplings together on some rows."""
        joint, left_out = None, None
        if not data.side.is_empty:
            left_out = data.side.mentioned
            joint = ClassPenalty(
                rows=np.flatnonzero(left_out),
                pairs=PairSums.stated(data.side, data.weights),
                strength=self.strength,
                max_classes=min(self.max_classes or n_components, n_components),
                sequential=self.updates == "sequential",
            )
        one_each = np.arange(n_components)
        return Mixture(
            rows=Rows(data.X, data.weights, None, left_out),
            family=family,
            weights=MaximumLikelihoodWeights(one_each),
            coupling=Independent(one_each, backend),
            joint=joint,
            backend=backend,
            n_threads=thread_count(self.n_jobs),
        )

    def _sample(self, few: Data, family: Family[Any, Any], layout: Layout, survey: Survey, backend: Backend) -> Sample:
        # Where each labelled class has one component, runs may start at the labels. Where a class may have several, its
        # labelled rows belong to different ones, and nobody knows which.
        labelled = layout.n_labelled == layout.n_components
        return Sample(
            mixture=self._assemble(few, family, layout.n_components, backend),
            scaled=(few.X - survey.mean) / scale_of(survey),
            weights=np.ones(len(few.X)) if few.weights is None else few.weights,
            codes=few.side.labels if labelled else np.full(len(few.X), -1),
            layout=layout if labelled else layout._replace(n_labelled=0),
            whole=few.whole,
        )

    def _start(self, few: Data, sample: Sample, survey: Survey, random: np.random.RandomState) -> MixtureState:
        """Return where to start: at what the user gave, or what ``init_params`` finds."""
        if self.means_init is not None:
            needed = (sample.layout.n_components, sample.scaled.shape[1])
            means = np.asarray(self.means_init, dtype=float)
            if means.shape != needed:
                raise ValueError(f"means_init has shape {means.shape}, but this model needs {needed}.")
            return from_given_means(sample, means, survey.mean, scale_of(survey))
        found = STARTS[self.init_params](sample, random)
        return found if self.init_params != "short_runs" else self._or_merged(found, few, sample, survey, random)

    def _or_merged(
        self, found: MixtureState, few: Data, sample: Sample, survey: Survey, random: np.random.RandomState
    ) -> MixtureState:
        """Return the best of short runs, or where merging a few components too many leads, if that is better."""
        n_components, total = sample.layout.n_components, float(sample.weights.sum())
        most = min(n_components + min(n_components, _MOST_MERGED), max(len(np.unique(few.X, axis=0)), n_components))
        *_, last = self._merged(few, sample.mixture.family, survey, random, most, n_components)
        traces = [
            ascend(sample.mixture.step, start, max_iter=_COMPARING_STEPS, tol=self.tol * total)
            for start in (found, last.state)
        ]
        return max(traces, key=lambda trace: trace.objectives[-1]).state._replace(coupled=None)

    def _settle(self, penalty: ClassPenalty, state: MixtureState, sample: Sample) -> Allocation:
        """Give every component its class, now that the mixture is fitted."""
        memory: ClassMemory = state.coupled
        assert memory.log_joint is not None
        posterior = np.exp(memory.log_joint).sum(axis=2)
        alone = unreached(penalty.reach(posterior))
        overlaps = _overlaps(sample, state) if alone.any() and self.unreached == "attach" else None
        label_counts = penalty.pairs.labelled.T @ (penalty.pairs.weights[:, None] * posterior)
        return allocate(memory.log_allocation, alone, overlaps, label_counts)

    def _store(self, fitted: Fitted, side: SideInformation) -> None:
        super()._store(fitted, side)
        self.n_components_ = len(self.weights_)
        self.classes_of_components_ = self.component_clusters_
        self.n_classes_ = len(np.unique(self.component_clusters_))

    def _find_number(self, few: Data, family: Family[Any, Any], survey: Survey, random: np.random.RandomState) -> int:
        """Return the number of components with the lowest BIC on the rows to start from, whatever is said of them."""
        least = max(len(few.side.label_names), 1)
        most = max(min(_MOST_COMPONENTS_TRIED, len(np.unique(few.X, axis=0))), least)
        return lowest_bic(self._merged(few, family, survey, random, most, least), survey.total)

    def _merged(
        self,
        few: Data,
        family: Family[Any, Any],
        survey: Survey,
        random: np.random.RandomState,
        most: int,
        least: int,
    ) -> Iterator[Stage]:
        """Merge components of the rows to start from, whatever is said of them."""
        silent = few._replace(side=SideInformation.build(len(few.X)))
        sample = self._sample(silent, family, Layout(np.arange(most), 0), survey, NUMPY)

        def mixture_of(n_components: int) -> Mixture:
            return self._assemble(silent, family, n_components, NUMPY)

        return merge_down(mixture_of, STARTS["kmeans"](sample, random), most, least, float(sample.weights.sum()))


def _start_from(data: Data, random: np.random.RandomState) -> Data:
    """Return the rows to start from, sorted: all of a small table; of a large one, half of them rows spoken of."""
    spoken_of = np.where(data.side.mentioned, 0, -1)
    rows = choose_rows(len(data.X), data.weights, spoken_of, random)
    values = Rows(data.X).gather(rows)
    order = row_order(values, data.side.labels[rows])
    rows = rows[order]
    weights = None if data.weights is None else data.weights[rows]
    return Data(values[order], data.side.restrict(rows), weights, whole=len(data.X) <= SAMPLE_ROWS)


def _overlaps(sample: Sample, state: MixtureState) -> FloatArray:
    """Return how far components share rows of the sample, as the mixture alone has it, (components, components)."""
    posterior = np.empty((len(sample.scaled), sample.layout.n_components))

    def write(rows: slice | IntArray, part: FloatArray, _: FloatArray | None) -> None:
        posterior[rows] = part

    replace(sample.mixture, rows=Rows(sample.mixture.rows.X), joint=None).assignments(state, write)
    return overlap(posterior, sample.weights)
