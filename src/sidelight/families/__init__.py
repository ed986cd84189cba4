"""Emissions: what the rows of a component look like. One family per file, knowing no other room but the kernels."""
