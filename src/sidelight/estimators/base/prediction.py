"""What a fitted mixture says about rows: clusters, probabilities, densities, and rows of its own."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sidelight._typing import FloatArray, IntArray, LabelArray
from sidelight.couplings.independent import Independent
from sidelight.estimators.base.cluster_results import results_of
from sidelight.estimators.base.kept import KeptPosterior
from sidelight.estimators.base.reading import TableReader
from sidelight.estimators.base.results import RowResults, Wanted
from sidelight.families.noise import NoiseFamily
from sidelight.inference.executors.choice import executor_for
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import AnyFamily
from sidelight.kernels.loops import backend_for
from sidelight.tables.power import PowerTransform, in_original_units
from sidelight.tables.table import Rows
from sidelight.tables.validation import read_weights
from sidelight.weights import MaximumLikelihoodWeights


class FittedMixture(KeptPosterior, TableReader):
    """A mixture once it is fitted: its family, the parameters of its components and their clusters."""

    random_state: Any
    n_jobs: int | None
    n_clusters_: int
    weights_: FloatArray
    component_clusters_: IntArray
    noise_weight_: float
    noise_probability_: FloatArray
    _family: AnyFamily
    _parameters: Any
    _log_weights: FloatArray

    @property
    def column_powers_(self) -> dict[Any, PowerTransform]:
        """The transforms of columns, by their names, or their numbers where they have none; see ``power``."""
        check_is_fitted(self)
        names, powers = self._schema.names, self._schema.powers or ()
        return {
            number if names is None else names[number]: power
            for number, power in enumerate(powers)
            if power is not None
        }

    @property
    def _noise_label(self) -> int | None:
        """The label of rows that are noise; None where the mixture has no noise."""
        return -1 if isinstance(self._family, NoiseFamily) else None

    def _store_noise(self, probability: FloatArray | None) -> None:
        """Set the attributes of noise, the probability (n,) of each row among them, or forget those of a fit before."""
        for name in ("noise_weight_", "noise_probability_"):
            self.__dict__.pop(name, None)
        if probability is not None:
            self.noise_weight_ = float(1.0 - self.weights_.sum())
            self.noise_probability_ = probability

    def predict_clusters(self, X: Any) -> LabelArray:
        """Return the number of the cluster of each row of a table, by the fitted mixture alone; -1 for noise.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n,) array of int
            Numbers of clusters, from 0.
        """
        return self._assign(X).array("labels")

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each cluster for each row of a table, by the fitted mixture alone.

        What the probabilities of a row lack to one is that of noise, where the mixture has a component for it.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n, n_clusters_) array
            Probabilities, by row and cluster.
        """
        return self._assign(X, posterior=True).array("posterior")

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log density of each row of a table, in its units; of a Bayesian mixture, the predictive one.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        (n,) array
            Log densities.
        """
        return self._assign(X, density=True).array("log_density")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log density of a table; ``y`` is ignored, as in scikit-learn's mixtures.

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
        log_density = self.score_samples(X)
        return float(np.average(log_density, weights=read_weights(sample_weight, len(log_density))))

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of the mixture on a table; lower is better.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        float
            The criterion.
        """
        log_density = self.score_samples(X)
        return float(-2 * log_density.sum() + self._n_parameters() * np.log(len(log_density)))

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion of the mixture on a table; lower is better.

        Parameters
        ----------
        X : (n, d) array or data frame
            A table with the columns of the one that was fitted.

        Returns
        -------
        float
            The criterion.
        """
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, IntArray]:
        """Draw rows from the fitted clusters, in original units; return them and their clusters, cluster by cluster.

        Parameters
        ----------
        n_samples : int
            How many rows.

        Returns
        -------
        tuple of arrays
            The rows (n_samples, d) and the number of the cluster of each.
        """
        check_is_fitted(self)
        random = check_random_state(self.random_state)
        shares = self.weights_ if self._noise_label is None else self.weights_ / self.weights_.sum()
        counts = random.multinomial(n_samples, shares)
        parts = [self._family.sample(self._parameters, k, n, random) for k, n in enumerate(counts)]
        rows = in_original_units(np.concatenate(parts), self._schema.powers)
        return rows, np.repeat(self.component_clusters_, counts)

    def _n_parameters(self) -> int:
        n_components = len(self.weights_)
        return self._family.n_parameters(n_components) + n_components - 1 + len(self.column_powers_)

    def _assign(self, X: Any, *, density: bool = False, posterior: bool = False) -> RowResults:
        """Assign the rows of a table by the fitted mixture alone; with densities, by its predictive distribution."""
        check_is_fitted(self)
        table = self._read_table(X, reset=False)
        clusters = self.component_clusters_
        if self._noise_label is not None:
            clusters = np.append(clusters, self._noise_label)
        backend = backend_for(table.shape[0] * len(clusters))
        mixture = Mixture(
            rows=Rows(table),
            family=self._family,
            weights=MaximumLikelihoodWeights(clusters),
            coupling=Independent(clusters, backend),
            couplings=(),
            backend=backend,
            executor=executor_for(table, self.n_jobs),
        )
        wanted = Wanted(clusters, self.n_clusters_, density, posterior, density, self._schema.powers)
        with one_blas_thread():
            self._survey(table, None)
            state = MixtureState(self._parameters, self._predictive_log_weights() if density else self._log_weights)
            return results_of(mixture, state, wanted)

    def _predictive_log_weights(self) -> FloatArray:
        """Return the log weights of the predictive distribution."""
        return self._log_weights
