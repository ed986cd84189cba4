"""Numbers as people write them: 1.234,56 and $1,234.00, 12 %, and a few cells with ? or k.A. among them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sidelight._wording import count

_UNITS = r"[$€£¥%]|USD|EUR|GBP|CHF"
_CELL = re.compile(
    rf"(?P<sign>[-+−]?)\s*(?P<before>{_UNITS})?\s*(?P<inner>[-+−]?)"
    rf"(?P<body>[\d.,][\d.,'’  \u202f]*?)(?P<power>[eE][-+]?\d+)?\s*(?P<after>{_UNITS})?"
)
_SPACES = "'’ \xa0\u202f"
# The whole part with or without thousands set apart, by the decimal mark.
_BODIES = {
    ".": re.compile(rf"(\d+|\d{{1,3}}(?:[,{_SPACES}]\d{{3}})+)?(\.\d*)?"),
    ",": re.compile(rf"(\d+|\d{{1,3}}(?:[.{_SPACES}]\d{{3}})+)?(,\d*)?"),
}
_CODE = re.compile(r"0\d+")
_MISSING = frozenset(
    {"", "?", "-", "--", "–", "—", ".", "..", "k.a.", "k. a.", "n/a", "na", "n.a.", "nan", "null", "none", "nil"}
    | {"unknown", "missing", "#n/a", "#div/0!", "#value!", "<na>", "not available"}
)
# At least this share of the cells must be numbers, or the others are not missing ones but categories.
_LEAST_NUMBERS = 0.5


class NumberStyle(NamedTuple):
    """How the numbers of a column are written: their decimal mark, and the unit that they carry, if any."""

    decimal: str
    unit: str = ""

    @property
    def stored(self) -> str:
        """The style as one word, for a file."""
        return self.decimal + self.unit


def stored_style(word: str) -> NumberStyle:
    """Return the style of a word that `NumberStyle.stored` gave."""
    if word[:1] not in _BODIES:
        raise ValueError(f"{word!r} is not how numbers are written")
    return NumberStyle(word[0], word[1:])


class WrittenNumbers(NamedTuple):
    """The numbers that the texts of a column stand for, None where one is missing, and the words for that."""

    values: dict[str, float | None]
    style: NumberStyle
    missing: dict[str, int]
    example: str


def written_numbers(cells: Iterable[str | None] | Mapping[str, int], usual: str = ".") -> WrittenNumbers | None:
    """Return the numbers of a column of text; None where it does not hold numbers.

    All of them must be written in one way. Where 1,234 may be read in two ways, ``usual`` is the decimal mark. The
    cells may be given as the number of cells with each text.
    """
    texts = Counter(cells if isinstance(cells, Mapping) else (cell for cell in cells if cell is not None))
    missing, numbers = {}, []
    for text, number in texts.items():
        if is_missing_word(text):
            missing[text] = number
        elif not any(map(str.isdigit, text)):
            return None
        else:
            numbers.append(text)
    if any(is_code(text) for text in numbers):
        return None
    if not numbers or sum(texts[text] for text in numbers) < _LEAST_NUMBERS * texts.total():
        return None
    style = _style(numbers, usual)
    if style is None:
        return None
    values: dict[str, float | None] = {text: as_number(text, style) for text in numbers}
    example = next((text for text in numbers if not _is_plain(text)), numbers[0])
    return WrittenNumbers(values | dict.fromkeys(missing), style, missing, example)


def number_style(cells: Iterable[str | None], usual: str = ".") -> NumberStyle:
    """Return the style of a column that is known to hold numbers: that of all of them, or the usual one."""
    texts = {cell for cell in cells if cell is not None and not is_missing_word(cell)}
    return _style(sorted(texts), usual) or NumberStyle(usual)


def is_code(text: str) -> bool:
    """Say whether a text is a postal code or the like: digits, the first of which is a zero that counts."""
    return _CODE.fullmatch(text.strip()) is not None


def is_missing_word(text: str) -> bool:
    """Say whether a text stands for a missing number."""
    return text.strip().casefold() in _MISSING


def as_number(text: str, style: NumberStyle) -> float | None:
    """Return the number that a text stands for in a style, None where it stands for none."""
    found = _CELL.fullmatch(text.strip())
    if found is None or _unit(found) not in ("", style.unit) or (found["sign"] and found["inner"]):
        return None
    body = found["body"].strip()
    if not any(letter.isdigit() for letter in body) or _BODIES[style.decimal].fullmatch(body) is None:
        return None
    digits = "".join(letter for letter in body if letter.isdigit() or letter == style.decimal)
    value = float(digits.replace(",", ".") + (found["power"] or ""))
    return -value if found["sign"] in ("-", "−") or found["inner"] in ("-", "−") else value


def words_of(missing: Mapping[str, int]) -> str:
    """Return the words that stand for missing numbers, with their counts."""
    return ", ".join(f"{text!r} in {count(number, 'cell')}" for text, number in missing.items())


def _style(numbers: list[str], usual: str) -> NumberStyle | None:
    """Return the one style in which all texts are numbers, if there is one."""
    units = set()
    for text in numbers:
        found = _CELL.fullmatch(text.strip())
        units.add(None if found is None else _unit(found))
        if None in units:  # of free text the first cell says so
            return None
    carried = [unit for unit in units if unit]
    # Numbers without the sign beside some with "%" may be shares.
    if len(carried) > 1 or (carried == ["%"] and "" in units):
        return None
    unit = carried[0] if carried else ""
    other = "," if usual == "." else "."
    for decimal in (usual, other):
        style = NumberStyle(decimal, unit)
        if all(as_number(text, style) is not None for text in numbers):
            return style
    return None


def _unit(found: re.Match[str]) -> str | None:
    """Return the unit of a number; None, which no style has, where there are two."""
    if found["before"] and found["after"]:
        return None
    return found["before"] or found["after"] or ""


def _is_plain(text: str) -> bool:
    return all(letter.isdigit() or letter in "+-.eE" for letter in text.strip())
