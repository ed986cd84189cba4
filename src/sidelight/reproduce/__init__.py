"""The tables and figures of the papers again, beside ours: one file per paper."""

from sidelight.reproduce.papers import PAPERS, paper
from sidelight.reproduce.running import run

__all__ = ["PAPERS", "paper", "run"]
