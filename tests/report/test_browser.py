"""The report in a real browser: by file, without a network, without a complaint."""

import numpy as np
import pandas as pd
import pytest
from chromium import Chromium, find_chromium

from sidelight import BayesianMixture, SideInformation
from sidelight.report import html_report

PROGRAM = find_chromium()
HEADINGS = [
    "What was given",
    "What was found",
    "What makes each cluster",
    "How certain it is",
    "Statements the result breaks",
    "What to do next",
    "Using the model on new rows",
]

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="Chromium is not installed, so the report was not opened (Debian: apt-get install chromium)"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("browser")
    page = folder / "the report.html"
    page.write_text(report(), encoding="utf-8")
    (folder / "profile").mkdir()
    with Chromium(PROGRAM, folder / "profile") as chromium:
        chromium.open(page.as_uri())
        chromium.address = page.as_uri()
        yield chromium


def report():
    random = np.random.default_rng(0)
    group = np.arange(700) % 3  # more points than are stored one by one, so that the picture holds an image
    frame = pd.DataFrame(
        {
            "income <€>": np.array([20.0, 45, 80])[group] + random.normal(0, 6, 700),
            "region": np.array(["north", "south", "金"])[group],
            "visits": random.poisson(np.array([1, 5, 12])[group]),
        }
    )
    names = np.array(['<script>alert("low")</script>', "Söhne & Co", "金"], dtype=object)
    side = SideInformation.build(
        700, y=np.where(np.arange(700) % 50 == 0, names[group], None), must_link=[(0, 1), (3, 6)], confidence=0.6
    )
    model = BayesianMixture(3, random_state=0).fit(frame, side=side)
    return html_report(model, frame, side=side, title="<b>Customers</b> & others", notes=["<img src=http://x.invalid>"])


def test_nothing_is_asked_of_the_network(browser):
    asked = [event["request"]["url"] for event in browser.of("Network.requestWillBeSent")]
    assert [address for address in asked if not address.startswith("data:")] == [browser.address]
    assert sum(address.startswith("data:image/svg+xml") for address in asked) == 4
    assert browser.of("Network.loadingFailed") == []


def test_the_console_stays_empty(browser):
    for kind in (
        "Runtime.consoleAPICalled",
        "Runtime.exceptionThrown",
        "Log.entryAdded",
        "Page.javascriptDialogOpening",
    ):
        assert browser.of(kind) == []


def test_headings_are_there_to_see(browser):
    visible = browser.evaluate(
        "[...document.querySelectorAll('h2')].filter(h => h.checkVisibility() && h.offsetHeight > 10)"
        ".map(h => h.textContent)"
    )
    assert visible == HEADINGS
    assert browser.evaluate("document.querySelector('h1').textContent") == "<b>Customers</b> & others"
    assert browser.evaluate("document.title") == "<b>Customers</b> & others"


def test_pictures_are_there_to_see(browser):
    browser.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    sizes = browser.evaluate("Promise.all([...document.images].map(i => i.decode().then(() => i.naturalWidth)))")
    assert len(sizes) == 4
    assert min(sizes) > 300


def test_what_comes_from_outside_is_text(browser):
    assert browser.evaluate("document.scripts.length") == 0
    assert browser.evaluate("[...document.images].every(i => i.src.startsWith('data:'))") is True
    words = browser.evaluate("document.body.innerText")
    for outside in ('<script>alert("low")</script>', "Söhne & Co", "金", "income <€>", "<img src=http://x.invalid>"):
        assert outside in words


def test_histograms_say_what_their_bars_are(browser):
    titles = browser.evaluate("[...document.querySelectorAll('svg.bars title')].map(t => t.textContent)")
    assert any(title.startswith("金, 金: ") and "rows (" in title for title in titles)
    seen = browser.evaluate(
        "[...document.querySelectorAll('svg.bars')].every(s => s.getBoundingClientRect().height > 20)"
    )
    assert seen is True


@pytest.mark.parametrize("width", [360, 1400])
def test_the_page_fits_narrow_and_wide_windows(browser, width):
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False)
    assert browser.evaluate("document.documentElement.scrollWidth") <= width


def test_links_on_the_page_lead_to_its_sections(browser):
    lost = browser.evaluate(
        "[...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.getAttribute('href'))).length"
    )
    assert lost == 0
