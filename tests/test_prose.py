"""The README and the pages of docs use plain words: see "Words to avoid" in docs/glossary.md."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# docs/reproduction.md is generated.
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "reproduction.md")]
# Phrases (regular expressions; a space also matches a line break) and what to write instead.
PHRASES = {
    r"nobody|somebody|someone|anybody|anyone|whoever": "you, or a noun: 'classes without labels'",
    r"so many": "a number, or 'as many … as'",
    r"(?<!there\s)(?:is|are) no(?! longer| more)": "is not, has no",
    r"that (?:is|are) none": "is not a …",
    r"(?:is|are|was|were) told|told nothing": "receives, prints; without side information",
    r"(?:spoken|speaks?|spoke) of": "has statements, refers to",
    r"(?:said|known) about|was said|what is known": "statements, side information",
    r"(?:said|says?) aloud": "prints, reports",
    r"heaps?": "cluster, component",
    r"tied rows|rows tied together": "coupled rows",
}


def odd_phrases(text):
    """Return (line, phrase, remedy) for each phrase to avoid."""
    found = []
    for phrase, remedy in PHRASES.items():
        pattern = rf"\b(?:{phrase})\b".replace(" ", r"\s+")
        for match in re.finditer(pattern, text, re.IGNORECASE):
            found.append((text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()), remedy))
    return sorted(found)


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_pages_use_plain_words(page):
    text = page.read_text(encoding="utf-8").partition("\n## Words to avoid\n")[0]
    name = page.relative_to(ROOT)
    found = [f"{name}:{line}: {phrase!r}; use: {remedy}" for line, phrase, remedy in odd_phrases(text)]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("one\nNobody\nknows", [(2, "Nobody")]),
        ("the objective is\nno bound", [(1, "is no")]),
        ("rows nothing was said about", [(1, "was said")]),
        ("a method told\nnothing", [(1, "told nothing")]),
        ("There is no normaliser. There\nare no links. It is no longer there, and is none of these.", []),
        ("tied covariances; untold; cheaps", []),
    ],
)
def test_phrases_are_found_with_their_line(text, places):
    assert [(line, phrase) for line, phrase, _ in odd_phrases(text)] == places
