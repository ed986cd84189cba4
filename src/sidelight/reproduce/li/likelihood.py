"""Li, Ying and Campbell, figure 2: the likelihood of held-out wines, and a dendrogram of all."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import dendrogram, linkage
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.preprocessing import StandardScaler

from sidelight import LabelledMixture, LatentProcessDecomposition
from sidelight._typing import FloatArray, IntArray
from sidelight.admixture.model import Parameters
from sidelight.admixture.unseen_rows import row_log_likelihoods
from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Experiment, Setting, Summary
from sidelight.reproduce.li.tables import LPD, blocks_of, read_set

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HELD_OUT, MOST_PROCESSES = 28, 8
IN_BLOCKS, ALONE = "log-likelihood per row, in blocks", "log-likelihood per row, alone"
NONE, ALL, ONE = "no labels", "all labels", "labels of one class"
_DRAWS = 2000


def measure_likelihood(setting: Setting, method: str, seed: int) -> Mapping[str, float]:
    """Measure the likelihood of held-out wines at a number of processes."""
    labels, n_processes = str(setting[0]), 1 if method == ONE_CLUSTER else int(setting[1])
    X, y = read_set("wine")
    order = np.random.RandomState(seed).permutation(len(X))
    test, train = order[:_HELD_OUT], order[_HELD_OUT:]
    scaler = StandardScaler().fit(X[train])
    table, held_out = scaler.transform(X[train]), scaler.transform(X[test])
    labelled = {NONE: np.zeros(len(y), dtype=bool), ALL: np.ones(len(y), dtype=bool), ONE: y == seed % 3}[labels]
    known = np.where(labelled, y, -1)
    side, blocks = blocks_of(known[train]), blocks_of(known[test]).closure().chunklets
    if method == "LabelledMixture":
        mixture = LabelledMixture(n_processes, covariance_type="diag", accelerate=False, random_state=seed).fit(
            table, side=side
        )
        in_blocks, alone = (_mixture_likelihood(mixture, held_out, parts) for parts in (blocks, np.arange(_HELD_OUT)))
    else:
        prior = {"n_init": 3, "prior": "map"} if method == "LPD, prior" else {"n_init": 1}
        model = LatentProcessDecomposition(n_processes, random_state=seed, **prior).fit(table, side=side)
        in_blocks, alone = (block_likelihood(model, held_out, parts, seed) for parts in (blocks, np.arange(_HELD_OUT)))
    return {IN_BLOCKS: in_blocks / _HELD_OUT, ALONE: alone / _HELD_OUT}


def block_likelihood(model: LatentProcessDecomposition, X: FloatArray, blocks: IntArray, seed: int) -> float:
    """Return the log-likelihood of rows of which those of a block share one θ.

    A block of m rows has the likelihood of one row of m times the attributes.
    """
    random, total = np.random.RandomState(seed), 0.0
    for block in np.unique(blocks):
        rows = X[blocks == block]
        means, variances = (np.tile(part, len(rows)) for part in (model.means_, np.square(model.scales_)))
        parameters = Parameters(model.alpha_, means, variances)
        total += row_log_likelihoods(rows.reshape(1, -1), parameters, _DRAWS, random).total
    return total


def _mixture_likelihood(model: LabelledMixture, X: FloatArray, blocks: IntArray) -> float:
    """Return the log-likelihood of rows of which those of a block share one component."""
    components = [
        multivariate_normal(mean, np.diag(variances)).logpdf(X)
        for mean, variances in zip(model.means_, model.covariances_, strict=True)
    ]
    in_block = np.array([np.bincount(blocks, weights=densities) for densities in components])
    return float(logsumexp(np.log(model.weights_)[:, None] + in_block, axis=0).sum())


def _draw_likelihood(figure: "Figure", summary: Summary) -> None:
    """Draw the curves of the paper beside its dendrogram."""
    figure.set_size_inches(12.5, 4)
    left, middle, right = figure.subplots(1, 3)
    for axes, measure in ((left, IN_BLOCKS), (middle, ALONE)):
        for (labels, style), marker in zip({NONE: "-", ALL: "--", ONE: ":"}.items(), "osD", strict=True):
            cells = {s[1]: summary.cells[s, LPD] for s in summary.settings if s[0] == labels}
            means, errors = (
                [getattr(cell, spread)(measure) for cell in cells.values()] for spread in ("mean", "standard_error")
            )
            axes.errorbar(list(cells), means, errors, linestyle=style, marker=marker, ms=4, capsize=3, label=labels)
        axes.set(xlabel="K", title=measure, xticks=sorted({int(setting[1]) for setting in summary.settings}))
        axes.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False)
    dendrogram(tree(read_set("wine")[0]), ax=right, truncate_mode="lastp", p=30, no_labels=True, color_threshold=0)
    right.set(title="correlation distance, average linkage", ylabel="distance")
    right.spines[["top", "right"]].set_visible(False)


def tree(X: FloatArray) -> FloatArray:
    """Return the merges of average linkage by correlation distance, as SciPy has them."""
    return linkage(X, method="average", metric="correlation")


FIGURE_2 = Experiment(
    name="figure-2",
    title="likelihood of held-out wines against the number of processes",
    varied=("labels", "K"),
    settings=[(labels, k) for labels in (NONE, ALL, ONE) for k in range(2, MOST_PROCESSES + 1)],
    quick=[(labels, k) for labels in (NONE, ALL, ONE) for k in range(2, 6)],
    published=(LPD,),
    ours=("LPD, prior", "LabelledMixture"),
    measures=(IN_BLOCKS, ALONE),
    measure=measure_likelihood,
    seeds=20,
    quick_seeds=2,
    draw=_draw_likelihood,
)
