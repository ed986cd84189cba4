"""The base of every estimator: one ``fit`` that takes side information, and refuses what the model cannot use."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, ClusterMixin

from sidelight._typing import LabelArray
from sidelight.estimators.registry import estimators_taking
from sidelight.side import SideInformation

_SPOKEN = {
    "labels": "labels (y)",
    "must_link": "must-links",
    "cannot_link": "cannot-links",
    "blocks": "blocks",
    "confidence": "links with a confidence below 1",
}


class InformedEstimator(ClusterMixin, BaseEstimator, ABC):
    """A clusterer that takes side information.

    ``takes`` names the kinds of statement it can use, of "labels", "must_link", "cannot_link", "blocks" and
    "confidence" (links that may be wrong).
    """

    takes: ClassVar[frozenset[str]] = frozenset()

    labels_: LabelArray

    @abstractmethod
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
        """Fit to a table and to side information about its rows."""

    def fit_predict(self, X: Any, y: Any = None, **knowledge: Any) -> LabelArray:
        """Fit and return ``labels_``, which use the side information."""
        return self.fit(X, y, **knowledge).labels_

    def _read_side(
        self, n: int, y: Any, must_link: Any, cannot_link: Any, side: SideInformation | None, sample_id: Any
    ) -> SideInformation:
        """Pool all side information; refuse statements that this estimator cannot use."""
        known = SideInformation.build(n, y=y, must_link=must_link, cannot_link=cannot_link, sample_id=sample_id)
        if side is not None:
            if not isinstance(side, SideInformation):
                raise TypeError(
                    f"side must be a SideInformation, not {type(side).__name__}; "
                    "make one with SideInformation.build(n, y=…, must_link=…, cannot_link=…, blocks=…)."
                )
            if sample_id is not None:
                side = side.align(sample_id)
            elif side.n_rows != n:
                raise ValueError(
                    f"side speaks of {side.n_rows} rows, but X has {n}; pass sample_id (and build side with it) "
                    "so that rows are found by name."
                )
            known = known.combine(side)
        for statement in sorted(known.statements - self.takes):
            others = estimators_taking(statement)
            remedy = f"use {' or '.join(others)}" if others else "leave them out"
            if statement == "must_link" and "blocks" in self.takes:
                remedy += ", or turn certain ones into blocks: side=SideInformation.build(…).as_blocks()"
            raise ValueError(f"{type(self).__name__} cannot use {_SPOKEN[statement]}: {remedy}.")
        if known.statements - {"labels"}:
            known.closure()  # raises if statements contradict each other
        return known.without_unused_names()
