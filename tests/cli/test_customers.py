"""The made-up customers: the same for a seed, and as they are said to be."""

import numpy as np
import pytest
from click.testing import CliRunner

from sidelight.cli.customers import SEGMENTS, draw_customers, draw_judgements, draw_labels
from sidelight.cli.main import main


def test_shares_gaps_and_kinds_are_as_told():
    customers = draw_customers(20_000, "C", np.random.default_rng(1))
    shares = np.bincount(customers.segment) / 20_000
    np.testing.assert_allclose(shares, [segment.share for segment in SEGMENTS], atol=0.015)
    assert len(set(customers.columns["id"].tolist())) == 20_000
    gaps = {name: np.mean([cell is None for cell in values]) for name, values in customers.columns.items()}
    assert 0.1 < gaps["income"] < 0.14
    assert gaps["age"] == gaps["region"] == 0
    assert customers.columns["visits"].min() == 0
    assert min(customers.columns["basket"]) >= 1


def test_a_few_are_labelled_but_not_of_every_segment():
    random = np.random.default_rng(2)
    customers = draw_customers(1000, "C", random)
    labels = draw_labels(customers, 6, random)
    names = customers.names()
    given = [(label, names[row]) for row, label in enumerate(labels) if label is not None]
    assert len(given) == 30
    assert all(label == name for label, name in given)
    assert "night owls" not in {label for label, _ in given}


def test_judgements_are_right_where_they_are_certain():
    random = np.random.default_rng(3)
    customers = draw_customers(1000, "C", random)
    judged = draw_judgements(customers, 200, random)
    segment = dict(zip(customers.columns["id"].tolist(), customers.names(), strict=True))
    pairs = list(zip(judged["id_a"], judged["id_b"], strict=True))
    assert len({frozenset(pair) for pair in pairs}) == 200
    right = np.array(
        [(segment[a] == segment[b]) == (said == "must") for (a, b), said in zip(pairs, judged["relation"], strict=True)]
    )
    certain = np.array([confidence is None for confidence in judged["confidence"]])
    assert right[certain].all()
    assert 0.75 < right[~certain].mean() < 1


def test_a_seed_gives_the_same_files_and_nothing_is_overwritten(tmp_path):
    for folder, seed in (("a", 0), ("b", 0), ("c", 1)):
        arguments = ["example", "-o", str(tmp_path / folder), "--rows", "250", "--seed", str(seed)]
        assert CliRunner().invoke(main, arguments).exit_code == 0
    for name in ("customers.csv", "links.csv", "new.csv", "truth.csv"):
        first, second, other = ((tmp_path / folder / name).read_bytes() for folder in "abc")
        assert first == second
        assert first != other
    again = CliRunner().invoke(main, ["example", "-o", str(tmp_path / "a")])
    assert again.exit_code == 2
    assert "--force" in again.stderr


@pytest.mark.parametrize("rows", [250, 100_001])
def test_ids_are_equally_long(rows):
    ids = draw_customers(rows, "N", np.random.default_rng(0)).columns["id"]
    assert len({len(name) for name in ids.tolist()}) == 1
