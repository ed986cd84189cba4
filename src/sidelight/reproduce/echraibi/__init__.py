"""Echraibi et al. (2019), run again."""
