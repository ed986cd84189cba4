"""Echraibi et al. 2019: the experiments, and the verdicts on the claims."""

from sidelight.reproduce.echraibi.gaussians import FIGURE_3, FIGURE_4, FIGURE_5
from sidelight.reproduce.echraibi.methods import ACCURACY, FREE
from sidelight.reproduce.echraibi.tables import FIGURE_8, FIGURE_9, TABLE_1
from sidelight.reproduce.framework.experiment import Claim, Paper, Summary, Verdict, graded


def three_clusters(figure_3: Summary, figure_4: Summary) -> Verdict:
    """Judge by the share of draws with three clusters."""
    shares = {
        (truncation, setting[0], method): summary.mean(setting, method, "right number")
        for truncation, summary in ((4, figure_3), (10, figure_4))
        for setting in summary.settings
        for method in ("DPGMM", "SS-DPGMM", "BayesianMixture")
    }
    informed = [share for (_, _, method), share in shares.items() if method == "SS-DPGMM"]
    said = "; ".join(f"T = {t}, middles {m}, {name}: {share:.0%}" for (t, m, name), share in shares.items())
    return graded(informed, 0.9, f"three clusters found in: {said}")


def right_view(figure_5: Summary) -> Verdict:
    """Judge by the share of draws in which nearly all rows agree with the labelled view."""
    found = {
        (setting, method): float((figure_5.cells[setting, method].values[ACCURACY] >= 0.98).mean())
        for setting in figure_5.settings
        for method in ("SS-DPGMM", "BayesianMixture")
    }
    at_three = [share for (setting, method), share in found.items() if method == "SS-DPGMM" and setting[1] == 3]
    said = "; ".join(f"{s[0]}, T = {s[1]}, {name}: {share:.0%}" for (s, name), share in found.items())
    return graded(at_three, 0.9, f"accuracy of .98 or more in: {said}")


def more_labels_help(figure_8: Summary) -> Verdict:
    """Judge by the gain on rows without a label, from no labels to half of them."""
    sets = list(dict.fromkeys(setting[0] for setting in figure_8.settings))
    gains = {}
    for name in sets:
        fractions = [setting[1] for setting in figure_8.settings if setting[0] == name]
        ends = (name, min(fractions)), (name, max(fractions))
        gains[name] = [
            figure_8.mean(ends[1], "SS-DPGMM", measure) - figure_8.mean(ends[0], "SS-DPGMM", measure)
            for measure in (ACCURACY, FREE)
        ]
    said = "; ".join(
        f"{name} {every:+.3f}, {free:+.3f} on rows without a label" for name, (every, free) in gains.items()
    )
    return graded([float(free > 0.02) for _, free in gains.values()], 1.0, f"mean gain from none to half: {said}")


def iris_jump(table_1: Summary) -> Verdict:
    """Judge by the best of the draws, and by the mean on rows without a label."""
    none, fifth = (table_1.cells[("iris", fraction), "SS-DPGMM"] for fraction in (0.0, 0.2))
    best = fifth.best(ACCURACY) - none.best(ACCURACY)
    mean = fifth.mean(FREE) - none.mean(FREE)
    said = (
        f"best of {len(none.values[ACCURACY])}: {none.best(ACCURACY):.3f} to {fifth.best(ACCURACY):.3f}; mean on "
        f"rows without a label {none.mean(FREE):.3f} to {fifth.mean(FREE):.3f} ± {fifth.sd(FREE):.3f}"
    )
    if best < 0.2:
        return Verdict("does not hold", said)
    return Verdict("holds" if mean >= 0.2 else "holds in part", said)


def beats_hmrf(figure_9: Summary) -> Verdict:
    """Judge by the difference on rows without a label."""
    differences = {
        setting: (
            figure_9.mean(setting, "SS-DPGMM") - figure_9.mean(setting, "HMRF-KMeans"),
            figure_9.mean(setting, "SS-DPGMM", FREE) - figure_9.mean(setting, "HMRF-KMeans", FREE),
        )
        for setting in figure_9.settings
    }
    ahead = [float(free > 0) for _, free in differences.values()]
    half = {s[0]: figure_9.mean(s, "HMRF-KMeans") for s in figure_9.settings if s[1] == 0.5}
    said = (
        f"ahead in {sum(every > 0 for every, _ in differences.values())} of {len(ahead)} cells, in {sum(ahead):.0f} "
        f"on rows without a label; HMRF-KMeans at 50 %: "
        + ", ".join(f"{name} {value:.2f}" for name, value in half.items())
    )
    return graded(ahead, 1.0, said)


PAPER = Paper(
    name="echraibi",
    reference="Echraibi, Flocon-Cholet, Gosselin, Vaton: Bayesian mixture models for semi-supervised clustering (2019)",
    experiments=(FIGURE_8, TABLE_1, FIGURE_9, FIGURE_3, FIGURE_4, FIGURE_5),
    claims=(
        Claim(
            "With partial labels three clusters are identified, with T = 4 and T = 10.",
            ("figure-3", "figure-4"),
            three_clusters,
        ),
        Claim("Partial labels lead to the view they encode (T = 3).", ("figure-5",), right_view),
        Claim("The accuracy improves as labels are added.", ("figure-8",), more_labels_help),
        Claim("On iris, 20 % of the labels improve the accuracy from 72 to 98 %.", ("table-1",), iris_jump),
        Claim(
            "SS-DPGMM clearly outperforms HMRF-KMeans, which is between .5 and .7 with half the labels.",
            ("figure-9",),
            beats_hmrf,
        ),
    ),
)
