"""Every relative link in the README and the pages leads to a file, and every anchor to a heading."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def without_code(text):
    """Drop fenced code and code in backticks, in which brackets are not links."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "code", text)


def anchors(page):
    """Return the anchors of a page's headings, formed as GitHub forms them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page):
    """Return the relative links of a page that lead nowhere."""
    broken = []
    for link in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=[page.name for page in PAGES])
def test_relative_links_resolve(page):
    assert broken_links(page) == []


@pytest.mark.parametrize("page", ["changelog.md", "contributing.md"])
def test_links_of_files_that_the_site_includes_are_read_from_its_folder(page):
    assert "\n:relative-docs: docs/\n" in (ROOT / "docs" / page).read_text(encoding="utf-8")


def test_the_index_lists_every_page():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    linked = {link.partition("#")[0] for link in LINK.findall(index)}
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"index.md"} <= linked


def test_broken_links_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A `title`, here\n[a](page.md) [b](#a-title-here) [c](gone.md) [d](page.md#gone) `[e](x)` [`f`](https://x.y/z)\n"
        "```python\n[g](h)\n```\n![i](page.png)\n",
        encoding="utf-8",
    )
    assert broken_links(page) == ["gone.md", "page.md#gone", "page.png"]
