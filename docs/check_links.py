"""Follow every link within the built site; end with an error if one leads nowhere, or a page fetches from elsewhere.

python docs/check_links.py build/docs

Links lead to a file of the site, and to a place that is on its page. Links to other sites are not followed. Scripts,
styles, fonts and pictures must come from the site itself, so that it can be read without network.
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

# What names another file, by attribute. A browser fetches it with the page, but for the links of these elements.
_NAMES = frozenset({"href", "src", "poster", "data", "xlink:href"})
_CLICKED = frozenset({"a", "area", "base", "form"})
# <link> elements that a browser does not fetch: neighbours of the page, and where else it is.
_NOT_FETCHED = frozenset({"next", "prev", "index", "search", "canonical", "author", "license", "copyright", "help"})
_IN_STYLES = re.compile(r"""url\(\s*["']?([^"')]+)["']?\s*\)|@import\s+["']([^"']+)["']""")
_COMMENTS = re.compile(r"/\*.*?\*/", re.DOTALL)


class Link(NamedTuple):
    """A link as it is written, and whether a browser fetches what it names together with the page."""

    target: str
    fetched: bool


class Page(HTMLParser):
    """The links of a page, and the places on it that links may name."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[Link] = []
        self.places: set[str] = set()
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the links and the places of an element."""
        found = {name: value or "" for name, value in attrs}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        self._in_style = tag == "style"
        fetched = tag not in _CLICKED and not (tag == "link" and found.get("rel", "") in _NOT_FETCHED)
        self.links += [Link(found[name], fetched) for name in _NAMES & found.keys()]
        self.links += [Link(each.split()[0], True) for each in found.get("srcset", "").split(",") if each.strip()]
        self.links += links_of_styles(found.get("style", ""))

    def handle_endtag(self, tag: str) -> None:
        """Note the end of styles."""
        self._in_style = False

    def handle_data(self, data: str) -> None:
        """Collect the links of styles within a page."""
        if self._in_style:
            self.links += links_of_styles(data)


def links_of_styles(text: str) -> list[Link]:
    """Return what a text in CSS fetches."""
    return [Link(address or imported, True) for address, imported in _IN_STYLES.findall(_COMMENTS.sub("", text))]


def complaints(site: Path) -> tuple[list[str], int]:
    """Return what is wrong, a line for each broken link, and how many links were followed."""
    site = site.resolve()
    # What a theme brings in _static is templates, not pages.
    paths = (path for path in sorted(site.rglob("*.html")) if "_static" not in path.relative_to(site).parts)
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}
    links = {path: page.links for path, page in pages.items()}
    links |= {path: links_of_styles(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.css"))}
    found, followed = [], 0
    for path, named in links.items():
        for link in dict.fromkeys(named):
            address = urlsplit(link.target)
            if address.scheme == "data":
                continue
            if address.scheme or address.netloc:
                if link.fetched:
                    found.append(f"{path.relative_to(site)}: fetches {link.target}")
                continue
            followed += 1
            why = _broken(site, path, unquote(address.path), unquote(address.fragment), pages)
            if why:
                found.append(f"{path.relative_to(site)}: {link.target}: {why}")
    return found, followed


def _broken(site: Path, path: Path, name: str, place: str, pages: dict[Path, Page]) -> str:
    """Say why a link leads nowhere, "" where it leads somewhere."""
    target = (path.parent / name).resolve() if name else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site):
        return "is not on the site"
    if not target.is_file():
        return "no such file"
    if place and target in pages and place not in pages[target].places and not place.startswith(":~:"):
        return "no such place on the page"
    return ""


if __name__ == "__main__":
    found, followed = complaints(Path(sys.argv[1]))
    print("\n".join(found) or f"{followed} links within the site lead somewhere")
    sys.exit(bool(found))
