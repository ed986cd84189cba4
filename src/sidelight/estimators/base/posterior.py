"""The posterior of the rows that were fitted: kept while it is small, or when asked for."""

from sklearn.utils.validation import check_is_fitted

from sidelight._typing import FloatArray

_LARGEST_KEPT = 64_000_000  # bytes


class KeptPosterior:
    """Gives an estimator ``posterior_``; ``keep_posterior`` says whether it is kept, None up to 64 MB."""

    keep_posterior: bool | None
    _posterior: FloatArray | None

    @property
    def posterior_(self) -> FloatArray:
        """Probability of each cluster for each row of the table that was fitted, using what is known about it."""
        check_is_fitted(self)
        if self._posterior is None:
            raise AttributeError(
                f"posterior_ was not kept; by default it is up to {_LARGEST_KEPT // 1_000_000} MB only. "
                "Fit with keep_posterior=True to have it all the same, or use predict_proba on some of the rows."
            )
        return self._posterior

    def _keeps_posterior(self, n_rows: int, n_clusters: int) -> bool:
        if self.keep_posterior is None:
            return 8 * n_rows * n_clusters <= _LARGEST_KEPT
        return self.keep_posterior
