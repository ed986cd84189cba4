"""Labels that are missing but spelled as text."""

import numpy as np
import pandas as pd
import pytest

from sidelight import BayesianMixture, SideInformation


@pytest.mark.parametrize("text", ["", "nan", "NaN", "NA", " ", "<NA>"])
@pytest.mark.parametrize("column", [list, np.array, pd.Series])
def test_what_programs_write_for_a_missing_value_is_missing(text, column):
    labels = column(["a", text, "b", text])
    with pytest.warns(UserWarning, match=f"y: {text!r} in 2 rows is taken as missing"):
        side = SideInformation.build(4, y=labels)
    assert side.label_names.tolist() == ["a", "b"]
    assert side.labels.tolist() == [0, -1, 1, -1]


@pytest.mark.parametrize("text", ["?", "unknown", "Unknown", "n/a"])
def test_what_people_write_for_a_missing_value_stays_a_name_with_a_warning(text):
    with pytest.warns(UserWarning, match="y: .* in 1 row is taken as a name like any other; where it stands for"):
        side = SideInformation.build(2, y=["a", text])
    assert text in side.label_names.tolist()


def test_several_spellings_are_counted_in_one_warning():
    with pytest.warns(UserWarning, match="y: 'nan' in 2 rows, '' in 1 row are taken as missing") as caught:
        SideInformation.build(4, y=["nan", "a", "", "nan"])
    assert len(caught) == 1


def test_blocks_too():
    with pytest.warns(UserWarning, match="blocks: '' in 2 rows is taken as missing"):
        side = SideInformation.build(4, blocks=["a", "", "", "a"])
    assert side.blocks.tolist() == [0, -1, -1, 0]


@pytest.mark.parametrize("name", ["Na", "none", "nano", "unknown origin"])
def test_other_names_are_names(name):
    assert name in SideInformation.build(2, y=["a", name]).label_names.tolist()


def test_a_label_that_is_missing_makes_no_cluster():
    X = np.concatenate([np.zeros(10), np.full(10, 9.0)])[:, None] + np.linspace(0, 1, 20)[:, None]
    labels = ["low", *["nan"] * 18, "high"]
    with pytest.warns(UserWarning, match="'nan' in 18 rows"):
        model = BayesianMixture(2, random_state=0).fit(X, labels)
    assert sorted(model.cluster_names_) == ["high", "low"]
