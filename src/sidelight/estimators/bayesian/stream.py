"""A mixture that follows a stream: a step on each batch, and what it keeps from one to the next."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import vstack

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray
from sidelight.estimators.base.all_or_nothing import all_or_nothing
from sidelight.estimators.base.clusters import Layout
from sidelight.estimators.base.mixture import MixtureEstimator
from sidelight.estimators.base.model import Fitted
from sidelight.estimators.bayesian.components import classes_of
from sidelight.estimators.starts.sample import Problem
from sidelight.families.noise import NoiseFamily
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.inference.loop import Trace
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import AnyFamily
from sidelight.inference.pruning import Fit
from sidelight.inference.streaming import Stream, follow
from sidelight.kernels.loops import Backend, backend_for
from sidelight.metrics import violations
from sidelight.side import SideInformation
from sidelight.side.transforms import append
from sidelight.tables.survey import Survey, refuse_small
from sidelight.tables.table import ArrayTable

# Compiled loops are loaded once for the whole stream: they pay as soon as they would in a fit of this many passes.
_BATCHES_EXPECTED = 30


@storable("KeptRows")
class KeptRows(NamedTuple):
    """The rows so far that have statements, their side information and their weights."""

    X: AnyArray
    side: SideInformation
    weights: FloatArray | None


@storable("KeptStream")
class KeptStream(NamedTuple):
    """What a stream keeps from batch to batch.

    Parameters
    ----------
    family : Family
    stream : Stream
    kept : KeptRows
    """

    family: AnyFamily
    stream: Stream
    kept: KeptRows


class StreamStep(NamedTuple):
    """A step on a batch.

    Parameters
    ----------
    fit : Fit
        On the rows kept before and the batch.
    problem : Problem
        These rows.
    kept : KeptStream
    """

    fit: Fit
    problem: Problem
    kept: KeptStream


class StreamFollower(MixtureEstimator):
    """A mixture that can be fitted batch after batch.

    A subclass says how the first batch is fitted (:meth:`_first_fit`).
    """

    _followed: KeptStream

    @abstractmethod
    def _first_fit(self, batch: Problem, survey: Survey) -> Fit:
        """Return the fit to the first batch of a stream."""

    def _fit(self, problem: Problem, survey: Survey) -> Fitted:
        self.__dict__.pop("_followed", None)
        return super()._fit(problem, survey)

    @all_or_nothing
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        must_link: Any = None,
        cannot_link: Any = None,
        side: SideInformation | None = None,
        sample_weight: Any = None,
    ) -> Self:
        """Follow a stream: fit to the first batch, then take one step on each further one.

        Rows without statements are averaged into the statistics of those before them; rows with labels, links or blocks
        are kept, all of them, and taken whole at every step. Statements are about rows of their own batch. Priors and
        components are those of the first batch; ``prune=False`` leaves spare components open for later ones.
        ``labels_``, ``posterior_`` and ``violations_`` are of the last batch. A call of ``fit`` starts anew.
        A batch that is refused leaves the estimator as it was.

        Parameters
        ----------
        X, y, must_link, cannot_link, side, sample_weight : various
            As in ``fit``.

        Returns
        -------
        self
            The estimator after this batch.
        """
        self._check_parameters()
        first = not hasattr(self, "_followed")
        batch = self._read_problem(X, y, must_link, cannot_link, side, None, sample_weight, reset=first)
        with one_blas_thread():
            survey = self._survey(batch.table, batch.weights)
            if first:
                refuse_small(batch.table, survey, self._schema.label)
            before = self._first_fit(batch, survey) if first else self._followed
            fit, seen, self._followed = follow_batch(before, batch, self._mixture)
            self._store(Fitted(fit, survey.total, classes_of(fit, seen.side)), seen.side)
        n = batch.n_rows
        self.labels_ = self.labels_[-n:]
        self._posterior = None if self._posterior is None else self._posterior[-n:]
        if self._noise_label is not None:
            self.noise_probability_ = self.noise_probability_[-n:]
        self.violations_ = violations(batch.side, self.labels_, noise=self._noise_label)
        return self


Assemble = Callable[[Problem, AnyFamily, Layout, Backend], Mixture]


def follow_batch(before: KeptStream | Fit, batch: Problem, assemble: Assemble) -> StreamStep:
    """Take one step on a batch; after a fit to the first one, on the same."""
    start: Stream | MixtureState
    if isinstance(before, Fit):
        problem, (mixture, trace) = batch, before
        start = trace.state
    else:
        problem, start = _below(before.kept, batch), before.stream
        n_components = len(start.free.mass) - isinstance(before.family, NoiseFamily)
        layout = Layout(np.arange(n_components), 0)
        backend = backend_for(_BATCHES_EXPECTED * problem.n_rows * layout.n_components)
        mixture = assemble(problem, before.family, layout, backend)
        trace = None
    stream = follow(mixture, start, mixture.alone.total_weight())
    followed = Trace(stream.state) if trace is None else trace._replace(state=stream.state)
    return StreamStep(Fit(mixture, followed), problem, KeptStream(mixture.family, stream, _kept(mixture, problem)))


def _kept(mixture: Mixture, problem: Problem) -> KeptRows:
    """Return the rows with statements."""
    rows = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *(c.rows for c in mixture.couplings)]))
    weights = None if problem.weights is None else problem.weights[rows]
    return KeptRows(problem.table.take(rows), problem.side.restrict(rows), weights)


def _below(kept: KeptRows, batch: Problem) -> Problem:
    """Return the rows of a batch below those that were kept."""
    new = batch.table.take(slice(0, batch.n_rows))
    X = vstack([kept.X, new], format="csr") if batch.table.is_sparse else np.concatenate([kept.X, new])
    weights = None
    if kept.weights is not None or batch.weights is not None:
        upper = np.ones(kept.X.shape[0]) if kept.weights is None else kept.weights
        weights = np.concatenate([upper, batch.row_weights()])
    return Problem(ArrayTable(X), append(kept.side, batch.side), weights)
