"""The papers by first author; each is imported only when it is needed."""

from importlib import import_module

from sidelight.reproduce.framework.experiment import Paper

PAPERS = ("echraibi", "yu", "zhao", "amini", "li")


def paper(name: str) -> Paper:
    """Return a paper by the name of its first author."""
    if name not in PAPERS:
        raise ValueError(f"paper={name!r} must be one of {', '.join(PAPERS)}.")
    found: Paper = import_module(f"sidelight.reproduce.{name}.paper").PAPER
    return found
