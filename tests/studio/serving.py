"""Real servers for tests: a small table, `sidelight studio` in a process of its own, and a client."""

import csv
import http.client
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).parents[2] / "src"


def write_table(path, n=90, *, seed=0, cells=None):
    """Write rows of three groups, with words in a text column; ``cells`` replace those of the column "words"."""
    random = np.random.default_rng(seed)
    group = np.arange(n) % 3
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "width", "height", "colour", "words"])
        for row in range(n):
            words = cells[row % len(cells)] if cells else f"remark {row} on {('a', 'b', 'c')[group[row]]}"
            writer.writerow(
                [
                    f"r{row:03d}",
                    round(float(random.normal((0, 6, 0)[group[row]])), 3),
                    round(float(random.normal((0, 0, 6)[group[row]])), 3),
                    ("red", "green", "blue")[group[row]] if random.random() < 0.9 else "red",
                    words,
                ]
            )
    return path


def group_of(row):
    return row % 3


class Server:
    """`sidelight studio` in a process of its own."""

    def __init__(self, *arguments, folder):
        self.log = folder / f"server-{secrets.token_hex(3)}.log"
        command = [sys.executable, "-m", "sidelight", "studio", *map(str, arguments), "--no-browser", "--port", "0"]
        environment = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment, text=True)
        line = self.process.stdout.readline()
        self.personal = {}
        while line and not line.startswith("http"):
            name, _, link = line.strip().partition(": ")
            self.personal[name] = link.partition("#token=")[2].partition("&")[0]
            line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.process.stdout.close()
            raise RuntimeError(self.log.read_text())
        self.link = line.strip()
        self.address = self.link.partition("#")[0].rstrip("/")
        self.token = self.link.partition("#token=")[2] or None

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body


class Client:
    """A program that answers over HTTP."""

    def __init__(self, server, name, token=None):
        self.address = server.address
        self.headers = {"X-Annotator": name, "Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"

    def ask(self, path, body=None, *, raw=False, headers=None):
        request = urllib.request.Request(
            self.address + path,
            data=None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode(),
            headers={**self.headers, **(headers or {})},
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                content = response.read()
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(error.code, error.read().decode()) from None
        return content if raw else json.loads(content)

    def wait(self, condition, seconds=120):
        """Wait until a condition on the state holds, and return the state."""
        until = time.monotonic() + seconds
        while True:
            state = self.ask("/api/state")
            if condition(state):
                return state
            assert time.monotonic() < until, state
            time.sleep(0.1)

    def question(self):
        self.wait(lambda state: state["ready"])
        return self.ask("/api/questions?number=1")["questions"][0]

    def answer(self, question, relation, key=None):
        body = {"key": key or secrets.token_hex(8), "first": question["first"], "second": question["second"]}
        return self.ask("/api/answers", {**body, "relation": relation, "purpose": question["purpose"]})

    def answer_truly(self, number):
        question = self.question()
        for _ in range(number):
            same = group_of(question["first"]) == group_of(question["second"])
            following = self.answer(question, "same" if same else "different")["next"]["questions"]
            if not following:
                return
            question = following[0]


class Annotators:
    """Threads that answer until they are stopped; they keep what was acknowledged, and the keys that were sent."""

    def __init__(self, server, number, pause):
        self.acknowledged, self.sent = [], []
        self._server, self._pause = server, pause
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(f"person {n}",), daemon=True) for n in range(number)]
        for thread in self._threads:
            thread.start()

    def _run(self, name):
        client = Client(self._server, name)
        try:
            question = client.question()
            while not self._stop.is_set():
                key = secrets.token_hex(8)
                self.sent.append((name, key))
                answered = client.answer(question, "same", key)
                self.acknowledged.append((name, key, answered["receipt"]["event"]))
                questions = answered["next"]["questions"]
                if not questions:
                    return
                question = questions[0]
                self._stop.wait(self._pause)
        except (OSError, http.client.HTTPException, Refused, ValueError):
            return  # the server was killed

    def join(self):
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=60)
