"""Exact inference on parts of a link graph."""
