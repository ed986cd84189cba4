"""A real PostgreSQL server for tests, where its programs are installed."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def find_programs() -> Path | None:
    """Return the folder with PostgreSQL's programs, None where they are not installed."""
    on_path = shutil.which("initdb")
    if on_path:
        return Path(on_path).parent
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found else None


class Postgres:
    """A server with an empty data folder, reached by a socket in that folder; it is gone when the block ends."""

    def __init__(self, programs: Path) -> None:
        self._programs = programs
        # The path of a socket must be short.
        self._folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))
        self.address = f"postgresql+psycopg://tester@/postgres?host={self._folder}"

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), *arguments]
        # PostgreSQL refuses to run as root.
        user = {"user": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, cwd="/tmp", **user)

    def __enter__(self) -> "Postgres":
        if os.geteuid() == 0:
            import pwd

            account = pwd.getpwnam("postgres")
            os.chown(self._folder, account.pw_uid, account.pw_gid)
        data = str(self._folder / "data")
        self._run("initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-sync")
        options = f"-k {self._folder} -c listen_addresses=''"
        self._run("pg_ctl", "-D", data, "-o", options, "-l", str(self._folder / "log"), "-w", "start")
        return self

    def __exit__(self, *_: object) -> None:
        self._run("pg_ctl", "-D", str(self._folder / "data"), "-m", "immediate", "-w", "stop")
        shutil.rmtree(self._folder, ignore_errors=True)
