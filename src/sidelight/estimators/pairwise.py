"""Mixtures with pairwise relations: every link is a pair of its own."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from sidelight.couplings.pairwise import Pairs
from sidelight.estimators.base.classes import Layout
from sidelight.estimators.base.link_mixture import LinkMixture
from sidelight.estimators.base.mixture import Model
from sidelight.estimators.registry import register
from sidelight.estimators.starts.links import PLAIN_STARTS, LinkStart
from sidelight.estimators.starts.sample import Problem
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import Family
from sidelight.kernels.loops import Backend
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
    :class:`~sidelight.couplings.pairwise.Pairs`. A labelled row is of its class in all its copies.

    Parameters
    ----------
    n_classes : int, optional
        Number of classes. None takes as many as have a label, two where there is no label.
    components_per_class : int, default 1
        Gaussians that each class is a mixture of.
    covariance_type : {"full", "tied", "diag", "spherical"}, default "full"
        Of Gaussian columns, as in scikit-learn.
    family : str or mapping, default "gaussian"
        What the columns are: the name of a column kind for all of them, "auto" to go by the types of a data frame's
        columns, or a mapping from columns to kinds; see BayesianMixture. Gaussian columns are fitted by maximum
        likelihood with the prior below, others with conjugate posteriors.
    singles : {"unlinked", "all"}, default "unlinked"
        Which rows also enter one by one: those in no link, or all.
    prior_rows, prior_scale : float
        The prior on covariances: worth ``prior_rows`` rows, with variances ``prior_scale`` times those of the table.
        Its penalty is part of the objective. ``prior_rows=0`` is maximum likelihood.
    init_params : {"k-means++", "kmeans"}, default "k-means++"
        Where to start: k-means++ centres and the rows nearest to them, as in the paper, or k-means.
    means_init : (components, d), optional
        Means to start from instead, class by class, labelled classes first.
    n_init : int, default 1
        Number of starts; the fit with the highest bound is kept.
    max_iter : int, default 200
    tol : float, default 1e-4
        Stop when the bound per row changes by less.
    random_state : int, RandomState or None
    n_jobs : int, optional
        Threads; the results do not depend on their number.
    keep_posterior : bool, optional
        Whether to keep ``posterior_``; None keeps it up to 64 MB.
    callbacks : iterable of callable, optional
        Each is called with a ``Progress(iteration, objective, change)`` after every step.
    verbose : bool, default False
        Show a progress bar.

    Attributes
    ----------
    labels_, posterior_ : (n,), (n, n_clusters_)
        Cluster of each row and the probability of each, using the links; a linked row's is the mean over its copies.
    n_clusters_, cluster_names_, component_clusters_
        Number and names of the clusters, and the cluster of each component.
    weights_, means_, covariances_ : arrays
        Of the components, ordered by cluster, in scikit-learn's shapes.
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
        covariance_type: str = "full",
        family: Any = "gaussian",
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
        self.n_classes = n_classes
        self.components_per_class = components_per_class
        self.covariance_type = covariance_type
        self.family = family
        self.singles = singles
        self.prior_rows = prior_rows
        self.prior_scale = prior_scale
        self.init_params = init_params
        self.means_init = means_init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.keep_posterior = keep_posterior
        self.callbacks = callbacks
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("singles", self.singles, _SINGLES)

    def _model(self, problem: Problem, family: Family, layout: Layout, backend: Backend) -> Model:
        """Couple linked rows pair by pair (the E-step of GM-PR is in :class:`~sidelight.couplings.pairwise.Pairs`)."""
        side = problem.side
        if len(side.cannot_link) and layout.n_classes == 1:
            raise ValueError("n_classes=1 leaves cannot-linked rows no second class; use at least 2.")
        linked = np.unique(np.concatenate([side.must_link.ravel(), side.cannot_link.ravel()]))
        pairs = Pairs(
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
