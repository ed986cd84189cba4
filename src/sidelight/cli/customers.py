"""Made-up customers of a shop: six segments, columns of every kind, and labels and judged pairs of a few of them."""

from typing import Any, NamedTuple

import numpy as np

from sidelight._typing import AnyArray, BoolArray, FloatArray, IntArray

_REGIONS = ("north", "east", "south", "west")
_CHANNELS = ("shop", "web", "app", "phone")
_SUBJECTS = ("delivery", "the price", "the shop assistant", "opening hours", "the website", "packaging", "the choice")
_JUDGEMENTS = ("was fine", "could be better", "pleased me", "took long", "surprised me", "is what I come for")
_ANNOTATORS = ("Ada", "Ben")
# Fraction of missing cells in each column.
_MISSING = {"income": 0.12, "distance_km": 0.05, "channel": 0.04, "returns": 0.03, "comment": 0.6}
# Chance that a judged pair is given as certain; the others may be wrong.
_CERTAIN = 0.7
_CONFIDENCE = 0.9


class Segment(NamedTuple):
    """The distribution of the customers of a segment.

    Parameters
    ----------
    name : str
    share : float
        Of all customers.
    age, basket, distance : (mean, standard deviation)
        In years, euros and kilometres.
    income : (median, relative spread)
        In euros a year.
    visits, returns : float
        Expected number a month, a year.
    regions, channels : tuple of float
        Probabilities.
    newsletter : float
        Probability.
    labelled : bool
        Whether some customers of the segment have a label.
    """

    name: str
    share: float
    age: tuple[float, float]
    income: tuple[float, float]
    basket: tuple[float, float]
    distance: tuple[float, float]
    visits: float
    returns: float
    regions: tuple[float, ...]
    channels: tuple[float, ...]
    newsletter: float
    labelled: bool = True


SEGMENTS = (
    Segment("families", 0.27, (40, 7), (52000, 0.3), (90, 28), (5, 2.2), 6.0, 2.2,
            (0.4, 0.3, 0.2, 0.1), (0.55, 0.2, 0.2, 0.05), 0.7),
    Segment("students", 0.22, (23.5, 3.5), (16000, 0.35), (26, 11), (2.8, 1.3), 5.0, 0.7,
            (0.1, 0.2, 0.3, 0.4), (0.15, 0.25, 0.58, 0.02), 0.25),
    Segment("commuters", 0.18, (43, 9), (58000, 0.3), (38, 15), (16, 5.5), 10.0, 0.9,
            (0.25, 0.25, 0.25, 0.25), (0.45, 0.1, 0.43, 0.02), 0.35),
    Segment("retired", 0.15, (69, 8), (29000, 0.3), (48, 18), (3.6, 1.7), 8.0, 0.5,
            (0.3, 0.3, 0.2, 0.2), (0.7, 0.05, 0.03, 0.22), 0.55),
    Segment("collectors", 0.1, (53, 11), (70000, 0.35), (210, 70), (28, 11), 1.3, 3.2,
            (0.15, 0.35, 0.35, 0.15), (0.1, 0.72, 0.08, 0.1), 0.85),
    Segment("night owls", 0.08, (29, 4.5), (36000, 0.25), (60, 15), (12, 3), 1.5, 7.0,
            (0.06, 0.08, 0.16, 0.7), (0.02, 0.26, 0.7, 0.02), 0.1, labelled=False),
)  # fmt: skip


class Customers(NamedTuple):
    """A table by columns, in order, None for missing cells; and the segment of every row."""

    columns: dict[str, Any]
    segment: IntArray

    def names(self) -> list[str]:
        """Return the name of every row's segment."""
        return [SEGMENTS[number].name for number in self.segment.tolist()]


def draw_customers(n: int, prefix: str, random: np.random.Generator) -> Customers:
    """Draw ``n`` customers, whose ids begin with a prefix."""
    shares = np.array([segment.share for segment in SEGMENTS])
    which = random.choice(len(SEGMENTS), size=n, p=shares / shares.sum())
    columns = {
        "id": _numbered(prefix, n),
        "age": np.clip(np.rint(_normal("age", which, random)), 16, 99).astype(np.int64),
        "income": np.round(_incomes(which, random), -2).astype(np.int64),
        "basket": np.round(1 + np.abs(_normal("basket", which, random)), 2),
        "distance_km": np.round(0.1 + np.abs(_normal("distance", which, random)), 1),
        "visits": random.poisson(_of("visits", which)),
        "returns": random.poisson(_of("returns", which)),
        "region": _drawn("regions", _REGIONS, which, random),
        "channel": _drawn("channels", _CHANNELS, which, random),
        "newsletter": np.where(random.random(n) < _of("newsletter", which), "yes", "no"),
        "comment": _comments(n, random),
    }
    masks = {name: random.random(n) < _MISSING.get(name, 0.0) for name in columns}
    return Customers({name: _with_missing(values, masks[name]) for name, values in columns.items()}, which)


def draw_labels(customers: Customers, per_segment: int, random: np.random.Generator) -> list[str | None]:
    """Draw labels: the segment of a few customers of every segment that has labels."""
    given: list[str | None] = [None] * len(customers.segment)
    for number, segment in enumerate(SEGMENTS):
        rows = np.flatnonzero(customers.segment == number)
        if segment.labelled:
            for row in random.choice(rows, min(per_segment, len(rows)), replace=False).tolist():
                given[row] = segment.name
    return given


def draw_judgements(customers: Customers, n: int, random: np.random.Generator) -> dict[str, list[Any]]:
    """Draw judged pairs, half of them of one segment; some with a confidence are wrong."""
    ids, segment = customers.columns["id"], customers.segment
    rows: dict[str, list[Any]] = {name: [] for name in ("id_a", "id_b", "relation", "confidence", "annotator")}
    met: set[tuple[int, int]] = set()
    while len(rows["id_a"]) < n:
        first, second = np.sort(random.choice(len(segment), 2, replace=False)).tolist()
        alike = bool(segment[first] == segment[second])
        if (first, second) in met or alike != (len(rows["id_a"]) % 2 == 0):
            continue
        met.add((first, second))
        certain = bool(random.random() < _CERTAIN)
        says_alike = alike if certain or random.random() < _CONFIDENCE else not alike
        rows["id_a"].append(ids[first])
        rows["id_b"].append(ids[second])
        rows["relation"].append("must" if says_alike else "cannot")
        rows["confidence"].append(None if certain else _CONFIDENCE)
        rows["annotator"].append(_ANNOTATORS[int(random.integers(len(_ANNOTATORS)))])
    return rows


def _of(attribute: str, which: IntArray) -> FloatArray:
    return np.array([getattr(segment, attribute) for segment in SEGMENTS], dtype=float)[which]


def _normal(attribute: str, which: IntArray, random: np.random.Generator) -> FloatArray:
    mean, spread = _of(attribute, which).T
    return random.normal(mean, spread)


def _incomes(which: IntArray, random: np.random.Generator) -> FloatArray:
    median, spread = _of("income", which).T
    return median * np.exp(random.normal(0, spread))


def _drawn(attribute: str, values: tuple[str, ...], which: IntArray, random: np.random.Generator) -> AnyArray:
    chances = np.array([getattr(segment, attribute) for segment in SEGMENTS]).cumsum(axis=1)[:, :-1]
    return np.array(values)[(random.random(len(which))[:, None] > chances[which]).sum(axis=1)]


def _numbered(prefix: str, n: int) -> AnyArray:
    digits = max(5, len(str(n)))
    return np.array([f"{prefix}{number:0{digits}d}" for number in range(1, n + 1)])


def _comments(n: int, random: np.random.Generator) -> AnyArray:
    """Return remarks in free text, nearly all of them different."""
    subjects, judgements = random.integers(len(_SUBJECTS), size=(n, 2)), random.integers(len(_JUDGEMENTS), size=(n, 2))
    days = random.integers(1, 360, size=n)
    return np.array(
        [
            f"{days_ago} days ago {_SUBJECTS[a]} {_JUDGEMENTS[x]}, {_SUBJECTS[b]} {_JUDGEMENTS[y]}"
            for days_ago, (a, b), (x, y) in zip(days, subjects.tolist(), judgements.tolist(), strict=True)
        ],
        dtype=object,
    )


def _with_missing(values: AnyArray, missing: BoolArray) -> AnyArray:
    if not missing.any():
        return values
    cells = values.astype(object)
    cells[missing] = None
    return cells
