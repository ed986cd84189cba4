"""Latent process decomposition: rows mix processes, attribute by attribute, and rows of a block mix them alike."""

import warnings
from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import AnyArray, FloatArray, IntArray, LabelArray
from sidelight.admixture.ascent import ProcessesOnData
from sidelight.admixture.cells import accumulate_for
from sidelight.admixture.climbing import climb
from sidelight.admixture.fold_in import visit_folded
from sidelight.admixture.importance import RowLogLikelihoods, row_log_likelihoods
from sidelight.admixture.model import Parameters, State, draw
from sidelight.admixture.ranking import AttributeRanking, attribute_distances
from sidelight.admixture.scaling import Scaling, find_infinite, survey_observed
from sidelight.admixture.updates import Flat, Prior, Shrinking
from sidelight.estimators.base.classes import cluster_names, cluster_order
from sidelight.estimators.base.clusterer import InformedEstimator
from sidelight.estimators.base.results import KeptPosterior
from sidelight.estimators.registry import register
from sidelight.inference.executors.threads import one_blas_thread, thread_count
from sidelight.inference.loop import Trace
from sidelight.inference.progress import Callback
from sidelight.inference.rows import Rows
from sidelight.metrics import Violations, violations
from sidelight.side import SideInformation
from sidelight.tables.array import ArrayTable
from sidelight.tables.validation import check_choice, check_integer, check_number, read_table

_PRIORS = ("ml", "map")
_DEFAULT_PROCESSES = 3


@register
class LatentProcessDecomposition(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KeptPosterior, InformedEstimator):
    """Soft clusters with a latent for every cell: each row mixes a few processes, and rows of a block mix them alike.

    Rogers et al. (2005); with blocks of rows known to belong together, Li, Ying and Campbell ("A variational approach
    to semi-supervised clustering"). Every block has a distribution θ over processes, drawn from a Dirichlet with
    parameter α; every cell of its rows picks a process by θ and takes its value from that process's Gaussian for the
    attribute. A row that nobody speaks of is a block by itself; rows with the same label, must-linked rows and rows of
    a block of ``side`` form one. Nothing in the model keeps blocks apart: two labels may end up in one process, which
    ``violations_`` then tells, and cannot-links are refused.

    Missing cells (NaN) are left out of everything; none is filled in. A row without any cell gets the shares α/Σα.

    The fit works in units of each attribute's standard deviation, about its mean. Without a prior that changes nothing
    but where k-means starts; everything that comes out is in the table's own units.

    Parameters
    ----------
    n_processes : int, optional
        Number of processes, the soft clusters. None takes as many as there are labelled classes, and 3 where fewer
        than two are labelled: the model has no criterion of its own, only held-out likelihood
        (:func:`sidelight.selection.select_n_components`, or a grid search by ``score``), which takes many fits.
    prior : {"ml", "map"}, default "ml"
        Maximum likelihood for means and variances, as in the experiments of Li, Ying and Campbell, or their maximum a
        posteriori. Use "map" where there are fewer rows than attributes.
    prior_mean_scale : float, default 1
        With ``prior="map"``, means of processes are normal about the attribute's mean with this standard deviation, in
        units of the attribute's own.
    prior_spread : float, default 0.1
        With ``prior="map"``, variances have prior density ∝ exp(−prior_spread / σ²), in units of the attribute's own.
        0 leaves them free.
    min_scale : float, default 0.05
        Lower limit of a process's standard deviation, in units of the attribute's own. Without one the likelihood has
        no maximum: a process could close in on a value that several rows share.
    n_init : int, default 3
        Number of starts, each from k-means; the fit with the highest bound is kept.
    max_iter : int, default 500
    tol : float, default 1e-4
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
        Process with the largest share in each row's block.
    posterior_ : (n, n_clusters_)
        Share of each process in each row's block, γ normalised: the confidence that the row belongs to it.
    n_clusters_ : int
        Number of processes.
    cluster_names_ : (n_clusters_,)
        The label of each process (labels and processes are matched one to one, as well as possible), or "new 1",
        "new 2", … for the rest.
    alpha_ : (n_clusters_,)
        Parameter of the Dirichlet.
    means_, scales_ : (n_clusters_, d)
        Mean and standard deviation of every attribute in every process: its density there.
    lower_bound_, lower_bounds_ : float, list of float
        The bound per row: at the end, and before and after every step.
    n_iter_, converged_ : int, bool
    violations_ : Violations
        Statements that ``labels_`` break: labels that share a process with another.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import LatentProcessDecomposition
    >>> X = np.array([[0.0, 0.1], [0.2, np.nan], [0.1, 0.0], [5.0, 4.8], [np.nan, 5.1], [4.9, 5.2]])
    >>> model = LatentProcessDecomposition(2, random_state=0).fit(X, ["low", None, None, "high", None, None])
    >>> model.cluster_names_[model.labels_].tolist()
    ['low', 'low', 'low', 'high', 'high', 'high']
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels", "blocks", "must_link"})

    def __init__(
        self,
        n_processes: int | None = None,
        *,
        prior: str = "ml",
        prior_mean_scale: float = 1.0,
        prior_spread: float = 0.1,
        min_scale: float = 0.05,
        n_init: int = 3,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_posterior: bool | None = None,
        callbacks: Iterable[Callback] | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_processes = n_processes
        self.prior = prior
        self.prior_mean_scale = prior_mean_scale
        self.prior_spread = prior_spread
        self.min_scale = min_scale
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_posterior = keep_posterior
        self.callbacks = callbacks
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        side: SideInformation | None = None,
        sample_id: Any = None,
    ) -> Self:
        """Fit the processes to a table and to what is known about its rows.

        Parameters
        ----------
        X : (n, d) array, memory-mapped array or data frame
            The table; NaN where a cell is missing.
        y : (n,) array, optional
            Partial labels; -1, or None or NaN, where a row has none. Rows of one label form a block.
        must_link : pairs, optional
            Pairs of row numbers, or of ids where ``sample_id`` names the rows, that belong to one block.
        cannot_link : None
            Refused: the model has no meaning for them.
        side : SideInformation, optional
            What else is known. With ``sample_id`` its rows are found by their ids.
        sample_id : (n,) array, optional
            Names of the rows.

        Returns
        -------
        self
        """
        self._check_parameters()
        table = read_table(self, X, reset=True)
        known = self._read_side(len(table), y, must_link, cannot_link, side, sample_id)
        n_processes = self._count_processes(known)
        with one_blas_thread():
            rows = Rows(ArrayTable(table))
            self._refuse_infinity(rows)
            scaling = self._survey(rows)
            n_scores = table.size * n_processes * self.n_init * self.max_iter // 2
            on_data = ProcessesOnData(
                rows,
                known.closure().chunklets,
                scaling,
                self._prior(len(table)),
                accumulate_for(n_scores),
                thread_count(self.n_jobs),
            )
            trace = climb(
                on_data,
                known.labels,
                n_processes,
                n_init=self.n_init,
                max_iter=self.max_iter,
                tol=self.tol,
                random=check_random_state(self.random_state),
                callbacks=self.callbacks or (),
                verbose=self.verbose,
            )
            self._store(trace, on_data, known)
        return self

    def predict(self, X: Any) -> LabelArray:
        """Return the process with the largest share in each row of a table, each row a block by itself."""
        return self._shares(X).argmax(axis=1).astype(np.int32)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of each process in each row of a table, (n, n_clusters_); the same as ``transform``."""
        return self._shares(X)

    def transform(self, X: Any) -> FloatArray:
        """Return the share of each process in each row of a table, (n, n_clusters_), by folding the rows in.

        The parameters stay as they are; γ of each row, a block by itself, is found and normalised. It is the
        confidence that the row belongs to each process.
        """
        return self._shares(X)

    def log_likelihood(self, X: Any, n_draws: int = 1000) -> RowLogLikelihoods:
        """Estimate the log-likelihood of each row of a table, each a block by itself, by importance sampling.

        Parameters
        ----------
        X : (n, d)
            A row without any cell has log-likelihood 0.
        n_draws : int, default 1000
            Draws per row, at least 4.

        Returns
        -------
        RowLogLikelihoods
            ``values`` and ``standard_errors`` of the rows; ``total`` and its ``standard_error``.
        """
        check_integer("n_draws", n_draws, least=4)
        table = self._read_unseen(X)
        random = check_random_state(self.random_state)
        with one_blas_thread():
            return row_log_likelihoods(table, self._parameters, n_draws, random, thread_count(self.n_jobs))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows of a table, by importance sampling; ``y`` is ignored."""
        return float(self.log_likelihood(X).values.mean())

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, FloatArray]:
        """Draw rows from the fitted model; returns the rows (n, d) and the shares of the processes in each."""
        check_is_fitted(self)
        return draw(self._parameters, n_samples, check_random_state(self.random_state))

    def rank_attributes(self, first: int, second: int) -> AttributeRanking:
        """Rank the attributes by how well they tell two processes apart.

        Parameters
        ----------
        first, second : int
            Numbers of the processes.

        Returns
        -------
        AttributeRanking
            ``columns``, ``names`` and ``distances``, the largest first: Bhattacharyya distances of the two densities of
            each attribute. A cell of an attribute would be put down to the wrong one of the two processes at most
            ½ exp(−distance) of the time.
        """
        check_is_fitted(self)
        for name, number in (("first", first), ("second", second)):
            check_integer(name, number, least=0)
            if number >= self.n_clusters_:
                raise ValueError(f"{name}={number!r}, but there are processes 0 to {self.n_clusters_ - 1} only.")
        distances = attribute_distances(self.means_, self.scales_, first, second)
        columns = np.argsort(-distances, kind="stable")
        names = getattr(self, "feature_names_in_", np.array([f"x{g}" for g in range(self.n_features_in_)], object))
        return AttributeRanking(columns, names[columns], distances[columns])

    @property
    def _n_features_out(self) -> int:
        return self.n_clusters_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _parameters(self) -> Parameters:
        return Parameters(self.alpha_, self.means_, np.square(self.scales_))

    def _shares(self, X: Any) -> FloatArray:
        """Return γ of each row, normalised; apart from ``transform``, whose output scikit-learn may wrap."""
        table = self._read_unseen(X)
        with one_blas_thread():
            parts = visit_folded(table, self._parameters, lambda _, folded: folded.gamma, thread_count(self.n_jobs))
        gamma = np.concatenate(parts)
        return gamma / gamma.sum(axis=1, keepdims=True)

    def _read_unseen(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        table = read_table(self, X, reset=False)
        self._refuse_infinity(Rows(ArrayTable(table)))
        return table

    def _check_parameters(self) -> None:
        if self.n_processes is not None:
            check_integer("n_processes", self.n_processes, least=1)
        check_choice("prior", self.prior, _PRIORS)
        check_number("prior_mean_scale", self.prior_mean_scale, least=1e-6)
        check_number("prior_spread", self.prior_spread, least=0)
        check_number("min_scale", self.min_scale, least=1e-6, most=1)
        check_integer("n_init", self.n_init, least=1)
        check_integer("max_iter", self.max_iter, least=1)
        check_number("tol", self.tol, least=0)

    def _count_processes(self, side: SideInformation) -> int:
        n_labelled, n = len(side.label_names), side.n_rows
        if self.n_processes is None:
            return n_labelled if n_labelled > 1 else min(_DEFAULT_PROCESSES, n)
        if self.n_processes < n_labelled:
            warnings.warn(
                f"n_processes={self.n_processes} is less than the {n_labelled} labelled classes; the model grows to "
                f"{n_labelled}. To let classes share processes, pass them as blocks: "
                "side=SideInformation.build(n, blocks=y).",
                UserWarning,
                stacklevel=3,
            )
        n_processes = max(self.n_processes, n_labelled)
        if n_processes > n:
            raise ValueError(
                f"n_processes={n_processes} is more than the n_samples = {n} rows of X; use fewer processes."
            )
        return n_processes

    def _refuse_infinity(self, rows: Rows) -> None:
        place = find_infinite(rows)
        if place is not None:
            raise ValueError(
                f"X contains infinity in row {place[0]}, {self._column(place[1])}; use NaN where a cell is missing."
            )

    def _survey(self, rows: Rows) -> Scaling:
        """Return the units of the attributes; refuse attributes without a cell, and overflow."""
        found = survey_observed(rows)
        if not found.n_observed.all():
            empty = int(np.argmin(found.n_observed))
            raise ValueError(f"X has no value in any row of {self._column(empty)}, only NaN; leave the column out.")
        if not np.isfinite(found.scale).all():
            wide = int(np.argmax(~np.isfinite(found.scale)))
            raise ValueError(f"X: the values of {self._column(wide)} are too large to be squared; rescale the column.")
        return found

    def _column(self, number: int) -> str:
        names = getattr(self, "feature_names_in_", None)
        return f"column {number}" if names is None else f"column {names[number]!r}"

    def _prior(self, n: int) -> Prior:
        # A standardised value is at most √n, so no variance of a process needs to exceed n.
        lowest, highest = self.min_scale**2, float(max(n, 1))
        if self.prior == "ml":
            return Flat(lowest, highest)
        return Shrinking(self.prior_mean_scale**2, self.prior_spread, lowest, highest)

    def _store(self, trace: Trace[State], on_data: ProcessesOnData, side: SideInformation) -> None:
        """Set the fitted attributes."""
        n, scaling = side.n_rows, on_data.scaling
        bound = on_data.bound(trace.state, on_data.expect(trace.state))
        shares = trace.state.gamma / trace.state.gamma.sum(axis=1, keepdims=True)
        order, names = _order_processes(shares[on_data.blocks], side)
        self.labels_ = shares[:, order].argmax(axis=1).astype(np.int32)[on_data.blocks]
        keep = self._keeps_posterior(n, len(order))
        self._posterior = shares[on_data.blocks][:, order] if keep else None
        self.n_clusters_ = len(order)
        self.cluster_names_ = names
        alpha, means, variances = trace.state.parameters
        self.alpha_ = alpha[order]
        self.means_ = scaling.centre + scaling.scale * means[order]
        self.scales_ = scaling.scale * np.sqrt(variances[order])
        self.lower_bounds_ = [value / n for value in (*trace.objectives, bound)]
        self.lower_bound_ = self.lower_bounds_[-1]
        self.n_iter_ = len(trace.objectives)
        self.converged_ = trace.converged
        self.violations_: Violations = violations(side, self.labels_)


def _order_processes(shares: FloatArray, side: SideInformation) -> tuple[IntArray, AnyArray]:
    """Return the order in which processes become clusters, and the clusters' names.

    Labels and processes are matched one to one so that labelled rows have the largest shares in their own. ``shares``
    is (n, K).
    """
    n_labelled, n_processes = len(side.label_names), shares.shape[1]
    table = np.zeros((n_labelled, n_processes))
    labelled = np.flatnonzero(side.labels >= 0)
    np.add.at(table, side.labels[labelled], shares[labelled])
    matched = linear_sum_assignment(table, maximize=True)[1]
    processes = np.concatenate([matched, np.setdiff1d(np.arange(n_processes), matched)])
    sizes = np.bincount(shares.argmax(axis=1), minlength=n_processes)[processes]
    order = cluster_order(side.label_names, sizes)
    return processes[order], cluster_names(side.label_names.tolist(), order)
