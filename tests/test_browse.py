"""Pages of the site that complain in a browser are found, and others are not."""

import importlib.util
import shutil
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
LONG = "a_name_that_is_far_too_long_for_a_telephone" * 3
CUT_OFF = f"<p>one</p><p><code>{LONG}</code></p>"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@pytest.fixture(scope="module")
def browse():
    pytest.importorskip("playwright", reason="playwright is not installed: pip install '.[test]'")
    found = importlib.util.spec_from_file_location("browse", Path(__file__).parents[1] / "docs" / "browse.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_complaints_name_page_and_place(browse, tmp_path):
    pages = {
        "quiet": f"<p>short</p><div style='overflow-x: auto'>{CUT_OFF}</div>",
        "cut_off": f"<div style='overflow: hidden'>{CUT_OFF}</div>",
        "error": "<script>console.error('wrong')</script>",
        "missing": "<img src='nowhere.png'>",
        "prompts": "<div class='highlight'><pre>&gt;&gt;&gt; 1 + 1\n2</pre></div>",
    }
    for name, content in pages.items():
        text = f"<!doctype html><meta charset='utf-8'><link rel='icon' href='data:,'><article>{content}</article>"
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
    found = {line.replace(tmp_path.as_uri(), "…") for line in browse.complaints(tmp_path, CHROMIUM, list(pages))}
    assert found == {
        f"cut_off: cut off at 390 pixels: {LONG}",
        "error: wrong",
        "missing: Failed to load resource: net::ERR_FILE_NOT_FOUND",
        "missing: …/nowhere.png failed",
        "prompts: copied: >>> 1 + 1",
    }
