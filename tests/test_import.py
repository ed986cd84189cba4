"""Importing sidelight is quick and changes nothing."""

import subprocess
import sys

PROGRAM = """
import sys, warnings
import numpy as np
import sklearn.base, sklearn.cluster, sklearn.mixture, sklearn.metrics, sklearn.utils.validation
before = (np.geterr(), np.random.get_state()[1].tolist(), list(warnings.filters), np.get_printoptions())
loaded = set(sys.modules)
import sidelight
after = (np.geterr(), np.random.get_state()[1].tolist(), list(warnings.filters), np.get_printoptions())
assert before == after
new = {name.split(".")[0] for name in set(sys.modules) - loaded}
print(sorted(new & {"numba", "llvmlite", "matplotlib", "rich", "polars", "pyarrow", "click"}))
"""


def test_import_has_no_side_effects_and_loads_nothing_heavy():
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"
    assert result.stderr == ""
