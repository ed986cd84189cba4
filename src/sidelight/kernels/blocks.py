"""How many rows to take at once, and where to put them."""

from sidelight._typing import FloatArray

# Multiples of 192 are never powers of two, whose strides collide in the cache.
_UNIT = 192
_CACHE_DOUBLES = 64_000


def rows_per_block(doubles_per_row: int) -> int:
    """Return the number of rows whose features and scores, so many doubles each, share the cache: 192 to 768.

    More rows would spill; fewer would spend the time between the loops instead of in them.
    """
    return _UNIT * min(max(_CACHE_DOUBLES // (doubles_per_row * _UNIT), 1), 4)


def front(buffer: FloatArray, n_rows: int, n_columns: int) -> FloatArray:
    """Return the front of a flat buffer as a contiguous (n_rows, n_columns) array, whatever the size of the block."""
    return buffer[: n_rows * n_columns].reshape(n_rows, n_columns)
