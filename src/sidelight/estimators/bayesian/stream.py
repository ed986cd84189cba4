"""A mixture that follows a stream: what it keeps from batch to batch."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.sparse import vstack

from sidelight._storable import storable
from sidelight._typing import AnyArray, FloatArray
from sidelight.estimators.base.clusters import Layout
from sidelight.estimators.starts.sample import Problem
from sidelight.families.noise import NoiseFamily
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.protocols import AnyFamily
from sidelight.inference.pruning import Fit
from sidelight.inference.streaming import Stream, follow
from sidelight.kernels.loops import Backend, backend_for
from sidelight.side import SideInformation
from sidelight.side.transforms import append
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
    mixture : Mixture
        On the rows kept before and the batch.
    problem : Problem
        These rows.
    kept : KeptStream
    """

    mixture: Mixture
    problem: Problem
    kept: KeptStream


Assemble = Callable[[Problem, AnyFamily, Layout, Backend], Mixture]


def follow_batch(before: KeptStream | Fit, batch: Problem, assemble: Assemble) -> StreamStep:
    """Take one step on a batch; after a fit to the first one, on the same."""
    start: Stream | MixtureState
    if isinstance(before, Fit):
        problem, mixture, start = batch, before.mixture, before.trace.state
    else:
        problem, start = _below(before.kept, batch), before.stream
        n_components = len(start.free.mass) - isinstance(before.family, NoiseFamily)
        layout = Layout(np.arange(n_components), 0)
        backend = backend_for(_BATCHES_EXPECTED * problem.n_rows * layout.n_components)
        mixture = assemble(problem, before.family, layout, backend)
    stream = follow(mixture, start, mixture.alone.total_weight())
    return StreamStep(mixture, problem, KeptStream(mixture.family, stream, _kept(mixture, problem)))


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
