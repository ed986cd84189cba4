"""Serves a project until it is stopped."""

import secrets
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import uvicorn

from sidelight.side.annotations import Annotations
from sidelight.studio.api.app import create_app
from sidelight.studio.exports import Packer
from sidelight.studio.importing import imported_events
from sidelight.studio.security import Gate, is_loopback
from sidelight.studio.store import Place, Store, StoreError
from sidelight.studio.studio import Studio
from sidelight.studio.table import StudioTable

SECRET = "secret"


def create_project(
    place: Place, table: StudioTable, annotations: Annotations | None = None, *, replace: bool = False
) -> Store:
    """Create a project from a table, and from what annotators said before."""
    parts = {**table.parts(), SECRET: secrets.token_hex(32).encode()}
    events = [] if annotations is None else imported_events(annotations, time.time())
    return Store.create(place, parts, events, replace=replace)


def bind(host: str, port: int) -> socket.socket:
    """Take a port, any free one for 0; refuse one that is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With its protocol named, asyncio sends small answers at once; else each waits 40 ms for the browser's receipt.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(256)  # from now on, those who come early wait
    except OSError as error:
        listener.close()
        reason = (error.strerror or str(error)).lower()
        raise StoreError(f"{host}:{port} cannot be used ({reason}); choose another --port, or 0 for any.") from error
    return listener


class Links:
    """The addresses to print: the studio's, and one for each annotator where tokens are needed."""

    def __init__(self, gate: Gate, host: str, port: int, annotators: Sequence[str]) -> None:
        shown = f"[{host}]" if ":" in host else host
        self.address = f"http://{shown}:{port}/"
        self.owner = f"{self.address}#token={gate.owner_token()}" if gate.needs_token else self.address
        self.personal = {
            name: f"{self.address}#token={gate.personal_token(name)}&annotator={quote(name)}"
            for name in (annotators if gate.needs_token else ())
        }


def serve(
    store: Store,
    listener: socket.socket,
    host: str,
    packer: Packer,
    *,
    annotators: Sequence[str] = (),
    announce: Callable[[Links], None],
) -> None:
    """Serve an open project; returns when the server is stopped."""
    gate = Gate(store.part(SECRET) or b"", needs_token=not is_loopback(host))
    studio = Studio(store)
    try:
        app = create_app(studio, gate, packer, lambda path: store.copy_to(Path(path)))
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="off",
            timeout_graceful_shutdown=5,
            timeout_keep_alive=60,
        )
        studio.begin()
        announce(Links(gate, host, listener.getsockname()[1], annotators))
        with _stopped_by_signals():
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        studio.close()


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let the server end in peace: it raises the signal that stopped it once more, which would end the process."""
    before = {number: signal.signal(number, _stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except _StoppedError:
        return
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _StoppedError(BaseException):
    """A signal asked the server to end."""


def _stop(number: int, frame: object) -> None:
    raise _StoppedError
