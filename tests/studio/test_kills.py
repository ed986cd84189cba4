"""A server that is killed under load: what it acknowledged is there, and the project opens."""

import random
import time
from collections import Counter

from serving import Annotators, Client, Server, write_table

from sidelight.studio.store import Store, file_place

KILLS = 4


def test_every_acknowledged_answer_survives_a_kill(tmp_path):
    table = write_table(tmp_path / "things.csv", n=300)
    project = tmp_path / "things.studio"
    moments, acknowledged, sent = random.Random(0), set(), Counter()
    for kill in range(KILLS):
        server = Server(table, "--id-column", "id", *(["--resume"] if kill else []), folder=tmp_path)
        Client(server, "waiting").wait(lambda state: state["ready"])
        people = Annotators(server, 6, pause=0.02)
        time.sleep(moments.uniform(0.3, 1.5))
        server.kill()
        people.join()
        acknowledged |= {(name, key, event) for name, key, event in people.acknowledged}
        sent.update(key for _, key in people.sent)
        store = Store.open(file_place(project))
        events = store.events()
        store.close()
        # Numbers without a gap: nothing is half-written; every key once: nothing is doubled; nothing that was not sent.
        assert [event.number for event in events] == list(range(1, len(events) + 1))
        assert len({event.key for event in events}) == len(events)
        assert {event.key for event in events} <= set(sent)
        assert acknowledged <= {(event.annotator, event.key, event.number) for event in events}
    assert len(acknowledged) > 20
