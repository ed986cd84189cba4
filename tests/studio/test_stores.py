"""Projects in SQLite and in a real PostgreSQL: whole or not at all, one server at a time, every event once."""

import pytest
from postgres import Postgres, find_programs

from sidelight.studio.events import Answer, Event, Note
from sidelight.studio.store import Store, StoredFit, StoreError, database_place, file_place

PROGRAMS = find_programs()


def postgres_can_run():
    try:
        import pwd

        pwd.getpwnam("postgres")
    except (ImportError, KeyError):
        return False
    return PROGRAMS is not None


@pytest.fixture(scope="module")
def postgres():
    if not postgres_can_run():
        pytest.skip("PostgreSQL is not installed, so it was not tried (Debian: apt-get install postgresql)")
    with Postgres(PROGRAMS) as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    if request.param == "sqlite":
        return file_place(tmp_path / "a project's.studio")
    address = request.getfixturevalue("postgres").address
    return database_place(address, f"p_{abs(hash(request.node.name)) % 10**9}")


HOSTILE = "'; DROP TABLE events; -- <b>\u202e 金 🙂"


def test_what_is_written_is_read_again(place):
    store = Store.create(place, {"settings": b"x" * 100_000})
    events = [
        Event(1, "a" * 64, 1.5, HOSTILE, Answer(1, 2, "same")),
        Event(2, "b", 1794980852.123456, "ben", Note((1,), HOSTILE * 50)),
    ]
    store.append(events[:1])
    store.append(events[1:])
    store.add_fit(StoredFit(1, 2.0, "{}", b"one"))
    store.add_fit(StoredFit(2, 3.0, "{}", b"two"))
    store.close()
    again = Store.open(place)
    assert again.events() == events
    assert [fit.content for fit in again.fits()] == [None, b"two"]
    assert again.part("settings") == b"x" * 100_000
    assert again.part("nothing") is None
    again.close()


def test_a_key_is_taken_once_and_a_batch_whole_or_not(place):
    store = Store.create(place, {})
    store.append([Event(1, "a", 1.0, "ada", Answer(1, 2, "same"))])
    with pytest.raises(Exception, match="(?i)unique"):
        store.append([Event(2, "b", 1.0, "ada", Answer(1, 3, "same")), Event(3, "a", 1.0, "ada", Answer(1, 4, "same"))])
    assert [event.number for event in store.events()] == [1]
    store.close()


def test_one_server_at_a_time(place):
    store = Store.create(place, {})
    with pytest.raises(StoreError, match="open in another studio"):
        Store.open(place)
    store.close()
    Store.open(place).close()


def test_an_existing_project_is_replaced_only_on_demand(place):
    Store.create(place, {"settings": b"old"}).close()
    with pytest.raises(StoreError, match="--resume goes on with it"):
        Store.create(place, {"settings": b"new"})
    store = Store.create(place, {"settings": b"new"}, replace=True)
    assert store.part("settings") == b"new"
    store.close()


def test_a_copy_is_a_file_that_opens(place, tmp_path):
    store = Store.create(place, {"settings": b"s"})
    store.append([Event(1, "a", 1.0, "ada", Answer(1, 2, "same"))])
    store.copy_to(tmp_path / "copy.studio")
    copy = Store.open(file_place(tmp_path / "copy.studio"))
    assert copy.events() == store.events()
    assert copy.part("settings") == b"s"
    copy.close()
    store.close()


def test_what_is_not_a_project_is_refused(tmp_path):
    (tmp_path / "text.studio").write_text("id,age\n")
    for path, words in (
        (tmp_path / "text.studio", "is not a project"),
        (tmp_path / "none.studio", "there is no project"),
    ):
        with pytest.raises(StoreError, match=words):
            Store.open(file_place(path))
    for address, words in (("mysql://x/y", "takes postgresql"), ("no address", "is not an address")):
        with pytest.raises(StoreError, match=words):
            database_place(address, "project")
    with pytest.raises(StoreError, match="name of a schema"):
        database_place("postgresql://x/y", "a-b; drop")


def test_the_disk_is_waited_for(tmp_path):
    store = Store.create(file_place(tmp_path / "p.studio"), {})
    with store._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
    store.close()


def test_a_studio_runs_on_postgresql(postgres, tmp_path):
    from serving import Client, Server, write_table

    table = write_table(tmp_path / "things.csv", n=60)
    options = ["--store", postgres.address, "--project", "things"]
    with Server(table, "--id-column", "id", *options, folder=tmp_path) as server:
        client = Client(server, "Ada")
        client.answer_truly(12)
        client.wait(lambda state: state["fit"] >= 1)
        server.kill()
    with Server("--resume", *options, folder=tmp_path) as again:
        assert Client(again, "Ada").ask("/api/state")["n_answers"] == 12
