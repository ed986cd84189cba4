"""What the mixtures for linked rows share: classes of components, starts that see the links, and the ascent."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from sidelight._typing import AnyArray, FloatArray
from sidelight.estimators.base.layout import Layout
from sidelight.estimators.base.mixture import Fitted, MixtureEstimator
from sidelight.estimators.base.parameters import check_choice, check_integer, check_number
from sidelight.estimators.gaussians import COVARIANCE_TYPES, gaussian_family
from sidelight.estimators.starts.links import LinkedSample, LinkStart, start_from_linked
from sidelight.estimators.starts.sample import Data, scale_of
from sidelight.estimators.starts.short_runs import Sample, from_given_means
from sidelight.inference.loop import Callback, Trace
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import Family
from sidelight.inference.restarts import climb_from
from sidelight.kernels.loops import Backend, backend_for
from sidelight.side import SideInformation
from sidelight.tables.survey import Survey

_PASSES_EXPECTED = 10
_PRIOR_ROWS_BEYOND = 10


class LinkMixture(MixtureEstimator):
    """A Gaussian mixture with one or several components per class, fitted to links between rows."""

    starts: ClassVar[Mapping[str, LinkStart]]

    # Set by every subclass's __init__.
    n_classes: int | None
    components_per_class: int
    covariance_type: str
    prior_rows: float | None
    prior_scale: float
    init_params: str
    means_init: Any
    n_init: int
    max_iter: int
    tol: float
    callbacks: Iterable[Callback] | None
    verbose: bool

    @abstractmethod
    def _assemble(self, data: Data, family: Family[Any, Any], layout: Layout, backend: Backend) -> Mixture:
        """Put family, weights and couplings together on some rows."""

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

    def _fit(self, X: AnyArray, side: SideInformation, sample_weight: FloatArray | None, survey: Survey) -> Fitted:
        random = check_random_state(self.random_state)
        prior_rows = X.shape[1] + _PRIOR_ROWS_BEYOND if self.prior_rows is None else self.prior_rows
        family = gaussian_family(self.covariance_type, survey, prior_rows=prior_rows, prior_scale=self.prior_scale)
        layout = lay_out_classes(side, self.n_classes, self.components_per_class)
        data = Data(X, side, sample_weight)
        few = start_from_linked(data, random)
        if layout.n_components > len(few.X):
            raise ValueError(
                f"n_classes={layout.n_classes} with components_per_class={self.components_per_class} needs at least as "
                f"many rows, but n_samples = {len(few.X)} of them count; use fewer."
            )
        backend = backend_for(_PASSES_EXPECTED * len(X) * layout.n_components)
        mixture = self._assemble(data, family, layout, backend)
        sample = Sample(
            mixture=self._assemble(few, family, layout, backend),
            scaled=(few.X - survey.mean) / scale_of(survey),
            weights=np.ones(len(few.X)) if few.weights is None else few.weights,
            codes=few.side.labels,
            layout=layout,
            whole=few.whole,
        )
        total = survey.total if mixture.rows.weights is None else float(mixture.rows.weights.sum())
        begin = [partial(self._start, LinkedSample(sample, few.side), survey, random)] * self.n_init
        return Fitted(mixture, self._climb(mixture, begin, total), total)

    def _climb(
        self, mixture: Mixture, begin: Iterable[Callable[[], MixtureState]], total: float
    ) -> Trace[MixtureState]:
        """Ascend from every start and return the best trace."""
        return climb_from(
            begin,
            mixture.step,
            max_iter=self.max_iter,
            tol=self.tol,
            total_weight=total,
            callbacks=self.callbacks or (),
            verbose=self.verbose,
        )

    def _start(self, given: LinkedSample, survey: Survey, random: np.random.RandomState) -> MixtureState:
        """Return where to start: at means the user gave, or where ``init_params`` says."""
        if self.means_init is None:
            return self.starts[self.init_params](given, random)
        sample = given.sample
        means = np.asarray(self.means_init, dtype=float)
        expected = (sample.layout.n_components, sample.scaled.shape[1])
        if means.shape != expected:
            raise ValueError(f"means_init has shape {means.shape}, but this model needs {expected}.")
        return from_given_means(sample, means, survey.mean, scale_of(survey))


def lay_out_classes(side: SideInformation, n_classes: int | None, components_per_class: int) -> Layout:
    """Give every class its components, the labelled classes first.

    Without a number there are as many classes as have a label; two where nobody labelled any, or where a cannot-link
    tells that there is a second.
    """
    n_labelled = len(side.label_names)
    least = 2 if len(side.cannot_link) or not n_labelled else 1
    wanted = max(n_labelled, least) if n_classes is None else n_classes
    if wanted < n_labelled:
        warnings.warn(
            f"n_classes={n_classes} is less than the {n_labelled} classes that have a label; "
            f"the model grows to {n_labelled}.",
            UserWarning,
            stacklevel=2,
        )
        wanted = n_labelled
    return Layout(np.repeat(np.arange(wanted), components_per_class), n_labelled)
