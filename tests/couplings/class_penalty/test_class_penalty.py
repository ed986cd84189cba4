"""The class penalty: its field, its energy, two ways down, and the objective of a mixture with it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.class_penalty import free_energy, log_partition, random_side, signed_pairs
from oracles.mixtures import FAMILIES, assigned, family_for, mixture_of, random_state, rows_of
from sidelight import SideInformation
from sidelight.couplings.class_penalty.coupling import ClassPenalty, MeanFieldMemory
from sidelight.couplings.class_penalty.mean_field import MeanField
from sidelight.couplings.class_penalty.pair_sums import PairSums
from sidelight.inference.protocols import CouplingState
from sidelight.side import draw_labels, draw_links

STRENGTHS = [0.1, 0.5, 2.0, 8.0, 32.0]


def problem(seed, n=7, n_components=3, n_classes=2, **statements):
    """Return C, the pairs behind it, and random scores."""
    rng = np.random.default_rng(seed)
    side = random_side(rng, n, **statements)
    rows = np.flatnonzero(side.mentioned)
    scores = rng.normal(size=(len(rows), n_components, n_classes)) * 2
    return signed_pairs(side)[np.ix_(rows, rows)], PairSums.stated(side, None), scores, rng


@pytest.mark.parametrize("seed", range(6))
def test_energy_is_its_definition_and_the_field_its_numerical_gradient(seed):
    C, pairs, scores, rng = problem(seed)
    strength, step = 1.5, 1e-3
    joint = MeanField(pairs, strength).at(scores, rng.normal(size=scores.shape))
    assert joint.energy.sum() == pytest.approx(free_energy(joint.values, scores, C, strength), rel=1e-12)

    def of_pairs(flat):
        values = flat.reshape(scores.shape)
        return free_energy(values, scores, C, strength) - free_energy(values, scores, C, 0.0)

    # Quadratic: central differences are exact but for rounding.
    at = joint.values.ravel() + 2 * step
    shifted = MeanField(pairs, strength).at(scores, np.log(at).reshape(scores.shape))
    at = shifted.values.ravel()
    numerical = [(of_pairs(at + step * e) - of_pairs(at - step * e)) / (2 * step) for e in np.eye(len(at))]
    np.testing.assert_allclose(shifted.field.ravel(), numerical, atol=1e-8)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.3, 2.0]))
def test_minus_the_energy_is_a_bound_of_the_sum_over_all_choices(seed, strength):
    C, pairs, scores, _ = problem(seed, n=4, n_components=2, n_classes=2)
    if not len(scores):
        return
    field = MeanField(pairs, strength)
    joint, exact = field.at(scores, scores), log_partition(scores, C, strength)
    for _ in range(10):
        joint = field.sweep(scores, joint)
        assert -joint.energy.sum() <= exact + 1e-9
    unpaired = MeanField(pairs, 0.0).at(scores, scores)
    assert -unpaired.energy.sum() == pytest.approx(log_partition(scores, C, 0.0))


def paired(kind):
    truth = np.arange(200) % 3
    if kind == "labels":
        return SideInformation.build(200, y=draw_labels(truth, fraction=0.3, random_state=0))
    links = draw_links(truth, 30, disjoint=True, random_state=0)
    return SideInformation.build(200, must_link=links.must_link, cannot_link=links.cannot_link)


@pytest.mark.parametrize("strength", STRENGTHS)
@pytest.mark.parametrize("kind", ["links", "labels"])
def test_both_ways_lead_down_at_every_step_and_end_where_the_field_is_at_rest(strength, kind):
    pairs = PairSums.stated(paired(kind), None)
    field = MeanField(pairs, strength)
    scores = np.random.default_rng(1).normal(size=(60, 4, 3)) * 2
    for sequential in (False, True):
        joint, steps = field.at(scores, scores), np.ones(pairs.groups.max() + 1)
        for _ in range(30 if sequential else 200):
            before = joint.energy
            if sequential:
                joint = field.sweep(scores, joint)
            else:
                joint, steps = field.damped_step(scores, joint, np.minimum(2 * steps, 1.0))
            assert np.all(joint.energy <= before + 1e-12 * (1 + np.abs(before)))
        rest = field.at(scores, scores - joint.field)
        np.testing.assert_allclose(joint.values, rest.values, atol=1e-3)


def test_rows_that_would_jump_back_and_forth_are_damped():
    side = SideInformation.build(2, cannot_link=[(0, 1)])
    pairs = PairSums.stated(side, None)
    field = MeanField(pairs, 8.0)
    scores = np.log(np.array([[[0.6, 1e-9], [1e-9, 0.4]], [[0.61, 1e-9], [1e-9, 0.39]]]))
    undamped = field.at(scores, scores)
    for _ in range(3):  # the full parallel step of the print: both rows leave for the same place, and return
        undamped = field.at(scores, scores - undamped.field)
        assert np.array_equal(undamped.values.reshape(2, -1).argmax(axis=1), [0, 0]) or np.array_equal(
            undamped.values.reshape(2, -1).argmax(axis=1), [3, 3]
        )
    joint, steps = field.at(scores, scores), np.ones(1)
    for _ in range(50):
        joint, steps = field.damped_step(scores, joint, np.minimum(2 * steps, 1.0))
    assert sorted(joint.values.reshape(2, -1).argmax(axis=1).tolist()) == [0, 3]


def test_copies_of_a_row_go_where_a_row_of_that_weight_goes():
    rng = np.random.default_rng(2)
    counts = np.array([1, 3, 2, 1, 2])
    labels = np.array([0, 0, 1, 1, 2])
    scores = rng.normal(size=(5, 3, 3))
    place = np.repeat(np.arange(5), counts)
    heavy = MeanField(PairSums.stated(SideInformation.build(5, y=labels), counts.astype(float)), 0.7)
    light = MeanField(PairSums.stated(SideInformation.build(len(place), y=labels[place]), None), 0.7)
    few, many = heavy.at(scores, scores), light.at(scores[place], scores[place])
    for _ in range(5):
        few, _ = heavy.damped_step(scores, few, np.ones(1))
        many, _ = light.damped_step(scores[place], many, np.ones(1))
        np.testing.assert_allclose(few.values[place], many.values, atol=1e-10)
        assert few.energy.sum() == pytest.approx(many.energy.sum())


@pytest.mark.parametrize("weights", [[1.0, 3, 2, 1, 2], [0.5, 0.1, 0.5, 1, 0.3]])
@pytest.mark.parametrize("strength", [0.7, 32.0])
def test_rows_of_any_weight_are_swept_downhill(weights, strength):
    side = SideInformation.build(5, y=[0, 0, 1, 1, 2], blocks=[0, 0, -1, 1, 1])
    field = MeanField(PairSums.stated(side, np.array(weights)), strength)
    scores = np.random.default_rng(2).normal(size=(5, 3, 3))
    joint = field.at(scores, scores)
    for _ in range(30):
        before, joint = joint.energy.sum(), field.sweep(scores, joint)
        assert joint.energy.sum() <= before + 1e-12 * (1 + abs(before))


def mixture_problem(seed, covariance_type, strength, *, weighted, sequential, n=50, **statements):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * rng.uniform(0.1, 10, size=2) + rng.normal(size=(n, 1)) * 3
    k = 4
    family = family_for(X, covariance_type, rows=1.0, fraction=0.02)
    side = random_side(rng, n, **statements)
    weights = rng.choice([0.5, 1.0, 2.0], size=n) if weighted else None
    penalty = ClassPenalty(
        np.flatnonzero(side.mentioned), PairSums.stated(side, weights), strength, rng.integers(1, 5), sequential
    )
    mixture = mixture_of(X, family, k, couplings=(penalty,), weights=weights)
    return mixture, random_state(rng, X, family, covariance_type, k)


@settings(max_examples=35)
@given(
    st.integers(0, 10**6),
    st.sampled_from(list(FAMILIES)),
    st.sampled_from([0.1, 2.0, 32.0]),
    st.booleans(),
    st.booleans(),
    st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_the_objective_of_a_mixture_never_falls(seed, covariance_type, strength, weighted, sequential, statements):
    links, labels, blocks = statements
    if not any(statements):
        return
    mixture, state = mixture_problem(
        seed,
        covariance_type,
        strength,
        weighted=weighted,
        sequential=sequential,
        links=links,
        labels=labels,
        blocks=blocks,
    )
    previous = -np.inf
    for _ in range(8):
        state, objective = mixture.step(state)
        assert objective >= previous - 1e-9 * abs(previous) if np.isfinite(previous) else True
        previous = objective
    assert assigned(mixture, state)[1] >= previous - 1e-9 * abs(previous)


def test_without_strength_rows_choose_as_if_alone_and_only_the_prior_on_the_allocation_is_added():
    mixture, state = mixture_problem(3, "full", 0.0, weighted=True, sequential=False)
    alone = mixture_of(rows_of(mixture), mixture.family, 4, weights=mixture.rows.weights)
    n_classes = mixture.couplings[0].max_classes
    even = CouplingState(np.full((4, n_classes), -np.log(n_classes)))
    found, expected = mixture.expect(state._replace(couplings=(even,))), alone.expect(state)
    np.testing.assert_allclose(found.statistics.mass, expected.statistics.mass, rtol=1e-10)
    assert found.evidence == pytest.approx(expected.evidence, rel=1e-12)
    prior = -0.01 * 4 * n_classes * np.log(n_classes)
    assert mixture.objective(state, found) == pytest.approx(alone.objective(state, expected) + prior, rel=1e-12)


def test_allocation_never_reaches_zero_and_starts_where_the_pairs_say():
    side = SideInformation.build(6, must_link=[(0, 4), (1, 5)], cannot_link=[(0, 2), (4, 3)])
    penalty = ClassPenalty(np.arange(6), PairSums.stated(side, None), 2.0, 3)
    log_likelihood = np.repeat(np.eye(3) * 20, 2, axis=0)
    state = CouplingState()
    for _ in range(50):
        joint, _, steps = penalty.e_step(log_likelihood, np.log(np.full(3, 1 / 3)), state)
        state = CouplingState(penalty.update(joint.values.sum(axis=0)), MeanFieldMemory(joint.log, steps))
    allocation = np.exp(state.parameters)
    assert allocation.min() > 0
    np.testing.assert_allclose(allocation.sum(axis=1), 1)
    classes = allocation.argmax(axis=1)
    assert classes[0] == classes[2] != classes[1]
