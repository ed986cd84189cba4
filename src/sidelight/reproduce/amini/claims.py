"""The verdicts on the claims of Amini's lecture."""

from collections.abc import Mapping

import numpy as np

from sidelight.reproduce.amini.methods import CRITERION, FALL, FREE, PURITY
from sidelight.reproduce.framework.experiment import Claim, Setting, Summary, Verdict, graded


def _starts_matter(figure_1: Summary) -> Verdict:
    spread = {setting[0]: figure_1.cells[setting, "K-means"] for setting in figure_1.settings}
    ranges = [float(np.ptp(cell.values[PURITY])) for cell in spread.values()]
    said = "; ".join(
        f"{name} {cell.values[PURITY].min():.3f} to {cell.best(PURITY):.3f}, sd {cell.sd(PURITY):.3f}"
        for name, cell in spread.items()
    )
    return graded(ranges, 0.05, f"purity of K-means over random starts: {said}")


def _ward_is_determined(figure_1: Summary) -> Verdict:
    ranges = {s[0]: float(np.ptp(figure_1.cells[s, "hierarchical"].values[PURITY])) for s in figure_1.settings}
    said = ", ".join(f"{name} {value:g}" for name, value in ranges.items())
    return graded([float(value == 0) for value in ranges.values()], 1.0, f"range of purity over draws: {said}")


def _never_falls(*figures: Summary) -> Verdict:
    falls = {
        method: max(
            float(figure.cells[setting, method].values[FALL].max()) for figure in figures for setting in figure.settings
        )
        for method in ("EM", "CEM")
    }
    said = ", ".join(f"{method} {fall:.1e}" for method, fall in falls.items())
    return graded([float(fall <= 1e-9) for fall in falls.values()], 1.0, f"greatest fall per row in any step: {said}")


def _as_good_as_em(figure_3: Summary) -> Verdict:
    gains = {setting[0]: figure_3.gain(setting, "CEM", "EM") for setting in figure_3.settings}
    said = "; ".join(f"{distance} sd apart {gain}" for distance, gain in gains.items())
    comparable = [float(not (-gain).is_sure) for gain in gains.values()]
    return graded(comparable, 1.0, f"purity of CEM over EM: {said}")


def _ahead(summary: Summary, pairs: Mapping[str, str], settings: list[Setting]) -> Verdict:
    """Judge whether methods are ahead of others on rows without a label, by more than two standard errors."""
    gains = [
        (setting, method, summary.gain(setting, method, over, FREE))
        for setting in settings
        for method, over in pairs.items()
    ]
    behind = sum((-gain).is_sure for _, _, gain in gains)
    said = "; ".join(f"{setting[0]} {setting[1]:g}, {method} {gain}" for setting, method, gain in gains)
    sure = [float(gain.is_sure) for _, _, gain in gains]
    return graded(sure, 1.0, f"surely ahead in {sum(sure):.0f} and surely behind in {behind} of {len(gains)}: {said}")


def _unlabelled_rows_help(figure_4: Summary) -> Verdict:
    over = dict.fromkeys(("EM with labels", "CEM with labels"), "labelled rows only")
    return _ahead(figure_4, over, figure_4.settings)


def _collapses_on_yeast(figure_4: Summary) -> Verdict:
    lowest, highest = 0.22, 0.38
    fractions = [setting for setting in figure_4.settings if setting[0] == "yeast"]
    cells = {setting[1]: figure_4.cells[setting, "EM with labels"] for setting in fractions}
    # Both runs are means of draws, of about the same error.
    errors = {fraction: 2 * 2**0.5 * cell.standard_error(FREE) for fraction, cell in cells.items()}
    inside = [
        float(lowest - errors[fraction] <= cell.mean(FREE) <= highest + errors[fraction])
        for fraction, cell in cells.items()
    ]
    said = "; ".join(
        f"{fraction:.0%} labelled {cell.mean(FREE):.3f} ± {cell.sd(FREE):.3f}" for fraction, cell in cells.items()
    )
    return graded(inside, 1.0, f"accuracy on rows without a label, inside within two standard errors: {said}")


def _self_training_helps(figure_7: Summary) -> Verdict:
    return _ahead(figure_7, {"self-training": "logistic regression"}, figure_7.settings)


def _graphs_follow_moons(figure_8: Summary) -> Verdict:
    moons = [setting for setting in figure_8.settings if setting[0] == "two moons"]
    return _ahead(figure_8, dict.fromkeys(("binary", "Gaussian"), "LabelledMixture"), moons)


def _printed_minimum(figure_8: Summary) -> Verdict:
    right, printed = "Gaussian", "Gaussian, as printed"
    above = [figure_8.gain(setting, printed, right, CRITERION) for setting in figure_8.settings]
    changed = [figure_8.gain(setting, printed, right, FREE).mean for setting in figure_8.settings]
    higher = sum(gain.mean > 1e-9 for gain in above)
    said = (
        f"the criterion is higher at the printed solution in {higher} of {len(above)} cells, by "
        f"{np.mean([gain.mean for gain in above]):.4f} on average; the accuracy changes by {min(changed):+.4f} to "
        f"{max(changed):+.4f}"
    )
    return Verdict("does not hold" if higher else "holds", said)


CLAIMS = (
    Claim("Partitioning mainly depends on the initialisation.", ("figure-1",), _starts_matter),
    Claim("Hierarchical methods are purely deterministic.", ("figure-1",), _ward_is_determined),
    Claim(
        "Each step of EM raises the likelihood, each step of CEM the classification likelihood.",
        ("figure-2", "figure-3"),
        _never_falls,
    ),
    Claim("Groups can be found by CEM as by EM.", ("figure-3",), _as_good_as_em),
    Claim(
        "Semi-supervised learning enhances supervised models by the structure of unlabelled data (EM, CEM).",
        ("figure-4",),
        _unlabelled_rows_help,
    ),
    Claim(
        "Found before, not in the lecture: full-weight EM with labels collapses on yeast, to between .22 and .38.",
        ("figure-4",),
        _collapses_on_yeast,
    ),
    Claim("Self-training uses unlabelled rows to place the boundary better.", ("figure-7",), _self_training_helps),
    Claim(
        "On a manifold, propagating labels over the graph takes advantage of it.",
        ("figure-8",),
        _graphs_follow_moons,
    ),
    Claim("The minimum of the criterion is (S + λ(D − W))⁻¹SY.", ("figure-8",), _printed_minimum),
)
