"""Dates as people write them: 2020-12-31, 31.12.2020, 12/31/2020, with or without the time of day."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from sidelight.cli.tables.written_numbers import is_missing_word

_DAYS = ("%Y-%m-%d", "%d.%m.%Y", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y")
_TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S")
_FORMATS = tuple(day + time for time in _TIMES for day in _DAYS)


class WrittenDates(NamedTuple):
    """The dates that texts stand for, None where a text says that the date is missing, and how they are written.

    ``form`` is a format of `datetime.strptime`.
    """

    values: dict[str, datetime | None]
    form: str


class UnreadableDateError(ValueError):
    """A text that is not a date, or dates that may be read in two ways."""

    def __init__(self, text: str, why: str) -> None:
        super().__init__(why)
        self.text = text


def written_dates(cells: Iterable[str | None], form: str = "") -> WrittenDates:
    """Return the dates of a column of text, in a format or in the one usual format that all of them have."""
    texts = dict.fromkeys(cell for cell in cells if cell is not None)
    dates = [text for text in texts if not is_missing_word(text)]
    missing: dict[str, datetime | None] = dict.fromkeys(text for text in texts if is_missing_word(text))
    forms = (form,) if form else _FORMATS
    fitting = []
    for each in forms:
        values = {text: _as_date(text, each) for text in dates}
        if None not in values.values():
            fitting.append(WrittenDates(missing | values, each))
    if not fitting:
        best = max(forms, key=lambda each: sum(_as_date(text, each) is not None for text in dates[:1000]))
        wrong = next(text for text in dates if _as_date(text, best) is None)
        raise UnreadableDateError(wrong, f"is not a date written as {best}")
    for other in fitting[1:]:
        for text, value in other.values.items():
            if value != fitting[0].values[text]:
                raise UnreadableDateError(text, f"may be {fitting[0].values[text]:%d %B %Y} or {value:%d %B %Y}")
    return fitting[0]


def _as_date(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text.strip(), form).replace(tzinfo=None)
    except ValueError:
        return None
