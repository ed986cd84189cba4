"""Text that looks like dates: 2020-12-31, 31.12.2020, 12/31/20, 31 Dec 2020, December 2020, with or without a time."""

import re
from collections.abc import Collection

_MONTHS = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:1[5-9]|20|21)\d\d"
_SHORT = rf"(?:{_YEAR}|\d\d)"
_TIME = r"(?:(?:T|,? )\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[ap]m)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_DATES = "|".join(
    [
        rf"{_YEAR}([-/.]){_MONTH}\1{_DAY}",
        rf"{_DAY}([-/.]){_MONTH}\2{_SHORT}",
        rf"{_MONTH}([-/]){_DAY}\3{_SHORT}",
        rf"{_YEAR}-{_MONTH}",
        rf"(?:{_DAY}(?:st|nd|rd|th|\.)?[ -])?{_MONTHS},?[ -]{_SHORT}",
        rf"{_MONTHS} {_DAY}(?:st|nd|rd|th)?,? {_YEAR}",
    ]
)
_DATE = re.compile(rf"\s*(?:{_DATES}){_TIME}\s*", re.IGNORECASE)
# At least this share of the values must look like dates: others may be words for missing ones.
_MOST = 0.75


def looks_like_dates(values: Collection[object]) -> bool:
    """Say whether most of the different values of a column are text that looks like dates.

    Examples
    --------
    >>> looks_like_dates(["2020-01-31", "2020-02-28 14:00", "31 Mar 2020"]), looks_like_dates(["1.2.3", "10.11"])
    (True, False)
    """
    dates = sum(isinstance(value, str) and _DATE.fullmatch(value) is not None for value in values)
    return dates > 0 and dates >= _MOST * len(values)
