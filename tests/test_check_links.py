"""Broken links of the built site are found, and what its pages would fetch from elsewhere."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[1] / "docs" / "check_links.py"
STYLE = '@import "more.css"; /* url(gone.css) */ p { background: url(data:image/png;base64,AA) }'
INDEX = """<html><head><link rel="stylesheet" href="style.css"><link rel="next" href="folder/page.html"></head>
<body><h1 id="top">Top</h1><a href="#top">here</a> <a href="folder/page.html#a%20place">there</a>
<a href="folder/">it</a>
 <a href="https://example.org/elsewhere#place">elsewhere</a> <img src="data:image/png;base64,AA">
<img srcset="picture.png 1x, picture.png 2x" src="picture.png"> {}</body></html>"""


def check(folder, html="", style=STYLE):
    (folder / "folder").mkdir()
    (folder / "index.html").write_text(INDEX.format(html), encoding="utf-8")
    (folder / "folder" / "page.html").write_text('<p id="a place"><a href="../index.html#top">', encoding="utf-8")
    (folder / "folder" / "index.html").write_text("<p>", encoding="utf-8")
    (folder / "style.css").write_text(style, encoding="utf-8")
    (folder / "_static").mkdir()
    (folder / "_static" / "template.html").write_text('<script src="{{ pathto(1) }}">', encoding="utf-8")
    (folder / "more.css").write_text("", encoding="utf-8")
    (folder / "picture.png").write_bytes(b"")
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(folder)], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def test_a_site_in_order_passes(tmp_path):
    assert check(tmp_path) == (0, ["8 links within the site lead somewhere"])


@pytest.mark.parametrize(
    ("html", "complaint"),
    [
        ('<a href="gone.html">', "gone.html: no such file"),
        ('<a href="#gone">', "#gone: no such place on the page"),
        ('<a href="folder/page.html#gone">', "folder/page.html#gone: no such place on the page"),
        ('<a href="../elsewhere.html">', "../elsewhere.html: is not on the site"),
        ('<img srcset="picture.png, gone.png 2x">', "gone.png: no such file"),
        ('<script src="https://example.org/a.js"></script>', "fetches https://example.org/a.js"),
        ('<script src="//example.org/a.js"></script>', "fetches //example.org/a.js"),
        ('<link rel="stylesheet" href="https://example.org/a.css">', "fetches https://example.org/a.css"),
        ("<style>@import 'https://example.org/a.css';</style>", "fetches https://example.org/a.css"),
        ("<p style=\"background: url('https://example.org/a.png')\">", "fetches https://example.org/a.png"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, html, complaint):
    assert check(tmp_path, html) == (1, [f"index.html: {complaint}"])


def test_fonts_of_styles_are_looked_at(tmp_path):
    style = "@font-face { src: url(https://example.org/a.woff2), url('gone.woff2') }"
    assert check(tmp_path, style=style) == (
        1,
        ["style.css: fetches https://example.org/a.woff2", "style.css: gone.woff2: no such file"],
    )
