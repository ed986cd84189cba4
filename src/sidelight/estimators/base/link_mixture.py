"""What the mixtures for linked rows share: classes of components, starts that see the links."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from sidelight.estimators.base.classes import Layout, lay_out_classes
from sidelight.estimators.base.emission import COVARIANCE_TYPES, EmissionSettings, LikelihoodGaussians
from sidelight.estimators.base.mixture import MixtureEstimator
from sidelight.estimators.starts.links import LinkedSample, LinkStart
from sidelight.estimators.starts.sample import Problem, Sample, StartRows
from sidelight.estimators.starts.short_runs import at_means
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import Family
from sidelight.tables.survey import Survey
from sidelight.tables.validation import check_choice, check_integer, check_number

_PRIOR_ROWS_BEYOND = 10


class LinkMixture(MixtureEstimator):
    """A mixture with one or several components per class, fitted to links between rows."""

    starts: ClassVar[Mapping[str, LinkStart]]

    # Set by every subclass's __init__.
    n_classes: int | None
    components_per_class: int
    covariance_type: str
    prior_rows: float | None
    prior_scale: float
    init_params: str
    means_init: Any

    def _check_parameters(self) -> None:
        if self.n_classes is not None:
            check_integer("n_classes", self.n_classes, least=1)
        check_integer("components_per_class", self.components_per_class, least=1)
        check_choice("covariance_type", self.covariance_type, COVARIANCE_TYPES)
        check_choice("init_params", self.init_params, self.starts)
        if self.prior_rows is not None:
            check_number("prior_rows", self.prior_rows, least=0)
        check_number("prior_scale", self.prior_scale, least=0)
        check_number("tol", self.tol, least=0)
        check_integer("n_init", self.n_init, least=1)
        check_integer("max_iter", self.max_iter, least=1)

    def _settings(self, problem: Problem, survey: Survey) -> EmissionSettings:
        d = len(self._schema.of_kind("gaussian"))
        prior_rows = d + _PRIOR_ROWS_BEYOND if self.prior_rows is None else self.prior_rows
        return LikelihoodGaussians(self.covariance_type, prior_rows, self.prior_scale)

    def _layout(
        self, problem: Problem, few: StartRows, family: Family, survey: Survey, random: np.random.RandomState
    ) -> Layout:
        return lay_out_classes(problem.side, self.n_classes, self.components_per_class)

    def _total_weight(self, mixture: Mixture, survey: Survey) -> float:
        return survey.total if mixture.rows.weights is None else float(mixture.rows.weights.sum())

    def _start(self, mixture: Mixture, sample: Sample, survey: Survey, random: np.random.RandomState) -> MixtureState:
        """Return where to start: at ``means_init``, or where ``init_params`` says."""
        if self.means_init is not None:
            return at_means(sample, self.means_init, self._schema, survey)
        return self.starts[self.init_params](LinkedSample(sample), random)

    def _too_few_rows(self, layout: Layout, n_rows: int) -> str:
        return (
            f"n_classes={layout.n_classes} with components_per_class={self.components_per_class} needs at least as "
            f"many rows, but n_samples = {n_rows} of them count; use fewer."
        )
