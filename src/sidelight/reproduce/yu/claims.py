"""The verdicts on the claims of Yu, Elhabian and Whitaker."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from sidelight.reproduce.framework.experiment import ONE_CLUSTER, Claim, Gain, Setting, Summary, Verdict, graded
from sidelight.reproduce.yu.methods import DIGITS, FREE, PURITY, SEVERAL, WRONG


def _where(setting: Setting) -> str:
    return " ".join(str(value) for value in setting)


def _two_links_are_enough(figure_3: Summary) -> Verdict:
    def share(setting: Setting, method: str) -> float:
        return float((figure_3.cells[setting, method].values[PURITY] >= 0.95).mean())

    found = {setting: share(setting, "GM-PR") for setting in figure_3.settings}
    without = np.mean([share(setting, "GMM") for setting in figure_3.settings])
    said = "; ".join(
        f"{setting[0]} must-links and {setting[1]} cannot-links, {setting[2]}: {value:.0%} "
        f"(EquivalenceMixture {share(setting, 'EquivalenceMixture'):.0%})"
        for setting, value in found.items()
    )
    return graded(list(found.values()), 0.9, f"purity of .95 or more without links in {without:.0%} of draws; {said}")


def _ahead_everywhere(figure_4: Summary) -> Verdict:
    gains = {
        measure: [figure_4.gain(setting, "GM-PR", "GMM-EC", measure) for setting in figure_4.settings]
        for measure in (PURITY, FREE)
    }
    said = "; ".join(
        f"{measure}: ahead by more than two standard errors in {sum(gain.is_sure for gain in found)} of {len(found)} "
        f"cells, behind in {sum((-gain).is_sure for gain in found)}, mean {np.mean([g.mean for g in found]):+.3f}"
        for measure, found in gains.items()
    )
    return graded([float(gain.is_sure) for gain in gains[PURITY]], 1.0, said)


def _must_links_do(figure_6: Summary) -> Verdict:
    most = max(int(setting[1]) for setting in figure_6.settings)
    gains = {
        setting[0]: (figure_6.gain(setting, "GM-PR", ONE_CLUSTER, FREE), figure_6.mean(setting, "GM-PR", FREE))
        for setting in figure_6.settings
        if setting[1] == most
    }
    said = "; ".join(f"{name} {mean:.3f}, {gain} over one cluster" for name, (gain, mean) in gains.items())
    sure = [float(gain.is_sure) for gain, _ in gains.values()]
    return graded(sure, 1.0, f"purity of rows in no link with {most} must-links: {said}")


def _never_behind(figure_7: Summary) -> Verdict:
    behind = [
        (setting, rival, gain)
        for setting in figure_7.settings
        for rival in ("EM-PC", "GMM-EC")
        for gain in (figure_7.gain(setting, "GM-PR", rival),)
        if (-gain).is_sure
    ]
    n_compared = 2 * len(figure_7.settings)
    worst = "; ".join(f"{_where(setting)}, {rival}: {gain}" for setting, rival, gain in behind[:6])
    said = f"behind by more than two standard errors in {len(behind)} of {n_compared} comparisons"
    if not behind:
        return Verdict("holds", said)
    return Verdict("holds in part" if 2 * len(behind) < n_compared else "does not hold", f"{said}, as {worst}")


def _more_classes_harm(figure_7: Summary) -> Verdict:
    n_classes = {"haberman": 2, "thyroid": 2, "digits 1 2 3": 3, "digits 4 5 6 7": 4}
    by_number: dict[int, list[Gain]] = {}
    for setting in figure_7.settings:
        by_number.setdefault(n_classes[str(setting[0])], []).append(figure_7.gain(setting, "EM-PC", "GM-PR", FREE))
    lags = [float(np.mean([gain.mean for gain in by_number[number]])) for number in sorted(by_number)]
    said = "; ".join(f"{number} classes {lag:+.3f}" for number, lag in zip(sorted(by_number), lags, strict=True))
    falls = [float(later < before - 0.005) for before, later in pairwise(lags)]
    return graded(falls, 1.0, f"purity of EM-PC over GM-PR, rows in no link, same links: {said}")


def _less_spread(*figures: Summary) -> Verdict:
    spreads = [
        [figure.cells[setting, method].sd(PURITY) for method in ("GM-PR", "GMM-EC")]
        for figure in figures
        for setting in figure.settings
    ]
    # A method that always ends at the same purity does not depend on its start; sums differ in their last digits.
    ratios = [ours / theirs for ours, theirs in spreads if min(ours, theirs) > 1e-9]
    smaller = sum(ratio < 1 for ratio in ratios)
    said = (
        f"standard deviation of GM-PR smaller than of GMM-EC in {smaller} of {len(ratios)} cells in which both have "
        f"any; median of the ratios {np.median(ratios):.2f}, from {min(ratios):.2f} to {max(ratios):.2f}"
    )
    if smaller == len(ratios):
        return Verdict("holds", said)
    return Verdict("holds in part" if 2 * smaller > len(ratios) else "does not hold", said)


def _two_components_follow_moons(figure_8: Summary) -> Verdict:
    setting = figure_8.settings[0]
    wrong = {method: figure_8.cells[setting, method] for method in figure_8.experiment.methods if method != ONE_CLUSTER}
    said = "; ".join(f"{name} {cell.mean(WRONG):.1f} ± {cell.sd(WRONG):.1f}" for name, cell in wrong.items())
    because = f"rows of 50 in the wrong class (paper: GMM 3, m_K = 1 2, m_K = 2 none): {said}"
    one, two = SEVERAL[:2]
    if wrong[two].mean(WRONG) < 0.5:
        return Verdict("holds", because)
    fewer = figure_8.gain(setting, one, two, WRONG).is_sure
    return Verdict("holds in part" if fewer else "does not hold", because)


def _few_links_on_coil(figure_9: Summary) -> Verdict:
    few = [setting for setting in figure_9.settings if int(setting[1]) <= 1000]
    gains = {rival: [figure_9.gain(setting, "GM-PR", rival) for setting in few] for rival in ("SSKK", "CSC", "SC")}
    said = "; ".join(
        f"over {rival} {np.mean([gain.mean for gain in found]):+.3f} on average, ahead by more than two standard "
        f"errors in {sum(gain.is_sure for gain in found)} of {len(found)} cells"
        for rival, found in gains.items()
    )
    shares = [float(gain.is_sure) for rival in ("SSKK", "CSC") for gain in gains[rival]]
    return graded(shares, 1.0, f"GM-PR with at most 1000 links: {said} (SC uses no links)")


def _more_components(figure_10: Summary, name: str, beyond: int) -> dict[str, list[Gain]]:
    settings = [setting for setting in figure_10.settings if setting[0] == name and int(setting[1]) > beyond]
    return {method: [figure_10.gain(s, method, SEVERAL[0]) for s in settings] for method in SEVERAL[1:]}


def _written(gains: Mapping[str, list[Gain]]) -> str:
    return "; ".join(f"{name}: " + ", ".join(map(str, found)) for name, found in gains.items())


def _helps_on_a_moon(figure_10: Summary) -> Verdict:
    gains = _more_components(figure_10, DIGITS[0], beyond=64)
    sure = [float(gain.is_sure) for found in gains.values() for gain in found]
    return graded(sure, 1.0, f"gain over m_K = 1 with more than 64 links: {_written(gains)}")


def _does_not_hurt(figure_10: Summary) -> Verdict:
    gains = _more_components(figure_10, DIGITS[1], beyond=0)
    unhurt = [float(not (-gain).is_sure) for found in gains.values() for gain in found]
    return graded(unhurt, 1.0, f"gain over m_K = 1: {_written(gains)}")


CLAIMS = (
    Claim(
        "GM-PR learns the desired model with two must-links and two cannot-links, and with either two alone.",
        ("figure-3",),
        _two_links_are_enough,
    ),
    Claim(
        "GM-PR significantly outperforms GMM-EC regardless of the number of links on all sets.",
        ("figure-4",),
        _ahead_everywhere,
    ),
    Claim("GM-PR performs well even if only must-links are available.", ("figure-6",), _must_links_do),
    Claim(
        "With cannot-links GM-PR is always better than or comparable to EM-PC and GMM-EC.",
        ("figure-7",),
        _never_behind,
    ),
    Claim("EM-PC gets worse when the number of classes increases; GM-PR does not.", ("figure-7",), _more_classes_harm),
    Claim(
        "GM-PR has a lower variance over random starts, regardless of the number of links.",
        ("figure-4", "figure-6", "figure-7"),
        _less_spread,
    ),
    Claim(
        "On two moons, two components per class follow the shape where one per class does not.",
        ("figure-8",),
        _two_components_follow_moons,
    ),
    Claim(
        "On COIL-20 GM-PR has a higher purity than SSKK and CSC with at most 1000 links, whatever the dimension.",
        ("figure-9",),
        _few_links_on_coil,
    ),
    Claim(
        "On digits 1, 2, 3 several components per class are better than one with more than 64 links.",
        ("figure-10",),
        _helps_on_a_moon,
    ),
    Claim("On digits 4, 5, 6, 7 more components per class do not hurt.", ("figure-10",), _does_not_hurt),
)
