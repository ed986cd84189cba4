"""What a fit keeps for each row and for each step: ``posterior_`` and ``history_``, where there is room."""

from sklearn.utils.validation import check_is_fitted

from sidelight._typing import FloatArray
from sidelight.inference.loop import LARGEST_KEPT, Snapshot


class KeptPosterior:
    """Gives an estimator ``posterior_``; ``keep_posterior`` says whether it is kept, None up to 64 MB."""

    keep_posterior: bool | None
    _posterior: FloatArray | None

    @property
    def posterior_(self) -> FloatArray:
        """Probability of each cluster for each row of the fitted table, given labels and links."""
        check_is_fitted(self)
        if self._posterior is None:
            raise AttributeError(
                f"posterior_ was not kept; by default it is up to {LARGEST_KEPT // 1_000_000} MB only. "
                "Fit with keep_posterior=True to have it all the same, or use predict_proba on some of the rows."
            )
        return self._posterior

    def _keeps_posterior(self, n_rows: int, n_clusters: int) -> bool:
        if self.keep_posterior is None:
            return 8 * n_rows * n_clusters <= LARGEST_KEPT
        return self.keep_posterior


class KeptHistory:
    """Gives an estimator ``history_``; ``keep_history`` says whether it is kept, None up to 64 MB."""

    keep_history: bool | None
    _history: list[Snapshot] | None

    @property
    def history_(self) -> list[Snapshot]:
        """The model before every step of the fit: bound, weights and parameters."""
        check_is_fitted(self)
        if self._history is None:
            raise AttributeError(
                f"history_ was not kept; by default it is up to {LARGEST_KEPT // 1_000_000} MB only. "
                "Fit with keep_history=True to have it all the same."
            )
        return self._history
