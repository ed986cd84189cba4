"""The studio under load: annotators who answer once a second, while refits run; no answer may be lost or doubled.

    python benchmarks/studio_load.py --rows 5000
    python benchmarks/studio_load.py --rows 100000
    python benchmarks/studio_load.py --rows 5000 --store postgresql://user@host/database

Prints the times, in milliseconds, from sending an answer to holding the next question, and what the store holds.
"""

import argparse
import http.client
import json
import os
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from sidelight.studio.store import Store, database_place, file_place


class Acknowledged(NamedTuple):
    """An answer that the server said it has, and how long that took."""

    annotator: str
    key: str
    event: int
    seconds: float
    fitting: bool


class Studio:
    """`sidelight studio` on made-up customers, in a process of its own."""

    def __init__(self, folder: Path, rows: int, store: str | None) -> None:
        self.place = file_place(folder / "customers.studio") if store is None else database_place(store, "studio_load")
        if not (folder / "customers.csv").exists():
            _sidelight("example", "-o", str(folder), "--rows", str(rows), "--quiet")
        self.command = [sys.executable, "-m", "sidelight", "studio", str(folder / "customers.csv"), "--no-browser"]
        self.command += ["--id-column", "id", "--label-column", "segment", "--links", str(folder / "links.csv")]
        self.command += ["--port", "0", "--quiet"]
        if store is not None:
            self.command += ["--store", store, "--project", "studio_load"]
        self.process: subprocess.Popen[str] | None = None

    def start(self, *options: str) -> None:
        """Start the server, and wait until it prints its address."""
        self.process = subprocess.Popen([*self.command, *options], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the studio did not start")
        self.address = urlsplit(line.strip()).netloc

    def kill(self) -> None:
        """End the server in the middle of whatever it does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """End the server in peace."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait()

    def wait(self, wanted: str) -> dict[str, Any]:
        """Wait until a field of the state is true."""
        client = Client(self.address, "waiting")
        while not (state := client.ask("GET", "/api/state"))[wanted]:
            time.sleep(0.2)
        return state


class Client:
    """One connection of one annotator."""

    def __init__(self, address: str, name: str) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=120)
        self._headers = {"X-Annotator": name, "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the answer to a request."""
        self._connection.request(method, path, None if body is None else json.dumps(body), self._headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise RuntimeError(f"{response.status}: {content[:200]!r}")
        return json.loads(content)


def _sidelight(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "sidelight", *arguments], check=True)


class Load:
    """Annotators in threads; each answers once a second at a moment of its own."""

    def __init__(self, studio: Studio, annotators: int, seconds: float) -> None:
        self.acknowledged: list[Acknowledged] = []
        self.failures: list[str] = []
        self._studio = studio
        self._until = time.monotonic() + seconds
        self.fitting = False
        self._threads = [
            threading.Thread(target=self._run, args=(f"person {n}", n / annotators)) for n in range(annotators)
        ]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Wait for all annotators, and look now and then whether a refit runs."""
        client = Client(self._studio.address, "watching")
        while any(thread.is_alive() for thread in self._threads):
            try:
                self.fitting = client.ask("GET", "/api/state")["worker"]["state"] == "fitting"
            except (OSError, http.client.HTTPException, RuntimeError):
                client = Client(self._studio.address, "watching")
            time.sleep(0.5)

    def _run(self, name: str, offset: float) -> None:
        time.sleep(offset)
        random = np.random.default_rng(abs(hash(name)) % 2**32)
        try:
            client = Client(self._studio.address, name)
            question = client.ask("GET", "/api/questions?number=1")["questions"][0]
            due = time.monotonic()
            while time.monotonic() < self._until:
                key = secrets.token_hex(12)
                relation = "same" if random.random() < 0.5 else "different"
                body = {"key": key, "first": question["first"], "second": question["second"], "relation": relation}
                began = time.perf_counter()
                answered = client.ask("POST", "/api/answers?number=1", body)
                seconds = time.perf_counter() - began
                self.acknowledged.append(Acknowledged(name, key, answered["receipt"]["event"], seconds, self.fitting))
                question = answered["next"]["questions"][0]
                due += 1
                time.sleep(max(due - time.monotonic(), 0))
        except (OSError, http.client.HTTPException, RuntimeError, IndexError) as error:
            self.failures.append(f"{name}: {type(error).__name__} {error}")


def held(studio: Studio) -> Counter[str]:
    """Return how often each key is in the log of a project that no server has open."""
    store = Store.open(studio.place)
    keys = Counter(event.key for event in store.events())
    store.close()
    return keys


def percentiles(seconds: list[float]) -> str:
    """Return the median, the 95th and the 99th percentile and the longest, in milliseconds."""
    if not seconds:
        return "none"
    found = [*np.percentile(seconds, (50, 95, 99)), max(seconds)]
    return (
        " / ".join(f"{1000 * value:.0f}" for value in found)
        + f" ms (50th / 95th / 99th percentile / longest of {len(seconds)})"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--store")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        studio = Studio(Path(place), asked.rows, asked.store)
        studio.start("--force")
        studio.wait("fit")
        load = Load(studio, asked.annotators, asked.seconds)
        load.join()
        state = Client(studio.address, "waiting").ask("GET", "/api/state")
        studio.stop()
        keys = held(studio)
        given = load.acknowledged
        print(
            f"{asked.rows} rows, {asked.annotators} annotators, {asked.seconds:.0f} s, {Path(studio.place.words).name}"
        )
        print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        print(f"answer and next question: {percentiles([one.seconds for one in given])}")
        print(f"  while a refit ran:      {percentiles([one.seconds for one in given if one.fitting])}")
        lost = sum(one.key not in keys for one in given)
        doubled = sum(number > 1 for number in keys.values())
        print(f"acknowledged {len(given)}, held {keys.total()}, lost {lost}, doubled {doubled}")
        print(f"refits {state['fit']}, failures {len(load.failures)} {load.failures[:2]}")


if __name__ == "__main__":
    main()
