"""Where a project is kept: a SQLite file, or a schema of a PostgreSQL database.

Events are appended and never changed. An event is acknowledged after its transaction is on the disk: SQLite writes a
log ahead (WAL) and waits for it (synchronous=FULL), PostgreSQL commits.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from sidelight.studio.events import Event, read, written

FORMAT = 1
_SQLITE = b"SQLite format 3\x00"
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_METADATA = sa.MetaData()
_EVENTS = sa.Table(
    "events",
    _METADATA,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("key", sa.String(64), nullable=False, unique=True),
    sa.Column("made", sa.Float(53), nullable=False),
    sa.Column("annotator", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("payload", sa.Text, nullable=False),
)
_PARTS = sa.Table(
    "parts",
    _METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
_FITS = sa.Table(
    "fits",
    _METADATA,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("made", sa.Float(53), nullable=False),
    sa.Column("summary", sa.Text, nullable=False),
    # Of the last fit only; earlier ones keep their summary.
    sa.Column("content", sa.LargeBinary, nullable=True),
)


class StoreError(ValueError):
    """A project that cannot be opened or created; the message says why, and what to do."""


class StoredFit(NamedTuple):
    """A fit: its number, when it was made, its summary as JSON, and its arrays (None for all but the last)."""

    number: int
    made: float
    summary: str
    content: bytes | None


class Place(NamedTuple):
    """Where a project is: a file, or a database and a schema in it."""

    url: str
    schema: str | None
    path: Path | None

    @property
    def words(self) -> str:
        """The place for people, without a password."""
        if self.path is not None:
            return str(self.path)
        return f"schema {self.schema} of {sa.make_url(self.url).render_as_string(hide_password=True)}"


def file_place(path: Path) -> Place:
    """Return the place of a project in a file."""
    return Place(sa.URL.create("sqlite", database=str(path)).render_as_string(hide_password=False), None, path)


def database_place(address: str, schema: str) -> Place:
    """Return the place of a project in a PostgreSQL database; ``address`` is a URL as psql takes it."""
    try:
        url = sa.make_url(address)
    except sa.exc.ArgumentError:
        raise StoreError(f"--store {address!r} is not an address; write postgresql://user@host/database.") from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise StoreError(f"--store takes postgresql://…, not {url.drivername}://; leave it out for a SQLite file.")
    if not _SCHEMA_NAME.fullmatch(schema) or schema.startswith("pg_"):
        raise StoreError(
            f"--project {schema!r} cannot be the name of a schema; use at most 63 small letters, digits and _."
        )
    return Place(url.set(drivername="postgresql+psycopg").render_as_string(hide_password=False), schema, None)


class Store:
    """An open project. One server may have it open at a time; its lock ends with the process."""

    def __init__(self, place: Place, engine: sa.Engine, lock: "_FileLock | sa.Connection") -> None:
        self.place = place
        self._engine = engine
        self._lock = lock

    # --- opening and closing -----------------------------------------------------------------------------------------

    @classmethod
    def create(
        cls, place: Place, parts: dict[str, bytes], events: Sequence[Event] = (), *, replace: bool = False
    ) -> "Store":
        """Create a project that holds some parts and events; it is there whole or not at all."""
        if place.path is None:
            return cls._create_schema(place, parts, events, replace=replace)
        if place.path.exists() and not replace:
            raise StoreError(f"{place.words} exists; --resume goes on with it, --force replaces it.")
        lock = _FileLock(place.path)
        partial = place.path.with_name(f".{place.path.name}.partial")
        for left in (partial, *_beside(partial)):
            left.unlink(missing_ok=True)
        engine = _engine(file_place(partial))
        with engine.begin() as connection:
            _METADATA.create_all(connection)
            _insert_parts(connection, parts)
            _insert_events(connection, events)
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        engine.dispose()
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        for left in _beside(place.path):
            left.unlink(missing_ok=True)
        partial.replace(place.path)
        return cls(place, _engine(place), lock)

    @classmethod
    def _create_schema(
        cls, place: Place, parts: dict[str, bytes], events: Sequence[Event], *, replace: bool
    ) -> "Store":
        engine = _engine(place)
        with _database_errors(place, engine):
            lock = _database_lock(engine, place)
            with _given_up_on_error(lock), engine.begin() as connection:
                if sa.inspect(connection).has_schema(str(place.schema)):
                    if not replace:
                        raise StoreError(f"{place.words} exists; --resume goes on with it, --force replaces it.")
                    if not sa.inspect(connection).has_table("parts", schema=place.schema):
                        raise StoreError(f"{place.words} holds something else; choose another --project.")
                    connection.execute(sa.schema.DropSchema(str(place.schema), cascade=True))
                connection.execute(sa.schema.CreateSchema(str(place.schema)))
                _METADATA.create_all(connection)
                _insert_parts(connection, parts)
                _insert_events(connection, events)
        return cls(place, engine, lock)

    @classmethod
    def open(cls, place: Place) -> "Store":
        """Open a project that was created before."""
        if place.path is not None and not place.path.is_file():
            raise StoreError(f"there is no project {place.words}; leave --resume out to start one.")
        if place.path is not None:
            with place.path.open("rb") as file:
                if file.read(len(_SQLITE)) != _SQLITE:
                    raise StoreError(f"{place.words} is not a project of the studio.")
        engine = _engine(place)
        with _database_errors(place, engine):
            lock = _database_lock(engine, place) if place.path is None else _FileLock(place.path)
            with _given_up_on_error(lock), engine.connect() as connection:
                if not sa.inspect(connection).has_table("parts", schema=place.schema):
                    raise StoreError(f"{place.words} holds no project of the studio; leave --resume out to start one.")
        store = cls(place, engine, lock)
        found = int(store.part("format") or b"0")
        if found != FORMAT:
            raise StoreError(f"{place.words} has format {found}, and this sidelight reads format {FORMAT}.")
        return store

    def close(self) -> None:
        """Close the project; a SQLite file is then complete without files beside it."""
        if self.place.path is not None:
            with self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        self._lock.close()
        self._engine.dispose()

    # --- reading and writing -----------------------------------------------------------------------------------------

    def part(self, name: str) -> bytes | None:
        """Return a part of the project, None where there is none of this name."""
        with self._engine.connect() as connection:
            return connection.execute(sa.select(_PARTS.c.content).where(_PARTS.c.name == name)).scalar_one_or_none()

    def append(self, events: Sequence[Event]) -> None:
        """Write events in one transaction; when this returns, they are on the disk."""
        with self._engine.begin() as connection:
            _insert_events(connection, events)

    def events(self) -> list[Event]:
        """Return the whole log, in order."""
        with self._engine.connect() as connection:
            rows = connection.execute(sa.select(_EVENTS).order_by(_EVENTS.c.number)).all()
        return [Event(row.number, row.key, row.made, row.annotator, read(row.kind, row.payload)) for row in rows]

    def add_fit(self, fit: StoredFit) -> None:
        """Write a fit; the arrays of earlier ones are no longer needed."""
        with self._engine.begin() as connection:
            connection.execute(_FITS.update().values(content=None))
            connection.execute(_FITS.insert().values(**fit._asdict()))

    def fits(self) -> list[StoredFit]:
        """Return all fits, in order."""
        with self._engine.connect() as connection:
            return [StoredFit(*row) for row in connection.execute(sa.select(_FITS).order_by(_FITS.c.number)).all()]

    def copy_to(self, path: Path) -> None:
        """Write the project to a new SQLite file, while it is in use."""
        if self.place.path is not None:
            with self._engine.connect() as connection:
                connection.exec_driver_sql("VACUUM INTO ?", (str(path),))
            return
        engine = _engine(file_place(path))
        with self._engine.connect() as source, engine.begin() as target:
            _METADATA.create_all(target)
            for table in _METADATA.sorted_tables:
                rows = [dict(row._mapping) for row in source.execute(sa.select(table))]
                if rows:
                    target.execute(table.insert(), rows)
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        engine.dispose()


def _insert_parts(connection: sa.Connection, parts: dict[str, bytes]) -> None:
    every = {**parts, "format": str(FORMAT).encode()}
    connection.execute(_PARTS.insert(), [{"name": name, "content": content} for name, content in every.items()])


def _insert_events(connection: sa.Connection, events: Sequence[Event]) -> None:
    rows = [
        {
            "number": event.number,
            "key": event.key,
            "made": event.made,
            "annotator": event.annotator,
            "kind": event.action.kind,
            "payload": written(event.action),
        }
        for event in events
    ]
    if rows:
        connection.execute(_EVENTS.insert(), rows)


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + ending) for ending in ("-wal", "-shm", "-journal")]


def _engine(place: Place) -> sa.Engine:
    if place.path is None:
        engine = sa.create_engine(place.url, pool_size=5, connect_args={"connect_timeout": 10})
        return engine.execution_options(schema_translate_map={None: place.schema})
    engine = sa.create_engine(place.url, connect_args={"timeout": 30})
    sa.event.listen(engine, "connect", _wait_for_the_disk)
    return engine


def _wait_for_the_disk(connection: Any, _: Any) -> None:
    """Set a SQLite connection so that what is acknowledged survives a loss of power."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


@contextmanager
def _database_errors(place: Place, engine: sa.Engine) -> Iterator[None]:
    """Say what a database refuses in one sentence, and leave no connection open."""
    try:
        yield
    except StoreError:
        engine.dispose()
        raise
    except DBAPIError as error:
        engine.dispose()
        reason = " ".join(str(error.orig).split())
        raise StoreError(f"{place.words} cannot be opened ({reason}); check the address and its rights.") from error


@contextmanager
def _given_up_on_error(lock: "_FileLock | sa.Connection") -> Iterator[None]:
    """Give a lock up where a project cannot be opened."""
    try:
        yield
    except BaseException:
        lock.close()
        raise


def _database_lock(engine: sa.Engine, place: Place) -> sa.Connection:
    """Take a lock that the database gives up when the connection ends."""
    connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    name = sa.func.hashtextextended(f"sidelight studio {place.schema}", 0)
    if not connection.execute(sa.select(sa.func.pg_try_advisory_lock(name))).scalar_one():
        connection.close()
        raise StoreError(f"{place.words} is open in another studio; use that one, or stop it first.")
    return connection


class _FileLock:
    """A lock on a file beside the project, which the system gives up when the process ends."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f".{path.name}.lock")
        self._file: IO[bytes] = self._path.open("ab")
        if not _locked(self._file):
            self._file.close()
            raise StoreError(f"{path} is open in another studio; use that one, or stop it first.")

    def close(self) -> None:
        """Give the lock up."""
        self._path.unlink(missing_ok=True)
        self._file.close()


def _locked(file: IO[bytes]) -> bool:
    """Lock a file, and say whether that was possible; where the system has no such locks, say so too."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
