"""Open pages of the built site in headless Chromium; end with an error if one of them complains.

python docs/browse.py build/docs

A page complains by an error or a warning in the console, a script that fails, a file that is not there, a request to
another machine, prompts in what is copied from its examples, or text that is cut off on a narrow screen.
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

PAGES = (
    *("index", "getting_started", "user_guide", "concepts", "how_to", "command_line", "recipes", "history", "glossary"),
    *("gallery/index", "gallery/plot_01_thirty_labels", "gallery/plot_07_wrong_links"),
    *("reference/index", "reference/generated/sidelight.GuidedMixture", "genindex"),
)

# How long a page may take on a machine that does other work too, in milliseconds.
_PATIENCE = 180_000
# How long scripts may still complain after everything of a page is loaded. Waiting for an idle network instead
# sometimes never ends on a busy machine.
_AFTERWARDS = 500
_COPY_EXAMPLES = """() => {
    getSelection().removeAllRanges();
    return [...document.querySelectorAll(".highlight pre")].map(example => {
        getSelection().selectAllChildren(example);
        return getSelection().toString();
    }).join("\\n");
}"""
# As wide as a telephone.
_NARROW = {"width": 390, "height": 844}
# Texts that end right of the window and in nothing that can be scrolled.
_FIND_CUT_OFF = """() => {
    const scrolls = e => e && e.tagName !== "ARTICLE"
        && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
    return [...document.querySelectorAll("article *:not(.headerlink)")]
        .filter(e => !e.children.length && e.innerText && e.getBoundingClientRect().right > innerWidth + 1)
        .filter(e => !scrolls(e))
        .map(e => e.innerText);
}"""


def complaints(site: Path, chromium: str, pages: Sequence[str] = PAGES) -> list[str]:
    """Return what the pages complain about."""
    from playwright.sync_api import sync_playwright

    found: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in pages:
            page = browser.new_page()
            page.set_default_timeout(_PATIENCE)
            told: list[str] = []
            page.on("console", lambda m, told=told: told.append(m.text) if m.type in ("error", "warning") else None)
            page.on("pageerror", lambda error, told=told: told.append(str(error)))
            page.on("requestfailed", lambda request, told=told: told.append(f"{request.url} failed"))
            page.on(
                "request", lambda r, told=told: None if r.url.startswith(("file:", "data:")) else told.append(r.url)
            )
            page.goto((site / f"{name}.html").resolve().as_uri())
            page.wait_for_timeout(_AFTERWARDS)
            told += [f"copied: {line}" for line in page.evaluate(_COPY_EXAMPLES).splitlines() if line.startswith(">>>")]
            page.set_viewport_size(_NARROW)
            told += [f"cut off at {_NARROW['width']} pixels: {text}" for text in page.evaluate(_FIND_CUT_OFF)]
            found += [f"{name}: {text}" for text in told]
            page.close()
        browser.close()
    return found


if __name__ == "__main__":
    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium is not installed, so the pages were not opened")
        sys.exit()
    found = complaints(Path(sys.argv[1]), chromium)
    print("\n".join(found) or f"{len(PAGES)} pages opened without a complaint")
    sys.exit(bool(found))
