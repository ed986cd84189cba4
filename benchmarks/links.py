"""CPU time of the E-step on linked rows, and of inference on large link graphs.

All runs are in this process, with the compiled loops and BLAS at one thread. Where a ratio is printed, the runs take
turns and the smallest CPU time of each counts.

    python benchmarks/links.py [pairs|random|graphs] [--repeats N] [--links 1000000]
"""

import argparse
import resource
import time
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from sidelight.couplings.independent import Independent
from sidelight.couplings.link_graph import LinkProblem, infer, link_graphs, linked_rows, most_probable, plan
from sidelight.families.gaussian import CovariancePrior, FullGaussian
from sidelight.inference.executors.threads import ONE_THREAD
from sidelight.inference.mixture import CoupledRows, Mixture, MixtureState
from sidelight.kernels.loops import compiled
from sidelight.side import SideInformation
from sidelight.tables.table import ArrayTable, Rows
from sidelight.weights import MaximumLikelihoodWeights

N_LINKS, N_ROWS, N_FEATURES, N_CLASSES = 1_000_000, 5_000_000, 8, 20


def cpu_seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def run_through(function, *parts):
    """Call a function on each part and discard the results."""
    for part in zip(*parts, strict=True):
        function(*part)


def report(name, function):
    """Print the CPU seconds of a call and return its result."""
    start = time.process_time()
    result = function()
    print(f"  {name:<44} {time.process_time() - start:7.2f} s", flush=True)
    return result


def blobs(n, d, k, rng):
    """Return a table of k clusters and the cluster of each row."""
    truth = rng.integers(k, size=n)
    X = rng.normal(size=(n, d))
    X += (rng.normal(size=(k, d)) * 2)[truth]
    return X, truth


def mixture_and_state(X, truth, k, couplings=()):
    """Return a Gaussian mixture on a table, and its state at the true clusters."""
    prior = CovariancePrior.scaled(X.var(axis=0), rows=0.0, fraction=0.0)
    family = FullGaussian(X.mean(axis=0), prior)
    few = slice(0, 200_000)
    means = np.array([X[few][truth[few] == c].mean(axis=0) for c in range(k)])
    state = MixtureState(family.parameters(means, np.tile(np.eye(X.shape[1]), (k, 1, 1))), np.full(k, -np.log(k)))
    rows, weights = Rows(ArrayTable(X)), MaximumLikelihoodWeights(np.arange(k))
    return Mixture(rows, family, weights, Independent(np.arange(k), compiled()), couplings, compiled()), state


def pairs(repeats):
    """Print the time of an E-step on disjoint links, compared with a pass over rows without links."""
    rng = np.random.default_rng(0)
    X, truth = blobs(N_ROWS, N_FEATURES, N_CLASSES, rng)
    plain, plain_state = mixture_and_state(X, truth, N_CLASSES)

    linked, known = X[: 2 * N_LINKS], truth[: 2 * N_LINKS]
    links = rng.permutation(2 * N_LINKS).reshape(-1, 2)
    same = known[links[:, 0]] == known[links[:, 1]]
    side = SideInformation.build(len(linked), must_link=links[same], cannot_link=links[~same])
    in_links = report("chunklets of 1 000 000 disjoint links", lambda: linked_rows(side))
    classes, draws = np.arange(N_CLASSES), np.ones(len(in_links.starts))
    coupling = report("plan", lambda: link_graphs(in_links, classes, draws=draws))
    mixture, state = mixture_and_state(linked, known, N_CLASSES, (coupling,))
    graphs = coupling.graphs

    def evaluator():
        return mixture.family.evaluator(state.parameters, compiled())

    table = ArrayTable(linked)
    coupled = [CoupledRows(table, graph.rows, evaluator, state.parameters, ONE_THREAD) for graph in graphs]
    densities = [rows.log_likelihood() for rows in coupled]
    scores = [graph._scores(density, state.weights) for graph, density in zip(graphs, densities, strict=True)]
    shares = [graph(density, state.weights, None) for graph, density in zip(graphs, densities, strict=True)]

    steps = {
        "one pass over 5 000 000 rows, d = 8, K = 20": lambda: plain.expect(plain_state),
        "one pass with 1 000 000 pairs (2 000 000 rows)": lambda: mixture.expect(state),
        "  their E-step: log densities and coupling": lambda: run_through(
            lambda graph, rows: graph(rows.log_likelihood(), state.weights, None), graphs, coupled
        ),
        "    log densities": lambda: run_through(CoupledRows.log_likelihood, coupled),
        "    coupling: densities to responsibilities": lambda: run_through(
            lambda graph, density: graph(density, state.weights, None), graphs, densities
        ),
        "      of which marginals and evidence": lambda: run_through(
            lambda graph, score: infer(graph.plan, score), graphs, scores
        ),
        "  their statistics": lambda: run_through(
            lambda rows, found: rows.statistics(found.responsibilities), coupled, shares
        ),
    }
    for step in steps.values():
        step()
    quickest = np.min([[cpu_seconds(step) for step in steps.values()] for _ in range(repeats)], axis=0)
    for name, seconds in zip(steps, quickest, strict=True):
        print(f"  {name:<50} {seconds:6.2f} s  {seconds / quickest[0]:5.2f} of the plain pass")


def random_links(repeats, n_links):
    """Print the time and memory of E-steps with random links among a million rows, beyond the pass without links."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    X, truth = blobs(n, N_FEATURES, N_CLASSES, rng)
    plain, plain_state = mixture_and_state(X, truth, N_CLASSES)
    ends = rng.integers(n, size=(n_links, 2))
    ends = ends[ends[:, 0] != ends[:, 1]]
    same = truth[ends[:, 0]] == truth[ends[:, 1]]
    build = lambda: SideInformation.build(n, must_link=ends[same], cannot_link=ends[~same])  # noqa: E731
    side = report(f"side information of {n_links} random links", build)
    in_links = report("chunklets", lambda: linked_rows(side))
    draws = np.ones(len(in_links.starts))
    coupling = report("plan", lambda: link_graphs(in_links, np.arange(N_CLASSES), draws=draws))
    mixture, state = mixture_and_state(X, truth, N_CLASSES, (coupling,))
    plain.expect(plain_state)
    before = peak_memory()
    for number in range(repeats):
        without = cpu_seconds(lambda: plain.expect(plain_state))
        start = time.process_time()
        expectation = mixture.expect(state)
        beyond = time.process_time() - start - without
        state = mixture.maximise(expectation, state)
        print(
            f"  E-step {number + 1}: {beyond:6.2f} s beyond the {without:.2f} s of the plain pass, "
            f"{peak_memory() - before:6.0f} MB more than before the first",
            flush=True,
        )


def peak_memory():
    """Return the largest memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def graphs(repeats):
    """Print the time of inference on random links, a random tree, a chain and many triangles."""
    del repeats
    rng = np.random.default_rng(0)
    k = 5

    def measure(name, n, edges, certain):
        truth = rng.integers(k, size=n)
        same = truth[edges[:, 0]] == truth[edges[:, 1]]
        log_equal = np.where(same, np.log(0.9), -np.inf if certain else np.log(0.1))
        log_different = np.where(same, np.log(0.1), 0.0 if certain else np.log(0.9))
        scores = rng.normal(size=(n, k))
        scores[np.arange(n), truth] += 1.5
        print(f"{name}: {len(edges)} links, {k} classes")
        problem = LinkProblem.of(n, edges, log_equal, log_different)
        planned = report("plan", lambda: plan(problem, k))
        first = report(
            f"marginals and evidence ({'exact' if planned.exact else 'approximate'})", lambda: infer(planned, scores)
        )
        report("the next time", lambda: infer(planned, scores + 0.01 * rng.normal(size=scores.shape), first.messages))
        classes, _ = report("most probable assignment", lambda: most_probable(planned, scores))
        right = [(found == truth).mean() for found in (scores.argmax(axis=1), first.marginals.argmax(axis=1), classes)]
        print("  right without links {:.3f}, by marginals {:.3f}, jointly {:.3f}".format(*right))

    n = 1_000_000
    edges = rng.integers(n, size=(n, 2))
    measure("random links, mean degree 2", n, edges[edges[:, 0] != edges[:, 1]], True)
    later = np.arange(1, n)
    measure("random tree", n, np.column_stack([later, (rng.random(n - 1) * later).astype(np.int64)]), True)
    measure("chain", n, np.column_stack([later - 1, later]), False)
    corners = np.arange(300_000).reshape(-1, 3)
    sides = np.concatenate([corners[:, :2], corners[:, 1:], corners[:, ::2]])
    measure("triangles", 300_000, sides, False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["pairs", "random", "graphs"]
    parser.add_argument("part", nargs="?", choices=names, help="what to measure; everything by default")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--links", type=int, default=N_LINKS, help="number of random links")
    arguments = parser.parse_args()
    parts = dict(zip(names, (pairs, partial(random_links, n_links=arguments.links), graphs), strict=True))
    for part in [arguments.part] if arguments.part else names:
        print(f"== {part}")
        with threadpool_limits(1, user_api="blas"):
            parts[part](arguments.repeats)
