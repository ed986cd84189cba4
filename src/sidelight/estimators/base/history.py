"""What a fit looked like, step by step."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sklearn.utils.validation import check_is_fitted

from sidelight._storable import storable
from sidelight._typing import FloatArray
from sidelight.inference.mixture import Mixture, MixtureState

_LARGEST_KEPT = 64_000_000  # bytes


@storable("Snapshot")
class Snapshot(NamedTuple):
    """The model before a step.

    Parameters
    ----------
    bound : float
        The objective per row.
    weights : (components,)
    parameters : dict
        Of the components, by the names that the fitted estimator shows them under, such as ``means_``.
    """

    bound: float
    weights: FloatArray
    parameters: dict[str, Any]


class Recorder:
    """Takes a snapshot at every recorded step, one list for each start, for as long as there is room."""

    def __init__(self, total_weight: float, keep: bool | None) -> None:
        self._total_weight = total_weight
        self._room = 0 if keep is False else float("inf") if keep else _LARGEST_KEPT
        self._starts: dict[int, list[Snapshot]] = {}
        self._current: list[Snapshot] = []

    def follow(self, start: int) -> None:
        """Record the steps that come for the start of a number."""
        self._current = self._starts.setdefault(start, [])

    def watch(self, mixture: Mixture) -> Callable[[MixtureState], tuple[MixtureState, float]]:
        """Return the mixture's step, which takes a snapshot of the state it is given."""
        if self._room <= 0:
            return mixture.step

        def step(state: MixtureState) -> tuple[MixtureState, float]:
            following, objective = mixture.step(state)
            if self._room > 0:
                attributes = mixture.family.attributes(state.parameters)
                snapshot = Snapshot(objective / self._total_weight, mixture.weights.mean(state.weights), attributes)
                self._room -= sum(getattr(value, "nbytes", 0) for value in attributes.values())
                self._current.append(snapshot)
            return following, objective

        return step

    def of(self, start: int) -> list[Snapshot] | None:
        """Return the snapshots of a start; None where there was no room for all."""
        return self._starts[start] if self._room > 0 else None


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
                f"history_ was not kept; by default it is up to {_LARGEST_KEPT // 1_000_000} MB only. "
                "Fit with keep_history=True to have it all the same."
            )
        return self._history
