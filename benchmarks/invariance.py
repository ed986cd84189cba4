"""Whether the clusters of BayesianMixture change with the unit, the origin or the scale of a column.

    python benchmarks/invariance.py [--sets iris wine …] [--changes log …] [--power auto canonical] [--rows 1000]

For each table, one column at a time (at most three, spread over the table) is multiplied by 1000, moved by 100 standard
deviations, replaced by its logarithm where all of its cells are positive, or bent by a hundredth of its standard
deviation at one standard deviation from its median, or its cells are moved at random by a hundredth of its standard
deviation. "rows" changes no cell and leaves out a random tenth of the rows, three times. The last three are the
yardstick: clusters that such a change moves are not settled by the table. Printed is the adjusted Rand index between
the clusters before and after, the mean over the columns or draws. See told_nothing.py for the tables.
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
from situations import OF_THE_PAPERS, OTHERS, SHIPPED
from told_nothing import table

# Not the ones whose columns are more than a hundred, categories or counts: nothing there is taken on another scale.
OUT = {"mnist_test", "coil20", "leukemia_yeoh", "lung_bhattacharjee", "pbmc68k_reduced", "srbct", "mushroom", "zoo"}
SETS = tuple(name for name in (*SHIPPED, *OF_THE_PAPERS, *OTHERS) if name not in OUT)
COLUMNS = 3
CHANGES: dict[str, Callable[[pd.Series], pd.Series]] = {
    "× 1000": lambda column: 1000.0 * column,
    "+ 100 sd": lambda column: column + 100.0 * column.std(),
    "log": np.log,
    "bend": lambda column: column + 0.01 * (column - column.median()) ** 2 / column.std(),
    "jitter": lambda column: column + 0.01 * column.std() * np.random.default_rng(0).normal(size=len(column)),
}
ROWS = "rows"


def changed(X: pd.DataFrame, name: str, before: np.ndarray, power: str) -> float:
    """Return the mean agreement of the clusters after a change of one column with those before."""
    numbers = [c for c, kind in zip(X.columns, learn_schema(X, "auto").kinds, strict=True) if kind == "gaussian"]
    if name in ("log", "bend", "jitter"):
        numbers = [c for c in numbers if X[c].min() > 0]
    if not numbers:
        return float("nan")
    chosen = [numbers[place] for place in np.unique(np.linspace(0, len(numbers) - 1, COLUMNS).astype(int))]
    found = [clusters(X.assign(**{str(c): CHANGES[name](X[c].astype(float))}), power) for c in chosen]
    return float(np.mean([adjusted_rand_score(before, after) for after in found]))


def with_fewer_rows(X: pd.DataFrame, before: np.ndarray, power: str) -> float:
    """Return the mean agreement of the clusters of nine tenths of the rows with those of all, three times."""
    found = []
    for draw in range(3):
        left = np.sort(np.random.default_rng(draw).permutation(len(X))[: round(0.9 * len(X))])
        found.append(adjusted_rand_score(before[left], clusters(X.iloc[left].reset_index(drop=True), power)))
    return float(np.mean(found))


def clusters(X: pd.DataFrame, power: str) -> np.ndarray:
    """Return the clusters of a table."""
    return np.asarray(BayesianMixture(power=power, random_state=0).fit(X).labels_)


def main() -> None:
    """Fit, print a line for each table and the share of tables that hardly change."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--changes", nargs="+", choices=[*CHANGES, ROWS], default=[*CHANGES, ROWS])
    parser.add_argument("--power", nargs="+", choices=("auto", "canonical"), default=["auto", "canonical"])
    parser.add_argument("--rows", type=int, default=1000)
    asked = parser.parse_args()
    found: dict[tuple[str, str], list[float]] = {
        (power, change): [] for power in asked.power for change in asked.changes
    }
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in asked.sets:
            X, _ = table(name, 0)
            X = X.iloc[:: max(len(X) // asked.rows, 1)].reset_index(drop=True).rename(columns=str)
            line = f"{name:24s}"
            for power in asked.power:
                before = clusters(X, power)
                for change in asked.changes:
                    if change == ROWS:
                        found[power, change].append(with_fewer_rows(X, before, power))
                    else:
                        found[power, change].append(changed(X, change, before, power))
                line += f" | {power} " + " ".join(
                    f"{change} {found[power, change][-1]:.3f}" for change in asked.changes
                )
            print(line, flush=True)
    for (power, change), values in found.items():
        known = np.array(values)[~np.isnan(values)]
        if len(known):
            near = f"at least .95 on {np.sum(known >= 0.95)} of {len(known)} tables"
            print(f"power={power!r}, {change}: {near}, mean {known.mean():.3f}")


if __name__ == "__main__":
    main()
