"""The tables and figures of the papers again, beside ours: one folder per paper."""

from sidelight.reproduce.echraibi.published import SSDPGMM
from sidelight.reproduce.framework.papers import PAPERS, paper
from sidelight.reproduce.framework.running import run

__all__ = ["PAPERS", "SSDPGMM", "paper", "run"]
