"""Parameters that an estimator lost since format 1."""

import numpy as np
import pytest

from sidelight import LabelledMixture
from sidelight.persistence import ForeignFileError
from sidelight.persistence.decoding import Decoder
from sidelight.persistence.format_1 import DroppedParameter

DROPPED = {"LabelledMixture": {"shape": DroppedParameter("round", "fit a ShapedMixture instead")}}
ADDRESS = "sidelight.estimators.labelled:LabelledMixture"


def decoded(name, number, **attributes):
    """Return the model that a file of a format describes so."""
    form = {"object": [name, {"n_components": 3, "converged_": True, **attributes}]}
    return Decoder({}, number, dropped=DROPPED).decode(form)


def test_a_parameter_with_the_value_that_is_meant_now_is_dropped():
    model = decoded(ADDRESS, 1, shape="round")
    assert isinstance(model, LabelledMixture)
    assert model.n_components == 3
    assert model.converged_
    assert not hasattr(model, "shape")
    assert decoded(ADDRESS, 1).n_components == 3


@pytest.mark.parametrize("value", ["square", None, 1.0, ["round"]])
def test_another_value_names_what_to_use_instead(value):
    with pytest.raises(ForeignFileError, match="its LabelledMixture has shape=.*lacks; fit a ShapedMixture instead"):
        decoded(ADDRESS, 1, shape=value)


def test_an_array_is_another_value():
    form = {"object": [ADDRESS, {"shape": {"array": "shape"}}]}
    with pytest.raises(ForeignFileError, match="fit a ShapedMixture instead"):
        Decoder({"shape": np.zeros(2)}, 1, dropped=DROPPED).decode(form)


def test_later_formats_have_no_such_parameters():
    with pytest.raises(ForeignFileError, match=r"parameters that this version of sidelight lacks: \['shape'\]"):
        decoded("LabelledMixture", 2, shape="round")


def test_parameters_without_an_entry_are_refused():
    with pytest.raises(ForeignFileError, match=r"parameters that this version of sidelight lacks: \['size'\]"):
        decoded(ADDRESS, 1, size=2)
