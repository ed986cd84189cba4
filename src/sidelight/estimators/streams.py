"""A mixture that follows a stream: what it keeps from batch to batch."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse, vstack

from sidelight.estimators.data import Data
from sidelight.inference.mixture import Mixture
from sidelight.inference.moves import Reached
from sidelight.inference.stochastic import Stream, follow
from sidelight.kernels.backend import Backend
from sidelight.side.appending import append


class Followed(NamedTuple):
    """A stream and the mixture on its last batch, with all rows before it that something was said about.

    Parameters
    ----------
    mixture : Mixture
    stream : Stream
    data : Data
        The rows of the mixture: those kept, then the batch.
    """

    mixture: Mixture
    stream: Stream
    data: Data


Assemble = Callable[[Data, Any, int, Backend], Mixture]


def follow_batch(before: Followed | Reached, batch: Data, assemble: Assemble) -> Followed:
    """Take one step on a batch; after a fit to the first one, on the same."""
    mixture = before.mixture
    if isinstance(before, Reached):
        return Followed(mixture, follow(mixture, before.trace.state, _n_free(mixture)), batch)
    data = _below(_kept(before), batch)
    following = assemble(data, mixture.family, len(mixture.weights.classes), mixture.backend)
    return Followed(following, follow(following, before.stream, _n_free(following)), data)


def _n_free(mixture: Mixture) -> float:
    free = np.ones(mixture.rows.X.shape[0], dtype=bool)
    if mixture.rows.left_out is not None:
        free = ~mixture.rows.left_out
    return float(free.sum() if mixture.rows.weights is None else mixture.rows.weights[free].sum())


def _kept(before: Followed) -> Data:
    """Return the rows that something was said about."""
    data, joint = before.data, before.mixture.joint
    rows = np.empty(0, dtype=np.int64) if joint is None else np.sort(joint.rows)
    weights = None if data.weights is None else data.weights[rows]
    return Data(data.X[rows], data.side.restrict(rows), weights)


def _below(upper: Data, lower: Data) -> Data:
    X = vstack([upper.X, lower.X], format="csr") if issparse(lower.X) else np.concatenate([upper.X, lower.X])
    weights = None
    if upper.weights is not None or lower.weights is not None:
        parts = [np.ones(part.X.shape[0]) if part.weights is None else part.weights for part in (upper, lower)]
        weights = np.concatenate(parts)
    return Data(X, append(upper.side, lower.side), weights)
