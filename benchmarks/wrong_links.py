"""Which links are wrong: area under the ROC curve of `violations_.suspicions`, and what wrong links cost.

    python benchmarks/wrong_links.py [--sets iris wine …] [--draws 11 12] [--wrong 0.2]

There is one random link for each row, a fifth of them wrong, and GuidedMixture is not told how many. Beside the area
stand the adjusted Rand indices with these links, with the same links all right, and the link error that was learned.
Tables on which the score with right links is above .7 count in the mean.
"""

import argparse
import warnings
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from threadpoolctl import threadpool_limits

from sidelight import GuidedMixture
from sidelight.side import draw_links
from situations import TABLES, drawn

SETS = ("iris", "wine", "breast_cancer", "thyroid", "seeds", "dermatology", "zoo", "ecoli")
LEAST_SCORE = 0.7


class Found(NamedTuple):
    """Scores with right links and with wrong ones, the area under the curve, and the link error that was learned."""

    right: float
    wrong: float
    area: float
    link_error: float


def measure(table: str, seed: int, share: float) -> Found:
    """Fit with right links and with some of them wrong."""
    draw = drawn(table, seed)
    y, scores = draw.y, []
    for wrong in (0.0, share):
        links = draw_links(y, len(y), wrong=wrong, random_state=seed)
        model = GuidedMixture(random_state=seed).fit(draw.X, must_link=links.must_link, cannot_link=links.cannot_link)
        scores.append(float(adjusted_rand_score(y, model.labels_)))
    found = model.violations_.suspicions
    is_wrong = (y[found.pairs[:, 0]] == y[found.pairs[:, 1]]) != found.must_link
    return Found(scores[0], scores[1], float(roc_auc_score(is_wrong, found.wrong)), model.link_error_)


def main() -> None:
    """Measure, and print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=TABLES, default=list(SETS), metavar="TABLE")
    parser.add_argument("--draws", nargs="+", type=int, default=[11, 12])
    parser.add_argument("--wrong", type=float, default=0.2, help="share of wrong links")
    asked = parser.parse_args()
    areas = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for table in asked.sets:
            found = np.array([measure(table, seed, asked.wrong) for seed in asked.draws])
            right, wrong, area, error = found.mean(axis=0)
            print(
                f"{table:24} right links {right:.3f}  wrong ones among them {wrong:.3f}  area {area:.3f}  "
                f"link error {error:.3f}",
                flush=True,
            )
            if right > LEAST_SCORE:
                areas.append(area)
    if areas:
        error = np.std(areas, ddof=1) / np.sqrt(len(areas)) if len(areas) > 1 else float("nan")
        print(f"mean area of {len(areas)} tables above {LEAST_SCORE}: {np.mean(areas):.3f} ± {error:.3f}")


if __name__ == "__main__":
    main()
