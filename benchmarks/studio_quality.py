"""Sixty answers through the studio's interface against sixty through ``sidelight ask``, on the example and real tables.

    SIDELIGHT_DATA=folder python benchmarks/studio_quality.py --tables example thyroid ecoli --seeds 0 1

Answers come from the truth. ``ask`` goes in rounds: fit, twenty questions, fit with the answers, three times. The
studio is answered one question at a time, and the annotator waits for a refit after every ten answers, as a person who
takes some seconds for each does. Both ways end with a fit of all sixty answers; the score is the adjusted Rand index.
"""

import argparse
import csv
import gzip
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from studio_load import Client

_ANSWERS = 60


def sidelight(*arguments: object, folder: Path) -> None:
    command = [sys.executable, "-m", "sidelight", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)


def write_table(name: str, folder: Path, seed: int, rows: int) -> dict[str, str]:
    """Write table.csv with ids and without the truth, and truth.csv; return the truth by id."""
    if name == "example":
        sidelight("example", "--rows", rows, "--seed", seed, "--quiet", folder=folder)
        with (folder / "customers.csv").open(newline="") as file:
            header, *body = list(csv.reader(file))
        header, body = header[:-1], [row[:-1] for row in body]
        with (folder / "truth.csv").open(newline="") as file:
            truth = {row["id"]: row["segment"] for row in csv.DictReader(file)}
        truth = {row[0]: truth[row[0]] for row in body}
    else:
        with gzip.open(Path(os.environ["SIDELIGHT_DATA"]) / f"{name}.csv.gz", "rt") as file:
            header, *body = list(csv.reader(file))
        chosen = np.random.default_rng(seed).permutation(len(body))[:rows]
        truth = {f"r{row}": body[row][-1] for row in chosen}
        header, body = ["id", *header[:-1]], [[f"r{row}", *body[row][:-1]] for row in chosen]
    with (folder / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *body])
    with (folder / "truth.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "truth"], *truth.items()])
    return truth


def score(path: Path, truth: dict[str, str]) -> float:
    with path.open(newline="") as file:
        found = {row["id"]: row["cluster"] for row in csv.DictReader(file)}
    return float(adjusted_rand_score([truth[name] for name in found], list(found.values())))


def by_asking(folder: Path, truth: dict[str, str], seed: int) -> float:
    """Return the score after three rounds of twenty answers."""
    links: list[object] = []
    for turn in range(4):
        fit = [
            "fit",
            "table.csv",
            "--id-column",
            "id",
            *links,
            "-o",
            "result",
            "--force",
            "--no-report",
            "--seed",
            seed,
        ]
        sidelight(*fit, "--quiet", folder=folder)
        if turn == 3:
            return score(folder / "result" / "clusters.csv", truth)
        answers = f"answers{turn}.csv"
        number = _ANSWERS // 3
        sidelight(
            "ask", "result", "-n", number, "--answers-from", "truth.csv", "-o", answers, "--seed", seed, folder=folder
        )
        links += ["--links", answers]
    raise AssertionError


def by_studio(folder: Path, truth: dict[str, str], seed: int) -> float:
    """Return the score after sixty answers through the interface."""
    command = [
        sys.executable,
        "-m",
        "sidelight",
        "studio",
        "table.csv",
        "--id-column",
        "id",
        "--no-browser",
        "--port",
        "0",
    ]
    server = subprocess.Popen(
        [*command, "--quiet", "--seed", str(seed)],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdout is not None
    client = Client(server.stdout.readline().strip().split("/")[2], "expert")

    def settle() -> None:
        """Wait until a fit knows every answer."""
        while not (state := client.ask("GET", "/api/state"))["fit"] or state["learnt"] < state["event"]:
            time.sleep(0.3)

    settle()
    for number in range(1, _ANSWERS + 1):
        question = client.ask("GET", "/api/questions?number=1")["questions"][0]
        same = truth[question["id_a"]] == truth[question["id_b"]]
        body = {"key": secrets.token_hex(8), "relation": "same" if same else "different"}
        body |= {name: question[name] for name in ("first", "second", "purpose")}
        client.ask("POST", "/api/answers?number=0", body)
        if number % 10 == 0:
            settle()
    client._connection.request("GET", "/api/export/clusters.csv", headers=client._headers)
    (folder / "studio.csv").write_bytes(client._connection.getresponse().read())
    server.terminate()
    server.wait()
    return score(folder / "studio.csv", truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=["example", "thyroid", "ecoli"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--rows", type=int, default=1000)
    asked = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {}
    for name in asked.tables:
        for seed in asked.seeds:
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                truth = write_table(name, folder, seed, asked.rows)
                scores = by_asking(folder, truth, seed), by_studio(folder, truth, seed)
            found.setdefault(name, []).append(scores)
            print(json.dumps({"table": name, "seed": seed, "ask": scores[0], "studio": scores[1]}), flush=True)
    for name, scores in found.items():
        ask, studio = np.array(scores).T
        print(f"{name}: ask {ask.mean():.3f} ± {ask.std():.3f}, studio {studio.mean():.3f} ± {studio.std():.3f}")


if __name__ == "__main__":
    main()
