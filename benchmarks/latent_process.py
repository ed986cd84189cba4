"""CPU time and memory of a pass of latent process decomposition, compared with plain arrays.

    python benchmarks/latent_process.py [--shape N D K] [--plain-rows N]

For the quality of the clusters see ``sidelight reproduce li``.
"""

import argparse
import resource
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from scipy.special import digamma

from sidelight.admixture.decomposition import CellKernel, Decomposition, accumulate, kernel_for
from sidelight.admixture.m_step import FlatPrior
from sidelight.admixture.model import Parameters, State
from sidelight.admixture.scaling import survey_scaling
from sidelight.inference.executors.threads import one_blas_thread
from sidelight.tables.table import ArrayTable, Rows


def plain_pass(X: np.ndarray, alpha: np.ndarray, means: np.ndarray, variances: np.ndarray, gamma: np.ndarray) -> tuple:
    """Take an E-step and an M-step with the whole array Q (n, d, K), as in the equations."""
    expected = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
    x = X[:, :, None]
    scores = -0.5 * np.log(2 * np.pi * variances.T) - 0.5 * (x - means.T) ** 2 / variances.T + expected[:, None, :]
    top = scores.max(axis=2, keepdims=True)
    q = np.exp(scores - top)
    total = q.sum(axis=2, keepdims=True)
    q /= total
    evidence = (np.log(total) + top).sum()
    mass = q.sum(axis=0)
    new_means = (q * x).sum(axis=0) / mass
    new_variances = (q * (x - new_means) ** 2).sum(axis=0) / mass
    return alpha + q.sum(axis=1), new_means.T, new_variances.T, evidence


def problem(n: int, d: int, n_processes: int) -> tuple[np.ndarray, State]:
    """Return a table and a state to start the pass from."""
    random = np.random.RandomState(0)
    X = random.standard_normal((n, d))
    parameters = Parameters(
        np.ones(n_processes), random.standard_normal((n_processes, d)), random.uniform(0.5, 2, (n_processes, d))
    )
    return X, State(parameters, random.uniform(0.1, 50, (n, n_processes)))


def decomposition(X: np.ndarray, kernel: CellKernel) -> Decomposition:
    """Return the engine on a table."""
    rows = Rows(ArrayTable(X))
    return Decomposition(rows, np.arange(len(X)), survey_scaling(rows), FlatPrior(1e-4, float(len(X))), kernel)


def cpu(run: Callable[[], object], repeats: int = 5) -> float:
    """Return the smallest CPU seconds of several runs, after one that does not count."""
    run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def measure_pass(n: int, d: int, n_processes: int, n_plain: int) -> None:
    """Print the memory of a pass over all rows, and CPU times with plain arrays and in parts on the first few."""
    X, state = problem(n, d, n_processes)
    model = decomposition(X, kernel_for(10**12))
    decomposition(X[:100], model.kernel).step(State(state.parameters, state.gamma[:100]))  # loads the compiled form
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    start = time.process_time()
    model.step(state)
    seconds = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(
        f"{n} × {d}, {n_processes} processes ({X.nbytes / 1e6:.0f} MB of data): {seconds:.2f} s CPU, "
        f"{peak / 1e6:.0f} MB beyond the data at the peak (resident set grew by {grown / 1e3:.0f} MB)"
    )
    X, state = problem(n_plain, d, n_processes)
    plain = cpu(lambda: plain_pass(X, *state.parameters, state.gamma))
    print(f"{n_plain} × {d}, {n_processes} processes, one E + M pass, CPU seconds:")
    print(f"  plain arrays          {plain:7.3f}")
    for name, kernel in (("NumPy", accumulate), ("compiled", kernel_for(10**12))):
        model = decomposition(X, kernel)
        parts = cpu(lambda model=model: model.step(state))
        print(f"  parts, {name:<13}  {parts:7.3f}   {plain / parts:.1f}× less")


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", type=int, nargs=3, default=(20_000, 500, 20), metavar=("N", "D", "K"))
    parser.add_argument("--plain-rows", type=int, default=2000, help="rows for the plain arrays")
    arguments = parser.parse_args()
    with one_blas_thread():
        measure_pass(*arguments.shape, arguments.plain_rows)


if __name__ == "__main__":
    main()
