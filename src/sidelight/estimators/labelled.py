"""Mixtures with some rows labelled, by EM or by classification EM."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from sidelight._typing import IntArray
from sidelight.couplings.chunklets import ChunkletCoupling
from sidelight.couplings.independent import Hard, Independent
from sidelight.estimators.base.clusters import Layout, lay_out
from sidelight.estimators.base.emission import emission_of
from sidelight.estimators.base.likelihood_gaussians import (
    COVARIANCE_TYPES,
    LikelihoodGaussians,
    structure_unless_given,
)
from sidelight.estimators.base.mixture import MixtureEstimator
from sidelight.estimators.base.model import Fitted, Model
from sidelight.estimators.base.noise import NoiseComponent
from sidelight.estimators.registry import register
from sidelight.estimators.starts.given import with_precisions, with_weights
from sidelight.estimators.starts.outliers import widest_covariance
from sidelight.estimators.starts.race import can_race, from_race
from sidelight.estimators.starts.sample import STARTS, Problem, Sample, StartRows, at_means
from sidelight.estimators.starts.structures import (
    StructureChoice,
    lowest_bic_number,
    lowest_bic_structure,
    structures_worth_trying,
)
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import AnyFamily
from sidelight.kernels.loops import NUMPY, Backend, Chooser, backend_for, outright, softly
from sidelight.side import SideInformation
from sidelight.tables.schema import FamilyChoice
from sidelight.tables.survey import Survey
from sidelight.tables.validation import check_choice, check_integer, check_number
from sidelight.weights import MaximumLikelihoodWeights

_ASSIGNMENTS: dict[str, tuple[type[Independent] | type[Hard], Chooser]] = {
    "soft": (Independent, softly),
    "hard": (Hard, outright),
}
_MOST_COMPONENTS_TRIED = 10
# Compiled loops pay as soon as they would in a search of this many passes for each number of components.
_PASSES_OF_A_SEARCH = 100


@register
class LabelledMixture(NoiseComponent, MixtureEstimator):
    """Gaussian mixture in which labelled rows stay in their class.

    With ``assignment="soft"`` the likelihood is maximised by EM (Dempster et al. 1977), with ``"hard"`` the
    classification likelihood by CEM (Celeux and Govaert 1991; Amini, lecture, for the form with labels). A labelled
    row contributes the density of its own class, any other row that of the mixture. Rows of a block share a class
    that is not known. Without labels and blocks it is a plain Gaussian mixture.

    Parameters
    ----------
    n_components : int, optional
        Number of components. More than the labelled classes need are classes without labels. None takes as many as
        the labelled classes need; without any label, the number from 1 to 10 with the lowest BIC.
    components_per_class : int or mapping from label to int, default 1
        Components of each labelled class.
    covariance_type : str, default "auto"
        Of Gaussian and Student t columns: one of scikit-learn's "full", "tied", "diag" and "spherical", or of mclust's
        names "EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV". Their
        letters say whether volume, shape and orientation of the components are equal (E), vary (V), or are round and
        along the axes (I): "spherical" is "VII", "diag" is "VVI", "tied" is "EEE", "full" is "VVV". "auto" takes the
        one with the lowest BIC where there are no labels, no blocks, no noise component and no Student t columns, and
        "full" elsewhere, or "diag" for tables of more than 200 numbers. Fits in which a component owns a single row and
        needs the prior for its covariance are not considered.
    family : str or mapping, default "gaussian"
        What the columns are: the name of a column kind for all of them, "auto" to go by the types of a data frame's
        columns, or a mapping from columns to kinds; see BayesianMixture. Gaussian and Student t columns are fitted by
        maximum likelihood with the prior below, others with conjugate posteriors.
    power : {False, "auto", "canonical"}, default False
        Whether to take Gaussian columns with a long tail, or all of them, on another scale; see BayesianMixture. Where
        ``means_init`` or ``precisions_init`` is given, in the units of the table, columns are left as they are.
    assignment : {"soft", "hard"}, default "soft"
        EM or CEM.
    unlabelled_weight : float, default 1
        How much a row without a label counts, from 0 to 1. Below 1 helps where the mixture fits the table badly and
        many unlabelled rows would pull the classes away from their labels (Nigam et al. 2000).
    prior_rows, prior_scale : float
        The prior on covariances: worth ``prior_rows`` rows, with variances ``prior_scale`` times those of the table.
        Its penalty is part of the objective. ``prior_rows=0`` is maximum likelihood.
    noise : bool or float, optional
        Whether there is a further component for rows that belong nowhere: True learns its share of the rows (a few
        percent are expected), a number between 0 and 1 is the share. Its density is constant, one over the widths of
        the columns (after Banfield and Raftery 1993). A labelled row is never noise.
    init_params : {"short_runs", "kmeans", "k-means++", "labels"}, default "short_runs"
        Where to start: the best of several short runs on at most 5000 rows, k-means, k-means++ centres, or the
        labelled rows alone. Without any side information, short runs are a race: of a small table k-means, most often
        breathing k-means (Fritzke 2020), of a large one the best of several runs, which goes on with more and more
        rows.
    means_init, weights_init, precisions_init : arrays, optional
        Where to start instead, in scikit-learn's shapes. Components of labelled classes come first, in the order of
        the labels. With ``precisions_init``, "auto" is "full".
    n_init : int, default 1
        Number of starts; the fit with the highest bound is kept.
    max_iter : int, default 100
        Most iterations.
    tol : float, default 1e-3
        Stop when further steps are expected to raise the bound per row by less in all; with ``assignment="hard"`` or
        blocks, when the last step changed it by less.
    accelerate : bool, default True
        Whether steps may be longer than those of EM, which takes fewer of them. False is EM as published, from short
        runs that know no race either. CEM, and fits with blocks, take plain steps in any case.
    warm_start : bool, default False
        Start from the last fit, where there is one of the same shape.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.
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
        Cluster of each row, given labels and blocks; -1 for noise.
    posterior_ : (n, n_clusters_)
        Probability of each cluster for each row, given labels and blocks.
    noise_probability_ : (n,)
        With ``noise``, the probability of each row that it is noise: what its row of ``posterior_`` lacks to one.
    noise_weight_ : float
        With ``noise``, its share of the rows: what ``weights_`` lack to one.
    n_clusters_ : int
    cluster_names_ : (n_clusters_,)
        The label of each cluster, or "new 1", "new 2", … where none of its rows has a label.
    component_clusters_ : (components,)
        The cluster that each component belongs to.
    covariance_type_ : str
        The structure of the covariances: ``covariance_type``, or what "auto" chose.
    weights_, means_, covariances_ : arrays
        Of the components, ordered by cluster, in scikit-learn's shapes: those of "spherical" for EII and VII, of "diag"
        for the other structures along the axes, of "tied" for EEE, of "full" for all others. With ``power``, on the
        scales of ``column_powers_``.
    lower_bound_, lower_bounds_ : float, list of float
        The objective per row: at the end, and before and after every step.
    n_iter_, converged_ : int, bool
    violations_ : Violations
        Statements that ``labels_`` break: none, unless a label contradicts itself.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import LabelledMixture
    >>> X = np.array([[0.0], [0.2], [0.1], [5.0], [5.1], [4.9]])
    >>> LabelledMixture().fit(X, ["low", None, None, "high", None, None]).cluster_names_.tolist()
    ['high', 'low']
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels", "blocks"})
    # Where clusters overlap, with what a race of starts takes; NumPy is twice as slow as compiled loops then.
    passes_expected = 40

    # What "auto" found, during a fit.
    _choice: StructureChoice | None

    def __init__(
        self,
        n_components: int | None = None,
        *,
        components_per_class: Any = 1,
        covariance_type: str = "auto",
        family: FamilyChoice = "gaussian",
        power: str | bool = False,
        assignment: str = "soft",
        unlabelled_weight: float = 1.0,
        prior_rows: float = 1.0,
        prior_scale: float = 0.02,
        noise: bool | float | None = None,
        init_params: str = "short_runs",
        means_init: Any = None,
        weights_init: Any = None,
        precisions_init: Any = None,
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-3,
        accelerate: bool = True,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_posterior: bool | None = None,
        callbacks: Iterable[Callback] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(n_init, max_iter, tol, random_state, n_jobs, keep_posterior, callbacks, verbose)
        self.n_components = n_components
        self.components_per_class = components_per_class
        self.covariance_type = covariance_type
        self.family = family
        self.power = power
        self.assignment = assignment
        self.unlabelled_weight = unlabelled_weight
        self.prior_rows = prior_rows
        self.prior_scale = prior_scale
        self.noise = noise
        self.init_params = init_params
        self.means_init = means_init
        self.weights_init = weights_init
        self.precisions_init = precisions_init
        self.accelerate = accelerate
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is not None:
            check_integer("n_components", self.n_components, least=1)
        check_choice("covariance_type", self.covariance_type, (*COVARIANCE_TYPES, "auto"))
        check_choice("assignment", self.assignment, _ASSIGNMENTS)
        check_choice("init_params", self.init_params, STARTS)
        check_number("unlabelled_weight", self.unlabelled_weight, least=0, most=1)
        check_number("prior_rows", self.prior_rows, least=0)
        check_number("prior_scale", self.prior_scale, least=0)
        self._check_noise()

    def _preferred_rows(self, side: SideInformation) -> IntArray:
        return side.labels

    def _gives_numbers(self) -> bool:
        return self.means_init is not None or self.precisions_init is not None

    def _settings(self, problem: Problem, survey: Survey) -> LikelihoodGaussians:
        return LikelihoodGaussians(self.covariance_type_, self.prior_rows, self.prior_scale)

    def _emission(self, problem: Problem, survey: Survey, few: StartRows, random: np.random.RandomState) -> AnyFamily:
        """Return the family; its structure is chosen by BIC where none is given and there is no side information."""
        self._choice = None
        self.covariance_type_ = structure_unless_given(self._given_structure(), self._schema)
        if self._chooses_structure(problem):
            self._choice = self._choose_structure(few, survey, random)
        if self._choice is not None:
            self.covariance_type_ = self._choice.structure
        settings, heavy = self._settings(problem, survey), self._schema.of_family("student_t")
        if len(heavy) and self.covariance_type_ in ("full", "VVV"):
            settings = replace(settings, widest=widest_covariance(survey, few, heavy))
        return self._noisy_family(emission_of(self._schema, survey, settings), survey, few)

    def _given_structure(self) -> str:
        """Return the structure that was asked for: precisions that are given are full ones unless it is named."""
        return "full" if self.covariance_type == "auto" and self.precisions_init is not None else self.covariance_type

    def _chooses_structure(self, problem: Problem) -> bool:
        """Say whether the structure is chosen by BIC, which compares Gaussians without noise."""
        return (
            self.covariance_type == "auto"
            and problem.side.is_empty
            and self.precisions_init is None
            and not self.noise
            and not len(self._schema.of_family("student_t"))
        )

    def _layout(
        self, problem: Problem, few: StartRows, family: AnyFamily, survey: Survey, random: np.random.RandomState
    ) -> Layout:
        label_names, n_components = problem.side.label_names, self.n_components
        if self._choice is not None:
            n_components = self._choice.n_components
        elif n_components is None and not len(label_names):

            def sample_of(number: int) -> Sample:
                return self._sample(few, family, lay_out(label_names, number, 1), survey, NUMPY, random)

            total = float(few.problem.row_weights().sum())
            n_components = lowest_bic_number(sample_of, self._numbers_tried(few), total, random)
        return lay_out(label_names, n_components, self.components_per_class)

    def _model(self, problem: Problem, family: AnyFamily, layout: Layout, backend: Backend) -> Model:
        """Hold labelled rows to their class, and rows of a block to one class."""
        side = problem.side
        coupling, choose = _ASSIGNMENTS[self.assignment]
        sizes = self._noisy_weights(MaximumLikelihoodWeights(layout.classes), family)
        return Model(
            weights=sizes,
            couplings=self._chunklets(problem, sizes.classes, choose) if "blocks" in side.statements else (),
            row_weights=problem.with_unlabelled_weight(self.unlabelled_weight).weights,
            codes=side.labels if len(side.label_names) else None,
            row_coupling=coupling(sizes.classes, backend),
        )

    def _chunklets(self, problem: Problem, classes: IntArray, choose: Chooser) -> tuple[ChunkletCoupling]:
        """Return the coupling of the rows in blocks of two or more."""
        blocks, labels = problem.side.blocks, problem.side.labels
        shared = np.flatnonzero(np.bincount(blocks[blocks >= 0]) > 1)
        rows = np.flatnonzero(np.isin(blocks, shared))
        rows = rows[np.argsort(blocks[rows], kind="stable")]
        starts = np.flatnonzero(np.diff(blocks[rows], prepend=-1))
        of_chunklets = np.maximum.reduceat(labels[rows], starts)
        labelled = len(problem.side.label_names) > 0
        chunklets = ChunkletCoupling(
            rows=rows,
            starts=starts,
            labels=of_chunklets,
            row_weights=problem.row_weights()[rows],
            chunklet_weights=np.where((of_chunklets >= 0) | (not labelled), 1.0, self.unlabelled_weight),
            classes=classes,
            choose=choose,
        )
        return (chunklets,)

    def _start(self, mixture: Mixture, sample: Sample, survey: Survey, random: np.random.RandomState) -> MixtureState:
        """Return where to start: the last fit, parameters that were given, or what ``init_params`` finds."""
        key = self._layout_key(sample.layout, sample.values.shape[1])
        if self.warm_start and getattr(self, "_last_layout", None) == key:
            return self._last_state
        if self.means_init is None and self._choice is not None and self.init_params == "short_runs":
            state, self._choice = self._choice.state, None
        elif self.means_init is None and self._races(sample):
            state = from_race(mixture, sample, random)
        elif self.means_init is None:
            state = STARTS[self.init_params](sample, random)
        else:
            state = at_means(sample, self.means_init, self._schema, survey)
        if self.precisions_init is not None:
            state = with_precisions(state, sample.mixture.family, self.covariance_type_, self.precisions_init)
        if self.weights_init is not None:
            state = with_weights(state, self.weights_init, sample.layout.n_components)
        return state

    def _races(self, sample: Sample) -> bool:
        """Say whether short runs are a race."""
        return self.accelerate and self.init_params == "short_runs" and can_race(sample)

    def _layout_key(self, layout: Layout, d: int) -> tuple[Any, ...]:
        """Return what two fits must have in common for one to start from the other."""
        key = (self.covariance_type_, d, tuple(layout.classes), layout.n_labelled, *(self._schema.powers or ()))
        return (*key, "noise") if self.noise else key

    def _fit(self, problem: Problem, survey: Survey) -> Fitted:
        ascent = self._ascend(problem, survey)
        key = self._layout_key(ascent.sample.layout, problem.table.shape[1])
        self._last_layout, self._last_state = key, ascent.fit.trace.state
        self._choice = None
        return Fitted(ascent.fit, ascent.total_weight)

    def _choose_structure(
        self, few: StartRows, survey: Survey, random: np.random.RandomState
    ) -> StructureChoice | None:
        """Return structure and number of components with the lowest BIC on the rows to start from, if there is one."""
        structures = structures_worth_trying(len(self._schema.of_kind("gaussian")))
        numbers = self._numbers_tried(few)
        if not numbers:
            return None
        families = {
            name: emission_of(self._schema, survey, LikelihoodGaussians(name, self.prior_rows, self.prior_scale))
            for name in structures
        }
        backend = backend_for(_PASSES_OF_A_SEARCH * len(few.values) * sum(numbers))

        def mixture_of(structure: str, n_components: int) -> Mixture:
            return self._mixture(few.problem, families[structure], Layout(np.arange(n_components), 0), backend)

        sample = self._sample(few, families[structures[-1]], Layout(np.arange(1), 0), survey, backend, random)
        return lowest_bic_structure(sample, mixture_of, structures, numbers, random)

    def _numbers_tried(self, few: StartRows) -> Sequence[int]:
        """Return the numbers of components to try; none where more are asked for than there are different rows."""
        n_distinct = len(np.unique(few.values, axis=0))
        if self.n_components is None:
            return range(1, min(_MOST_COMPONENTS_TRIED, n_distinct) + 1)
        return (self.n_components,) if self.n_components <= n_distinct else ()
