"""Whether the clusters of BayesianMixture change with the unit, the origin or the scale of a column.

    python benchmarks/invariance.py [--sets iris wine …]

For each table, one column at a time (at most three, spread over the table) is multiplied by 1000, moved by 100 standard
deviations, or replaced by its logarithm where all of its cells are positive. Printed is the adjusted Rand index between
the clusters before and after, the mean over the columns. At most 1000 rows are taken. See told_nothing.py for the
tables.
"""

import argparse
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from sidelight import BayesianMixture
from sidelight.tables.schema import learn_schema
from situations import SHIPPED
from told_nothing import table

SETS = (
    *SHIPPED,
    *("glass", "yeast", "thyroid", "ecoli", "liver", "pima", "breast_cancer_wisconsin", "ionosphere", "pendigits"),
    *("sonar", "vehicle", "segment", "satimage", "seeds", "penguins"),
)
MOST_ROWS = 1000
COLUMNS = 3
CHANGES: dict[str, Callable[[pd.Series], pd.Series]] = {
    "× 1000": lambda column: 1000.0 * column,
    "+ 100 sd": lambda column: column + 100.0 * column.std(),
    "log": np.log,
}


def changed(X: pd.DataFrame, name: str, before: np.ndarray) -> float:
    """Return the mean agreement of the clusters after a change of one column with those before."""
    numbers = [c for c, kind in zip(X.columns, learn_schema(X, "auto").kinds, strict=True) if kind == "gaussian"]
    if name == "log":
        numbers = [c for c in numbers if X[c].min() > 0]
    if not numbers:
        return float("nan")
    chosen = [numbers[place] for place in np.unique(np.linspace(0, len(numbers) - 1, COLUMNS).astype(int))]
    found = [clusters(X.assign(**{str(c): CHANGES[name](X[c].astype(float))})) for c in chosen]
    return float(np.mean([adjusted_rand_score(before, after) for after in found]))


def clusters(X: pd.DataFrame) -> np.ndarray:
    """Return the clusters of a table."""
    return np.asarray(BayesianMixture(random_state=0).fit(X).labels_)


def main() -> None:
    """Fit, print a line for each table and the share of tables that hardly change."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    asked = parser.parse_args()
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked.sets:
            X, _ = table(name, 0)
            X = X.iloc[:: max(len(X) // MOST_ROWS, 1)].reset_index(drop=True).rename(columns=str)
            before = clusters(X)
            rows.append([changed(X, change, before) for change in CHANGES])
            print(
                f"{name:24s} "
                + " ".join(f"{change} {value:.3f} " for change, value in zip(CHANGES, rows[-1], strict=True))
            )
    for change, values in zip(CHANGES, np.transpose(rows), strict=True):
        known = values[~np.isnan(values)]
        print(f"{change}: at least .95 on {np.mean(known >= 0.95):.0%} of {len(known)} tables, mean {known.mean():.3f}")


if __name__ == "__main__":
    main()
