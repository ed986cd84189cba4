"""CPU seconds until the command line answers, and until sidelight is imported.

    python benchmarks/startup.py [--repeats 5]

Each line is the least of some runs. Imports count beyond ``import sklearn``, which every user of sidelight waits for.
"""

import argparse
import os
import subprocess
import sys

COMMAND = "from sidelight.cli.main import main; main(prog_name='sidelight')"
SKLEARN = "import sklearn"
ESTIMATOR = "import sidelight; sidelight.BayesianMixture"


def seconds(program: str, *arguments: str, repeats: int) -> float:
    """Return the least CPU time of a Python program, its own and the system's."""
    taken = []
    for _ in range(repeats):
        before = os.times()
        subprocess.run([sys.executable, "-c", program, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        taken.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    sklearn = seconds(SKLEARN, repeats=repeats)
    measured = {
        "sidelight --help": (seconds(COMMAND, "--help", repeats=repeats), 0.5),
        "sidelight fit --help": (seconds(COMMAND, "fit", "--help", repeats=repeats), 0.5),
        "import sidelight": (seconds("import sidelight", repeats=repeats), 0.25),
        f"{ESTIMATOR}, beyond {SKLEARN}": (seconds(f"{SKLEARN}; {ESTIMATOR}", repeats=repeats) - sklearn, 0.25),
    }
    print(f"{SKLEARN}: {sklearn:.2f} s")
    for name, (taken, limit) in measured.items():
        print(f"{name}: {taken:.2f} s (at most {limit} s)")


if __name__ == "__main__":
    main()
