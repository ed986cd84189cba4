"""
Recipe: records that may be the same
====================================

Splink and dedupe score pairs of records: how probable is it that both are the same person? Joining all pairs above a
threshold makes chains, or breaks people in two. ``cluster_pair_scores`` uses all scores, those against a match too,
and needs no threshold. Any table of pairs will do; the last part takes them from Splink itself, which comes with
``pip install 'sidelight[records]'``, and says so where it is not installed.
"""

import difflib
import itertools
from importlib.util import find_spec

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sidelight.metrics import balanced_rand_score
from sidelight.pair_scores import cluster_pair_scores

# %%
# Sixty invented people with similar names, each with one to four records with typing errors.

random = np.random.default_rng(0)
syllables = ["an", "ber", "co", "dan", "el", "fi", "gar", "ha"]
people = ["".join(random.choice(syllables, 2)) + " " + "".join(random.choice(syllables, 2)) for _ in range(60)]
records = [(name, person) for person, name in enumerate(people) for _ in range(random.integers(1, 5))]


def mistyped(name):
    """Return a name with one letter left out, in two of three cases."""
    place = random.integers(0, len(name))
    return name if random.random() < 1 / 3 else name[:place] + name[place + 1 :]


names = [mistyped(name) for name, _ in records]
person = np.array([number for _, number in records])

# %%
# The pairs as a matcher would give them: similar names are probably the same person, dissimilar ones are not.

rows = []
for first, second in itertools.combinations(range(len(names)), 2):
    likeness = difflib.SequenceMatcher(None, names[first], names[second]).ratio()
    if likeness > 0.6:
        rows.append((first, second, 1 / (1 + np.exp(-25 * (likeness - 0.86)))))
pairs = pd.DataFrame(rows, columns=["unique_id_l", "unique_id_r", "match_probability"])
pairs.head()

# %%

found = cluster_pair_scores(pairs["unique_id_l"], pairs["unique_id_r"], pairs["match_probability"], unscored=0.1)
clusters = np.arange(len(names)) + len(names)
clusters[found.ids] = found.clusters
print(f"{len(np.unique(clusters))} clusters for {len(people)} people")

# %%
# Against joining all pairs above a threshold:


def joined(pairs, threshold):
    """Return the balanced Rand index of records joined by every pair above a threshold."""
    kept = pairs[pairs["match_probability"] > threshold]
    graph = coo_array((np.ones(len(kept)), (kept["unique_id_l"], kept["unique_id_r"])), shape=(len(names),) * 2)
    return balanced_rand_score(person, connected_components(graph, directed=False)[1])


thresholds = np.linspace(0.3, 0.99, 24)
scores = [joined(pairs, threshold) for threshold in thresholds]
figure, axis = plt.subplots(figsize=(6, 4))
axis.plot(thresholds, scores, color="grey", label="pairs above a threshold, joined")
axis.axhline(balanced_rand_score(person, clusters), label="cluster_pair_scores")
axis.set(xlabel="threshold", ylabel="balanced Rand index")
axis.legend(frameon=False)
plt.show()

# %%
# The best threshold does about as well, but is not known beforehand. How the two compare depends on the names: with
# longer or with more different ones both find every person, or the best threshold is ahead by a little.

# %%
# From Splink
# -----------
#
# Splink learns from the records alone how much an agreement counts. Its table of pairs has the columns ``unique_id_l``,
# ``unique_id_r`` and ``match_probability``. The blocking rules compare only records with the same first or last name.
# Two records of one person may both have errors, so a pair that was not compared says nothing: ``unscored`` stays at
# one half.


def scored_by_splink():
    """Return the pairs of records that Splink compares, with their probabilities."""
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on
    from splink.comparison_library import JaroWinklerAtThresholds

    records = pd.DataFrame(
        [name.split(" ") if " " in name else [name, ""] for name in names], columns=["first", "last"]
    )
    records["unique_id"] = np.arange(len(records))
    settings = SettingsCreator(
        link_type="dedupe_only",
        comparisons=[JaroWinklerAtThresholds("first"), JaroWinklerAtThresholds("last")],
        blocking_rules_to_generate_predictions=[block_on("first"), block_on("last")],
    )
    linker = Linker(DuckDBAPI().register(records), settings, log_level=None)
    linker.training.estimate_probability_two_random_records_match([block_on("first", "last")], recall=0.3)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e5, seed=0)
    for rule in ("first", "last"):
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(rule))
    return linker.inference.predict().as_pandas_dataframe()


if find_spec("splink") is None:
    print("splink is not installed, so this part is skipped: pip install 'sidelight[records]'")
else:
    scored = scored_by_splink()
    found = cluster_pair_scores(scored["unique_id_l"], scored["unique_id_r"], scored["match_probability"])
    clusters = np.arange(len(names)) + len(names)
    clusters[found.ids] = found.clusters
    print(f"cluster_pair_scores: balanced Rand index {balanced_rand_score(person, clusters):.2f}")
    for threshold in (0.5, 0.9, 0.99):
        print(f"all pairs above {threshold} joined: {joined(scored, threshold):.2f}")
