"""The inner loops: pure functions on blocks of rows, in NumPy and, where it pays, compiled.

Arrays of scores and responsibilities are (components, rows) here: the loops run along rows, which are contiguous.
"""
