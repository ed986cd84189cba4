"""Names that stand for a missing one: text that programs and people write where nothing is known."""

from collections import Counter
from collections.abc import Mapping

import numpy as np

from sidelight._typing import AnyArray
from sidelight._warnings import warn
from sidelight._wording import count

# What programs write for a missing value.
_MISSING = frozenset({"", "nan", "NaN", "NAN", "NA", "<NA>"})
# What people do, in lower case; but it may be a name. ("Na" is sodium, and "none" an answer.)
_DOUBTFUL = frozenset({"?", "unknown", "n/a", "#n/a", "null", "missing", "unlabelled", "unlabeled"})


def without_missing_text(vector: AnyArray, argument: str) -> AnyArray:
    """Return a column of names with None where text says that a value is missing.

    Both what is taken as missing and what may have been meant so is said in a warning, which names the argument.
    """
    if vector.dtype.kind not in "OU":
        return vector
    cells = vector.tolist()
    texts = Counter(cell for cell in cells if isinstance(cell, str))
    missing = {text: number for text, number in texts.items() if text.strip() in _MISSING}
    doubtful = {text: number for text, number in texts.items() if text.strip().casefold() in _DOUBTFUL}
    if missing:
        _warn(f"{argument}: {_counted(missing)} taken as missing; to use it as a name, spell it otherwise.")
        cells = [None if isinstance(cell, str) and cell in missing else cell for cell in cells]
        vector = np.fromiter(cells, object, len(cells))
    if doubtful:
        _warn(
            f"{argument}: {_counted(doubtful)} taken as a name like any other; where it stands for a missing value, "
            "pass None or NaN (in a file, leave the cell empty)."
        )
    return vector


def _warn(message: str) -> None:
    warn(message)


def _counted(texts: Mapping[str, int]) -> str:
    """Return texts with the numbers of their rows, as the subject of a sentence."""
    words = ", ".join(f"{text!r} in {count(number, 'row')}" for text, number in texts.items())
    return f"{words} is" if len(texts) == 1 else f"{words} are"
