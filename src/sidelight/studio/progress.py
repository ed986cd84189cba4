"""How far the work is: agreement with unseen answers, pace, what changed, and whether it is enough."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sidelight._wording import count, percent
from sidelight.studio.events import Answer
from sidelight.studio.fitting import FitSummary
from sidelight.studio.ledger import Ledger

_MINUTES = 5.0
_RECENT = 40
# The model is good enough when it predicted nearly all of the last answers, and refits hardly move a row.
_LEAST_RECENT, _ENOUGH_AGREEMENT = 15, 0.9
_LEAST_CHECKS, _ENOUGH_CHECKS = 3, 0.9
_FEW_MOVED = 0.01


class Agreement(NamedTuple):
    """How many answers the model, which had not seen them, predicted."""

    right: int
    of: int

    @property
    def share(self) -> float | None:
        """The part that was right, None before any answer."""
        return self.right / self.of if self.of else None


class Progress(NamedTuple):
    """Figures for the page.

    ``recent`` is agreement on the last informative questions, which are the hardest; ``checks`` on random pairs.
    """

    n_answers: int
    n_unsure: int
    n_labels: int
    recent: Agreement
    checks: Agreement
    per_minute: float
    gain_of_next: float | None
    changed: str
    enough: bool
    verdict: str


def measure(ledger: Ledger, fits: Sequence[FitSummary], now: float) -> Progress:
    """Return the figures at this moment."""
    given = sorted((one for _, one in ledger.answers()), key=lambda one: one.event)
    decided = [one.answer for one in given if one.answer.relation != "unsure"]
    foreseen = [answer for answer in decided if answer.chance_same is not None]
    recent = _agreement([answer for answer in foreseen if answer.purpose == "informative"][-_RECENT:])
    checks = _agreement([answer for answer in foreseen if answer.purpose == "check"])
    times = [one.made for one in given if one.made > now - 60 * _MINUTES and one.answer.purpose != "imported"]
    span = max((now - min(times)) / 60, 0.25) if times else 1.0
    enough, verdict = _verdict(recent, checks, fits)
    return Progress(
        n_answers=len(given),
        n_unsure=len(given) - len(decided),
        n_labels=len(ledger.labels()),
        recent=recent,
        checks=checks,
        per_minute=round(len(times) / span, 1),
        gain_of_next=fits[-1].gain_of_next if fits else None,
        changed=_changed(fits),
        enough=enough,
        verdict=verdict,
    )


def _agreement(answers: Sequence[Answer]) -> Agreement:
    predicted = np.array([(answer.chance_same or 0.0) > 0.5 for answer in answers], dtype=bool)
    same = np.array([answer.relation == "same" for answer in answers], dtype=bool)
    return Agreement(int((predicted == same).sum()), len(answers))


def _changed(fits: Sequence[FitSummary]) -> str:
    if not fits:
        return "The first fit is on its way."
    last = fits[-1]
    if len(fits) == 1:
        return f"The first fit found {count(last.n_clusters, 'cluster')}."
    words = [f"{count(last.n_moved, 'row')} moved ({percent(last.n_moved / last.n_rows)})"]
    if last.appeared:
        words.append(f"{count(len(last.appeared), 'cluster')} appeared")
    if last.vanished:
        words.append(f"{count(len(last.vanished), 'cluster')} vanished")
    return f"In the last refit {', '.join(words)}."


def _verdict(recent: Agreement, checks: Agreement, fits: Sequence[FitSummary]) -> tuple[bool, str]:
    """Say whether more answers are worth the time, and why."""
    if recent.of < _LEAST_RECENT:
        return False, f"Too early to say: {count(_LEAST_RECENT - recent.of, 'more answer')} to judge by."
    calm = len(fits) > 1 and fits[-1].n_moved <= _FEW_MOVED * fits[-1].n_rows
    if not calm:
        return False, "Go on: refits still move rows."
    if checks.of >= _LEAST_CHECKS and (checks.share or 0.0) < _ENOUGH_CHECKS:
        return False, f"Go on: the model foresaw {checks.right} of {checks.of} answers about random pairs."
    if (recent.share or 0.0) < _ENOUGH_AGREEMENT and checks.of < _LEAST_CHECKS:
        return False, f"Go on: the model foresaw {recent.right} of the last {recent.of} answers."
    if (recent.share or 0.0) < 0.75:
        return False, f"Go on: the model foresaw {recent.right} of the last {recent.of} answers."
    return True, (
        f"Good enough: the model foresaw {recent.right} of the last {recent.of} answers, and the last refit moved "
        f"{count(fits[-1].n_moved, 'row')}."
    )
