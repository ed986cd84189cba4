"""Numbers as the report writes them."""

_THIN_SPACE = "\u202f"


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number of things, thousands apart."""
    return f"{grouped(number)} {singular if number == 1 else plural or singular + 's'}"


def grouped(number: int) -> str:
    """Return a whole number, thousands apart."""
    return f"{number:,}".replace(",", _THIN_SPACE)


def percent(share: float) -> str:
    """Return a share in per cent; what is not quite all or nothing does not read as if it were."""
    if 0 < share < 0.01:
        return "under 1 %"
    if 0.99 < share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"


def listed(words: list[str]) -> str:
    """Return words with commas and an "and"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
