"""Tables for the posteriors of linked rows."""

import numpy as np
import pytest

from sidelight.kernels.loops import PosteriorTables


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_table_is_padded_and_starts_with_a_cache_line(kind):
    table = PosteriorTables().empty(7, 30, kind)
    assert table.shape == (7, 32)
    assert table.dtype == kind
    assert table.flags.c_contiguous
    assert table.ctypes.data % 64 == 0


def test_memory_is_used_again_only_when_no_view_is_left():
    tables = PosteriorTables()
    first, second = tables.empty(5, 4, np.float64), tables.empty(5, 4, np.float64)
    assert not np.shares_memory(first, second)
    place, corner = first.ctypes.data, np.asarray(first[:2, :2].T)
    del first
    assert tables.empty(5, 4, np.float64).ctypes.data != place
    corner[:] = 3.0
    del corner
    assert tables.empty(5, 3, np.float64).ctypes.data == place


def test_memory_that_is_too_small_is_let_go():
    tables = PosteriorTables()
    tables.empty(5, 4, np.float64)
    larger = tables.empty(50, 4, np.float64)
    assert larger.shape == (50, 4)
    assert tables._idle == []
