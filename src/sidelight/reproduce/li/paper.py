"""Li, Ying and Campbell: the experiments, and the verdicts on the claims."""

from collections.abc import Callable

import numpy as np
from sklearn.preprocessing import StandardScaler

from sidelight.reproduce.framework.experiment import Claim, Paper, Summary, Verdict, graded
from sidelight.reproduce.li.likelihood import ALL, ALONE, FIGURE_2, IN_BLOCKS, MOST_PROCESSES, NONE, ONE, tree
from sidelight.reproduce.li.tables import KMEANS, LPD, TABLE_2, TABLE_3, TEST, read_set


def _ahead_of_kmeans(*tables: Summary) -> Verdict:
    gains = {
        setting: (table.gain(setting, LPD, KMEANS), table.gain(setting, LPD, "SeededKMeans"))
        for table in tables
        for setting in table.settings
    }
    said = "; ".join(f"{s[0]}, {s[1]:.0%}: {weak.mean:+.3f}, {strong.mean:+.3f}" for s, (weak, strong) in gains.items())
    weaker, stronger = ([pair[place].is_sure for pair in gains.values()] for place in (0, 1))
    return graded(
        [float(sure) for sure in weaker],
        1.0,
        f"surely ahead of k-means with one start in {sum(weaker)} of {len(gains)} cells, of seeded k-means with ten in "
        f"{sum(stronger)}. Differences from the two: {said}",
    )


def _labels_help(*tables: Summary) -> Verdict:
    gains = {
        (name, method): table.gain((name, 0.5), method, method, TEST, than=(name, 0.0))
        for table in tables
        for name in dict.fromkeys(str(setting[0]) for setting in table.settings)
        if {(name, 0.0), (name, 0.5)} <= set(table.settings)
        for method in (KMEANS, LPD)
    }
    said = "; ".join(f"{name}, {method}: {gain}" for (name, method), gain in gains.items())
    return graded(
        [float(gain.is_sure) for gain in gains.values()],
        1.0,
        f"from none to half labelled, difference and its standard error: {said}",
    )


def _peak_at(labels: str, expected: int) -> Callable[[Summary], Verdict]:
    def judge(figure_2: Summary) -> Verdict:
        numbers = [int(setting[1]) for setting in figure_2.settings if setting[0] == labels]
        peaks, doubts = {}, {}
        for measure in (IN_BLOCKS, ALONE):
            means = {k: figure_2.mean((labels, k), LPD, measure) for k in numbers}
            peaks[measure] = max(means, key=lambda k: means[k])
            doubts[measure] = figure_2.gain((labels, peaks[measure]), LPD, LPD, measure, than=(labels, expected))
        said = "; ".join(
            f"{measure}: peak at {peak} ({figure_2.mean((labels, peak), LPD, measure):.2f}), "
            f"{doubts[measure].mean:.2f} ± {doubts[measure].standard_error:.2f} above {expected}"
            for measure, peak in peaks.items()
        )
        right = [peak == expected for peak in peaks.values()]
        if all(right):
            return Verdict("holds", said)
        in_doubt = not all(doubt.is_sure for doubt in doubts.values())
        return Verdict("holds in part" if any(right) or in_doubt else "does not hold", said)

    return judge


def _labels_raise_likelihood(figure_2: Summary) -> Verdict:
    heights = {
        (labels, measure): max(figure_2.mean(s, LPD, measure) for s in figure_2.settings if s[0] == labels)
        for labels in (NONE, ALL, ONE)
        for measure in (IN_BLOCKS, ALONE)
    }
    said = "; ".join(
        f"{measure}: " + ", ".join(f"{labels} {heights[labels, measure]:.2f}" for labels in (ALL, ONE, NONE))
        for measure in (IN_BLOCKS, ALONE)
    )
    return graded(
        [
            float(heights[ALL, measure] > max(heights[NONE, measure], heights[ONE, measure]))
            for measure in (IN_BLOCKS, ALONE)
        ],
        1.0,
        f"height of the peak, {said}",
    )


def _dendrogram_of_four(figure_2: Summary) -> Verdict:
    X = read_set("wine")[0]
    orders, said = {}, []
    for name, values in (("raw values", X), ("standard deviations", StandardScaler().fit_transform(X))):
        heights = tree(values)[:, 2][::-1]
        gaps = heights[: MOST_PROCESSES - 1] - heights[1:MOST_PROCESSES]
        orders[name] = (np.argsort(-gaps, kind="stable") + 2).tolist()
        said.append(f"{name}: {orders[name][0]} clusters, next {orders[name][1]}")
    because = "numbers of clusters with the widest gap between merges, by " + "; ".join(said)
    if all(order[0] == 4 for order in orders.values()):
        return Verdict("holds", because)
    return Verdict("holds in part" if any(4 in order[:2] for order in orders.values()) else "does not hold", because)


CLAIMS = (
    Claim("SLPD has a significant gain over k-means, on the sets of table 2.", ("table-2",), _ahead_of_kmeans),
    Claim("SLPD consistently outperforms k-means on leukemia and lung cancer.", ("table-3",), _ahead_of_kmeans),
    Claim("Labels improve SLPD and CKM, on the sets of table 2.", ("table-2",), _labels_help),
    Claim("Labels improve SLPD and CKM, on leukemia and lung cancer.", ("table-3",), _labels_help),
    Claim("Without labels the likelihood of wine peaks at 4 processes.", ("figure-2",), _peak_at(NONE, 4)),
    Claim("With all labels it peaks at 3.", ("figure-2",), _peak_at(ALL, 3)),
    Claim("With the labels of one class it peaks at 3.", ("figure-2",), _peak_at(ONE, 3)),
    Claim("The curve with all labels is the upper one.", ("figure-2",), _labels_raise_likelihood),
    Claim("A dendrogram of wine suggests 4 clusters.", ("figure-2",), _dendrogram_of_four),
)


PAPER = Paper(
    name="li",
    reference="Li, Ying, Campbell: A variational approach to semi-supervised clustering",
    experiments=(TABLE_2, TABLE_3, FIGURE_2),
    claims=CLAIMS,
)
