"""Numbers, lists and clusters as pages and pictures write them."""

import datetime
import math
from typing import Any
from unicodedata import bidirectional, category

# What rows that belong to no cluster, those with label -1, are called.
NOISE = "noise"
# Classes of characters that change the direction of the text after them.
_TURNS = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})

# So many words are listed one by one; of more, the first ones.
_LISTED, _LISTED_OF_MANY = 20, 10
# Characters of a message, and of those that are kept at its end where it is longer.
_LONGEST_MESSAGE, _END_OF_MESSAGE = 4000, 1000

_DIGITS = 3
_MOST_DECIMALS = 6
_THIN_SPACE = "\u202f"


def measured(value: float, scale: float) -> str:
    """Return a number with as many decimals as its scale needs, so that rounding noise reads as zero.

    Examples
    --------
    >>> measured(-2.3456, 20), measured(1e-15, 20), measured(12345.6, 20000)
    ('−2.3', '0.0', '12346')
    """
    size = abs(scale)
    decimals = _DIGITS - 1 - math.floor(math.log10(size)) if size > 0 else 0
    if decimals > _MOST_DECIMALS or size >= 10**_MOST_DECIMALS:
        return with_minus(f"{value:.{_DIGITS}g}")
    rounded = round(value, max(decimals, 0)) + 0.0  # which turns −0 into 0
    return with_minus(f"{rounded:.{max(decimals, 0)}f}")


def signed(value: float, decimals: int) -> str:
    """Return a rounded number with its sign; zero has none."""
    rounded = round(value, decimals)
    return with_minus(f"{rounded:+.{decimals}f}") if rounded else f"{0:.{decimals}f}"


def with_minus(number: str) -> str:
    """Return a written number with a minus sign in place of the hyphen."""
    return number.replace("-", "−")


def calendar_date(days: float) -> str:
    """Return the date of a number of days since 1970-01-01.

    Examples
    --------
    >>> calendar_date(18262.9), calendar_date(-1.0)
    ('2020-01-01', '1969-12-31')
    """
    return str(datetime.date(1970, 1, 1) + datetime.timedelta(days=math.floor(days)))


def percent(share: float) -> str:
    """Return a share in per cent; only exact zero and one read as 0 % and 100 %."""
    if 0 < share < 0.01:
        return "under 1 %"
    if 0.99 < share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def grouped(number: int) -> str:
    """Return a whole number with its thousands set apart."""
    return f"{number:,}".replace(",", _THIN_SPACE)


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun in the singular or plural."""
    return f"{grouped(number)} {singular if number == 1 else plural or singular + 's'}"


def listed(words: list[str]) -> str:
    """Return words with commas and a final "and"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""


def some_listed(words: list[str]) -> str:
    """Return words with commas; of very many, the first ones and their number.

    Examples
    --------
    >>> some_listed(["x", "y"]), some_listed([f"x{i}" for i in range(3000)])[-24:]
    ('x, y', 'x8, x9, … (3\u202f000 in all)')
    """
    if len(words) <= _LISTED:
        return ", ".join(words)
    return f"{', '.join(words[:_LISTED_OF_MANY])}, … ({grouped(len(words))} in all)"


def shortened(message: str) -> str:
    """Return a message; of a very long one beginning and end, as names in it may have any length.

    Examples
    --------
    >>> shortened("short"), len(shortened("x" * 1_000_000)) < 5000
    ('short', True)
    """
    if len(message) <= _LONGEST_MESSAGE:
        return message
    cut = len(message) - _LONGEST_MESSAGE
    beginning, end = message[: _LONGEST_MESSAGE - _END_OF_MESSAGE], message[-_END_OF_MESSAGE:]
    return f"{beginning} … ({grouped(cut)} characters left out) … {end}"


def printable(text: str) -> str:
    r"""Return text without characters that would steer a terminal or cannot be written as UTF-8: their escapes instead.

    Examples
    --------
    >>> print(printable("red\x1b[2J"))
    red\x1b[2J
    """
    return text if text.isprintable() else "".join(_escaped(letter) if _steers(letter) else letter for letter in text)


def _steers(letter: str) -> bool:
    return letter not in "\n\t" and (category(letter) in ("Cc", "Cs", "Zl", "Zp") or bidirectional(letter) in _TURNS)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def cluster_name(names: Any, cluster: int) -> str:
    """Return the name of a cluster by its number, from a list or an array of names; -1 is noise."""
    return NOISE if cluster < 0 else str(names[cluster])
