"""What every mixture estimator shares: fitting, placing rows, telling how sure it is."""

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import AnyArray, FloatArray, IntArray, LabelArray
from sidelight.couplings.independent import Independent
from sidelight.estimators.base.cluster_names import cluster_names, cluster_order
from sidelight.estimators.base.clusterer import InformedEstimator
from sidelight.estimators.base.posterior import KeptPosterior
from sidelight.estimators.base.results import Placement
from sidelight.inference.executors.threads import one_blas_thread, thread_count
from sidelight.inference.loop import Trace
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import Family
from sidelight.inference.rows import Rows
from sidelight.kernels.loops import backend_for
from sidelight.metrics import Violations, violations
from sidelight.side import SideInformation
from sidelight.tables.survey import Survey
from sidelight.tables.validation import read_table, read_weights, survey_finite
from sidelight.weights import MaximumLikelihoodWeights


class Fitted(NamedTuple):
    """What a model's own fit gives.

    Parameters
    ----------
    mixture : Mixture
        On its data.
    trace : Trace
        How the ascent went.
    total_weight : float
        How many rows it counts for.
    classes : (components,), optional
        The class of each component, labelled ones first in the order of the labels; those of the weights if not given.
    """

    mixture: Mixture
    trace: Trace[MixtureState]
    total_weight: float
    classes: IntArray | None = None


class MixtureEstimator(KeptPosterior, InformedEstimator):
    """A mixture of components, grouped in clusters, fitted to a table and to what is known about its rows."""

    # Set by every subclass's __init__.
    random_state: Any
    n_jobs: int | None

    _family: Family[Any, Any]
    _parameters: Any
    _log_weights: FloatArray

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense."""

    @abstractmethod
    def _fit(self, X: AnyArray, side: SideInformation, sample_weight: FloatArray | None, survey: Survey) -> Fitted:
        """Fit the model to a table that has been surveyed."""

    def _read_table(self, X: Any, *, reset: bool) -> Any:
        """Return the table as numbers; ``reset`` when fitting, so that later tables are held against this one."""
        return read_table(self, X, reset=reset)

    def _survey(self, rows: Rows) -> Survey:
        """Look at all cells once and refuse those that no component has a density for."""
        return survey_finite(self, rows)

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
        """Fit the mixture to a table and to what is known about its rows.

        Parameters
        ----------
        X : (n, d) array, memory-mapped array or data frame
            The table.
        y : (n,) array, optional
            Partial labels; -1, or None or NaN, where a row has none.
        must_link, cannot_link : pairs, optional
            Pairs of row numbers, or of ids where ``sample_id`` names the rows.
        side : SideInformation, optional
            What else is known. With ``sample_id`` its rows are found by their ids.
        sample_id : (n,) array, optional
            Names of the rows.
        sample_weight : (n,) array, optional
            How many rows each row stands for.

        Returns
        -------
        self
        """
        self._check_parameters()
        table = self._read_table(X, reset=True)
        known = self._read_side(table.shape[0], y, must_link, cannot_link, side, sample_id)
        weights = read_weights(sample_weight, table)
        with one_blas_thread():
            found = self._survey(Rows(table, weights))
            fitted = self._fit(table, known, weights, found)
            self._store(fitted, known)
        return self

    def predict(self, X: Any) -> LabelArray:
        """Return the cluster of each row of a table, by the fitted mixture alone."""
        return self._place(X).labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each cluster for each row of a table, by the fitted mixture alone."""
        posterior = self._place(X, posterior=True).posterior
        assert posterior is not None
        return posterior

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log density of the mixture at each row of a table."""
        log_density = self._place(X, density=True).log_density
        assert log_density is not None
        return log_density

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of a table; ``y`` is ignored, as in scikit-learn's mixtures."""
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of the mixture on a table; lower is better."""
        log_density = self.score_samples(X)
        return float(-2 * log_density.sum() + self._n_parameters() * np.log(len(log_density)))

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion of the mixture on a table; lower is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, IntArray]:
        """Draw rows from the fitted mixture; returns the rows and their clusters, cluster by cluster."""
        check_is_fitted(self)
        random = check_random_state(self.random_state)
        counts = random.multinomial(n_samples, self.weights_)
        parts = [self._family.sample(self._parameters, k, n, random) for k, n in enumerate(counts)]
        return np.concatenate(parts), np.repeat(self.component_clusters_, counts)

    def _n_parameters(self) -> int:
        n_components = len(self.weights_)
        return self._family.n_parameters(n_components) + n_components - 1

    def _store(self, fitted: Fitted, side: SideInformation) -> None:
        """Set the fitted attributes."""
        mixture, trace = fitted.mixture, fitted.trace
        state = trace.state
        classes = mixture.weights.classes if fitted.classes is None else fitted.classes
        n_rows, n_classes = mixture.rows.X.shape[0], max(int(classes.max()) + 1, len(side.label_names))
        keep = self._keeps_posterior(n_rows, n_classes)
        placed = Placement.empty(n_rows, n_classes, keep_density=False, keep_posterior=keep)
        objective = mixture.assignments(state, placed.writer(classes, n_classes))
        self._decide_together(mixture, state, placed.labels)

        sizes = placed.sizes(n_classes)
        order = cluster_order(side.label_names, sizes)
        rank = np.argsort(order)
        clusters = rank[classes]
        components = np.argsort(clusters, kind="stable")

        self._family = mixture.family
        self._log_weights = mixture.weights.log(state.weights)[components]
        self._parameters = mixture.family.select(state.parameters, components)
        self._posterior = None if placed.posterior is None else placed.posterior[:, order]
        self.labels_ = placed.renumbered(rank)
        self.n_clusters_ = n_classes
        self.cluster_names_ = cluster_names(side.label_names.tolist(), order)
        self.component_clusters_ = clusters[components]
        self.weights_ = mixture.weights.mean(state.weights)[components]
        for name, value in mixture.family.attributes(self._parameters).items():
            setattr(self, name, value)
        self.lower_bounds_ = [bound / fitted.total_weight for bound in (*trace.objectives, objective)]
        self.lower_bound_ = self.lower_bounds_[-1]
        self.n_iter_ = len(trace.objectives)
        self.converged_ = trace.converged
        self.violations_: Violations = violations(side, self.labels_)

    def _decide_together(self, mixture: Mixture, state: MixtureState, labels: LabelArray) -> None:
        """Change the classes of rows, in place, where they are to be decided together; each is by itself by default."""

    def _place(self, X: Any, *, density: bool = False, posterior: bool = False) -> Placement:
        """Place the rows of a table by the fitted mixture alone."""
        check_is_fitted(self)
        table = self._read_table(X, reset=False)
        clusters = self.component_clusters_
        backend = backend_for(table.shape[0] * len(clusters))
        mixture = Mixture(
            rows=Rows(table),
            family=self._family,
            weights=MaximumLikelihoodWeights(clusters),
            coupling=Independent(clusters, backend),
            joint=None,
            backend=backend,
            n_threads=thread_count(self.n_jobs),
        )
        placement = Placement.empty(table.shape[0], self.n_clusters_, keep_density=density, keep_posterior=posterior)
        with one_blas_thread():
            self._survey(mixture.rows)
            mixture.assignments(
                MixtureState(self._parameters, self._log_weights), placement.writer(clusters, self.n_clusters_)
            )
        return placement
