"""CPU time per EM iteration and of whole fits, compared with scikit-learn's GaussianMixture.

Both run in this process and take turns, with BLAS at one thread; the ratios are those of median CPU times. The flop
limit is the time of 4 n K p floating-point operations (p = (d+1)(d+2)/2 features, two matrix products) at the measured
speed of a large matrix product. The triangular form of many columns takes half of these, and less where rows belong to
one component only, so that the fraction may be above one.

    python benchmarks/passes.py [passes|fit|memory|import|threads] [--repeats N]
"""

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from sidelight import LabelledMixture
from sidelight.couplings.independent import Independent
from sidelight.estimators.base.likelihood_gaussians import COVARIANCE_TYPES
from sidelight.families.gaussian import CovariancePrior
from sidelight.inference.executors.threads import Threads
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.kernels.loops import NUMPY, compiled
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import MaximumLikelihoodWeights

# rows, features, components, covariance type, the smallest ratio we want
SIZES = [
    (100_000, 10, 20, "full", 8.0),
    (200_000, 8, 30, "full", 15.0),
    (200_000, 2, 50, "full", 20.0),
    (10_000, 64, 10, "full", 1.8),
    (4_000, 200, 10, "full", 1.8),
    (100_000, 10, 20, "tied", 6.0),
    (100_000, 10, 20, "diag", None),
    (100_000, 10, 20, "spherical", None),
]


def cpu_seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def matrix_product_speed():
    """Return the flops per second of a large matrix product."""
    a = np.random.default_rng(0).normal(size=(1200, 1200))
    return 2 * 1200**3 / min(cpu_seconds(lambda: a @ a) for _ in range(7))


def one_step_each(n, d, k, covariance_type, backend):
    """Return two functions that take one EM step each, from the same parameters on the same table."""
    X, _ = make_blobs(n, n_features=d, centers=k, random_state=0)
    theirs = GaussianMixture(k, covariance_type=covariance_type, max_iter=1, reg_covar=0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(X[: max(2000, 20 * d)])
    saved = theirs._get_parameters()

    def step_theirs():
        theirs._set_parameters(saved)
        _, log_resp = theirs._e_step(X)
        theirs._m_step(X, log_resp)

    prior = CovariancePrior.scaled(X.var(axis=0), rows=0.0, fraction=0.0)
    family = COVARIANCE_TYPES[covariance_type](X.mean(axis=0), prior)
    components = np.arange(k)
    weights, coupling = MaximumLikelihoodWeights(components), Independent(components, backend)
    mixture = Mixture(Rows(ArrayTable(X)), family, weights, coupling, (), backend)
    state = MixtureState(family.parameters(theirs.means_, theirs.covariances_), np.log(theirs.weights_))
    return lambda: mixture.step(state), step_theirs


def passes(repeats):
    """Print the ratio per EM iteration."""
    speed = matrix_product_speed()
    print(f"large matrix product: {speed / 1e9:.0f} Gflop/s\n")
    print("       n    d   K       type  ours ms theirs ms  ratio wanted of flop limit")
    for n, d, k, covariance_type, wanted in SIZES:
        ours, theirs = one_step_each(n, d, k, covariance_type, compiled())
        plain, _ = one_step_each(n, d, k, covariance_type, NUMPY)
        for step in (ours, theirs, plain):
            step()
        times = np.array([[cpu_seconds(ours), cpu_seconds(theirs), cpu_seconds(plain)] for _ in range(repeats)])
        mine, other, numpy_only = np.median(times, axis=0)
        limit = 4 * n * k * (d + 1) * (d + 2) / 2 / speed
        fraction = f"{limit / mine:13.2f}" if covariance_type == "full" else f"{'':13}"
        print(
            f"{n:8} {d:4} {k:3} {covariance_type:>10} {mine * 1e3:8.1f} {other * 1e3:9.1f} {other / mine:6.1f} "
            f"{'' if wanted is None else wanted:>6} {fraction}  (without numba {other / numpy_only:.1f})"
        )


def whole_fits(repeats):
    """Print score and CPU time of default fits, for three seeds."""
    del repeats
    print(f"loading the compiled loops, once per process: {cpu_seconds(compiled):.2f} s")
    print(f"{'seed':>4} {'ours s':>7} {'theirs s':>8} {'time':>6} {'ours nats/row':>14} {'theirs':>10}")
    for seed in range(3):
        rng = np.random.default_rng(seed)
        centres = rng.normal(size=(20, 10)) * 2
        scales = rng.uniform(0.5, 1.5, size=(20, 10))
        own = rng.integers(20, size=100_000)
        X = centres[own] + rng.normal(size=(100_000, 10)) * scales[own]
        ours = LabelledMixture(20, covariance_type="full", random_state=seed)
        theirs = GaussianMixture(20, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mine, other = cpu_seconds(partial(ours.fit, X)), cpu_seconds(partial(theirs.fit, X))
        print(f"{seed:4} {mine:7.2f} {other:8.2f} {other / mine:5.1f}x {ours.score(X):14.5f} {theirs.score(X):10.5f}")


def threads(repeats):
    """Print the elapsed time of an EM step with one thread and with two."""
    n, d, k = 1_000_000, 8, 30
    X, _ = make_blobs(n, n_features=d, centers=k, random_state=0)
    prior = CovariancePrior.scaled(X.var(axis=0), rows=1.0, fraction=0.02)
    family = COVARIANCE_TYPES["full"](X.mean(axis=0), prior)
    components = np.arange(k)
    state = MixtureState(family.around(X[:k]), np.full(k, -np.log(k)))
    coupling, weights = Independent(components, compiled()), MaximumLikelihoodWeights(components)
    mixtures = {
        n_threads: Mixture(Rows(ArrayTable(X)), family, weights, coupling, (), compiled(), Threads(n_threads))
        for n_threads in (1, 2)
    }
    for mixture in mixtures.values():
        mixture.step(state)  # does not count: it loads the compiled loops
    evidence = {n_threads: mixture.expect(state).evidence for n_threads, mixture in mixtures.items()}
    elapsed = {1: [], 2: []}
    for _ in range(repeats):
        for n_threads, mixture in mixtures.items():
            start = time.perf_counter()
            mixture.step(state)
            elapsed[n_threads].append(time.perf_counter() - start)
    one, two = (np.median(elapsed[n_threads]) for n_threads in (1, 2))
    print(
        f"a step at ({n}, {d}, {k}) takes {one * 1e3:.0f} ms with one thread, {two * 1e3:.0f} with two: "
        f"{two / one:.2f} of the time (at most .55); the evidence is "
        f"{'the same' if evidence[1] == evidence[2] else 'another'}"
    )


MEMORY_PROGRAM = """
import sys, resource, threading, time, warnings
import numpy as np
from sidelight import LabelledMixture
def status(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return int(line.split()[1]) / 1024
X = np.load(sys.argv[1], mmap_mode="r")
X = np.random.default_rng(0).normal(size=(30000, 8))
LabelledMixture(3, covariance_type="full", random_state=0, max_iter=2).fit(X)
before, peak, done = status("VmRSS"), 0.0, False
def watch():
    global peak
    while not done:
        peak = max(peak, status("VmRSS"))
        time.sleep(0.02)
watcher = threading.Thread(target=watch); watcher.start()
warnings.simplefilter("ignore")
model = LabelledMixture(8, covariance_type="full", random_state=0, max_iter=5).fit(X)
done = True; watcher.join()
print(f"{len(X)} x {X.shape[1]} mapped ({X.nbytes / 2**20:.0f} MiB): {before:.0f} MiB before, peak {peak:.0f} MiB, "
      f"added {peak - before:.0f} MiB, labels_ of {model.labels_.nbytes / 2**20:.0f} MiB included")
"""


def memory(repeats):
    """Print the memory that a fit of a mapped table of 10 000 000 rows adds, resident file pages included."""
    del repeats
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.npy"
        table = np.lib.format.open_memmap(path, mode="w+", dtype=float, shape=(10_000_000, 8))
        rng = np.random.default_rng(0)
        centres = rng.normal(size=(8, 8)) * 4
        for start in range(0, len(table), 500_000):
            table[start : start + 500_000] = centres[rng.integers(8, size=500_000)] + rng.normal(size=(500_000, 8))
        table.flush()
        del table
        subprocess.run([sys.executable, "-c", MEMORY_PROGRAM, str(path)], check=True)


def imports(repeats):
    """Print the time that importing sidelight adds to importing scikit-learn's mixtures."""
    program = (
        "import time, sklearn.mixture, sklearn.cluster, sklearn.metrics; "
        "start = time.process_time(); import sidelight; print(time.process_time() - start)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
        for _ in range(repeats)
    ]
    print(f"import sidelight adds {np.median(times):.3f} s of CPU to importing scikit-learn")


PARTS = {"passes": passes, "fit": whole_fits, "threads": threads, "memory": memory, "import": imports}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=list(PARTS), help="what to measure; everything by default")
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    for part in [arguments.part] if arguments.part else PARTS:
        print(f"== {part}")
        with threadpool_limits(1, user_api="blas"):
            PARTS[part](arguments.repeats)
