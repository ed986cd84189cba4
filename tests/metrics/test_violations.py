import re
from dataclasses import replace
from datetime import date
from itertools import permutations
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sidelight
from sidelight import LabelledMixture
from sidelight.metrics import Suspicions, violations
from sidelight.side import SideInformation

build = SideInformation.build


def test_each_kind_of_statement():
    side = build(
        10,
        y=["a", "a", "a", "b", "b"] + [None] * 5,
        must_link=[(0, 1), (5, 9)],
        cannot_link=[(3, 4), (0, 5)],
        blocks=[[5, 6, 7], [8]],
        confidence=[1, 0.7, 1, 1],
    )
    found = violations(side, ["u", "u", "v", "v", "v", "u", "v", "u", "w", "w"])
    assert found.labels.tolist() == [2]
    assert found.must_link.tolist() == [[5, 9]]
    assert found.cannot_link.tolist() == [[0, 5], [3, 4]]
    assert found.blocks.tolist() == [6]
    assert found.total == 5
    assert found.n_statements == 5 + 2 + 2 + 3
    assert found.fraction == pytest.approx(5 / 12)
    assert found.rows().tolist() == [0, 2, 3, 4, 5, 6, 9]
    assert bool(found)
    assert str(found) == (
        "5 of 12 statements broken: 1 of 5 labels, 1 of 2 must-links, 2 of 2 cannot-links, 1 of 3 block members"
    )


def test_nothing_broken_and_nothing_stated():
    side = build(4, y=[1, 1, 0, -1], must_link=[(2, 3)])
    kept = violations(side, [7, 7, 5, 5])
    assert not kept
    assert kept.total == 0
    assert len(kept.rows()) == 0
    assert str(kept) == "none of 4 statements broken"
    nothing = violations(build(3), [0, 1, 2])
    assert nothing.fraction == 0
    assert nothing.n_statements == 0
    assert violations(build(0), []).total == 0


def test_two_labels_cannot_share_a_cluster():
    found = violations(build(4, y=["a", "a", "a", "b"]), [0, 0, 0, 0])
    assert found.labels.tolist() == [3]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_labels_are_matched_as_well_as_possible(rows):
    y, clusters = np.array(rows).T
    found = violations(build(len(y), y=y), clusters)
    known = y >= 0
    fewest = min(sum(known & (np.array(names)[clusters] != y)) for names in permutations(range(4)))
    assert len(found.labels) == fewest
    # The rows listed are those outside a one-to-one matching, not just as many.
    kept = np.setdiff1d(np.flatnonzero(known), found.labels)
    pairs = set(zip(y[kept].tolist(), clusters[kept].tolist(), strict=True))
    assert len({label for label, _ in pairs}) == len({cluster for _, cluster in pairs}) == len(pairs)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(0, 2)), min_size=1, max_size=12))
def test_blocks_are_held_to_their_largest_part(rows):
    blocks, clusters = np.array(rows).T
    found = violations(build(len(blocks), blocks=blocks), clusters)
    for block in set(blocks.tolist()) - {-1}:
        inside = np.flatnonzero(blocks == block)
        kept = np.setdiff1d(inside, found.blocks)
        largest = max(np.sum(clusters[inside] == k) for k in range(3))
        assert len(kept) == largest
        assert len(set(clusters[kept].tolist())) == 1
    assert (blocks[found.blocks] >= 0).all()


def test_wrong_length():
    with pytest.raises(ValueError, match="labels has 2 values, but the side information is about 3 rows"):
        violations(build(3), [0, 1])
    with pytest.raises(ValueError, match="labels has no label at place 1"):
        violations(build(2), [0.0, float("nan")])


def test_noise_is_not_a_cluster():
    side = SideInformation.build(
        6, y=["a", "a", None, None, None, None], must_link=[(2, 3), (3, 4)], cannot_link=[(2, 3), (4, 5)]
    )
    labels = [0, -1, -1, -1, 0, 0]
    found = violations(side, labels, noise=-1)
    assert found.labels.tolist() == [1]
    assert found.must_link.tolist() == [[3, 4]]
    assert found.cannot_link.tolist() == [[4, 5]]
    assert violations(side, labels).cannot_link.tolist() == [[2, 3], [4, 5]]


def test_a_label_is_never_matched_to_noise():
    side = SideInformation.build(3, y=["a", "a", None])
    assert violations(side, [-1, -1, 0], noise=-1).labels.tolist() == [0, 1]
    assert not violations(side, [-1, -1, 0])


def shown_in_notebooks(found):
    return re.sub(r"<[^>]+>", " ", found._repr_html_())


def test_rows_with_ids_are_shown_by_them():
    ids = ["u", "v", "w", "x", "y"]
    named = SideInformation.build(
        5,
        y=["a", "a", None, None, None],
        must_link=[("w", "x")],
        cannot_link=[("v", "u")],
        blocks=[["x", "y"]],
        sample_id=ids,
    )
    numbered = SideInformation.build(
        5, y=["a", "a", None, None, None], must_link=[(2, 3)], cannot_link=[(1, 0)], blocks=[[3, 4]]
    )
    clusters = [0, 0, 1, 2, 1]
    found, plain = violations(named, clusters), violations(numbered, clusters)
    assert found.must_link.tolist() == plain.must_link.tolist() == [[2, 3]]
    assert found.rows().tolist() == plain.rows().tolist()
    assert found.ids.tolist() == [ids[row] for row in found.rows()]
    assert found.named(found.cannot_link).tolist() == [["u", "v"]]
    assert found.named(found.blocks).tolist() == [ids[row] for row in found.blocks]
    assert plain.ids is None
    assert plain.named(plain.must_link).tolist() == [[2, 3]]
    assert "w – x" in shown_in_notebooks(found)
    assert "ids of the first" in shown_in_notebooks(found)
    assert "2 – 3" in shown_in_notebooks(plain)
    assert "rows of the first" in shown_in_notebooks(plain)
    assert violations(named, [0, 0, 0, 0, 0]).named(np.empty((0, 2), dtype=np.int64)).shape == (0, 2)


def test_suspicions_name_the_ids():
    side = SideInformation.build(
        4, must_link=[("b", "c"), ("a", "b")], cannot_link=[("c", "d")], sample_id=list("abcd")
    )
    found = Suspicions.of(side, np.array([0.2, 0.9, 0.7]))
    assert found.doubtful.tolist() == [[1, 2], [2, 3]]
    assert found.doubtful_ids.tolist() == [["b", "c"], ["c", "d"]]
    assert str(found).splitlines()[1:] == ["must-link b – c (90 %)", "cannot-link c – d (70 %)"]
    assert "ids" in shown_in_notebooks(found)
    plain = Suspicions.of(SideInformation.build(3, must_link=[(0, 1)]), np.array([0.9]))
    assert plain.ids is None
    assert plain.doubtful_ids is None
    assert str(plain).splitlines()[1] == "must-link 0 – 1 (90 %)"


@pytest.mark.parametrize(
    ("ids", "kept"),
    [
        ([7, 5, 6], [[5, 6]]),
        ([UUID(int=1), UUID(int=2), UUID(int=3)], [[str(UUID(int=2)), str(UUID(int=3))]]),
        ([date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 3)], [["2020-01-02", "2020-01-03"]]),
        (["x", 3, "y"], [[3, "y"]]),
    ],
    ids=["numbers", "uuids", "dates", "mixed"],
)
def test_a_model_that_knows_ids_is_saved(tmp_path, ids, kept):
    side = SideInformation.build(3, must_link=[(ids[1], ids[2])], sample_id=ids)
    broken = replace(violations(side, [0, 0, 1]), suspicions=Suspicions.of(side, np.array([0.9])))
    model = LabelledMixture(2, random_state=0).fit([[0.0], [0.1], [1.0], [1.1]])
    model.violations_ = broken
    sidelight.save(model, tmp_path / "model")
    found = sidelight.load(tmp_path / "model").violations_
    assert found.named(found.must_link).tolist() == found.suspicions.ids.tolist() == kept
