"""The tables and figures of five papers, run again: one folder per paper, and ``framework`` for what they share.

A new paper is a new folder with a ``paper.py`` that defines ``PAPER``, and its name in ``framework/papers.py``.
"""

from sidelight.reproduce.echraibi.published import SSDPGMM
from sidelight.reproduce.framework.papers import PAPERS, paper
from sidelight.reproduce.framework.running import run

__all__ = ["PAPERS", "SSDPGMM", "paper", "run"]
