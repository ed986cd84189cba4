"""Chromium, driven over a pipe by its DevTools protocol: no port, no driver, no package."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-dev-shm-usage",
)


def find_chromium() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    """A browser with an empty profile; everything that its page says or asks for is kept in ``events``."""

    def __init__(self, program: str, profile: Path) -> None:
        self.events: list[dict[str, Any]] = []
        self._number = 0
        self._session: str | None = None
        self._rest = b""
        # The browser reads commands from descriptor 3 and writes answers and events to 4, each ended by a zero byte.
        reads, self._writes = os.pipe()
        self._reads, writes = os.pipe()
        command = [program, *FLAGS, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"]
        moved = f'exec 3<&{reads} 4>&{writes} && exec "$@"'
        with (profile.parent / "chromium.log").open("wb") as log:
            self._process = subprocess.Popen(
                ["bash", "-c", moved, "bash", *command], pass_fds=(reads, writes), stdout=log, stderr=log
            )
        os.close(reads)
        os.close(writes)
        pages = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in pages if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> "Chromium":
        return self

    def __exit__(self, *_: object) -> None:
        self._session = None
        self.call("Browser.close")
        self._process.wait()
        os.close(self._writes)
        os.close(self._reads)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def open(self, address: str) -> None:
        loaded = len(self.of("Page.loadEventFired"))
        self.call("Page.navigate", url=address)
        while len(self.of("Page.loadEventFired")) == loaded:
            self._next()

    def evaluate(self, expression: str) -> Any:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def of(self, method: str) -> list[dict[str, Any]]:
        """Return what the events of a kind carry."""
        return [event["params"] for event in self.events if event["method"] == method]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = os.read(self._reads, 1 << 20)
            assert part, "Chromium has ended; see chromium.log beside its profile"
            self._rest += part
        message, self._rest = self._rest.split(b"\0", 1)
        decoded: dict[str, Any] = json.loads(message)
        if "method" in decoded:
            self.events.append(decoded)
        return decoded
