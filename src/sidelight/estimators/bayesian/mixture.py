"""Bayesian mixtures, finite or of a Dirichlet process, guided by labels, links and blocks."""

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from scipy.special import logsumexp
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import AnyArray, FloatArray, IntArray
from sidelight.estimators.base.history import KeptHistory, Recorder
from sidelight.estimators.base.layout import lay_out
from sidelight.estimators.base.mixture import Fitted, MixtureEstimator
from sidelight.estimators.base.parameters import check_choice, check_integer, check_number
from sidelight.estimators.bayesian.component_classes import classes_by_labels, classes_one_to_one
from sidelight.estimators.bayesian.emissions import family_of
from sidelight.estimators.bayesian.parts import (
    WEIGHTS,
    Potential,
    assemble,
    freely_drawn,
    from_distances,
    kmeans_centres,
    labelled_sums,
    shrunk,
    with_prior_of,
)
from sidelight.estimators.bayesian.stream import Followed, follow_batch
from sidelight.estimators.registry import register
from sidelight.estimators.starts.embedding import embedding
from sidelight.estimators.starts.sample import Data, start_from
from sidelight.estimators.starts.short_runs import STARTS, Sample
from sidelight.families.conjugate import ConjugateFamily, GaussianPrior
from sidelight.families.conjugate.gaussian_columns import ClassSpread, expected_spread
from sidelight.inference.executors.threads import one_blas_thread, thread_count
from sidelight.inference.loop import Callback, Trace, ascend
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.pruning import Reached, prune
from sidelight.inference.restarts import climb_from
from sidelight.inference.rows import Rows
from sidelight.kernels.loops import Backend, backend_for
from sidelight.metrics import violations
from sidelight.side import SideInformation
from sidelight.tables.column_survey import survey_columns
from sidelight.tables.schema import Columns, encode, learn_columns
from sidelight.tables.survey import Survey
from sidelight.tables.validation import admit_table, read_weights

_PASSES_EXPECTED = 30
# Components beyond those of the labels, for classes that nobody labelled.
_SPARE_COMPONENTS = 10
# With more rows than this there are enough different ones.
_ROWS_LOOKED_THROUGH = 200
# Where all components belong to labels and yet so few labelled rows would go to their own by themselves, the mixture
# fits badly, and rows without a label, counted in full, pull the classes away from their labels.
_LEAST_AGREEMENT = 0.9
_SETTLED_WEIGHT = 0.1
_POTENTIALS = ("constant", "divergence", "printed")
_STARTS = (*STARTS, "distances")


@register
class BayesianMixture(KeptHistory, MixtureEstimator):
    """Mixture with priors on everything, which finds the number of clusters and listens to labels, links and blocks.

    Variational Bayes for a finite mixture or a Dirichlet process (Blei and Jordan 2006) of Gaussian, categorical,
    Bernoulli, Poisson or multinomial columns, or of all of them in one table; cells may be missing. What is known
    enters as a Potts field (after Echraibi et al. 2019): rows of one label attract each other, rows of different labels
    repel each other, links that may be wrong pull and push by the logarithm of their odds; rows that certain must-links
    or a block join share their component. Components that the bound can do without are dropped or merged.

    A component belongs to the label most of whose rows it owns, or, if it owns none, to the label whose rows would go
    there by themselves; what is left are clusters that nobody labelled, "new 1" and so on.

    Parameters
    ----------
    n_components : int, optional
        Most components there may be; None is ten more than there are labels. What is not needed is dropped.
    family : str or mapping, default "auto"
        "gaussian", "categorical", "bernoulli" or "poisson" for all columns, "multinomial" for rows of counts (which may
        be sparse), or a mapping from columns to families. "auto" takes arrays of numbers as Gaussian and goes by the
        types of a frame's columns: text is categorical, booleans are Bernoulli, small counts Poisson, numbers Gaussian.
    covariance_type : {"full", "diag"}, default "full"
        Of Gaussian columns.
    weights : {"dirichlet_process", "dirichlet"}, default "dirichlet_process"
    concentration : float, optional
        η of the Dirichlet process, or α of every component of a Dirichlet; learned (Gamma(1, 1) prior) where not given.
    strength : float, default 100
        λ, how much labels weigh: a row that leaves all others of its label pays λ. Also the weight of a certain
        cannot-link.
    repulsion : float, default 1
        How much different labels repel each other beside the attraction of equal ones; 0 is the paper's form.
    potential : {"constant", "divergence", "printed"}, default "constant"
        Between components: the same for all, or their divergence, as the paper has it, in its right or its printed
        form. The last two take labels only, the bound may fall, and no component is dropped.
    unlabelled_weight : float or "auto", default "auto"
        How much a row without a label counts. "auto" is 1; but where all clusters turn out to belong to labels and
        less than nine in ten labelled rows would go to their own by themselves, it then is 0.1, because rows without
        labels pull the classes of a mixture that fits badly away from their labels.
    prior_rows : float, optional
        How many rows the expected covariance of a component counts for. Where not given, as many as the labelled rows
        tell it with, from 1 to 100. The covariance expected is that within labels; without labels that of the table.
    prior_scale : float, default 1
        Times the covariance expected.
    mean_precision_prior : float, default 0.01
        How many rows the prior mean counts for.
    mean_prior : array or "kmeans", optional
        Prior means, (d,) or one for each component; "kmeans" puts them at the centres of k-means, as the authors did.
    degrees_of_freedom_prior, covariance_prior : float, (d, d) array, optional
        As in scikit-learn's BayesianGaussianMixture, in place of ``prior_rows`` and ``prior_scale``.
    prune : bool, default True
        Whether to drop and merge components where that raises the bound.
    init_params : {"short_runs", "kmeans", "k-means++", "labels", "distances"}, default "short_runs"
        Where to start; see LabelledMixture. "distances" is the paper's start, from the centres of k-means.
    n_init : int, default 1
        Number of starts; the one that leads highest is kept.
    max_iter : int, default 200
    tol : float, default 1e-4
        Stop when the bound per row changes by less.
    random_state : int, RandomState or None
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
    weights_ : (components,)
        Expected weights.
    means_, covariances_, mean_precision_, degrees_of_freedom_ : arrays
        Of Gaussian components, as in scikit-learn; ``probabilities_`` or ``rates_`` of others, ``parts_`` of mixed
        tables.
    lower_bound_, lower_bounds_ : float, list of float
        The bound per row: at the end, and along the way.
    history_ : list of Snapshot
        Bound, weights and parameters before every step.
    n_iter_, converged_ : int, bool

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

    takes: ClassVar[frozenset[str]] = frozenset({"labels", "must_link", "cannot_link", "blocks", "confidence"})

    _columns: Columns
    _followed: Followed

    def __init__(
        self,
        n_components: int | None = None,
        *,
        family: Any = "auto",
        covariance_type: str = "full",
        weights: str = "dirichlet_process",
        concentration: float | None = None,
        strength: float = 100.0,
        repulsion: float = 1.0,
        potential: str = "constant",
        unlabelled_weight: float | str = "auto",
        prior_rows: float | None = None,
        prior_scale: float = 1.0,
        mean_precision_prior: float = 0.01,
        mean_prior: Any = None,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
        prune: bool = True,
        init_params: str = "short_runs",
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
        self.n_components = n_components
        self.family = family
        self.covariance_type = covariance_type
        self.weights = weights
        self.concentration = concentration
        self.strength = strength
        self.repulsion = repulsion
        self.potential = potential
        self.unlabelled_weight = unlabelled_weight
        self.prior_rows = prior_rows
        self.prior_scale = prior_scale
        self.mean_precision_prior = mean_precision_prior
        self.mean_prior = mean_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.prune = prune
        self.init_params = init_params
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_posterior = keep_posterior
        self.keep_history = keep_history
        self.callbacks = callbacks
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self.family == "multinomial"
        return tags

    def _check_parameters(self) -> None:
        if self.n_components is not None:
            check_integer("n_components", self.n_components, least=1)
        check_choice("covariance_type", self.covariance_type, ("full", "diag"))
        check_choice("weights", self.weights, WEIGHTS)
        check_choice("potential", self.potential, _POTENTIALS)
        check_choice("init_params", self.init_params, _STARTS)
        for name in ("strength", "repulsion", "tol"):
            check_number(name, getattr(self, name), least=0)
        for name in ("concentration", "prior_rows", "prior_scale", "mean_precision_prior"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), least=np.finfo(float).tiny)
        if self.unlabelled_weight != "auto":
            check_number("unlabelled_weight", self.unlabelled_weight, least=0, most=1)
        check_integer("n_init", self.n_init, least=1)
        check_integer("max_iter", self.max_iter, least=1)

    def _read_table(self, X: Any, *, reset: bool) -> Any:
        admitted = admit_table(self, X, sparse=self.family == "multinomial", reset=reset)
        if reset:
            self._columns = learn_columns(admitted, self.family)
        return encode(admitted, self._columns)

    def _survey(self, rows: Rows) -> Survey:
        return survey_columns(rows, self._columns)

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log posterior predictive density of each row of a table."""
        check_is_fitted(self)
        rows = Rows(self._read_table(X, reset=False))
        log_weights = np.log(np.maximum(self.weights_, np.finfo(float).tiny))
        n = rows.X.shape[0]
        family: Any = self._family
        with one_blas_thread():
            self._survey(rows)
            predictive = family.predictive(self._parameters, backend_for(n * len(log_weights)))
            density = np.empty(n)
            for chunk in rows.chunks():
                for block in rows.blocks(chunk, predictive.block_rows):
                    predictive.load(block.values)
                    density[block.numbers] = logsumexp(predictive.log_likelihood() + log_weights[:, None], axis=0)
        return density

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        side: SideInformation | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Follow a stream: fit to the first batch, then take one step on each further one.

        Rows without statements are averaged into what is known of those before them; rows with labels, links or blocks
        are kept, all of them, and taken whole at every step. Statements are about rows of their own batch. Priors and
        components are those of the first batch; ``prune=False`` leaves spare components open for later ones.
        ``labels_``, ``posterior_`` and ``violations_`` are of the last batch. A call of ``fit`` starts anew.

        Parameters
        ----------
        X, y, must_link, cannot_link, side, sample_weight
            As in ``fit``.

        Returns
        -------
        self
        """
        self._check_parameters()
        first = not hasattr(self, "_followed")
        table = self._read_table(X, reset=first)
        known = self._read_side(table.shape[0], y, must_link, cannot_link, side, None)
        data = Data(table, known, read_weights(sample_weight, table))
        with one_blas_thread():
            survey = self._survey(Rows(table, data.weights))
            reached = self._reach(data, survey) if first else None
            step = follow_batch(self._followed if reached is None else reached, data, self._assemble)
            self._followed = step.followed
            mixture, seen, state = step.mixture, step.data.side, step.followed.stream.state
            trace = Trace(state, (), converged=False) if reached is None else reached.trace._replace(state=state)
            classes = self._classes(Reached(mixture, trace), seen)
            self._store(Fitted(mixture, trace, survey.total, classes), seen)
        n = table.shape[0]
        self.labels_ = self.labels_[-n:]
        self._posterior = None if self._posterior is None else self._posterior[-n:]
        self.violations_ = violations(known, self.labels_)
        return self

    def _fit(self, X: AnyArray, side: SideInformation, sample_weight: FloatArray | None, survey: Survey) -> Fitted:
        self.__dict__.pop("_followed", None)
        data = Data(X, side, sample_weight)
        reached = self._reach(data, survey)
        classes = self._classes(reached, side)
        if self.unlabelled_weight == "auto" and self._pulls_away(reached, side, classes):
            reached = self._settle(reached, data, survey.total)
        return Fitted(reached.mixture, reached.trace, survey.total, classes)

    def _reach(self, data: Data, survey: Survey) -> Reached:
        """Find components, as many as are needed, and ascend."""
        side = data.side
        if self.potential != "constant" and side.statements - {"labels"}:
            raise ValueError(
                f"potential={self.potential!r} takes labels only, as the paper does; use potential='constant' for "
                "links and blocks."
            )
        random = check_random_state(self.random_state)
        few = start_from(data, random)
        n_labels = len(side.label_names)
        layout = lay_out(side.label_names, self.n_components or self._most_components(few, n_labels), 1)
        if layout.n_components > few.X.shape[0]:
            raise ValueError(
                f"n_components={layout.n_components} is more than the n_samples = {few.X.shape[0]} rows that count; "
                "use fewer components."
            )
        backend = backend_for(_PASSES_EXPECTED * data.X.shape[0] * layout.n_components)
        centres = self._centres(data.X, layout.n_components, random)
        family = self._emissions(data, survey, centres)
        recorder = Recorder(survey.total, self.keep_history)
        mixture = self._assemble(self._weighted(data, 1.0), family, layout.n_components, backend)
        sample = Sample(
            mixture=self._assemble(self._weighted(few, 1.0), family, layout.n_components, backend),
            scaled=embedding(few, self._columns, survey, random),
            weights=np.ones(few.X.shape[0]) if few.weights is None else few.weights,
            codes=few.side.labels,
            layout=layout,
            whole=few.whole,
        )

        def start() -> MixtureState:
            recorder.begin()
            if centres is not None and self.init_params == "distances":
                return from_distances(mixture, centres)
            return STARTS[self.init_params](sample, random)

        trace = climb_from(
            [start] * self.n_init,
            recorder.watch(mixture),
            max_iter=self.max_iter,
            tol=self.tol,
            total_weight=survey.total,
            callbacks=self.callbacks or (),
            verbose=self.verbose,
        )
        self._history = recorder.of_best()
        reached = Reached(mixture, trace)
        if self.prune and self.potential == "constant":
            reached = self._pruned(reached, survey.total)
        return reached

    def _most_components(self, few: Data, n_labels: int) -> int:
        """Return ten more than there are labels, and no more than there are different rows."""
        wanted = n_labels + _SPARE_COMPONENTS
        if few.X.shape[0] > _ROWS_LOOKED_THROUGH or issparse(few.X):
            return wanted
        return max(min(wanted, len(np.unique(few.X, axis=0))), n_labels)

    def _centres(self, X: AnyArray, n_components: int, random: np.random.RandomState) -> FloatArray | None:
        """Return the centres of k-means, where prior or start ask for them."""
        by_prior = isinstance(self.mean_prior, str)
        if by_prior:
            check_choice("mean_prior", self.mean_prior, ("kmeans",))
        if not by_prior and self.init_params != "distances":
            return None
        if set(self._columns.kinds) != {"gaussian"} or np.isnan(X).any():
            raise ValueError(
                "mean_prior='kmeans' and init_params='distances' need Gaussian columns without missing cells; use "
                "init_params='short_runs' and leave mean_prior out."
            )
        return kmeans_centres(X, n_components, random)

    def _emissions(self, data: Data, survey: Survey, centres: FloatArray | None) -> ConjugateFamily[Any, Any]:
        """Return the family of the table, with its prior."""
        numbers = self._columns.of_kind("gaussian")
        variances = survey.variance[numbers]
        labelled = np.flatnonzero(data.side.labels >= 0) if len(numbers) else np.empty(0, dtype=np.int64)
        spread = ClassSpread(np.diag(variances), 1.0)
        if len(labelled):
            rows = np.asarray(Rows(data.X).gather(labelled), dtype=float)[:, numbers]
            weights = np.ones(len(labelled)) if data.weights is None else data.weights[labelled]
            spread = expected_spread(rows, data.side.labels[labelled], weights, variances)
        covariance = self.prior_scale * spread.covariance
        prior = GaussianPrior(
            covariance_type=self.covariance_type,
            variances=covariance if self.covariance_type == "full" else np.diagonal(covariance).copy(),
            rows=spread.rows if self.prior_rows is None else self.prior_rows,
            mean_precision=self.mean_precision_prior,
        )
        family = family_of(self._columns, survey, prior)
        mean = centres if isinstance(self.mean_prior, str) else self.mean_prior
        return with_prior_of(
            family,
            mean=None if mean is None else np.asarray(mean, dtype=float),
            degrees=self.degrees_of_freedom_prior,
            scatter=None if self.covariance_prior is None else np.asarray(self.covariance_prior, dtype=float),
        )

    def _weighted(self, data: Data, automatic: float) -> Data:
        """Return the data with rows that have no label weighted down."""
        weight = automatic if self.unlabelled_weight == "auto" else float(self.unlabelled_weight)
        if weight == 1 or not len(data.side.label_names):
            return data
        weights = np.where(data.side.labels >= 0, 1.0, weight)
        return data._replace(weights=weights if data.weights is None else weights * data.weights)

    def _assemble(self, data: Data, family: ConjugateFamily[Any, Any], n_components: int, backend: Backend) -> Mixture:
        potential = Potential(self.potential, self.strength, self.repulsion)
        weights = WEIGHTS[self.weights](n_components, self.concentration)
        return assemble(data, family, weights, potential, backend, thread_count(self.n_jobs))

    def _pruned(self, reached: Reached, total: float) -> Reached:
        family: Any = reached.mixture.family
        tol, callbacks = self.tol * total, self.callbacks or ()
        return prune(reached, shrunk, family.divergence, max_iter=self.max_iter, tol=tol, callbacks=callbacks)

    def _classes(self, reached: Reached, side: SideInformation) -> IntArray:
        """Return the class of each component."""
        mixture, state = reached.mixture, reached.trace.state
        expectation = mixture.expect(state)
        n_labels = len(side.label_names)
        owned = labelled_sums(mixture, expectation.coupled, side.labels, n_labels)
        if self.potential != "constant" or not n_labels:
            return classes_one_to_one(owned)
        drawn = freely_drawn(mixture, state, side.labels, n_labels)
        return classes_by_labels(owned, drawn, expectation.statistics.mass)

    def _pulls_away(self, reached: Reached, side: SideInformation, classes: IntArray) -> bool:
        """Say whether all components belong to labels, but too few labelled rows would go there by themselves."""
        n_labels = len(side.label_names)
        if self.potential != "constant" or not n_labels or int(classes.max()) >= n_labels:
            return False
        drawn = freely_drawn(reached.mixture, reached.trace.state, side.labels, n_labels)
        right = drawn[classes, np.arange(len(classes))].sum()
        return bool(right < _LEAST_AGREEMENT * drawn.sum())

    def _settle(self, reached: Reached, data: Data, total: float) -> Reached:
        """Go on with rows without labels weighted down."""
        mixture, trace = reached
        family: Any = mixture.family
        n_components = len(mixture.weights.classes)
        lighter = self._assemble(self._weighted(data, _SETTLED_WEIGHT), family, n_components, mixture.backend)
        after = ascend(lighter.step, trace.state, max_iter=self.max_iter, tol=self.tol * total)
        return Reached(lighter, Trace(after.state, after.objectives, after.converged))
