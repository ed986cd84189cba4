"""Mixtures whose posteriors respect links on average."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np

from sidelight._typing import BoolArray, IntArray
from sidelight.couplings.projection import Projection
from sidelight.estimators.base.clusters import Layout
from sidelight.estimators.base.link_mixture import PLAIN_STARTS, LinkMixture, LinkStart
from sidelight.estimators.base.model import Model
from sidelight.estimators.registry import register
from sidelight.estimators.starts.sample import Problem
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import AnyFamily
from sidelight.kernels.loops import Backend
from sidelight.tables.schema import FamilyChoice
from sidelight.weights import MaximumLikelihoodWeights


@register
class PosteriorConstraintMixture(LinkMixture):
    """Gaussian mixture whose posteriors are projected onto what links say (EM-PC; Graça, Ganchev and Taskar 2007).

    Every E-step moves the posteriors q as little as possible, in Kullback-Leibler divergence, until
    E_q[z_a^m + z_b^m] ≤ 1 for every cannot-link (a, b) and class m, and E_q[z_i^m] = E_q[z_j^m] for every must-link.
    The constraints hold on average: with three classes or more both rows of a cannot-link may lean to one class, as
    long as their probabilities do not exceed one in sum. The model itself knows nothing of links, so that they count
    less than in :class:`EquivalenceMixture`. Yu et al. compare with its cannot-links only.

    A label, and what follows from it for linked rows, rules classes out altogether.

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
    prior_rows, prior_scale : float
        The prior on covariances: worth ``prior_rows`` rows, with variances ``prior_scale`` times those of the table.
    init_params : {"k-means++", "kmeans"}, default "k-means++"
        Where to start: k-means++ centres and the rows nearest to them, or k-means.
    means_init : (components, d), optional
        Means to start from instead, class by class, labelled classes first.
    n_init, max_iter, tol, random_state, n_jobs, keep_posterior, callbacks, verbose : as in LabelledMixture
        As in LabelledMixture.

    Attributes
    ----------
    labels_, posterior_ : (n,), (n, n_clusters_)
        Cluster of each row and the probability of each; those of linked rows are projected.
    n_clusters_, cluster_names_, component_clusters_
        Number and names of the clusters, and the cluster of each component.
    weights_, means_, covariances_ : arrays
        Of the components, ordered by cluster, in scikit-learn's shapes.
    covariance_type_ : str
        The structure of the covariances: ``covariance_type``, or what "auto" chose.
    lower_bound_, lower_bounds_ : float, list of float
        The bound E_q[ln p(x, z)] + H(q) (with the prior) per row: at the end, and before and after every step.
    n_iter_, converged_ : int, bool
    violations_ : Violations
        Statements that ``labels_`` break.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import PosteriorConstraintMixture
    >>> X = np.array([[0.0, 0], [0.2, 1], [4.0, 0], [4.1, 1], [0.1, 0.2], [4.2, 0.9]])
    >>> model = PosteriorConstraintMixture(2, random_state=0).fit(X, cannot_link=[(0, 2), (4, 5)])
    >>> bool((model.posterior_[[0, 4]] + model.posterior_[[2, 5]] <= 1 + 1e-6).all())
    True
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels", "must_link", "cannot_link", "blocks"})
    starts: ClassVar[Mapping[str, LinkStart]] = PLAIN_STARTS

    def __init__(
        self,
        n_classes: int | None = None,
        *,
        components_per_class: int = 1,
        covariance_type: str = "auto",
        family: FamilyChoice = "gaussian",
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

    def _model(self, problem: Problem, family: AnyFamily, layout: Layout, backend: Backend) -> Model:
        """Project the posteriors of linked rows."""
        side, classes = problem.side, layout.classes
        return Model(
            weights=MaximumLikelihoodWeights(classes),
            couplings=(_projection(problem, classes),) if side.statements - {"labels"} else (),
            row_weights=problem.weights,
            codes=side.labels if layout.n_labelled else None,
        )


def _projection(problem: Problem, classes: IntArray) -> Projection:
    """Return the coupling of the rows with statements, chunklet after chunklet."""
    side, closure = problem.side, problem.side.closure()
    spoken_of = np.flatnonzero(side.mentioned)
    chunklets, place = np.unique(closure.chunklets[spoken_of], return_inverse=True)
    order = np.argsort(place, kind="stable")
    rows = spoken_of[order]
    cannot = np.searchsorted(chunklets, closure.cannot)
    return Projection(
        rows=rows,
        starts=np.searchsorted(place[order], np.arange(len(chunklets))),
        allowed=_allowed(closure.labels[chunklets], cannot, int(classes.max()) + 1),
        cannot=cannot,
        row_weights=problem.row_weights()[rows],
        classes=classes,
    )


def _allowed(labels: IntArray, cannot: IntArray, n_classes: int) -> BoolArray:
    """Return which classes labels leave each chunklet (g, classes), those of cannot-linked chunklets ruled out.

    A chunklet that is left one class rules it out for the next, and so on.
    """
    allowed = (labels[:, None] < 0) | (labels[:, None] == np.arange(n_classes))
    both_ways = np.concatenate([cannot, cannot[:, ::-1]])
    while True:
        certain = allowed & (allowed.sum(axis=1) == 1)[:, None]
        left = allowed.copy()
        np.logical_and.at(left, both_ways[:, 1], ~certain[both_ways[:, 0]])
        if not left.any(axis=1).all():
            raise ValueError(
                f"cannot_link: labels and cannot-links leave some rows none of n_classes={n_classes} classes; "
                "raise n_classes or remove one of these links."
            )
        if np.array_equal(left, allowed):
            return allowed
        allowed = left
