"""Array types for signatures."""

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
LabelArray = npt.NDArray[np.int32]
BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]
