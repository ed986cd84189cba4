"""The process that fits: it takes jobs from the server, and sends back fits that are ready to be shown."""

import os
import threading
import time
import traceback
from multiprocessing.connection import Connection
from typing import NamedTuple

from sidelight._typing import FloatArray
from sidelight.studio.choosing import Prepared, opening
from sidelight.studio.fitting import Fit, Job, refit
from sidelight.studio.identity import Identity
from sidelight.studio.table import StudioTable

_NICE = 10
_OPENING_QUESTIONS = 60


class Opening(NamedTuple):
    """Questions to begin with, before the first fit."""

    prepared: Prepared


class Failure(NamedTuple):
    """Why a fit failed; the process goes on."""

    reason: str


Message = Opening | Fit | Failure


class Start(NamedTuple):
    """What the process begins with; the identity and points are those of the last fit, where there is one."""

    parts: dict[str, bytes]
    identity: Identity
    points: FloatArray | None
    wants_opening: bool


def run(connection: Connection, start: Start) -> None:
    """Fit whenever a job arrives, until the server is gone."""
    threading.Thread(target=_end_with_server, args=(os.getppid(),), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICE)  # a refit never competes with an answer
    table = StudioTable.from_parts(start.parts)
    identity, points = start.identity, start.points
    if start.wants_opening:
        connection.send(Opening(opening(table.positions, table.side, _OPENING_QUESTIONS, table.settings.seed)))
    while True:
        try:
            job: Job = connection.recv()
        except (EOFError, OSError):
            return
        try:
            fit, _ = refit(table, job, identity, points)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            connection.send(Failure(f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})"))
            continue
        identity, points = fit.identity, fit.points
        connection.send(fit)


def _end_with_server(server: int) -> None:
    """End this process when its parent was killed."""
    while os.getppid() == server:
        time.sleep(1)
    os._exit(0)
