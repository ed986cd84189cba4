"""CPU seconds until the command line answers, and until sidelight is imported.

    python benchmarks/startup.py [--repeats 5]

Each line is the least of some runs. The import of an estimator counts beyond ``import sklearn``, which every user of
scikit-learn waits for.
"""

import argparse
import os
import subprocess
import sys

COMMAND = "from sidelight.cli.main import main; main(prog_name='sidelight')"
ESTIMATOR = """
import time, sklearn
began = time.process_time()
import sidelight
sidelight.BayesianMixture
print(time.process_time() - began)
"""


def whole_process(program: str, *arguments: str) -> float:
    """Return the CPU time of a Python program, its own and the system's."""
    before = os.times()
    subprocess.run([sys.executable, "-c", program, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def printed(program: str) -> float:
    """Return the number that a Python program prints."""
    return float(subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = range(parser.parse_args().repeats)
    measured = {
        "sidelight --help": (min(whole_process(COMMAND, "--help") for _ in repeats), 0.5),
        "sidelight fit --help": (min(whole_process(COMMAND, "fit", "--help") for _ in repeats), 0.5),
        "sidelight.BayesianMixture beyond import sklearn": (min(printed(ESTIMATOR) for _ in repeats), 0.25),
    }
    for name, (seconds, limit) in measured.items():
        print(f"{name}: {seconds:.2f} s (at most {limit} s)")


if __name__ == "__main__":
    main()
