"""Criteria that score a fitted model."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import entr


def bic(model: Any, X: Any) -> float:
    """Return the Bayesian information criterion (Schwarz 1978); lower is better."""
    return float(model.bic(X))


def icl(model: Any, X: Any) -> float:
    """Return the integrated completed likelihood (Biernacki, Celeux and Govaert 2000); lower is better.

    BIC plus twice the entropy of the assignments, so overlapping clusters count against the model. Side information is
    part of the entropy where the model kept its posterior.
    """
    try:
        posterior = model.posterior_
    except AttributeError:  # not kept, or the model has none
        posterior = model.predict_proba(X)
    return bic(model, X) + 2 * float(np.sum(entr(posterior)))


def held_out(model: Any, X: Any) -> float:
    """Return the mean log-likelihood of held-out rows; higher is better."""
    return float(model.score(X))


# Criteria on the rows that were fitted; lower is better.
INFORMATION_CRITERIA: dict[str, Callable[[Any, Any], float]] = {"bic": bic, "icl": icl}
