"""Latent process decomposition: rows mix processes, attribute by attribute, and rows of a block mix them alike."""

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import AnyArray, FloatArray, LabelArray
from sidelight._warnings import warn
from sidelight.admixture.decomposition import Decomposition, kernel_for
from sidelight.admixture.m_step import FlatPrior, Prior, ShrinkagePrior
from sidelight.admixture.model import AttributeRanking, Parameters, State, attribute_distances, draw, match_labels
from sidelight.admixture.scaling import refuse_infinity, survey_scaling
from sidelight.admixture.starts import kmeans_starts
from sidelight.admixture.unseen_rows import RowLogLikelihoods, row_log_likelihoods, row_shares
from sidelight.estimators.base.all_or_nothing import all_or_nothing
from sidelight.estimators.base.clusters import cluster_order
from sidelight.estimators.base.features import PosteriorFeatures
from sidelight.estimators.base.kept import KeptPosterior
from sidelight.estimators.registry import register
from sidelight.inference.executors.threads import Threads, one_blas_thread
from sidelight.inference.loop import Trace, ascend_from, refuse_unbounded, warn_unless_converged
from sidelight.inference.progress import Callback
from sidelight.metrics import Violations, violations
from sidelight.side import SideInformation
from sidelight.side.transforms import pooled
from sidelight.tables.sources import in_memory
from sidelight.tables.table import ArrayTable, Rows
from sidelight.tables.validation import (
    check_choice,
    check_integer,
    check_number,
    read_table,
    read_weights,
    refuse_other_order,
)

_DEFAULT_PROCESSES = 3


@register
class LatentProcessDecomposition(KeptPosterior, PosteriorFeatures):
    """Soft clusters with a latent variable per cell: a row mixes a few processes, and rows of a block mix them alike.

    Rogers et al. (2005); with blocks of rows that belong together, Li, Ying and Campbell ("A variational approach to
    semi-supervised clustering"). Every block has a distribution θ over processes, drawn from a Dirichlet with
    parameter α; every cell of its rows picks a process by θ and takes its value from that process's Gaussian for the
    attribute. Rows with the same label, must-linked rows and rows of a block of ``side`` form a block; every other row
    is a block of its own. The model does not keep blocks apart: two labels may end up in one process, which
    ``violations_`` then lists, and cannot-links are refused.

    The fit is a coordinate ascent of the variational bound. The E-step finds the process probabilities of every cell
    (eq. 6); the M-step updates the Dirichlet posterior γ of every block (eq. 7), α, and the means and variances of the
    processes (eqs. 8 and 9). It stops when the bound per row changes by less than ``tol``.

    Missing cells (NaN) are left out of all sums and never filled in. A row without observed cells gets the shares α/Σα.

    The fit measures each attribute from its mean, in standard deviations. Without a prior this affects only the k-means
    starts. All results are in the table's own units.

    Parameters
    ----------
    n_processes : int, optional
        Number of processes, the soft clusters. None takes the number of labelled classes, or 3 where fewer than two
        classes are labelled. To choose the number, compare held-out likelihoods
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
        no maximum: a process could shrink to a value that several rows share.
    n_init : int, default 3
        Number of starts, each from k-means; the fit with the highest bound is kept.
    max_iter : int, default 500
        Most iterations.
    tol : float, default 1e-4
        Stop when the bound per row changes by less.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.
    n_jobs : int, optional
        Threads; the results do not depend on their number.
    keep_posterior : bool, optional
        Whether to keep ``posterior_``; None keeps it up to 64 MB.
    callbacks : iterable of callable, optional
        Each is called with a ``Progress`` after every step of every start: ``start`` and ``iteration``, both from 1 on,
        ``objective``, the bound of all rows together before the step, and ``change`` since the step before.
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
        "new 2", … for the rest; "cluster 0", "cluster 1", … without labels.
    alpha_ : (n_clusters_,)
        Parameter of the Dirichlet.
    means_, scales_ : (n_clusters_, d)
        Mean and standard deviation of every attribute in every process: its density there.
    lower_bound_, lower_bounds_ : float, list of float
        The bound per row of the start that was kept: at the end; and before every step and at the end, n_iter_ + 1
        numbers.
    n_iter_ : int
        Number of steps of the start that was kept.
    converged_ : bool
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
    ) -> Self:
        """Fit the processes to a table and to the side information about its rows.

        The estimator changes only if the fit succeeds.

        Parameters
        ----------
        X : (n, d) array, memory-mapped array or data frame
            The table; NaN where a cell is missing.
        y : (n,) array, optional
            Partial labels; -1, or None or NaN, where a row has none. Rows of one label form a block.
        must_link : pairs, optional
            Pairs of row numbers, or of ids where ``sample_id`` names the rows, that belong to one block.
        cannot_link : None
            Refused: the model cannot use them.
        side : SideInformation, optional
            Further statements. With ``sample_id`` its rows are found by their ids.
        sample_id : (n,) array, optional
            Names of the rows.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_parameters()
        refuse_other_order(X, y=y, sample_id=sample_id)
        table = read_table(self, in_memory(self, X), reset=True)
        given = (len(table), y, must_link, cannot_link, side, sample_id)
        side = pooled(*given, takes=self.takes, refuse=self._refuse)
        n_processes = self._count_processes(side)
        with one_blas_thread():
            rows = Rows(ArrayTable(table))
            decomposition = Decomposition(
                rows,
                side.closure().chunklets,
                survey_scaling(rows, getattr(self, "feature_names_in_", None)),
                self._prior(len(table)),
                kernel_for(table.size * n_processes * self.n_init * self.max_iter // 2),
                Threads.for_jobs(self.n_jobs),
            )
            random = check_random_state(self.random_state)
            trace = ascend_from(
                kmeans_starts(decomposition, side.labels, n_processes, self.n_init, random),
                decomposition.step,  # the E-step and the M-step
                max_iter=self.max_iter,
                tol=self.tol,
                total_weight=len(table),
                callbacks=self._watchers(self.callbacks),
                verbose=self.verbose,
            )
            warn_unless_converged(trace, self.max_iter)
            last_bound = decomposition.bound(trace.state, decomposition.expect(trace.state))
        refuse_unbounded(last_bound)
        self._store(trace, last_bound, decomposition, side)
        return self

    def predict_clusters(self, X: Any) -> LabelArray:
        """Return the process with the largest share in each row of a table, each row a block of its own.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n,) array of int
            Numbers of processes, from 0.
        """
        return self._shares(X).argmax(axis=1).astype(np.int32)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of each process in each row of a table, (n, n_clusters_); the same as ``transform``.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n, n_clusters_) array
            Shares, by row and process.
        """
        return self._shares(X)

    def transform(self, X: Any) -> FloatArray:
        """Return the share of each process in each row of a table, (n, n_clusters_), by folding the rows in.

        The parameters stay as they are; γ of each row, a block of its own, is found and normalised. It is the
        confidence that the row belongs to each process.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n, n_clusters_) array
            Shares, by row and process.
        """
        return self._shares(X)

    def log_likelihood(self, X: Any, n_draws: int = 1000) -> RowLogLikelihoods:
        """Estimate the log-likelihood of each row of a table, each a block of its own, by importance sampling.

        Parameters
        ----------
        X : (n, d)
            A row without observed cells has log-likelihood 0.
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
            return row_log_likelihoods(table, self._parameters, n_draws, random, Threads.for_jobs(self.n_jobs))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood of the rows of a table, by importance sampling; ``y`` is ignored.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.
        y : None
            Ignored.
        sample_weight : (n,) array, optional
            How many rows each row stands for.

        Returns
        -------
        float
            Higher is better.
        """
        values = self.log_likelihood(X).values
        return float(np.average(values, weights=read_weights(sample_weight, len(values))))

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, FloatArray]:
        """Draw rows from the fitted model; returns the rows (n, d) and the shares of the processes in each.

        Parameters
        ----------
        n_samples : int
            How many rows.

        Returns
        -------
        tuple of arrays
            The rows (n_samples, d) and the shares (n_samples, n_clusters_).
        """
        check_is_fitted(self)
        return draw(self._parameters, n_samples, check_random_state(self.random_state))

    def rank_attributes(self, first: int, second: int) -> AttributeRanking:
        """Rank the attributes by how well they separate two processes.

        Parameters
        ----------
        first, second : int
            Numbers of the processes.

        Returns
        -------
        AttributeRanking
            ``columns``, ``names`` and ``distances``, the largest first: Bhattacharyya distances of the two densities of
            each attribute. The error rate when a cell is assigned to one of the two processes is at most
            ½ exp(−distance).
        """
        check_is_fitted(self)
        for name, number in (("first", first), ("second", second)):
            check_integer(name, number, least=0)
            if number >= self.n_clusters_:
                raise ValueError(f"{name}={number!r}, but there are processes 0 to {self.n_clusters_ - 1} only.")
        names = getattr(self, "feature_names_in_", np.array([f"x{g}" for g in range(self.n_features_in_)], object))
        return AttributeRanking.of(names, attribute_distances(self.means_, self.scales_, first, second))

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
            return row_shares(table, self._parameters, Threads.for_jobs(self.n_jobs))

    def _read_unseen(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        table = read_table(self, in_memory(self, X), reset=False)
        refuse_infinity(Rows(ArrayTable(table)), getattr(self, "feature_names_in_", None))
        return table

    def _check_parameters(self) -> None:
        if self.n_processes is not None:
            check_integer("n_processes", self.n_processes, least=1)
        check_choice("prior", self.prior, ("ml", "map"))
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
            warn(
                f"n_processes={self.n_processes} is less than the {n_labelled} labelled classes; the model grows to "
                f"{n_labelled}. To let classes share processes, pass them as blocks: "
                "side=SideInformation.build(n, blocks=y).",
            )
        n_processes = max(self.n_processes, n_labelled)
        if n_processes > n:
            raise ValueError(
                f"n_processes={n_processes} is more than the n_samples = {n} rows of X; use fewer processes."
            )
        return n_processes

    def _prior(self, n: int) -> Prior:
        # A standardised value is at most √n, so no variance of a process needs to exceed n.
        lowest, highest = self.min_scale**2, float(max(n, 1))
        if self.prior == "ml":
            return FlatPrior(lowest, highest)
        return ShrinkagePrior(self.prior_mean_scale**2, self.prior_spread, lowest, highest)

    def _store(
        self, trace: Trace[State], last_bound: float, decomposition: Decomposition, side: SideInformation
    ) -> None:
        """Set the fitted attributes."""
        n, blocks, scaling = side.n_rows, decomposition.blocks, decomposition.scaling
        shares = trace.state.gamma / trace.state.gamma.sum(axis=1, keepdims=True)
        processes = match_labels(shares[blocks], side.labels, len(side.label_names))
        sizes = np.bincount(shares.argmax(axis=1)[blocks], minlength=len(processes))[processes]
        clusters = cluster_order(side.label_names, sizes)
        order = processes[clusters]
        self.labels_ = shares[:, order].argmax(axis=1).astype(np.int32)[blocks]
        self._posterior = shares[blocks][:, order] if self._keeps_posterior(n, len(order)) else None
        self.n_clusters_ = len(order)
        self._name_clusters(side.label_names, clusters)
        alpha, means, variances = trace.state.parameters
        self.alpha_ = alpha[order]
        self.means_ = scaling.centre + scaling.scale * means[order]
        self.scales_ = scaling.scale * np.sqrt(variances[order])
        self.lower_bounds_ = [value / n for value in (*trace.objectives, last_bound)]
        self.lower_bound_ = self.lower_bounds_[-1]
        self.n_iter_ = len(trace.objectives)
        self.converged_ = trace.converged
        self.violations_: Violations = violations(side, self.labels_)
