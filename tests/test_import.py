"""Importing sidelight is quick and changes nothing, and its names are there when they are used."""

import pickle
import subprocess
import sys

import pytest

import sidelight
from sidelight.estimators.registry import MODULES


def printed(program):
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return result.stdout.strip()


UNCHANGED = """
import sys, warnings
import numpy as np
import sklearn.base, sklearn.cluster, sklearn.mixture, sklearn.metrics, sklearn.utils.validation
before = (np.geterr(), np.random.get_state()[1].tolist(), list(warnings.filters), np.get_printoptions())
loaded = set(sys.modules)
import sidelight
sidelight.all_estimators()
after = (np.geterr(), np.random.get_state()[1].tolist(), list(warnings.filters), np.get_printoptions())
assert before == after
new = {name.split(".")[0] for name in set(sys.modules) - loaded}
print(sorted(new & {"numba", "llvmlite", "matplotlib", "rich", "polars", "pyarrow", "click"}))
"""


def test_estimators_have_no_side_effects_and_load_nothing_heavy():
    assert printed(UNCHANGED) == "[]"


def test_the_package_itself_imports_no_estimator():
    program = "import sys, sidelight; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    assert not {"numpy", "scipy", "sklearn", "pandas", "narwhals"} & set(printed(program).split())


def test_an_estimator_does_not_import_the_others():
    program = "import sys, sidelight; sidelight.BayesianMixture; print('sidelight.baselines' in sys.modules)"
    assert printed(program) == "False"


NAMES = """
import sidelight
assert len(sidelight.all_estimators()) == 13
for room in ("side", "metrics", "plots", "persistence", "baselines", "datasets", "exceptions"):
    assert getattr(sidelight, room).__name__ == f"sidelight.{room}"
from sidelight import *
for name in sidelight.__all__:
    assert globals()[name] is getattr(sidelight, name), name
"""


def test_names_and_subpackages_are_there_in_a_new_process():
    assert printed(NAMES.replace("13", str(len(MODULES)))) == ""


def test_the_names_are_complete():
    assert MODULES.keys() == dict(sidelight.all_estimators()).keys()
    assert MODULES.keys() <= set(sidelight.__all__) <= set(dir(sidelight))
    for name, module in MODULES.items():
        assert getattr(sidelight, name).__module__ == module


def test_errors_name_estimators_that_have_not_been_imported():
    program = (
        "from sidelight import LabelledMixture\n"
        "try: LabelledMixture().fit([[0.0], [1.0], [2.0]], must_link=[(0, 1)], cannot_link=[(1, 2)])\n"
        "except ValueError as error: print(error)"
    )
    message = printed(program)
    assert "EquivalenceMixture" in message
    assert "COPKMeans" in message


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'sidelight' has no attribute 'Mixture'"):
        sidelight.Mixture  # noqa: B018
    assert not hasattr(sidelight, "_nothing")
    with pytest.raises(ImportError, match="cannot import name 'Mixture'"):
        from sidelight import Mixture  # noqa: F401


def test_pickles_are_read_in_a_new_process(tmp_path):
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(sidelight.LabelledMixture(4)))
    program = f"import pickle; print(pickle.load(open({str(tmp_path / 'model.pickle')!r}, 'rb')).n_components)"
    assert printed(f"import warnings; warnings.simplefilter('ignore'); {program}") == "4"
