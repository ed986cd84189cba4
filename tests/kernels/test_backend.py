"""Which form of the inner loops runs."""

import subprocess
import sys

from sidelight.kernels.loops import NUMPY, backend_for, compiled, worth_compiling


def test_small_work_is_not_worth_compiling_for():
    assert backend_for(1000) is NUMPY
    assert backend_for(10**9) is compiled()
    assert worth_compiling(1000, threshold=1000)
    assert not worth_compiling(999, threshold=1000)


def test_without_numba_everything_runs_in_numpy():
    program = """
import sys
sys.modules["numba"] = None
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "numba" else find_spec(name, *rest)
import numpy as np
from sidelight import LabelledMixture
from sidelight.kernels.loops import NUMPY, backend_for, worth_compiling
assert backend_for(10**9) is NUMPY
assert not worth_compiling(10**9, threshold=1)
X = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[0, 0], [9, 9]], 100, axis=0)
print(LabelledMixture(2, random_state=0).fit(X).weights_.round(6).tolist())
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[0.5, 0.5]"
