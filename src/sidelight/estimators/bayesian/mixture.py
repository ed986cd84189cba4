"""Bayesian mixtures, finite or of a Dirichlet process, guided by labels, links and blocks."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from sidelight._typing import FloatArray, IntArray
from sidelight.couplings.potts import PottsField, atoms_of, lay_stages
from sidelight.estimators.base.annotated import AnnotatedFit, consensus
from sidelight.estimators.base.clusters import Layout, lay_out
from sidelight.estimators.base.conjugate_gaussians import (
    CONJUGATE_COVARIANCE_TYPES,
    ConjugateGaussians,
    ConjugateNumbers,
    LowRankGaussians,
    given_prior,
)
from sidelight.estimators.base.emission import EmissionSettings
from sidelight.estimators.base.expected_gaussians import expected_gaussians
from sidelight.estimators.base.kept import KeptHistory
from sidelight.estimators.base.model import Ascent, Fitted, Model, Plan
from sidelight.estimators.base.noise import NoiseComponent
from sidelight.estimators.bayesian.components import classes_of, most_components, pulls_away
from sidelight.estimators.bayesian.refinement import Steps, pruned, with_learned_prior, without_small
from sidelight.estimators.bayesian.search import (
    SEARCH_ROWS,
    learned_family,
    most_groups,
    plan_from,
    search,
    structures,
)
from sidelight.estimators.bayesian.stream import StreamFollower
from sidelight.estimators.bayesian.weights import WEIGHTS, among_clusters
from sidelight.estimators.registry import register
from sidelight.estimators.starts.sample import STARTS, Problem, Sample, StartRows, start_rows
from sidelight.families.noise import NoiseFamily
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import AnyFamily
from sidelight.inference.pruning import Fit
from sidelight.kernels.loops import Backend, backend_for
from sidelight.side import SideInformation
from sidelight.tables.schema import FamilyChoice
from sidelight.tables.survey import Survey
from sidelight.tables.validation import check_choice, check_integer, check_number

# How much rows without a label count where they pull the classes away from their labels. With so many labels per class
# they are taken to do so, and the fit is repeated, unless it has more rows.
_LIGHT_WEIGHT = 0.1
_LABELS_PER_CLASS = 5
_MOST_ROWS_TO_REPEAT = 100_000
# A row that weighs nothing keeps a place among those that it is coupled with, and counts next to nothing.
_LEAST_WEIGHT = 1e-12


@register
class BayesianMixture(KeptHistory, NoiseComponent, AnnotatedFit, StreamFollower):
    """Mixture with priors on everything, which finds the number of clusters and listens to labels, links and blocks.

    Variational Bayes for a finite mixture or a Dirichlet process (Blei and Jordan 2006) of Gaussian, categorical,
    ordinal, Bernoulli, Poisson, negative binomial or multinomial columns and dates, or of several of them in one table;
    cells may be missing. Side information enters as a Potts field (after Echraibi et al. 2019): rows of one label
    attract each other, rows of different labels repel each other, links that may be wrong pull and push by the
    logarithm of their odds; rows that certain must-links or a block join share their component. Components that the
    bound can do without are dropped or merged.

    A component belongs to the label most of whose rows it owns, or, if it owns none, to the label whose rows would go
    there by themselves; what is left are clusters without labels, "new 1" and so on.

    Parameters
    ----------
    n_components : int, optional
        Most components there may be; None is ten more than there are labels. What is not needed is dropped.
    family : str or mapping, default "auto"
        "gaussian", "student_t" (numbers with heavy tails), "atom", "date", "categorical", "ordinal", "bernoulli",
        "poisson" or "negative_binomial" for all columns, "multinomial" for rows of counts (which may be sparse), or a
        mapping from columns to families. "auto" goes by the types of a frame's columns: text is categorical, ordered
        categories are ordinal, booleans are Bernoulli, dates are dates, numbers are Gaussian, or "atom" where one value
        is frequent, such as zero; whole numbers are Gaussian, small counts or ordinal, whichever has the most evidence.
        Arrays of numbers are Gaussian or atoms. Columns that hold one value only, or none, are left out with a warning
        ("ignored").
    covariance_type : {"auto", "full", "diag", "low_rank"}, default "auto"
        Of Gaussian and Student t columns. "low_rank" is for tables of many columns, also of more columns than rows:
        components differ in a subspace of few dimensions, whose number is found by evidence, and share the noise
        outside of it. "auto" takes the one with the highest bound, and learns the prior of the covariances from the
        table: how they look on average, and how much they differ. ``covariance_type_`` is the one it took. Where the
        prior, the start or a noise component is asked for, "auto" is "full".
    power : {False, "auto", "canonical"}, default "auto"
        "auto" takes Gaussian columns with a long tail on a logarithmic or exponential scale, each where the evidence
        of one-dimensional mixtures of the column says so; ``column_powers_`` has the transforms. "canonical" takes
        all of them on a scale that is nearly the same for a column and for its logarithm. Bounds and densities stay
        those of the rows as they are, ``means_`` and ``covariances_`` are on the new scales. Columns are left as they
        are in tables of more than a hundred, and where ``mean_prior`` or ``covariance_prior`` is given, in the units
        of the table.
    weights : {"dirichlet_process", "dirichlet"}, default "dirichlet_process"
    concentration : float, optional
        Of the Dirichlet process (η), or of every component of a Dirichlet (α); learned (Gamma(1, 1) prior) where not
        given.
    strength : float, default 100
        How much labels weigh: a row that leaves all others of its label pays this (λ). Also the weight of a certain
        cannot-link.
    repulsion : float, default 1
        How much different labels repel each other beside the attraction of equal ones; 0 is the paper's form.
    unlabelled_weight : float or "auto", default "auto"
        How much a row without a label counts. "auto" is 1, but 0.1 where all clusters turn out to belong to labels,
        because rows without labels pull the classes of a mixture that fits badly away from their labels. With fewer
        than five labels per class, or a given ``covariance_type``, it stays 1 unless less than nine in ten labelled
        rows would go to their own cluster by themselves.
    prior_rows : float, optional
        How many rows the expected covariance of a component counts for. Where not given, as many as the labelled rows
        tell it with, from 1 to 100. The covariance expected is that within labels; without labels that of the table.
    prior_scale : float, default 1
        Times the covariance expected.
    mean_precision_prior : float, default 0.01
        How many rows the prior mean counts for.
    mean_prior : array, optional
        Prior means, (d,) or one for each component.
    degrees_of_freedom_prior, covariance_prior : float, (d, d) array, optional
        As in scikit-learn's BayesianGaussianMixture, in place of ``prior_rows`` and ``prior_scale``.
    prune : bool, default True
        Whether to drop and merge components where that raises the bound.
    parsimony : float, default 0.12
        What clusters must be worth where the search of ``covariance_type="auto"`` finds their number without side
        information: each time their number doubles, they must add the share parsimony · ln 2 of all that clusters can
        add to the bound. Real clusters are seldom normal, and the bound alone splits them where there are many rows. 0
        goes by the bound alone, and so do tables with Student t columns.
    noise : bool or float, optional
        Whether there is a further component for rows that belong nowhere: True learns its share of the rows (a few
        percent are expected), a number between 0 and 1 is the share. Its density is constant, one over the widths of
        the columns. A labelled row is never noise.
    min_cluster_size : int or float, default 1
        Components with fewer rows than this, or with a smaller share of the rows where it is below 1, are dropped after
        pruning; their rows go to others, or to noise. Components of labels are kept. 1 drops none.
    init_params : {"auto", "short_runs", "kmeans", "k-means++", "labels"}, default "auto"
        Where to start; see LabelledMixture. "auto" starts where the search of ``covariance_type="auto"`` ended; where
        there is none it is "short_runs".
    n_init : int, default 1
        Number of starts; the one that leads highest is kept.
    max_iter : int, default 200
        Most iterations.
    tol : float, default 1e-4
        Stop when the bound per row changes by less.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.
    n_jobs : int, optional
        Threads; the results do not depend on their number.
    keep_posterior, keep_history : bool, optional
        Whether to keep ``posterior_`` and ``history_``; None keeps them up to 64 MB.
    callbacks : iterable of callable, optional
        Each is called with a ``Progress(iteration, objective, change)`` after every step.
    verbose : bool, default False
        Show a progress bar.

    Attributes
    ----------
    labels_, posterior_, n_clusters_, cluster_names_, component_clusters_, violations_
        As in LabelledMixture.
    noise_probability_, noise_weight_ : (n,), float
        With ``noise``, as in LabelledMixture.
    weights_ : (components,)
        Expected weights.
    means_, covariances_, mean_precision_, degrees_of_freedom_ : arrays
        Of Gaussian components, as in scikit-learn; ``probabilities_``, ``rates_`` or ``sizes_`` of others, ``parts_``
        of mixed tables. Columns in ``column_powers_`` are on their transformed scale. Student t components have
        ``tail_degrees_`` beside them, and ``covariances_`` of rows of scale one. With low rank ``loadings_``,
        ``factor_covariances_`` and ``noise_variances_`` in place of ``covariances_``, and ``column_relevance_``, the
        share of each column's variance that lies between components.
    covariance_type_ : str
        The structure of the covariances: the one that was found, or the one that was asked for.
    column_powers_ : dict of PowerTransform
        The transforms of columns, by column name or number; empty where all are left as they are.
    lower_bound_, lower_bounds_ : float, list of float
        The bound per row: at the end, and along the way.
    history_ : list of Snapshot
        Bound, weights and parameters before every step.
    n_iter_, converged_ : int, bool
    annotators_, annotation_report_ : list of AnnotatorRow, AnnotatorReport or None
        How reliable each annotator is, with an interval, and everything else that was learned about them; empty and
        None without annotators.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import BayesianMixture
    >>> X = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    >>> y = np.full(90, -1)
    >>> y[[0, 30]] = 0, 1
    >>> BayesianMixture(random_state=0).fit(X, y).cluster_names_.tolist()
    [0, 1, 'new 1']
    """

    takes: ClassVar[frozenset[str]] = frozenset(
        {"labels", "must_link", "cannot_link", "blocks", "confidence", "annotators"}
    )

    passes_expected = 30
    takes_missing = True
    components_have_classes = False

    def __init__(
        self,
        n_components: int | None = None,
        *,
        family: FamilyChoice = "auto",
        covariance_type: str = "auto",
        power: str | bool = "auto",
        weights: str = "dirichlet_process",
        concentration: float | None = None,
        strength: float = 100.0,
        repulsion: float = 1.0,
        unlabelled_weight: float | str = "auto",
        prior_rows: float | None = None,
        prior_scale: float = 1.0,
        mean_precision_prior: float = 0.01,
        mean_prior: Any = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
        prune: bool = True,
        parsimony: float = 0.12,
        noise: bool | float | None = None,
        min_cluster_size: float = 1,
        init_params: str = "auto",
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_posterior: bool | None = None,
        keep_history: bool | None = None,
        callbacks: Iterable[Callback] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(n_init, max_iter, tol, random_state, n_jobs, keep_posterior, callbacks, verbose)
        self.n_components = n_components
        self.family = family
        self.covariance_type = covariance_type
        self.power = power
        self.weights = weights
        self.concentration = concentration
        self.strength = strength
        self.repulsion = repulsion
        self.unlabelled_weight = unlabelled_weight
        self.prior_rows = prior_rows
        self.prior_scale = prior_scale
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.prune = prune
        self.parsimony = parsimony
        self.noise = noise
        self.min_cluster_size = min_cluster_size
        self.init_params = init_params
        self.keep_history = keep_history

    # --- what the estimator decides ----------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is not None:
            check_integer("n_components", self.n_components, least=1)
        check_choice("covariance_type", self.covariance_type, ("auto", *CONJUGATE_COVARIANCE_TYPES))
        check_choice("weights", self.weights, WEIGHTS)
        check_choice("init_params", self.init_params, ("auto", *STARTS))
        for name in ("strength", "repulsion"):
            check_number(name, getattr(self, name), least=0)
        for name in ("concentration", "prior_rows", "prior_scale", "mean_precision_prior"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), least=np.finfo(float).tiny)
        check_number("parsimony", self.parsimony, least=0)
        self._check_noise()
        if not (isinstance(self.min_cluster_size, float) and 0 < self.min_cluster_size < 1):
            check_integer("min_cluster_size", self.min_cluster_size, least=1)
        if self.unlabelled_weight != "auto":
            check_number("unlabelled_weight", self.unlabelled_weight, least=0, most=1)

    def _preferred_rows(self, side: SideInformation) -> IntArray:
        return side.labels

    def _gives_numbers(self) -> bool:
        return self.mean_prior is not None or self.covariance_prior is not None

    def _settings(self, problem: Problem, survey: Survey) -> EmissionSettings:
        gaussian, heavy_tailed = (self._schema.of_family(name) for name in ("gaussian", "student_t"))
        if not len(heavy_tailed):
            return self._expected(problem, survey, gaussian, self.covariance_type_)
        both = (self._expected(problem, survey, columns, self.covariance_type_) for columns in (gaussian, heavy_tailed))
        return ConjugateNumbers(*both)

    def _expected(
        self, problem: Problem, survey: Survey, columns: IntArray, covariance_type: str
    ) -> ConjugateGaussians | LowRankGaussians:
        """Return the prior expected of some columns of numbers with this structure."""
        return expected_gaussians(
            problem,
            survey,
            columns,
            covariance_type=covariance_type,
            scale=self.prior_scale,
            rows=self.prior_rows,
            mean_precision=self.mean_precision_prior,
        )

    def _emission(self, problem: Problem, survey: Survey, few: StartRows, random: np.random.RandomState) -> AnyFamily:
        family = given_prior(
            super()._emission(problem, survey, few, random),
            mean=self.mean_prior,
            degrees=self.degrees_of_freedom_prior,
            scatter=self.covariance_prior,
        )
        return self._noisy_family(family, survey, few)

    def _layout(
        self, problem: Problem, few: StartRows, family: AnyFamily, survey: Survey, random: np.random.RandomState
    ) -> Layout:
        label_names = problem.side.label_names
        return lay_out(label_names, self.n_components or most_components(few, len(label_names)), 1)

    def _model(self, problem: Problem, family: AnyFamily, layout: Layout, backend: Backend) -> Model:
        """Couple the rows with statements by a Potts field; components belong to no class until they are fitted."""
        problem = problem.with_unlabelled_weight(
            1.0 if self.unlabelled_weight == "auto" else float(self.unlabelled_weight)
        )
        weights = self._noisy_weights(WEIGHTS[self.weights](layout.n_components, self.concentration), family)
        atoms = atoms_of(problem.side, certain=self.strength)
        couplings: tuple[PottsField, ...] = ()
        if atoms is not None:
            heavy = None if problem.weights is None else np.maximum(problem.weights, _LEAST_WEIGHT)
            noise = isinstance(family, NoiseFamily)
            couplings = (PottsField(lay_stages(atoms, heavy), self.strength, self.repulsion, backend, noise=noise),)
        return Model(weights, couplings, problem.weights)

    def _start(self, mixture: Mixture, sample: Sample, survey: Survey, random: np.random.RandomState) -> MixtureState:
        return STARTS["short_runs" if self.init_params == "auto" else self.init_params](sample, random)

    def _predictive_log_weights(self) -> FloatArray:
        weights = self.weights_ if self._noise_label is None else np.append(self.weights_, self.noise_weight_)
        return np.log(np.maximum(weights, np.finfo(float).tiny))

    # --- the fit -----------------------------------------------------------------------------------------------------

    def _fit(self, problem: Problem, survey: Survey) -> Fitted:
        """Fit; with annotators to what they agree on, then to what each of them says."""
        if problem.side.annotations is not None:
            agreed = super()._fit(problem._replace(side=consensus(problem.side)), survey)
            return self._fit_annotated(agreed, problem, survey)
        fitted = super()._fit(problem, survey)
        return self._fit_lighter(problem, survey) if self._repeats(fitted, problem) else fitted

    def _repeats(self, fitted: Fitted, problem: Problem) -> bool:
        """Say whether to fit once more with less weight on rows without labels.

        They pull the classes of a mixture that fits badly away from their labels, and where all components belong to
        labels there is no other class for them to find. It is done where structure and number are searched for, unless
        labels are very few or rows very many; see ``_refine`` for other fits.
        """
        if not self._searches() or problem.n_rows > _MOST_ROWS_TO_REPEAT:
            return False
        n_labelled, n_classes = int(np.count_nonzero(problem.side.labels >= 0)), len(problem.side.label_names)
        return n_labelled >= _LABELS_PER_CLASS * n_classes and self._pulled(fitted.classes, problem.side)

    def _pulled(self, classes: IntArray | None, side: SideInformation) -> bool:
        """Say whether the weight of rows without labels is to be chosen, and all components belong to labels."""
        n_labels = len(side.label_names)
        return self.unlabelled_weight == "auto" and classes is not None and 0 <= int(classes.max()) < n_labels

    def _fit_lighter(self, problem: Problem, survey: Survey) -> Fitted:
        """Fit with less weight on rows without labels, as a further start."""
        light = problem.with_unlabelled_weight(_LIGHT_WEIGHT)
        ascent = self._ascend(light, survey, first_start=self.n_init + 1)
        fit, classes = self._in_classes(ascent, light)
        return Fitted(fit, ascent.total_weight, classes)

    def _store(self, fitted: Fitted, side: SideInformation) -> None:
        super()._store(fitted, side)
        self._store_annotators(fitted, side)

    def _plan(self, problem: Problem, survey: Survey, few: StartRows, random: np.random.RandomState) -> Plan:
        """Search for structure and number of components by the bound, unless both structure and prior are given."""
        if not self._searches():
            self.covariance_type_ = "full" if self.covariance_type == "auto" else self.covariance_type
            return super()._plan(problem, survey, few, random)
        rows = start_rows(problem, self._preferred_rows(problem.side), random, SEARCH_ROWS)
        label_names = problem.side.label_names
        layout = lay_out(label_names, self.n_components or most_groups(rows, len(label_names)), 1)
        self._check_layout(layout, rows)
        backend = backend_for(self.passes_expected * rows.problem.n_rows * layout.n_components)
        numbers = [self._schema.of_family(name) for name in ("gaussian", "student_t")]
        gaussian_cells = rows.values[:, numbers[0]] if len(numbers[0]) else np.empty((0, 0))
        families = {
            name: learned_family(
                self._schema,
                survey,
                *(self._expected(problem, survey, columns, name) for columns in numbers),
                cells=gaussian_cells,
            )
            for name in structures(max(map(len, numbers)))
        }
        # A single Student t component reaches out to outliers, so that what clusters add to it says little.
        priced = problem.side.is_empty and not len(numbers[1])
        found = search(
            families,
            lambda family: self._sample(rows, family, layout, survey, backend, random),
            self.parsimony if priced else 0.0,
            random,
        )
        self.covariance_type_ = found.structure
        return plan_from(found, label_names, random)

    def _searches(self) -> bool:
        """Say whether the structure is searched for: not where it is given, or the prior or the start is."""
        given = (self.prior_rows, self.mean_prior, self.degrees_of_freedom_prior, self.covariance_prior)
        return (
            self.covariance_type == "auto"
            and self.init_params == "auto"
            and not self.noise
            and all(value is None for value in given)
        )

    def _refine(self, ascent: Ascent, problem: Problem, survey: Survey) -> Fitted:
        """Learn the prior from all rows; prune; give each component its class.

        Rows without labels then count less where they pull the classes away from their labels.
        """
        fit, classes = self._in_classes(ascent, problem)
        if self._pulled(classes, problem.side) and pulls_away(fit, problem.side, classes):
            light = problem.with_unlabelled_weight(_LIGHT_WEIGHT)
            layout = Layout(among_clusters(fit.mixture).classes, 0)
            lighter = self._mixture(light, fit.mixture.family, layout, fit.mixture.backend)
            steps = Steps.after(ascent, self.max_iter, self.tol, self._watchers(self.callbacks))
            fit = steps.take(lighter, fit.trace, "settling")
        return Fitted(fit, ascent.total_weight, classes)

    def _in_classes(self, ascent: Ascent, problem: Problem) -> tuple[Fit, IntArray]:
        """Learn the prior from all rows, prune, and give each component its class."""
        steps = Steps.after(ascent, self.max_iter, self.tol, self._watchers(self.callbacks))
        fit = self._pruned(with_learned_prior(ascent.fit, steps), ascent, problem.side, steps)
        self._history = ascent.recorder.of(fit.trace.start)
        return fit, classes_of(fit, problem.side)

    def _pruned(self, fit: Fit, ascent: Ascent, side: SideInformation, steps: Steps) -> Fit:
        """Drop and merge components where that raises the bound; then drop those that are too small."""
        if self.prune:
            rehearsal = None
            if ascent.stand_in is not None:
                layout = Layout(among_clusters(fit.mixture).classes, 0)
                rehearsal = self._mixture(ascent.stand_in, fit.mixture.family, layout, fit.mixture.backend)
            fit = pruned(fit, steps, rehearsal)
        if self.min_cluster_size == 1:
            return fit
        share = self.min_cluster_size < 1
        least = self.min_cluster_size * ascent.total_weight if share else self.min_cluster_size
        return without_small(fit, least, side, steps)

    # --- the stream --------------------------------------------------------------------------------------------------

    def _first_fit(self, batch: Problem, survey: Survey) -> Fit:
        """Return the fit to the first batch of a stream."""
        ascent = self._ascend(batch, survey)
        steps = Steps.after(ascent, self.max_iter, self.tol, self._watchers(self.callbacks))
        fit = self._pruned(ascent.fit, ascent, batch.side, steps)
        self._history = ascent.recorder.of(fit.trace.start)
        return fit
