"""schemathesis against the OpenAPI description of a running server: no request makes it fail or answer otherwise."""

import os
import subprocess
import sys
from pathlib import Path

from serving import SOURCE, Client


def test_schemathesis_finds_nothing(server):
    Client(server, "waiting").wait(lambda state: state["fit"] >= 1)
    program = Path(sys.executable).with_name("schemathesis")
    command = [str(program), "run", f"{server.address}/openapi.json", "--header", "X-Annotator: fuzzer", "--no-color"]
    # The archive of a result takes seconds to make, and has a test of its own.
    command += ["--exclude-path", "/api/export/result.zip", "--max-examples", "4", "--seed", "1", "--phases"]
    command += ["examples,coverage,fuzzing", "--exclude-checks", "unsupported_method"]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
        cwd=server.folder,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert Client(server, "waiting").ask("/api/state")["worker"]["restarts"] == 0
