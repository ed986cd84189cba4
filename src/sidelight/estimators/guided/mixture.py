"""The estimator to start with: several experts, weighed by how well they predict what is known."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import AnyArray, FloatArray, IntArray, LabelArray
from sidelight.couplings.annotators import AnnotatorReport, AnnotatorRow
from sidelight.estimators.base.all_or_nothing import all_or_nothing
from sidelight.estimators.base.clusters import cluster_order
from sidelight.estimators.base.kept import KeptPosterior
from sidelight.estimators.base.reading import TableReader
from sidelight.estimators.base.results import RowResults, Wanted
from sidelight.estimators.bayesian.mixture import BayesianMixture
from sidelight.estimators.guided.annotated import consult_with_annotators
from sidelight.estimators.guided.assignment import (
    among_all,
    assigned,
    core_of_table,
    expert_columns,
    log_shares_at,
)
from sidelight.estimators.guided.core import Core
from sidelight.estimators.guided.doubts import HeldOutScores, warn_of_doubts, warn_of_other_number
from sidelight.estimators.guided.guidance import Earlier, Found, Guidance, Request, guide
from sidelight.estimators.guided.link_beliefs import believe_links
from sidelight.estimators.guided.numbering import in_earlier_order
from sidelight.estimators.registry import register
from sidelight.estimators.starts.sample import Problem
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import Assignment
from sidelight.metrics import Suspicions, Violations, violations
from sidelight.side import SideInformation
from sidelight.side.transforms import gathered
from sidelight.tables.schema import FamilyChoice
from sidelight.tables.table import Rows, Table
from sidelight.tables.validation import check_integer, check_number, read_weights

# With more columns, components differ in a subspace.
_MOST_FULL = 100


@register
class GuidedMixture(KeptPosterior, TableReader):
    """Clusters by what several experts say together: the estimator to start with.

    Experts of different kinds learn from the rows whose class is known: logistic regression, a forest of randomised
    trees, labels spread over a graph of neighbours, Ward's trees and the clusters of a mixture read through the labels,
    and Gaussian classes with and without the other rows. Each also says what it would have thought of a row whose class
    it did not know. By these opinions the stack learns how far to trust each expert, so that probabilities mean what
    they say: p(class | row) ∝ Π_e p_e(class | row)^w_e. Pupils then learn from what the experts believe of all rows,
    and join them.

    Links are evidence about classes. Where no label is known, classes start as groups of rows that links and distances
    join, and are chosen by the links that they predict. Experts and inference on the links then take turns. A link may
    be wrong; how often that happens is learned. A class without any label is found where labels are missing that should
    be there. Without side information it is a :class:`BayesianMixture`.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; None finds it. With labels it is never less than the labelled classes, and a cluster without
        labels still needs evidence: a warning says where there are fewer.
    new_classes : {"auto", False} or int, default "auto"
        How many clusters without labels there may be beside the labelled classes. "auto" finds them; False has none, so
        that every row is of a labelled class.
    link_confidence : float, optional
        Probability that a link given without a confidence is right, above 0.5 and below 1. None learns it.
    warm_start : bool, default False
        Whether a fit to the same table with other statements starts from the fit before: a round of answers then
        refines the clusters, takes less time, and clusters keep their numbers as far as possible.
    family : str or mapping, default "auto"
        What each column is; see :class:`BayesianMixture`. Experts need to know which columns are categories.
    random_state : int, RandomState or None
        Source of randomness; an integer gives the same result every time.
    n_jobs : int, optional
        Threads of the mixture that is fitted without side information.
    keep_posterior : bool, optional
        Whether to keep ``posterior_``; None keeps it up to 64 MB.
    callbacks : iterable of callable, optional
        Each is called with a ``Progress(iteration, objective, change)`` after every round of the experts, whose
        objective is the mean log probability of the statements held out; without side information, after every step of
        the mixture.

    Attributes
    ----------
    labels_ : (n,)
        The cluster of each row.
    posterior_ : (n, n_clusters_)
        Probability of each cluster, given all side information.
    n_clusters_ : int
    cluster_names_ : (n_clusters_,)
        The labels; "new 1" and so on for classes without labels, "cluster 0" and so on where there are none.
    expert_weights_ : dict of float
        How far each expert is trusted, by its name.
    link_error_ : float
        How probable it is that a link is wrong; 0 without links.
    violations_ : Violations
        Statements that ``labels_`` break; its ``suspicions`` has the odds that each link is wrong.
    held_out_ : HeldOutScores or None
        How well labels and links are predicted by opinions that have not seen them, beside logistic regression and the
        largest class; None without side information.
    mixture_ : BayesianMixture or None
        The mixture, where there is no side information.
    objective_, objectives_ : float, list of float
        Of the round that is kept, and after every round: minus the mean log probability of the statements held out;
        without side information, minus the bounds of the mixture.
    n_iter_, converged_ : int, bool
        Rounds of the experts, of which the best is kept.
    annotators_, annotation_report_ : list of AnnotatorRow, AnnotatorReport or None
        How reliable each annotator is, with an interval, and everything else that was learned about them; empty and
        None without annotators.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import GuidedMixture
    >>> X = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    >>> y = np.full(90, None)
    >>> y[[0, 1, 30, 31, 60, 61]] = "a", "a", "b", "b", "c", "c"
    >>> model = GuidedMixture(random_state=0).fit(X, y)
    >>> model.cluster_names_.tolist(), np.bincount(model.labels_).tolist()
    (['a', 'b', 'c'], [30, 30, 30])
    """

    takes: ClassVar[frozenset[str]] = frozenset(
        {"labels", "must_link", "cannot_link", "blocks", "confidence", "annotators"}
    )

    takes_missing = True
    takes_sources = True

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        new_classes: str | bool | int = "auto",
        link_confidence: float | None = None,
        warm_start: bool = False,
        family: FamilyChoice = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_posterior: bool | None = None,
        callbacks: Iterable[Callback] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.new_classes = new_classes
        self.link_confidence = link_confidence
        self.warm_start = warm_start
        self.family = family
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_posterior = keep_posterior
        self.callbacks = callbacks

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
    ) -> Self:
        """Fit to a table and to side information about its rows.

        The estimator changes only if the fit succeeds.

        Parameters
        ----------
        X : (n, d) array, memory-mapped array, data frame, path, ParquetTable or Dask collection
            The table. Experts learn from some thousand rows at most, those with statements first. All rows are then
            assigned part by part where the table is; see :class:`BayesianMixture` for tables that are not in memory.
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

        Returns
        -------
        self
            The fitted estimator.
        """
        self._check_parameters()
        problem = self._read_problem(X, y, must_link, cannot_link, side, sample_id, sample_weight, reset=True)
        n_counted = problem.n_rows if problem.weights is None else int(np.count_nonzero(problem.weights))
        if self.n_clusters is not None and self.n_clusters > n_counted:
            raise ValueError(
                f"n_clusters={self.n_clusters} is more than the n_samples = {n_counted} rows that count; use fewer."
            )
        self.annotators_: list[AnnotatorRow] = []
        self.annotation_report_: AnnotatorReport | None = None
        with one_blas_thread():
            self._survey(problem.table, problem.weights)
            if problem.side.is_empty:
                del problem  # on a cluster it holds the table, which the mixture reads for itself
                self._fit_without_guidance(X, sample_weight)
            else:
                self._fit_guided(problem)
        return self

    def _check_parameters(self) -> None:
        if self.n_clusters is not None:
            check_integer("n_clusters", self.n_clusters, least=1)
        if self.link_confidence is not None:
            check_number("link_confidence", self.link_confidence, least=0.5, most=1)
            if self.link_confidence in (0.5, 1):
                raise ValueError(
                    f"link_confidence={self.link_confidence} must be above 0.5 and below 1; None learns it."
                )
        if self.new_classes != "auto" and self.new_classes is not False:
            if isinstance(self.new_classes, str):
                raise ValueError(f"new_classes={self.new_classes!r} is not known; choose 'auto', False or a number.")
            check_integer("new_classes", self.new_classes, least=0)

    def _read_side(
        self, n: int, y: Any, must_link: Any, cannot_link: Any, side: SideInformation | None, sample_id: Any
    ) -> SideInformation:
        """Pool all side information; links may contradict each other, since they may be wrong."""
        return gathered(n, y, must_link, cannot_link, side, sample_id)

    # --- without side information ------------------------------------------------------------------------------------

    def _fit_without_guidance(self, X: Any, sample_weight: Any) -> None:
        """Fit a Bayesian mixture, and take over its clusters."""
        # The search for a structure also finds the number of clusters; where that is given there is none.
        structure = "full" if self.n_features_in_ <= _MOST_FULL else "low_rank"
        mixture = BayesianMixture(
            self.n_clusters,
            family=self.family,
            covariance_type="auto" if self.n_clusters is None else structure,
            prune=self.n_clusters is None,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            keep_posterior=self.keep_posterior,
            callbacks=self._watchers(self.callbacks),
        ).fit(X, sample_weight=sample_weight)
        self.mixture_: BayesianMixture | None = mixture.set_params(callbacks=None)
        self._guidance: Guidance | None = None
        self._memory: dict[str, AnyArray] = {}
        self.labels_ = mixture.labels_
        self.violations_: Violations = mixture.violations_
        self._posterior = mixture._posterior
        self.n_clusters_ = mixture.n_clusters_
        self._name_clusters(np.empty(0, dtype=object), np.arange(mixture.n_clusters_))
        self.expert_weights_ = {"mixture": 1.0}
        self.link_error_ = 0.0
        self.held_out_: HeldOutScores | None = None
        self.objectives_ = [-bound for bound in mixture.lower_bounds_]
        self.objective_ = self.objectives_[-1]
        self.n_iter_, self.converged_ = mixture.n_iter_, mixture.converged_

    # --- with side information ---------------------------------------------------------------------------------------

    def _fit_guided(self, problem: Problem, opinions: FloatArray | None = None) -> None:
        """Ask the experts, and let links decide together with them; let annotators, who err, decide with them too."""
        random = check_random_state(self.random_state)
        suspicions, cores = None, []

        def consult(agreed: Problem) -> tuple[Found, FloatArray]:
            cores.append(core_of_table(agreed.side, agreed.weights, random))
            return self._consult(agreed, cores[-1], problem.side, random)

        if problem.side.annotations is None:
            found, log_shares = consult(problem)
            mentioned, shares, wrong, _ = believe_links(log_shares, problem.side, found.link_error)
            if len(wrong):
                suspicions = Suspicions.of(problem.side, wrong)
        else:
            heard = consult_with_annotators(problem, consult, opinions)
            found, log_shares, mentioned, shares, self.annotation_report_ = heard
            self.annotators_ = self.annotation_report_.annotators
        known = _known_rows(cores[-1], problem.side)
        posterior = np.exp(log_shares[known])
        posterior[np.searchsorted(known, mentioned)] = shares
        n_classes = found.guidance.n_classes
        kept = self._keeps_posterior(problem.n_rows, n_classes)
        left_out = np.zeros(problem.n_rows, dtype=bool)
        left_out[known] = True
        wanted = Wanted(np.arange(n_classes), n_classes, keep_posterior=kept)
        results = assigned(Rows(problem.table, left_out=left_out), found.guidance, wanted)
        results = results.with_rows(Assignment(known, posterior, 0.0))

        names, sizes = problem.side.label_names, results.sizes()
        order = cluster_order(names, sizes)
        if self.n_clusters is None:
            # A class without rows or labels has come to nothing.
            order = order[(sizes[order] > 0) | (order < len(names))]
        earlier = self._earlier_labels(problem.n_rows)
        if earlier is not None and not len(names):
            order = in_earlier_order(np.asarray(results.array("labels")), np.asarray(earlier), order)
        results = results.numbered(order)
        self.mixture_ = None
        self._guidance = found.guidance.reordered(order)
        self.labels_ = results.array("labels")
        self._posterior = results.array("posterior") if kept else None
        broken = violations(problem.side, results.labels_for(problem.side))
        self.violations_ = broken if suspicions is None else replace(broken, suspicions=suspicions)
        self.n_clusters_ = len(order)
        self._name_clusters(names, order)
        self.expert_weights_ = {
            name: float(weight) for name, weight in zip(found.names, found.guidance.weights, strict=True)
        }
        self.held_out_ = found.scores
        self.objectives_, self.objective_ = [-score for score in found.course], -found.score
        self.n_iter_, self.converged_ = len(found.course), True
        warn_of_doubts(found.scores, suspicions)
        warn_of_other_number(self.n_clusters, self.n_clusters_, len(names))
        self.link_error_ = found.link_error if len(problem.side.must_link) + len(problem.side.cannot_link) else 0.0

    def _earlier_labels(self, n_rows: int) -> LabelArray | None:
        """Return the clusters of an earlier fit to a table of that length, where the fit is to go on from there."""
        labels: LabelArray | None = getattr(self, "labels_", None)
        return labels if self.warm_start and labels is not None and len(labels) == n_rows else None

    def _earlier(self, problem: Problem, core: Core, cells: AnyArray) -> Earlier:
        """Return what an earlier fit to the same table says about the rows that experts look at."""
        labels = self._earlier_labels(problem.n_rows)
        if labels is None:
            return Earlier(None, None)
        memberships = None
        # Models saved before this was kept have none.
        memory = getattr(self, "_memory", {})
        if memory and str(memory["digest"]) == joblib.hash(cells):
            memberships = memory["memberships"]
        return Earlier(memberships, np.asarray(labels[core.rows], dtype=np.int64))

    @all_or_nothing
    def refine(self, X: Any, side: SideInformation, *, sample_id: Any = None, sample_weight: Any = None) -> Self:
        """Go on from the fit with more statements of annotators about the rows of the same table.

        Experts say what they think of the new answers, and then learn from them once, where ``fit`` would let them
        learn twice.

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
        """
        check_is_fitted(self)
        problem = self._read_problem(X, None, None, None, side, sample_id, sample_weight, reset=False)
        if self._guidance is None or problem.side.annotations is None:
            raise ValueError("refine needs a model with experts and statements of annotators; use fit.")
        named = [name for name in problem.side.label_names.tolist() if name not in self.cluster_names_.tolist()]
        if named:
            raise ValueError(f"side names the class {named[0]!r}, which the model does not have; use fit.")
        with one_blas_thread():
            rows = np.flatnonzero(problem.side.mentioned)
            opinions = among_all(problem.table, rows, log_shares_at(problem.table, rows, self._guidance))
            self._fit_guided(problem, opinions)
        return self

    def _consult(
        self, problem: Problem, core: Core, side: SideInformation, random: np.random.RandomState
    ) -> tuple[Found, FloatArray]:
        """Let experts learn from the core, and return what they found and log probabilities (n, classes).

        These are right for the rows of the core and those that ``side`` mentions; others are not asked about yet.
        """
        cells = problem.table.gather(core.rows)
        weights = np.ones(len(core.rows)) if problem.weights is None else problem.weights[core.rows]
        found = guide(
            cells,
            self._schema,
            core.side,
            weights,
            Request(self.n_clusters, self.new_classes, self.link_confidence),
            random,
            self._watchers(self.callbacks),
            self._earlier(problem, core, cells),
        )
        self._memory = {"memberships": found.memberships, "digest": np.array(joblib.hash(cells))}
        known = _known_rows(core, side)
        others = np.setdiff1d(known, core.rows)
        log_shares = among_all(problem.table, others, log_shares_at(problem.table, others, found.guidance))
        log_shares[core.rows] = found.log_shares
        return found, log_shares

    # --- new rows ----------------------------------------------------------------------------------------------------

    def predict_clusters(self, X: Any) -> LabelArray:
        """Return the number of the cluster of each row of a table, by the experts alone.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n,) array of int
            Numbers of clusters, from 0.
        """
        check_is_fitted(self)
        if self.mixture_ is not None:
            return self.mixture_.predict_clusters(X)
        return self._assign(X, keep_posterior=False).array("labels")

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each cluster for each row of a table, by the experts alone.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n, n_clusters_) array
            Probabilities, by row and cluster.
        """
        check_is_fitted(self)
        if self.mixture_ is not None:
            return self.mixture_.predict_proba(X)
        return self._assign(X, keep_posterior=True).array("posterior")

    def _assign(self, X: Any, *, keep_posterior: bool) -> RowResults:
        """Return how the experts alone assign the rows of a table."""
        assert self._guidance is not None
        table: Table = self._read_table(X, reset=False)
        self._survey(table, None)
        wanted = Wanted(np.arange(self.n_clusters_), self.n_clusters_, keep_posterior=keep_posterior)
        return assigned(Rows(table), self._guidance, wanted)

    def expert_probabilities(self, X: Any) -> dict[str, FloatArray]:
        """Return the probability of each cluster for each row of a table by every expert alone, by its name.

        Names are those of ``expert_weights_``. A model that was fitted without side information has one, the mixture.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        dict of (n, n_clusters_) arrays
            Probabilities, by row and cluster.
        """
        check_is_fitted(self)
        if self._guidance is None:
            return {"mixture": self.predict_proba(X)}
        table: Table = self._read_table(X, reset=False)
        self._survey(table, None)
        return dict(zip(self.expert_weights_, expert_columns(table, self._guidance), strict=True))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the labelled rows of a table whose predicted name is their label.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.
        y : (n,) array
            Labels; rows without one are left out.
        sample_weight : (n,) array, optional
            How many rows each row stands for.

        Returns
        -------
        float
            From 0 to 1.
        """
        found = np.asarray(self.predict_names(X))
        known = SideInformation.build(len(found), y=y)
        rows: IntArray = np.flatnonzero(known.labels >= 0)
        if not len(rows):
            raise ValueError("y has no labels, so there is nothing to score; give at least one.")
        named = found[rows]
        right = [given == found for given, found in zip(known.label_names[known.labels[rows]], named, strict=True)]
        weights = read_weights(sample_weight, known.n_rows)
        return float(np.average(right, weights=None if weights is None else weights[rows]))


def _known_rows(core: Core, side: SideInformation) -> IntArray:
    """Return the numbers (m,), in order, of rows that a fit knows more about than what new rows would be told."""
    return np.union1d(core.rows, np.flatnonzero(side.mentioned))
