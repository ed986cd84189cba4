"""Slow and plain ways to the same results, for tests to compare with."""
