"""Part of ``large.py``: a fit on a Dask cluster whose client is killed at random moments."""

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from large_table import COLUMNS, model, rows_of_part

_ROWS, _PARTITIONS, _PASSES = 200_000, 5, 60
# Passes that a client may take at most before it is killed, and seconds into the next one.
_MOST_PASSES, _LONGEST = 5, 0.1


def fit_as_client(asked: argparse.Namespace) -> None:
    """Fit on the cluster at an address, with a checkpoint, and print a checksum of means and labels."""
    import dask.array as da
    from distributed import Client

    with Client(asked.address):
        table = da.from_array(rows_of_part(0, _ROWS), chunks=(_ROWS // _PARTITIONS, COLUMNS))
        fitted = model(None, _PASSES, covariances="full").set_params(callbacks=None).fit(table, checkpoint=asked.path)
        print(hashlib.sha256(fitted.means_.tobytes() + np.asarray(fitted.labels_).tobytes()).hexdigest())


def kills(asked: argparse.Namespace) -> None:
    """Kill the client of a fit again and again, and compare the end with that of a fit that was left alone."""
    from distributed import LocalCluster

    random = np.random.default_rng(0)
    with (
        LocalCluster(n_workers=asked.workers, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as local,
        tempfile.TemporaryDirectory() as folder,
    ):

        def client(checkpoint: Path) -> subprocess.Popen[str]:
            command = [sys.executable, str(Path(__file__).with_name("large.py")), "client", str(checkpoint)]
            command += ["--address", local.scheduler_address]
            return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

        expected, _ = client(Path(folder, "left alone")).communicate()
        killed, passes = Path(folder, "killed"), [0]
        for _ in range(asked.kills):
            process, wanted = client(killed), passes[-1] + random.integers(_MOST_PASSES + 1)
            while n_passes(killed) < wanted and process.poll() is None:
                time.sleep(0.002)
            time.sleep(random.uniform(0, _LONGEST))
            process.kill()
            process.wait()
            passes.append(n_passes(killed))
        found, _ = client(killed).communicate()
    print(f"{asked.kills} clients killed, after passes {' '.join(map(str, passes[1:]))} of {_PASSES}")
    print(f"the last one ends with the same bytes: {bool(expected) and found == expected}")


def n_passes(checkpoint: Path) -> int:
    """Return the number of passes that a checkpoint has."""
    return len(list(checkpoint.glob("pass-*")))
