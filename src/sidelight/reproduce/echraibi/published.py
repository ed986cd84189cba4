"""SS-DPGMM as Echraibi et al. (2019) publish it: labels attract by a divergence between components."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import logsumexp
from sklearn.cluster import KMeans

from sidelight._storable import storable
from sidelight._typing import FloatArray, IntArray
from sidelight.estimators.base.clusters import Layout, classes_one_to_one, lay_out
from sidelight.estimators.base.conjugate_gaussians import ConjugateGaussians, given_prior
from sidelight.estimators.base.emission import EmissionSettings
from sidelight.estimators.base.kept import KeptHistory
from sidelight.estimators.base.mixture import MixtureEstimator
from sidelight.estimators.base.model import Ascent, Fitted, Model
from sidelight.estimators.bayesian.components import most_components
from sidelight.estimators.bayesian.weights import WEIGHTS
from sidelight.estimators.starts.sample import Problem, Sample, StartRows
from sidelight.families.conjugate import ConjugateFamily, NormalWishart, printed_divergence
from sidelight.inference.mixture import CoupledRows, FixedCoupling, Mixture, MixtureState
from sidelight.inference.progress import Callback
from sidelight.inference.protocols import AnyFamily, Assignment, CoupledExpectation, CouplingState, EStep
from sidelight.inference.starts import state_given
from sidelight.kernels.loops import Backend, softly
from sidelight.side import SideInformation
from sidelight.tables.survey import Survey
from sidelight.tables.validation import check_choice, check_integer, check_number

# What scikit-learn's k-means did by default when the paper was written.
_KMEANS_STARTS = 10


@storable("SSDPGMM")
class SSDPGMM(KeptHistory, MixtureEstimator):
    """Bayesian Gaussian mixture in the published form of Echraibi et al. (2019), with the authors' settings.

    For researchers who want to compare with the paper; :class:`~sidelight.BayesianMixture` is what became of it. Labels
    attract rows by a divergence between components, which moves with them: the objective is not a bound and may fall.
    Nothing keeps two labels from sharing a component, and no component is dropped. Prior means are the centres of
    k-means, and responsibilities start at r ∝ exp(−½ ‖x − centre‖).

    Parameters
    ----------
    n_components : int, optional
        Number of components; None is ten more than there are labels.
    strength : float, default 0.001
        The weight λ of the potential.
    printed : bool, default False
        Use V as printed in appendix A, which is not the divergence, instead of the corrected form.
    weights : {"dirichlet", "dirichlet_process"}, default "dirichlet"
        The prior of the weights.
    concentration : float, optional
        Its α, of every component, or η of the process; 1 / n_components where not given.
    mean_precision_prior, degrees_of_freedom_prior, covariance_prior : float, float, (d, d) array
        The paper's κ0 (1 by default), ν0 (d where not given) and Ψ0 (the identity where not given).
    n_init, max_iter, tol, random_state, n_jobs, keep_posterior, keep_history, callbacks, verbose : various
        As in BayesianMixture.

    Attributes
    ----------
    labels_, posterior_, n_clusters_, cluster_names_, weights_, means_, covariances_, lower_bounds_, history_, n_iter_
        As in BayesianMixture.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.reproduce import SSDPGMM
    >>> X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 0]], 30, axis=0)
    >>> y = np.where(np.arange(60) % 10 == 0, np.arange(60) // 30, -1)
    >>> SSDPGMM(2, random_state=0).fit(X, y).labels_[[1, 31]].tolist()
    [0, 1]
    """

    takes: ClassVar[frozenset[str]] = frozenset({"labels"})
    passes_expected = 30
    family = "gaussian"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        strength: float = 0.001,
        printed: bool = False,
        weights: str = "dirichlet",
        concentration: float | None = None,
        mean_precision_prior: float = 1.0,
        degrees_of_freedom_prior: float | None = None,
        covariance_prior: Any = None,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        keep_posterior: bool | None = None,
        keep_history: bool | None = None,
        callbacks: Iterable[Callback] | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(n_init, max_iter, tol, random_state, n_jobs, keep_posterior, callbacks, verbose)
        self.n_components = n_components
        self.strength = strength
        self.printed = printed
        self.weights = weights
        self.concentration = concentration
        self.mean_precision_prior = mean_precision_prior
        self.degrees_of_freedom_prior = degrees_of_freedom_prior
        self.covariance_prior = covariance_prior
        self.keep_history = keep_history

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_components is not None:
            check_integer("n_components", self.n_components, least=1)
        check_choice("weights", self.weights, WEIGHTS)
        for name in ("strength", "mean_precision_prior"):
            check_number(name, getattr(self, name), least=0)

    def _preferred_rows(self, side: SideInformation) -> IntArray:
        return side.labels

    def _settings(self, problem: Problem, survey: Survey) -> EmissionSettings:
        return ConjugateGaussians("full", np.diag(survey.variance), 1.0, self.mean_precision_prior)

    def _emission(self, problem: Problem, survey: Survey, few: StartRows, random: np.random.RandomState) -> AnyFamily:
        """Put the prior means at the centres of k-means."""
        d = problem.table.shape[1]
        n_components = self._layout_for(problem, few).n_components
        rows = problem.table.take(slice(0, problem.n_rows))
        centres = KMeans(n_components, n_init=_KMEANS_STARTS, random_state=random).fit(rows).cluster_centers_
        degrees = float(d) if self.degrees_of_freedom_prior is None else self.degrees_of_freedom_prior
        scatter = np.eye(d) if self.covariance_prior is None else self.covariance_prior
        family = super()._emission(problem, survey, few, random)
        return given_prior(family, mean=centres, degrees=degrees, scatter=scatter)

    def _layout(
        self, problem: Problem, few: StartRows, family: AnyFamily, survey: Survey, random: np.random.RandomState
    ) -> Layout:
        return self._layout_for(problem, few)

    def _layout_for(self, problem: Problem, few: StartRows) -> Layout:
        label_names = problem.side.label_names
        return lay_out(label_names, self.n_components or most_components(few, len(label_names)), 1)

    def _model(self, problem: Problem, family: AnyFamily, layout: Layout, backend: Backend) -> Model:
        k = layout.n_components
        weights = WEIGHTS[self.weights](k, 1 / k if self.concentration is None else self.concentration)
        labelled = np.flatnonzero(problem.side.labels >= 0)
        assert isinstance(family, ConjugateFamily)
        potential: Callable[[Any], FloatArray] = printed_divergence if self.printed else family.divergence
        field = DivergenceField(labelled, problem.side.labels[labelled], self.strength, potential)
        return Model(weights, (field,) if len(labelled) else (), problem.weights)

    def _start(self, mixture: Mixture, sample: Sample, survey: Survey, random: np.random.RandomState) -> MixtureState:
        """Start from responsibilities r ∝ exp(−½ ‖x − centre‖), as in section 3 of the paper."""
        assert isinstance(mixture.family, NormalWishart)
        centres, table = mixture.family.mean, mixture.rows.table
        rows = np.asarray(table.take(slice(0, table.shape[0])), dtype=float)
        scores = -0.5 * np.stack([np.linalg.norm(rows - centre, axis=1) for centre in centres], axis=1)
        responsibilities = np.exp(scores - logsumexp(scores, axis=1)[:, None])
        state = state_given(mixture, centres, responsibilities)
        return state._replace(
            couplings=tuple(CouplingState(None, responsibilities[field.rows]) for field in mixture.couplings)
        )

    def _refine(self, ascent: Ascent, problem: Problem, survey: Survey) -> Fitted:
        """Give every label the component that owns most of its rows, one to one."""
        mixture, trace = ascent.fit
        owned = np.zeros((len(problem.side.label_names), len(mixture.weights.classes)))
        for part in mixture.expect_coupled(trace.state):
            rows = mixture.couplings[0].rows
            assert part.state.memory is not None
            np.add.at(owned, problem.side.labels[rows], part.state.memory)
        self._history = ascent.recorder.of(trace.start)
        return Fitted(ascent.fit, ascent.total_weight, classes_one_to_one(owned))


@dataclass(frozen=True, eq=False)
class DivergenceField(FixedCoupling[FloatArray]):
    """Labels that attract by a divergence between components (Echraibi et al. 2019, equations 2 and 3).

    A row's score for component k is E ln p_k(x) + E ln π_k − λ Σ_m Σ_l r_ml V(k, l), the first sum over the other rows
    of its label. V moves with the components, so that its normaliser is not constant, and all rows are updated at once:
    the objective may fall. As in the paper's appendix, labelled rows count for the weights; its section 2.4 leaves them
    out.

    Parameters
    ----------
    rows : (m,)
        Numbers of the labelled rows.
    labels : (m,)
        Their label codes.
    strength : float
        λ.
    divergence : callable
        Gives V (components, components) at the family's parameters.
    """

    rows: IntArray
    labels: IntArray
    strength: float
    divergence: Callable[[Any], FloatArray]
    monotone = False

    def expect(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[None, FloatArray]
    ) -> CoupledExpectation[None, FloatArray]:
        """Take the labelled rows through E-step and statistics."""
        found = self._update(rows, log_weights, state.memory)
        statistics = rows.statistics(found.responsibilities)
        after = CouplingState(None, found.posterior)
        return CoupledExpectation(statistics, found.class_counts, found.evidence, after)

    def assign(
        self, rows: CoupledRows, log_weights: FloatArray, state: CouplingState[None, FloatArray]
    ) -> Iterator[Assignment]:
        """Yield how the labelled rows are assigned."""
        found = self._update(rows, log_weights, state.memory)
        yield Assignment(self.rows, found.posterior, found.evidence)

    def regrouped(self, state: CouplingState[None, FloatArray], groups: IntArray) -> CouplingState[None, FloatArray]:
        """Return the state with components put together by groups; those of group -1 are forgotten."""
        assert state.memory is not None
        return CouplingState(None, state.memory @ (groups[:, None] == np.arange(groups.max() + 1)))

    def _update(self, rows: CoupledRows, log_weights: FloatArray, memory: FloatArray | None) -> EStep[FloatArray]:
        scores = rows.log_likelihood() + log_weights
        potential = self.strength * self.divergence(rows.parameters)
        pulled = np.zeros_like(scores) if memory is None else (self._sums(memory) - memory) @ potential
        posterior, value = softly(scores - pulled)
        own = float(value.sum() + np.vdot(posterior, pulled))
        energy = 0.5 * float(np.vdot(posterior, (self._sums(posterior) - posterior) @ potential))
        return EStep(posterior, posterior.sum(axis=0), own - energy, posterior)

    def _sums(self, posterior: FloatArray) -> FloatArray:
        """Return, for each row, the posteriors of all rows of its label."""
        sums = np.zeros((self.labels.max() + 1, posterior.shape[1]))
        np.add.at(sums, self.labels, posterior)
        return sums[self.labels]
