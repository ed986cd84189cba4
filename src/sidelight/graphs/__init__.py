"""Algorithms on graphs that couplings, starts and baselines share."""
