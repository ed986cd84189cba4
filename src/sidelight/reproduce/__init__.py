"""The tables and figures of five papers, run again: one folder per paper, and ``framework`` for what they share.

A new paper is a folder with a ``paper.py`` that defines ``PAPER`` and a ``protocol.md``, and its name in ``PAPERS``.
``SSDPGMM`` is the published form of Echraibi et al., for researchers.
"""

from typing import TYPE_CHECKING, Any

from sidelight.reproduce.framework.experiment import PAPERS, paper
from sidelight.reproduce.framework.running import run

if TYPE_CHECKING:
    from sidelight.reproduce.echraibi.published import SSDPGMM

__all__ = ["PAPERS", "SSDPGMM", "paper", "run"]


def __getattr__(name: str) -> Any:
    """Import the published model when it is first used; the help of the command line does without scikit-learn."""
    if name == "SSDPGMM":
        from sidelight.reproduce.echraibi.published import SSDPGMM

        return SSDPGMM
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
