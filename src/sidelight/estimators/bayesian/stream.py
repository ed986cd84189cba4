"""A mixture that follows a stream: what it keeps from batch to batch."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse, vstack

from sidelight._storable import storable
from sidelight.estimators.starts.sample import Data
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.inference.pruning import Reached
from sidelight.inference.streaming import Stream, follow
from sidelight.kernels.loops import Backend, backend_for
from sidelight.side.transforms import append

# Compiled loops are loaded once for the whole stream: they pay as soon as they would in a fit of this many passes.
_BATCHES_EXPECTED = 30


@storable("Followed")
class Followed(NamedTuple):
    """What a stream keeps from batch to batch.

    Parameters
    ----------
    family : Family
    stream : Stream
    kept : Data
        All rows so far that something was said about.
    """

    family: Any
    stream: Stream
    kept: Data


class Step(NamedTuple):
    """A step on a batch.

    Parameters
    ----------
    mixture : Mixture
        On the rows kept before and the batch.
    data : Data
        These rows.
    followed : Followed
    """

    mixture: Mixture
    data: Data
    followed: Followed


Assemble = Callable[[Data, Any, int, Backend], Mixture]


def follow_batch(before: Followed | Reached, batch: Data, assemble: Assemble) -> Step:
    """Take one step on a batch; after a fit to the first one, on the same."""
    start: Stream | MixtureState
    if isinstance(before, Reached):
        data, mixture, start = batch, before.mixture, before.trace.state
    else:
        data, start = _below(before.kept, batch), before.stream
        n_components = len(start.free.mass)
        backend = backend_for(_BATCHES_EXPECTED * data.X.shape[0] * n_components)
        mixture = assemble(data, before.family, n_components, backend)
    stream = follow(mixture, start, _n_free(mixture))
    return Step(mixture, data, Followed(mixture.family, stream, _kept(mixture, data)))


def _n_free(mixture: Mixture) -> float:
    free = np.ones(mixture.rows.X.shape[0], dtype=bool)
    if mixture.rows.left_out is not None:
        free = ~mixture.rows.left_out
    return float(free.sum() if mixture.rows.weights is None else mixture.rows.weights[free].sum())


def _kept(mixture: Mixture, data: Data) -> Data:
    """Return the rows that something was said about."""
    rows = np.empty(0, dtype=np.int64) if mixture.joint is None else np.sort(mixture.joint.rows)
    weights = None if data.weights is None else data.weights[rows]
    return Data(data.X[rows], data.side.restrict(rows), weights)


def _below(upper: Data, lower: Data) -> Data:
    X = vstack([upper.X, lower.X], format="csr") if issparse(lower.X) else np.concatenate([upper.X, lower.X])
    weights = None
    if upper.weights is not None or lower.weights is not None:
        parts = [np.ones(part.X.shape[0]) if part.weights is None else part.weights for part in (upper, lower)]
        weights = np.concatenate(parts)
    return Data(X, append(upper.side, lower.side), weights)
