"""Mixtures with pairwise relations: every link is a pair of its own."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from sidelight.couplings.pairwise import PairCoupling
from sidelight.estimators.base.clusters import Layout
from sidelight.estimators.base.link_mixture import PLAIN_STARTS, LinkMixture, LinkStart
from sidelight.estimators.base.model import Model
from sidelight.estimators.registry import register
from sidelight.estimators.starts.sample import Problem
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import AnyFamily
from sidelight.kernels.loops import Backend
from sidelight.tables.schema import FamilyChoice
from sidelight.tables.validation import check_choice
from sidelight.weights import PairWeights

_SINGLES = ("unlinked", "all")


@register
class PairwiseMixture(LinkMixture):
    """Gaussian mixture in which every link is a pair of rows with latent classes of its own (GM-PR; Yu et al.).

    The likelihood is that of the rows in no link, times that of every must-linked pair, Σ_m α_m p_m(x_i) p_m(x_j),
    times that of every cannot-linked pair, Σ_{m ≠ m'} α_m α_m' p_m(x_a) p_m'(x_b) / (1 − Σα²). A row in several links
    has as many copies, which know nothing of each other: links do not chain, and one row may be in different classes
    in different pairs. Where links share no row this is :class:`EquivalenceMixture` with ``pairs="conditional"``; where
    they do, that model is the better one.

    Several equations are printed with errors in the paper (7, 9, 20, 22, 25); see
    :class:`~sidelight.couplings.pairwise.PairCoupling`. A labelled row is of its class in all its copies.

    Parameters
    ----------
    n_classes : int, optional
        Number of classes. None takes as many as have a label, two without labels.
    components_per_class : int, default 1
        Gaussians that each class is a mixture of.
    covariance_type : str, default "auto"
        As in LabelledMixture; "auto" is "full", and "diag" for tables of more than 200 numbers, of which full
        covariances would be large matrices.
    family : as in LabelledMixture
        As in LabelledMixture.
    singles : {"unlinked", "all"}, default "unlinked"
        Which rows also enter one by one: those in no link, or all.
    prior_rows, prior_scale : float
        The prior on covariances: worth ``prior_rows`` rows, with variances ``prior_scale`` times those of the table.
        Its penalty is part of the objective. ``prior_rows=0`` is maximum likelihood.
    init_params : {"k-means++", "kmeans"}, default "k-means++"
        Where to start: k-means++ centres and the rows nearest to them, as in the paper, or k-means.
    means_init : (components, d), optional
        Means to start from instead, class by class, labelled classes first.
    n_init, max_iter, tol, random_state, n_jobs, keep_posterior, callbacks, verbose : as in LabelledMixture
        As in LabelledMixture.

    Attributes
    ----------
    labels_, posterior_ : (n,), (n, n_clusters_)
        Cluster of each row and the probability of each, using the links; a linked row's is the mean over its copies.
    n_clusters_, cluster_names_, component_clusters_
        Number and names of the clusters, and the cluster of each component.
    weights_, means_, covariances_ : arrays
        Of the components, ordered by cluster, in scikit-learn's shapes.
    covariance_type_ : str
        The structure of the covariances: ``covariance_type``, or what "auto" chose.
    lower_bound_, lower_bounds_ : float, list of float
        The log likelihood (with the prior) per row: at the end, and before and after every step.
    n_iter_, converged_ : int, bool
    violations_ : Violations
        Statements that ``labels_`` break.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import PairwiseMixture
    >>> X = np.array([[0.0, 0], [0.2, 1], [4.0, 0], [4.1, 1], [0.1, 0.2], [4.2, 0.9]])
    >>> model = PairwiseMixture(2, random_state=0).fit(X, must_link=[(0, 1)], cannot_link=[(0, 2), (1, 3)])
    >>> len(set(model.labels_[[0, 1, 4]])), len(set(model.labels_[[2, 3, 5]]))
    (1, 1)
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels", "must_link", "cannot_link"})
    starts: ClassVar[Mapping[str, LinkStart]] = PLAIN_STARTS

    def __init__(
        self,
        n_classes: int | None = None,
        *,
        components_per_class: int = 1,
        covariance_type: str = "auto",
        family: FamilyChoice = "gaussian",
        singles: str = "unlinked",
        prior_rows: float = 1.0,
        prior_scale: float = 0.02,
        init_params: str = "k-means++",
        means_init: Any = None,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_posterior: bool | None = None,
        callbacks: Iterable[Callback] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(n_init, max_iter, tol, random_state, n_jobs, keep_posterior, callbacks, verbose)
        self._set_link_options(
            n_classes, components_per_class, covariance_type, family, prior_rows, prior_scale, init_params, means_init
        )
        self.singles = singles

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("singles", self.singles, _SINGLES)

    def _model(self, problem: Problem, family: AnyFamily, layout: Layout, backend: Backend) -> Model:
        """Couple linked rows pair by pair; the E-step of GM-PR is in `sidelight.couplings.pairwise.PairCoupling`."""
        side = problem.side
        if len(side.cannot_link) and layout.n_classes == 1:
            raise ValueError("n_classes=1 leaves cannot-linked rows no second class; use at least 2.")
        linked = np.unique(np.concatenate([side.must_link.ravel(), side.cannot_link.ravel()]))
        pairs = PairCoupling(
            rows=linked,
            must=np.searchsorted(linked, side.must_link),
            cannot=np.searchsorted(linked, side.cannot_link),
            labels=side.labels[linked],
            row_weights=problem.row_weights()[linked],
            classes=layout.classes,
            takes_rows=self.singles == "unlinked",
        )
        return Model(
            weights=PairWeights(layout.classes, n_apart=float(len(side.cannot_link))),
            couplings=(pairs,) if len(linked) else (),
            row_weights=problem.weights,
            codes=side.labels if layout.n_labelled else None,
        )
