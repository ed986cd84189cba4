"""CPU time of a variational Bayes iteration compared with scikit-learn's, and the cost of labels and links.

All methods run in this process and take turns, with BLAS at one thread. The ratios are those of the smallest CPU times
of several repeats, because other load on the machine can only increase a time.

    python benchmarks/bayesian.py [passes|field] [--repeats N]
"""

import argparse
import time
import warnings
from functools import partial

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.mixture import BayesianGaussianMixture
from threadpoolctl import threadpool_limits

from sidelight.couplings.independent import Independent
from sidelight.couplings.potts import PottsField, atoms_of, lay_stages
from sidelight.families.conjugate import NormalWishart
from sidelight.inference.mixture import Mixture, MixtureState
from sidelight.kernels.loops import NUMPY, compiled
from sidelight.side import SideInformation
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import DirichletWeights, GivenConcentration, StickBreakingWeights

WANTED_RATIO = 8.0
WANTED_EXTRA = 0.25
# Strength of the labels, and the largest weight of a link.
STRENGTH = 100.0


def cpu_seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def least_times(functions, repeats):
    """Return the smallest CPU time of each function; they take turns, after a first call that does not count."""
    for function in functions:
        function()
    return np.min([[cpu_seconds(function) for function in functions] for _ in range(repeats)], axis=0)


def mixture_of(X, family, weights, backend, couplings=()):
    """Return a mixture on a table."""
    coupling = Independent(weights.classes, backend)
    return Mixture(Rows(ArrayTable(X)), family, weights, coupling, couplings, backend)


def passes(repeats):
    """Print the ratio per iteration, from the same posteriors on the same table."""
    n, d, k = 100_000, 10, 20
    X, _ = make_blobs(n, n_features=d, centers=k, random_state=0)
    family = NormalWishart.scaled(X.mean(axis=0), X.var(axis=0))
    print(f"{n} rows, {d} features, {k} components, full covariances; wanted: {WANTED_RATIO:g}")
    print("               weights  ours ms theirs ms  ratio  without numba")
    for kind, weights in (
        ("dirichlet_distribution", DirichletWeights(k, 1.0 / k)),
        ("dirichlet_process", StickBreakingWeights(k, GivenConcentration(1.0))),
    ):
        theirs = BayesianGaussianMixture(
            n_components=k, weight_concentration_prior_type=kind, max_iter=1, reg_covar=0.0, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs.fit(X[:2000])
        saved = theirs._get_parameters()

        def step_theirs(theirs=theirs, saved=saved):
            theirs._set_parameters(saved)
            _, log_responsibilities = theirs._e_step(X)
            theirs._m_step(X, log_responsibilities)

        mass = 2000 * theirs.weights_
        state = MixtureState(family.around(theirs.means_), weights.update(mass, mass, None))
        steps = [partial(mixture_of(X, family, weights, backend).step, state) for backend in (compiled(), NUMPY)]
        ours, plain, other = least_times([*steps, step_theirs], repeats)
        print(f"{kind:>22} {ours * 1e3:8.1f} {other * 1e3:9.1f} {other / ours:6.1f} {other / plain:14.1f}")


class Ascent:
    """E-steps at fixed parameters, each of which continues from the state of the one before."""

    def __init__(self, mixture, state):
        self.mixture, self.state = mixture, state

    def __call__(self):
        """Take one E-step."""
        expectation = self.mixture.expect(self.state)
        self.state = self.state._replace(couplings=tuple(part.state for part in expectation.coupled))


def linked(rng, group, n_links, rows):
    """Return links of confidence 0.9 between random pairs of these rows."""
    pairs = rng.choice(rows, size=(n_links, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = group[pairs[:, 0]] == group[pairs[:, 1]]
    return SideInformation.build(len(group), must_link=pairs[same], cannot_link=pairs[~same], confidence=0.9)


def field(repeats):
    """Print the time that labels and links add to a pass over unlabelled, unlinked rows."""
    n, d, k = 1_000_000, 8, 30
    rng = np.random.default_rng(0)
    group, centres = rng.integers(k, size=n), 3 * rng.normal(size=(k, d))
    X = rng.normal(size=(n, d)) + centres[group]
    labels = np.full(n, -1)
    labelled = rng.choice(n, n // 10, replace=False)
    labels[labelled] = group[labelled]
    sides = {
        "100 000 labelled rows": SideInformation.build(n, y=labels),
        "1 000 000 links between all rows": linked(rng, group, n, np.arange(n)),
        "1 000 000 links between 100 000 rows": linked(rng, group, n, labelled),
    }
    family = NormalWishart.scaled(X.mean(axis=0), X.var(axis=0), fraction=0.1)
    weights, mass = DirichletWeights(k, 1.0 / k), np.bincount(group, minlength=k)
    state = MixtureState(family.around(centres), weights.update(mass, mass, None))
    backend = compiled()
    ascents = [Ascent(mixture_of(X, family, weights, backend), state)]
    for side in sides.values():
        field = PottsField(lay_stages(atoms_of(side, certain=STRENGTH), None), STRENGTH, 1.0, backend)
        ascents.append(Ascent(mixture_of(X, family, weights, backend, (field,)), state))
    plain, *others = least_times(ascents, repeats)
    print(f"{n} rows, {d} features, {k} components: {plain * 1e3:.0f} ms; wanted: below {WANTED_EXTRA:+.0%}")
    for name, seconds in zip(sides, others, strict=True):
        print(f"{name:>37} {seconds * 1e3:6.0f} ms {seconds / plain - 1:+6.0%}")


PARTS = {"passes": passes, "field": field}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=list(PARTS), help="what to measure; everything by default")
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    for part in [arguments.part] if arguments.part else PARTS:
        print(f"== {part}")
        with threadpool_limits(1, user_api="blas"):
            PARTS[part](arguments.repeats)
