"""Columns of pandas beside a frame: taken by position only where the index does not contradict it."""

import numpy as np
import pandas as pd
import pytest

from sidelight import BayesianMixture, all_estimators

EVERY = pytest.mark.parametrize("estimator", [cls for _, cls in all_estimators()], ids=[n for n, _ in all_estimators()])
FRAME = pd.DataFrame({"x": np.r_[np.linspace(0, 1, 8), np.linspace(9, 10, 8)]}, index=[f"row {n}" for n in range(16)])
LABELS = pd.Series([0] * 4 + [-1] * 8 + [1] * 4, index=FRAME.index)


@EVERY
def test_labels_whose_index_is_in_another_order_are_refused(estimator):
    with pytest.raises(ValueError, match=r"y: its index .* another order.*y.reindex\(X.index\).*y.to_numpy\(\)"):
        estimator().fit(FRAME, LABELS[::-1])


def test_weights_too():
    with pytest.raises(ValueError, match="sample_weight: its index"):
        BayesianMixture().fit(FRAME, sample_weight=pd.Series(1.0, index=FRAME.index[::-1]))


@pytest.mark.parametrize(
    "labels",
    [LABELS, LABELS.to_numpy(), LABELS.tolist(), LABELS.reset_index(drop=True), LABELS[::-1].reindex(FRAME.index)],
    ids=["the same index", "an array", "a list", "other labels", "put in order"],
)
def test_other_columns_go_by_position(labels):
    model = BayesianMixture(2, random_state=0).fit(FRAME, labels)
    assert model.violations_.total == 0
    assert model.labels_.tolist() == [0] * 8 + [1] * 8
