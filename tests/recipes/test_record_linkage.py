"""Pairs scored by Splink and by dedupe themselves, divided into people."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from sidelight.pair_scores import cluster_pair_scores

FIRST = ["anna", "ben", "clara", "david", "eva", "frank", "greta", "hans"]
LAST = ["meyer", "schulz", "krause", "lang", "weber"]


def people_with_typing_errors():
    """Return records of forty people, one to three each; in some a letter of the last name is missing."""
    random = np.random.default_rng(0)
    rows = []
    for person, (first, last) in enumerate(itertools.product(FIRST, LAST)):
        born = 1950 + int(random.integers(40))
        for _ in range(random.integers(1, 4)):
            place = random.integers(len(last)) if random.random() < 0.4 else len(last)
            rows.append((len(rows), first, last[:place] + last[place + 1 :], str(born), person))
    return pd.DataFrame(rows, columns=["unique_id", "first", "last", "born", "person"])


def share_found(records, first, second, scores):
    found = cluster_pair_scores(first, second, scores, unscored=0.01)
    clusters = len(records) + np.arange(len(records))  # a record in no pair is alone
    clusters[found.ids] = found.clusters
    return adjusted_rand_score(records["person"], clusters)


@pytest.mark.filterwarnings("ignore")
def test_pairs_of_splink():
    splink = pytest.importorskip("splink", reason="splink is not installed: pip install 'sidelight[records]'")
    from splink import comparison_library as compare

    records = people_with_typing_errors()
    settings = splink.SettingsCreator(
        link_type="dedupe_only",
        comparisons=[
            compare.JaroWinklerAtThresholds("first"),
            compare.JaroWinklerAtThresholds("last"),
            compare.ExactMatch("born"),
        ],
        blocking_rules_to_generate_predictions=[splink.block_on("first"), splink.block_on("born")],
    )
    table = splink.DuckDBAPI().register(records.drop(columns="person"))
    linker = splink.Linker(table, settings, log_level=None)
    training = linker.training
    training.estimate_probability_two_random_records_match([splink.block_on("first", "last")], recall=0.7)
    training.estimate_u_using_random_sampling(max_pairs=1e5)
    for rule in ("first", "born"):
        training.estimate_parameters_using_expectation_maximisation(splink.block_on(rule))
    pairs = linker.inference.predict().as_pandas_dataframe()
    assert share_found(records, pairs["unique_id_l"], pairs["unique_id_r"], pairs["match_probability"]) > 0.95


@pytest.mark.filterwarnings("ignore")
def test_pairs_of_dedupe():
    dedupe = pytest.importorskip("dedupe", reason="dedupe is not installed: pip install 'sidelight[records]'")
    table = people_with_typing_errors()
    records = table[["first", "last", "born"]].to_dict("index")
    fields = [dedupe.variables.ShortString("first"), dedupe.variables.ShortString("last")]
    deduper = dedupe.Dedupe([*fields, dedupe.variables.Exact("born")], num_cores=0)
    judged = {"match": [], "distinct": []}
    for first, second in itertools.combinations(range(40), 2):
        relation = "match" if table["person"][first] == table["person"][second] else "distinct"
        judged[relation].append((records[first], records[second]))
    judged["distinct"] = judged["distinct"][::20]
    deduper.prepare_training(records, sample_size=500)
    deduper.mark_pairs(judged)
    deduper.train()
    scored = deduper.score(deduper.pairs(records))
    assert share_found(table, scored["pairs"][:, 0], scored["pairs"][:, 1], scored["score"]) > 0.95
