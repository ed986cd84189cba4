"""Active learning of links: which pairs of rows to ask an expert about."""

from sidelight.asking.questions import Questions, informative_pairs

__all__ = ["Questions", "informative_pairs"]
