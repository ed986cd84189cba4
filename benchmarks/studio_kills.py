"""The studio killed under load, again and again: what it acknowledged must be there after every restart.

    python benchmarks/studio_kills.py --kills 50
    python benchmarks/studio_kills.py --kills 50 --store postgresql://user@host/database

Fifty annotators answer once a second; the server gets SIGKILL at a random moment, the log is read and compared with
what was acknowledged, and the project is opened again.
"""

import argparse
import random
import tempfile
import time
from pathlib import Path

from sidelight.studio.ledger import Ledger
from sidelight.studio.store import Store
from studio_load import Load, Studio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--rows", type=int, default=300)
    parser.add_argument("--store")
    asked = parser.parse_args()
    moments = random.Random(0)
    acknowledged: set[tuple[str, str, int]] = set()
    lost = gaps = doubled = 0
    with tempfile.TemporaryDirectory() as place:
        studio = Studio(Path(place), asked.rows, asked.store)
        for kill in range(asked.kills):
            studio.start(*(["--resume"] if kill else ["--force"]))
            studio.wait("ready")
            load = Load(studio, asked.annotators, 1000)
            time.sleep(moments.uniform(0.2, 3.0))
            studio.kill()
            load.join()
            acknowledged |= {(one.annotator, one.key, one.event) for one in load.acknowledged}
            store = Store.open(studio.place)
            events = store.events()
            store.close()
            ledger = Ledger()
            for event in events:
                ledger.take(event)
            lost += len(acknowledged - {(event.annotator, event.key, event.number) for event in events})
            gaps += [event.number for event in events] != list(range(1, len(events) + 1))
            doubled += len(events) - len({event.key for event in events})
            print(f"kill {kill + 1}: {len(events)} events, {len(acknowledged)} acknowledged, lost {lost}", flush=True)
        print(
            f"{asked.kills} kills, {len(acknowledged)} acknowledged answers: {lost} lost, {doubled} doubled, "
            f"{gaps} logs with a gap; every restart opened the project"
        )


if __name__ == "__main__":
    main()
