"""Zhao and Miller 2005: the experiments, and the verdicts on the claims."""

import numpy as np

from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Claim, Paper, Summary, Verdict, graded
from sidelight.reproduce.zhao.clouds import AS_CLASSES, AS_COMPONENTS, FIGURE_1, FOUND, FOUND_CLASSES
from sidelight.reproduce.zhao.methods import BY_BIC, FREE, RAND, RHO, RIGHT
from sidelight.reproduce.zhao.table import COMPONENTS, RIGHT_BY_BETA, TABLE, TABLE_1


def _number_of_classes(table_1: Summary) -> Verdict:
    shares = {s: table_1.mean(s, "MCGMM", RIGHT) for s in table_1.settings}
    by_beta = {s: table_1.mean(s, "MCGMM", RIGHT_BY_BETA) for s in table_1.settings}
    said = "; ".join(f"{s[0]}, {s[1]}: {share:.0%} ({by_beta[s]:.0%} by β)" for s, share in shares.items())
    return graded(list(shares.values()), 0.9, f"right number found in: {said}")


def _best_on_most(table_1: Summary) -> Verdict:
    wins = {
        measure: [s for s in table_1.settings if table_1.gain(s, "MCGMM", "SGMM", measure).mean > 0]
        for measure in (RHO, FREE, RAND)
    }
    trivial = [s for s in table_1.settings if table_1.mean(s, ONE_CLUSTER) > table_1.mean(s, "MCGMM")]
    n = len(table_1.settings)
    said = (
        f"MCGMM ahead of SGMM in {len(wins[RHO])} of {n} cells by ρ, in {len(wins[FREE])} by ρ and in "
        f"{len(wins[RAND])} by the adjusted Rand index on unlinked rows; one class for everything is ahead of MCGMM "
        f"in {len(trivial)}" + (f" ({', '.join(f'{s[0]} {s[1]}' for s in trivial)})" if trivial else "")
    )
    return graded([float(len(cells) > n / 2) for cells in wins.values()], 1.0, said)


def _tied_helps(table_1: Summary) -> Verdict:
    gains = {
        (name, method, measure): table_1.mean((name, "tied"), method, measure)
        - table_1.mean((name, "full"), method, measure)
        for name in TABLE
        if {(name, "full"), (name, "tied")} <= set(table_1.settings)
        for method in ("SGMM", "MCGMM")
        for measure in (RHO, RAND)
    }
    by_rho = {key[:2]: gain for key, gain in gains.items() if key[2] == RHO}
    by_rand = [gain > 0 for key, gain in gains.items() if key[2] == RAND]
    up = [gain > 0 for gain in by_rho.values()]
    said = ", ".join(f"{name} {method} {gain:+.3f}" for (name, method), gain in by_rho.items())
    return graded(
        [float(sum(better) >= len(better) / 2) for better in (up, by_rand)],
        1.0,
        f"tied above full in {sum(up)} of {len(up)} by ρ ({said}), in {sum(by_rand)} by the adjusted Rand index on "
        f"unlinked rows",
    )


def _number_by_bic(table_1: Summary) -> Verdict:
    found = {s: table_1.cells[s, BY_BIC].values[COMPONENTS] for s in table_1.settings}
    shares = [float((counts == TABLE[str(s[0])].n_components).mean()) for s, counts in found.items()]
    said = "; ".join(
        f"{s[0]}, {s[1]}: K = {np.median(counts):g} (paper {TABLE[str(s[0])].n_components})"
        for s, counts in found.items()
    )
    return graded(shares, 0.5, f"median by BIC: {said}")


def _one_cluster_per_class_fails(figure_1: Summary) -> Verdict:
    behind = {
        (s, method): figure_1.gain(s, "MCGMM", method, RAND)
        for s in figure_1.settings
        for method in (AS_CLASSES, AS_COMPONENTS)
    }
    said = "; ".join(f"{s[0]} {s[1]} apart, {method}: {figure_1.mean(s, method, RAND):.2f}" for s, method in behind)
    reached = ", ".join(f"{figure_1.mean(s, 'MCGMM', RAND):.2f}" for s in figure_1.settings)
    return graded(
        [float(gain.is_sure) for gain in behind.values()],
        1.0,
        f"adjusted Rand index on unlinked rows: {said}; MCGMM {reached}",
    )


def _finds_clusters_and_classes(figure_1: Summary) -> Verdict:
    shares = {
        (s, method): min(figure_1.mean(s, method, measure) for measure in (FOUND, FOUND_CLASSES, RIGHT))
        for s in figure_1.settings
        for method in ("MCGMM", BY_BIC)
    }
    said = "; ".join(f"{s[0]}, {s[1]} apart, {method}: {share:.0%}" for (s, method), share in shares.items())
    return graded(list(shares.values()), 0.9, f"components, classes and their number found in at least: {said}")


CLAIMS = (
    Claim("MCGMM estimates the number of classes correctly, for each of the sets.", ("table-1",), _number_of_classes),
    Claim("The purity-accuracy of MCGMM is the best on most sets.", ("table-1",), _best_on_most),
    Claim("Tied covariances often improve the results of both methods.", ("table-1",), _tied_helps),
    Claim("BIC gives K = 5, 2, 3, 5 and 3 components.", ("table-1",), _number_by_bic),
    Claim(
        "One cluster for each class captures the clouds neither with as many classes as there are nor with more.",
        ("figure-1",),
        _one_cluster_per_class_fails,
    ),
    Claim(
        "MCGMM accurately learns both clusters and classes, for more complex mixtures too.",
        ("figure-1",),
        _finds_clusters_and_classes,
    ),
)


PAPER = Paper(
    name="zhao",
    reference="Zhao, Miller: Semisupervised learning of mixture models with class constraints (2005)",
    experiments=(TABLE_1, FIGURE_1),
    claims=CLAIMS,
)
