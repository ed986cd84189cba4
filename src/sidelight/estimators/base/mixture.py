"""The fit of every mixture: one skeleton, with hooks for what an estimator decides."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from sidelight._typing import IntArray
from sidelight.couplings.independent import Independent
from sidelight.estimators.base.all_or_nothing import all_or_nothing
from sidelight.estimators.base.cluster_results import results_of
from sidelight.estimators.base.clusters import Layout, cluster_order
from sidelight.estimators.base.emission import EmissionSettings, emission_of
from sidelight.estimators.base.fingerprint import fingerprint
from sidelight.estimators.base.model import Ascent, Fitted, Model, Plan
from sidelight.estimators.base.prediction import FittedMixture
from sidelight.estimators.base.reading import POWER_CHOICES
from sidelight.estimators.base.results import Wanted
from sidelight.estimators.starts.batches import rows_of_large_table
from sidelight.estimators.starts.outliers import outlying_rows, steady_survey
from sidelight.estimators.starts.sample import Problem, Sample, StartRows, embedding, start_rows
from sidelight.families.noise import NoiseFamily
from sidelight.inference.acceleration import can_overrelax, leap_from
from sidelight.inference.executors.choice import executor_for
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.inference.journal import Journal
from sidelight.inference.loop import Recorder, ascend_from, refuse_unbounded, warn_unless_converged
from sidelight.inference.minibatches import batch_rows, step_on_batches
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import AnyFamily
from sidelight.inference.pruning import Fit
from sidelight.kernels.loops import Backend, backend_for
from sidelight.metrics import Violations, violations
from sidelight.side import SideInformation
from sidelight.tables.power import table_log_jacobian
from sidelight.tables.survey import Survey, refuse_small
from sidelight.tables.table import Rows
from sidelight.tables.validation import check_integer, check_number


class MixtureEstimator(FittedMixture):
    """A mixture of components, grouped in clusters, fitted to a table and to side information about its rows.

    A subclass says what its family is (:meth:`_settings`), how many components there are and to which classes they
    belong (:meth:`_layout`), how side information enters (:meth:`_model`), and where to start (:meth:`_start`).
    """

    # Compiled loops pay as soon as they would in a fit of this many passes.
    passes_expected = 10
    takes_sources = True
    # Whether the ascent takes longer steps than EM's where it can, and stops by what is left to gain; an estimator with
    # a parameter of this name asks its user.
    accelerate: bool = False
    # Whether to keep the model before every step; an estimator with a parameter of this name asks its user.
    keep_history: bool | None = False

    def __init__(
        self,
        n_init: int,
        max_iter: int,
        tol: float,
        random_state: Any,
        n_jobs: int | None,
        keep_posterior: bool | None,
        callbacks: Iterable[Callback] | None,
        verbose: bool,
    ) -> None:
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_posterior = keep_posterior
        self.callbacks = callbacks
        self.verbose = verbose

    # --- what a subclass decides -----------------------------------------------------------------------------------

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense; those of every fit are checked here."""
        check_number("tol", self.tol, least=0)
        check_integer("n_init", self.n_init, least=1)
        check_integer("max_iter", self.max_iter, least=1)
        if self.power is not False and self.power not in tuple(POWER_CHOICES):
            known = ", ".join(repr(name) for name in POWER_CHOICES)
            raise ValueError(
                f"power={self.power!r} is not known; choose {known}, or False to leave columns as they are."
            )

    @abstractmethod
    def _settings(self, problem: Problem, survey: Survey) -> EmissionSettings:
        """Return what the estimator decides about its emissions."""

    @abstractmethod
    def _layout(
        self, problem: Problem, few: StartRows, family: AnyFamily, survey: Survey, random: np.random.RandomState
    ) -> Layout:
        """Return how many components there are and their classes."""

    @abstractmethod
    def _model(self, problem: Problem, family: AnyFamily, layout: Layout, backend: Backend) -> Model:
        """Return weights and couplings for some rows."""

    @abstractmethod
    def _start(self, mixture: Mixture, sample: Sample, survey: Survey, random: np.random.RandomState) -> MixtureState:
        """Return where to start."""

    def _preferred_rows(self, side: SideInformation) -> IntArray:
        """Return an array that is not negative for the rows that a sample to start from should have."""
        return np.where(side.mentioned, np.int8(0), np.int8(-1))

    def _emission(self, problem: Problem, survey: Survey, few: StartRows, random: np.random.RandomState) -> AnyFamily:
        """Return the family of the table, with its prior."""
        return emission_of(self._schema, survey, self._settings(problem, survey))

    def _plan(self, problem: Problem, survey: Survey, few: StartRows, random: np.random.RandomState) -> Plan:
        """Return family, layout and start, each as its own hook has it."""
        family = self._emission(problem, survey, few, random)
        layout = self._layout(problem, few, family, survey, random)

        def start(number: int, mixture: Mixture, sample: Sample) -> MixtureState:
            return self._start(mixture, sample, survey, random)

        return Plan(family, layout, start)

    def _outlier_columns(self) -> IntArray:
        """Return the columns whose outliers must not shape priors and starts; none by default."""
        return np.empty(0, dtype=np.int64)

    def _batch_rows(self, n_rows: int, n_columns: int) -> int:
        """Return how many rows the batches have that a fit steps on before it passes over all rows; 0 for none."""
        return batch_rows(n_rows, n_columns)

    def _total_weight(self, mixture: Mixture, survey: Survey) -> float:
        """Return how many rows the objective counts for."""
        return survey.total

    def _refine(self, ascent: Ascent, problem: Problem, survey: Survey) -> Fitted:
        """Return the fit after what follows the ascent: nothing, unless an estimator says otherwise."""
        return Fitted(ascent.fit, ascent.total_weight)

    def _decided_together(self, mixture: Mixture, state: MixtureState) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield numbers of rows whose classes are decided together, with these; none by default."""
        yield from ()

    # --- the fit -----------------------------------------------------------------------------------------------------

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        side: SideInformation | None = None,
        sample_id: Any = None,
        sample_weight: Any = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Fit the mixture to a table and to side information about its rows.

        The estimator changes only if the fit succeeds.

        Parameters
        ----------
        X : (n, d) array, memory-mapped array, data frame, path, ParquetTable or Dask collection
            The table. A path is that of a Parquet file, of a folder of them, or of an array (.npy); such a table is
            read chunk by chunk, and never held in memory whole. A Dask array or data frame stays on its cluster;
            ``labels_`` and ``posterior_`` are then Dask arrays.
        y : (n,) array, optional
            Partial labels; -1, or None or NaN, where a row has none.
        must_link, cannot_link : pairs, optional
            Pairs of row numbers, or of ids where ``sample_id`` names the rows.
        side : SideInformation, optional
            Further side information. With ``sample_id`` its rows are found by their ids.
        sample_id : (n,) array, optional
            Names of the rows.
        sample_weight : (n,) array, optional
            How many rows each row stands for.
        checkpoint : path, optional
            A folder that keeps every pass over the table. A fit that was killed goes on from there when the same call
            is made again, and ends with the same bytes. The folder can be deleted once the fit is done.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_parameters()
        problem = self._read_problem(X, y, must_link, cannot_link, side, sample_id, sample_weight, reset=True)
        with one_blas_thread():
            survey = self._survey(problem.table, problem.weights)
            refuse_small(problem.table, survey, self._schema.label)
            if checkpoint is not None:
                begin = check_random_state(self.random_state)
                journal = Journal(checkpoint, fingerprint(self, problem, survey, self._schema), begin)
                problem = problem._replace(journal=journal)
            fitted = self._fit(problem, survey)
            warn_unless_converged(fitted.fit.trace, self.max_iter)
            self._store(fitted, problem.side)
        return self

    def _fit(self, problem: Problem, survey: Survey) -> Fitted:
        """Ascend from the starts, then do what the estimator does after it."""
        return self._refine(self._ascend(problem, survey), problem, survey)

    def _ascend(self, problem: Problem, survey: Survey, first_start: int = 1) -> Ascent:
        """Put the mixture together, on all rows and on those to start from, and ascend from every start."""
        # A number begins the same sequence anew; the state of a generator is that of the first run.
        journal = None if isinstance(self.random_state, Integral) else problem.journal
        random = check_random_state(self.random_state) if journal is None else journal.random
        few = start_rows(problem, self._preferred_rows(problem.side), random)
        if len(self._outlier_columns()):
            survey = steady_survey(survey, few, self._outlier_columns())
        family, layout, begin = self._plan(problem, survey, few, random)
        self._check_layout(layout, few)
        backend = backend_for(self.passes_expected * problem.n_rows * layout.n_components)
        mixture = self._mixture(problem, family, layout, backend)
        sample = self._sample(few, family, layout, survey, backend, random)
        total = self._total_weight(mixture, survey)
        large = rows_of_large_table(
            problem,
            lambda part: self._mixture(part, family, layout, backend),
            self._batch_rows(*problem.table.shape),
            random,
        )

        recorder = Recorder(total, self.keep_history)

        def start(number: int) -> MixtureState:
            recorder.follow(number)
            state = begin(number, mixture, sample)
            return state if large is None else step_on_batches(large.batches, state, self.tol)

        leaps = self.accelerate and can_overrelax(mixture)
        ascent = partial(leap_from, mixture=mixture) if leaps else partial(ascend_from, step=recorder.watch(mixture))
        trace = ascent(
            {number: partial(start, number) for number in range(first_start, first_start + self.n_init)},
            max_iter=self.max_iter,
            tol=self.tol,
            total_weight=total,
            callbacks=self._watchers(self.callbacks),
            verbose=self.verbose,
        )
        return Ascent(Fit(mixture, trace), sample, total, recorder, None if large is None else large.stand_in)

    def _mixture(self, problem: Problem, family: AnyFamily, layout: Layout, backend: Backend) -> Mixture:
        """Put family, weights and couplings together on some rows."""
        model = self._model(problem, family, layout, backend)
        return Mixture(
            rows=Rows(problem.table, model.row_weights, model.codes),
            family=family,
            weights=model.weights,
            coupling=model.row_coupling or Independent(model.weights.classes, backend),
            couplings=model.couplings,
            backend=backend,
            executor=executor_for(problem.table, self.n_jobs),
            log_jacobian=table_log_jacobian(problem.table, model.row_weights, self._schema.powers),
            journal=problem.journal,
        )

    def _sample(
        self,
        few: StartRows,
        family: AnyFamily,
        layout: Layout,
        survey: Survey,
        backend: Backend,
        random: np.random.RandomState,
    ) -> Sample:
        """Return the rows to start from as a mixture of their own."""
        problem, weights = few.problem, few.problem.row_weights()
        points = embedding(few.values, weights, self._schema, survey, random)
        mixture = self._mixture(problem, family, layout, backend)
        codes = problem.side.labels
        sample = Sample(mixture, few.values, points, weights, codes, layout, few.whole, problem.side)
        if not len(self._outlier_columns()):
            return sample
        outlying = outlying_rows(points, weights, codes)
        inner = weights * ~outlying
        core = self._mixture(problem._replace(weights=inner), family, layout, backend)
        # Columns are in units of their middle, so that a wide cluster has rows far out: they must not rule distances.
        return sample._replace(points=np.arcsinh(points), weights=inner, outlying=weights * outlying, core=core)

    def _check_layout(self, layout: Layout, few: StartRows) -> None:
        """Refuse more components than there are rows to start from."""
        if layout.n_components > few.problem.n_rows:
            raise ValueError(self._too_few_rows(layout, few.problem.n_rows))

    def _too_few_rows(self, layout: Layout, n_rows: int) -> str:
        return (
            f"n_components={layout.n_components} is more than the n_samples = {n_rows} rows that count; "
            "use fewer components."
        )

    # --- what is stored ----------------------------------------------------------------------------------------------

    def _store(self, fitted: Fitted, side: SideInformation) -> None:
        """Set the fitted attributes."""
        mixture, trace = fitted.fit
        state = trace.state
        classes = mixture.weights.classes if fitted.classes is None else fitted.classes
        if isinstance(mixture.family, NoiseFamily):
            classes = np.append(classes[: state.parameters.n_clusters], -1)
        n_rows, n_classes = mixture.rows.shape[0], max(int(classes.max()) + 1, len(side.label_names))
        keep = self._keeps_posterior(n_rows, n_classes)
        wanted = Wanted(classes, n_classes, keep_posterior=keep)
        found = results_of(mixture, state, wanted)
        for part in mixture.assign_coupled(state):
            found = found.with_rows(part)
        objective = found.evidence() + mixture.log_jacobian + mixture.log_prior(state)
        refuse_unbounded(objective)
        for numbers, decided in self._decided_together(mixture, state):
            found = found.overruled(numbers, decided)

        order = cluster_order(side.label_names, found.sizes())
        rank, found = np.argsort(order), found.numbered(order)
        clusters = rank[classes[classes >= 0]]
        components = np.argsort(clusters, kind="stable")

        self._family = mixture.family
        # Noise, where there is any, is the last component and stays the last.
        self._log_weights = mixture.weights.log(state.weights)[np.append(components, np.flatnonzero(classes < 0))]
        self._parameters = mixture.family.select(state.parameters, components)
        self._posterior = found.array("posterior") if wanted.keep_posterior else None
        self.labels_ = found.array("labels")
        self.n_clusters_ = n_classes
        self._name_clusters(side.label_names, order)
        self.component_clusters_ = clusters[components]
        self.weights_ = mixture.weights.mean(state.weights)[components]
        self._store_noise(found.array("noise") if wanted.has_noise else None)
        for name, value in mixture.family.attributes(self._parameters).items():
            setattr(self, name, value)
        self.lower_bounds_ = [bound / fitted.total_weight for bound in (*trace.objectives, objective)]
        self.lower_bound_ = self.lower_bounds_[-1]
        self.n_iter_ = len(trace.objectives)
        self.converged_ = trace.converged
        self.violations_: Violations = violations(side, found.labels_for(side), noise=self._noise_label)
