"""The whole story in a real browser: by keys, with two people, with markup in every text, wide and narrow."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from serving import Client, Server, write_table

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROGRAM = next((path for path in map(shutil.which, NAMES) if path), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
HOSTILE = [
    "<script>window.hacked = 1</script>",
    "<img src=x onerror='window.hacked = 2'>",
    "'; DROP TABLE events; --",
    "\u202eright to left\u202c mark \u200f",
    "{{ 7 * 7 }} ${7 * 7} &lt;b&gt;",
    "a long text " + "x" * 1_000_000,
    "javascript:alert(1)",
]
ADA = "<i>Ada</i>"
PAIR = "[...document.querySelectorAll('.question thead bdi')]"

pytestmark = pytest.mark.skipif(
    PROGRAM is None, reason="Chromium is not installed, so the studio was not opened (Debian: apt-get install chromium)"
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A table whose cells, column names and ids hold markup."""
    folder = tmp_path_factory.mktemp("hostile")
    table = write_table(folder / "<b>things.csv", cells=HOSTILE)
    text = table.read_text(encoding="utf-8").replace("colour", "<u onclick=alert(1)>colour</u>", 1)
    table.write_text(text.replace("r007", "<s>r007</s>"), encoding="utf-8")
    return table


@pytest.fixture(scope="module")
def server(hostile):
    with Server(hostile, "--id-column", "id", folder=hostile.parent) as running:
        yield running


def wait_for_fit(server, number=1):
    return Client(server, "watching").wait(lambda state: state["fit"] >= number)


@pytest.fixture(scope="module")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS)
        yield browser
        browser.close()


class Page:
    """A page of one annotator; everything that it complains about or asks for elsewhere is kept."""

    def __init__(self, chromium, server, name, *, size=(1280, 860), touch=False):
        self.context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]}, accept_downloads=True, has_touch=touch
        )
        self.page = self.context.new_page()
        self.complaints, self.elsewhere = [], []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog: {dialog.message}"))
        self.page.on("request", lambda request: self._note(request.url, server.address))
        self.page.goto(server.address + "/")
        self.page.keyboard.type(name)
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(".pair tbody tr, .empty h2")

    def _note(self, url, address):
        if not url.startswith((f"{address}/", "data:", "blob:")):
            self.elsewhere.append(url)

    def press(self, *keys):
        for key in keys:
            self.page.keyboard.press(key)

    def until(self, expression, arg=None, seconds=150):
        """Wait until an expression is true; the page itself forbids the way that Playwright waits."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(expression, arg):
            assert time.monotonic() < end, (expression, self.complaints)
            self.page.wait_for_timeout(30)

    def pair(self):
        return self.page.locator(".question thead bdi").all_inner_texts()

    def asked(self):
        """Wait for a question, and return its rows."""
        self.until("document.querySelectorAll('.question thead bdi').length === 2")
        return self.pair()

    def toast(self, words):
        self.until("words => document.getElementById('toast').textContent.includes(words)", arg=words)

    def tab_to(self, selector):
        """Reach an element by the tab key alone."""
        for _ in range(200):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"{selector} cannot be reached by the tab key")

    def close(self):
        assert self.page.evaluate("window.hacked") is None
        assert self.complaints == []
        assert self.elsewhere == []
        self.context.close()


def place_of_first_row(server, box):
    """Return where the map draws row 0: in the middle of its canvas, used towards the longer side."""
    content = Client(server, "watching").ask("/api/map", raw=True)
    x, y = (float(np.frombuffer(content, "<f4", 1, 4 * 90 * axis)[0]) for axis in range(2))
    most = 1.7 * 0.47 * min(box["width"], box["height"])
    right, up = min(0.47 * box["width"], most), min(0.47 * box["height"], most)
    return box["x"] + box["width"] / 2 + x * right, box["y"] + box["height"] / 2 - y * up


def group(name):
    return int("".join(letter for letter in name.removeprefix("<s>") if letter.isdigit())[:3]) % 3


def answered(server):
    return Client(server, "watching").ask("/api/state")["n_answers"]


def test_everything_can_be_looked_at_before_the_first_fit(chromium, server):
    dan = Page(chromium, server, "Dan")
    dan.press("g", *"2345")
    dan.page.wait_for_selector("#people .card")
    # The name can be changed: another person sits down.
    dan.tab_to("#me")
    dan.press("Enter")
    dan.page.wait_for_selector("dialog[open] input")
    dan.page.keyboard.type("Dora")
    with dan.page.expect_navigation():
        dan.press("Enter")
    dan.until("document.getElementById('me')?.textContent === 'Dora'")
    dan.close()


def test_the_whole_story_by_keys(chromium, server, hostile, tmp_path):
    ada = Page(chromium, server, ADA)
    page = ada.page
    assert page.locator("#title").inner_text() == "<b>things.csv"
    wait_for_fit(server)
    asked = []
    for number in range(20):
        pair = ada.asked()
        asked.append(pair)
        ada.press("s" if group(pair[0]) == group(pair[1]) else "d")
        ada.until(f"pair => {PAIR}.some((one, at) => one.textContent !== pair[at])", arg=pair)
        if number == 9:
            ada.press("g")
            ada.until("document.querySelector('.guess')?.textContent.includes('believes')")
    Client(server, "watching").wait(lambda state: state["n_answers"] == 20)
    for _ in range(5):
        before = answered(server)
        ada.press("z")
        Client(server, "watching").wait(lambda state, before=before: state["n_answers"] == before - 1)
    assert answered(server) == 15
    ada.until(f"pair => {PAIR}.every((one, at) => one.textContent === pair[at])", arg=asked[15])

    ada.press("g")
    ada.until("document.querySelector('.guess').textContent.includes('believes')")
    ada.press("n")
    page.keyboard.type("<b>a note</b>\u202e")
    ada.tab_to("dialog button[type=submit]")
    ada.press("Enter")
    ada.toast("Note kept")
    ada.until("document.querySelector('.notes')?.textContent.includes('<i>Ada</i>: <b>a note</b>')")
    assert "believes" in page.locator(".guess").inner_text()  # the pair is the same, and not answered blind
    ada.press("l")
    page.keyboard.type("<em>kind</em>")
    ada.press("Enter")
    ada.toast("<em>kind</em>")
    ada.press("z")
    ada.toast("Undone")

    # A name, a merge and its undo, and a split, without the pointer.
    Client(server, "watching").wait(lambda state: state["worker"]["state"] == "idle" and state["fit"] >= 2)
    ada.press("3")
    page.wait_for_selector(".cluster")
    ada.tab_to("[data-action=name]")
    ada.press("Enter", "Control+a")
    page.keyboard.type("<h1>named</h1>")
    ada.press("Enter")
    ada.toast("Named")
    ada.until("document.querySelector('.cluster h3')?.textContent.includes('<h1>named</h1>')")
    number = page.locator(".cluster").count()
    ada.tab_to("[data-action=merge]")
    ada.press("Enter")
    ada.tab_to("dialog button[type=submit]")
    ada.press("Enter")
    ada.toast("Merged")
    ada.until("number => document.querySelectorAll('.cluster').length === number - 1", arg=number)
    ada.press("z")
    ada.toast("Undone: merged")
    ada.until("number => document.querySelectorAll('.cluster').length === number", arg=number)
    ada.tab_to("[data-action=split]")
    ada.press("Enter")
    ada.until("document.querySelector('#questions:not([hidden]) .why')?.textContent.includes('apart')")

    # The map: a lasso by the pointer, and one by keys.
    ada.press("2")
    page.wait_for_selector(".legend button")
    box = page.locator(".over").bounding_box()
    corners = [(0.02, 0.2), (0.98, 0.2), (0.98, 0.98), (0.02, 0.98)]
    page.mouse.move(box["x"] + box["width"] * corners[0][0], box["y"] + box["height"] * corners[0][1])
    page.mouse.down()
    for x, y in corners[1:]:
        page.mouse.move(box["x"] + box["width"] * x, box["y"] + box["height"] * y, steps=4)
    page.mouse.up()
    ada.until("document.querySelector('.selection h2')?.textContent.includes('selected')")
    selected = int(page.locator(".selection h2").inner_text().split()[0])
    assert 10 < selected <= 90
    page.mouse.move(*place_of_first_row(server, box))
    ada.until("[...document.querySelectorAll('.tip dt')].some((column) => column.textContent === 'width')")
    assert "object" not in page.locator(".tip").inner_text()
    ada.tab_to(".over")
    ada.press("Escape", *["Shift+ArrowLeft"] * 8, *["Shift+ArrowUp"] * 6, "Space", *["Shift+ArrowRight"] * 16, "Space")
    ada.press(*["Shift+ArrowDown"] * 12, "Space", *["Shift+ArrowLeft"] * 16, "Space", "Enter")
    ada.until("document.querySelector('.selection h2')?.textContent.includes('selected')")
    ada.press("3", "2")  # the views have their keys on the map, too
    page.wait_for_selector("#clusters", state="hidden")
    page.locator(".selection .primary").click()
    ada.until("document.querySelector('#questions:not([hidden]) .why')?.textContent.includes('selection')")

    ada.press("4")
    page.wait_for_selector(".verdict")
    with page.expect_download() as download:
        page.get_by_role("link", name="clusters.csv").click()
    download.value.save_as(tmp_path / "clusters.csv")
    assert len((tmp_path / "clusters.csv").read_text().splitlines()) == 91
    assert "<h1>named</h1>" in (tmp_path / "clusters.csv").read_text()
    ada.press("5")
    ada.until("document.querySelector('#people')?.textContent.includes('<i>Ada</i>')")
    ada.until("document.querySelector('#people')?.textContent.includes('<b>a note</b>')")
    ada.close()


def test_questions_that_come_late_do_not_ask_again(chromium, server):
    """A list that was asked for before an answer, and arrives after it, holds the question that was answered."""
    wait_for_fit(server)
    ivy = Page(chromium, server, "Ivy")
    late = []
    ivy.page.route("**/api/questions?*", lambda route: late.append((route, None if late else route.fetch())))
    ivy.press("2", "1")
    while not late:
        ivy.page.wait_for_timeout(30)
    pair, before = ivy.pair(), answered(server)
    ivy.press("u")
    Client(server, "watching").wait(lambda state: state["n_answers"] == before + 1)
    ivy.page.wait_for_timeout(500)  # the page has heard of it
    route, response = late[0]
    assert response.json()["questions"][0]["id_a"] in pair
    route.fulfill(response=response)
    ivy.page.wait_for_timeout(500)
    press = "document.dispatchEvent(new KeyboardEvent('keydown', { key: 'u' }))"
    assert ivy.page.evaluate(f"(() => {{ {press}; return {PAIR}.map((one) => one.textContent); }})()") != pair
    for route, _ in late[1:]:
        route.continue_()
    ivy.close()


def test_two_people_at_once_agree_or_not(chromium, server):
    wait_for_fit(server)
    ada, ben = Page(chromium, server, ADA), Page(chromium, server, "Ben", size=(390, 800))
    before = answered(server)
    for _ in range(6):
        for one in (ada, ben):
            first, second = one.asked()
            one.press("s" if group(first) == group(second) else "d")
        assert ada.asked() != ben.asked()
    Client(server, "watching").wait(lambda state: state["n_answers"] == before + 12)
    people = Client(server, "watching").ask("/api/people")
    assert {one["name"] for one in people["people"]} >= {ADA, "Ben"}
    assert sum(one["of"] for one in people["concords"]) >= 1  # the fifth question of each repeats the other's
    ben.press("5")
    ben.until("document.querySelector('#people')?.textContent.includes('<i>Ada</i>')")
    width = ben.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 390
    ada.close()
    ben.close()


def test_fingers_show_rows_and_move_the_map(chromium, server):
    wait_for_fit(server)
    fay = Page(chromium, server, "Fay", size=(390, 800), touch=True)
    fay.page.locator("[data-view=map]").tap()
    fay.page.wait_for_selector(".legend button")
    box = fay.page.locator(".over").bounding_box()
    x, y = place_of_first_row(server, box)
    fay.page.touchscreen.tap(x, y)
    fay.page.wait_for_selector(".tip strong")
    before = fay.page.evaluate("document.querySelector('.points').toDataURL()")
    fingers = fay.context.new_cdp_session(fay.page)
    for kind, spread in (("touchStart", 20), ("touchMove", 60), ("touchMove", 100), ("touchEnd", None)):
        points = [] if spread is None else [{"x": x, "y": y - spread, "id": 0}, {"x": x, "y": y + spread, "id": 1}]
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    fay.until("before => document.querySelector('.points').toDataURL() !== before", arg=before)
    assert "selected" not in fay.page.locator(".selection h2").inner_text()  # two fingers draw no line
    fay.close()


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """The text of axe-core, from the folder that SIDELIGHT_AXE names, or fetched by npm."""
    folder = Path(os.environ.get("SIDELIGHT_AXE") or tmp_path_factory.mktemp("axe"))
    program = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not program.is_file() and shutil.which("npm"):
        command = ["npm", "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(folder), "axe-core"]
        subprocess.run(command, capture_output=True, check=False)
    if not program.is_file():
        pytest.skip("axe-core could not be fetched by npm, so contrast and labels were not checked")
    return program.read_text(encoding="utf-8")


@pytest.mark.parametrize("size", [(1280, 860), (390, 800)], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium, server, axe, size, scheme):
    wait_for_fit(server)
    eve = Page(chromium, server, "Eve", size=size)
    eve.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    found = []
    eve.page.evaluate(axe)
    for view, sign in zip(
        "12345", (".answers", ".legend button", ".cluster", ".verdict", "#people .card"), strict=True
    ):
        eve.page.locator("#tabs button").nth(int(view) - 1).click()  # the pointer rests there
        eve.page.wait_for_selector(sign)
        if view == "3":
            eve.page.locator("#clusters summary").first.click()
        result = eve.page.evaluate("axe.run(document)")
        found += [
            (view, one["id"], node["target"], node["failureSummary"])
            for one in result["violations"]
            for node in one["nodes"]
        ]
    eve.press("1", "n")
    result = eve.page.evaluate("axe.run(document.querySelector('dialog'))")
    found += [("note", one["id"], node["target"]) for one in result["violations"] for node in one["nodes"]]
    assert found == []
    eve.close()


def test_the_page_about_the_interface_needs_no_network(chromium, server):
    page = Page(chromium, server, "Eve")
    page.page.goto(f"{server.address}/api")
    page.page.wait_for_selector(".operation")
    assert page.page.locator(".operation").count() > 30
    page.close()


def test_a_closed_project_is_resumed_with_its_names(chromium, server, hostile):
    number = answered(server)
    server.stop()
    with Server(hostile, "--resume", folder=hostile.parent) as again:
        assert answered(again) == number
        ada = Page(chromium, again, ADA)
        ada.press("3")
        ada.until("document.querySelector('#clusters')?.textContent.includes('<h1>named</h1>')")
        ada.close()
