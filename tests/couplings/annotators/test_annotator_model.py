"""Reliabilities and classes of tiny problems against enumeration × quadrature; the bound never falls."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import digamma, expit, log_softmax, logsumexp
from scipy.stats import beta

from oracles.annotators import Tiny, assignments, dawid_and_skene, expected_log_by_quadrature
from sidelight import SideInformation
from sidelight.couplings.annotators import (
    Beliefs,
    agreed_pairs,
    annotator_report,
    judged_pairs,
    resolve,
    statement_graph,
)
from sidelight.couplings.annotators.coupling import annotated_rows
from sidelight.couplings.annotators.trellis import MOST_STATES

NAMES = ("x", "y", "z")


def random_problem(rng, n=4, n_classes=2, n_annotators=2, n_labels=5, n_pairs=3):
    """Return scores and statements of a tiny table; all annotators use all names at least once."""
    labels = [(rng.integers(n), name, a) for a in range(n_annotators) for name in range(n_classes)]
    labels += [tuple(rng.integers((n, n_classes, n_annotators))) for _ in range(n_labels)]
    pairs = []
    for _ in range(n_pairs):
        a, b = rng.choice(n, 2, replace=False)
        pairs.append((a, b, rng.integers(2), rng.integers(n_annotators)))
    return rng.normal(size=(n, n_classes)), labels, pairs


def side_of(n, labels, pairs):
    return SideInformation.from_annotations(
        n,
        labels={
            "row": [row for row, _, _ in labels],
            "label": [NAMES[name] for _, name, _ in labels],
            "annotator": [f"a{author}" for _, _, author in labels],
        },
        links={
            "a": [a for a, _, _, _ in pairs],
            "b": [b for _, b, _, _ in pairs],
            "relation": [("different", "same")[same] for _, _, same, _ in pairs],
            "annotator": [f"a{author}" for _, _, _, author in pairs],
        },
    )


def tiny_of(scores, labels, pairs, prior, n_annotators):
    n_classes = scores.shape[1]
    confusion = prior.confusion.reshape(n_classes, n_annotators, n_classes).swapaxes(0, 1)
    return Tiny(scores, labels, pairs, confusion, prior.rates)


@pytest.mark.parametrize("seed", range(3))
def test_the_e_step_is_that_of_all_assignments_with_rates_by_quadrature(seed):
    rng = np.random.default_rng(seed)
    scores, labels, pairs = random_problem(rng)
    graph = statement_graph(side_of(4, labels, pairs))
    coupling = annotated_rows(graph, np.ones(4), classes=np.arange(2), allocation=np.eye(2))
    used = coupling.start
    found = coupling.step(scores[coupling.rows], np.zeros(2), used, None)

    logs = np.zeros((2, 2, 2))  # annotator, class, name
    for a, c in np.ndindex(2, 2):
        logs[a, c] = expected_log_by_quadrature(*used.confusion[c, 2 * a : 2 * a + 2])
    rates = np.array([[expected_log_by_quadrature(*used.rates[a, t]) for t in range(2)] for a in range(2)])
    tiny = tiny_of(scores, labels, pairs, coupling.prior, 2)
    log_joint = tiny.log_scores + tiny.counts @ np.concatenate([logs.ravel(), rates.ravel()])
    weights = np.exp(log_joint - logsumexp(log_joint))
    assert found.evidence == pytest.approx(logsumexp(log_joint), abs=1e-8)
    np.testing.assert_allclose(found.posterior, tiny.marginals(weights)[coupling.rows], atol=1e-8)
    expected = weights @ tiny.counts
    np.testing.assert_allclose(found.counts.pairs.ravel(), expected[8:], atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_it_ends_at_an_optimum_of_its_family_below_the_evidence(seed):
    rng = np.random.default_rng(10 + seed)
    scores, labels, pairs = random_problem(rng)
    graph = statement_graph(side_of(4, labels, pairs))
    found = resolve(graph, scores, max_iter=2000, tol=1e-13, most_states=0)
    tiny = tiny_of(scores, labels, pairs, graph.prior(2), 2)
    own = found.reliability.confusion.reshape(2, 2, 2).swapaxes(0, 1)
    logs = [digamma(part) - digamma(part.sum(axis=-1, keepdims=True)) for part in (own, found.reliability.rates)]
    start = tiny.log_scores + tiny.counts @ np.concatenate([part.ravel() for part in logs])
    # An optimiser of any q(z) q(rates), which starts where the steps ended, finds nothing better nearby.
    best, marginals = tiny.best_bound(start - logsumexp(start))
    assert found.bounds[-1] == pytest.approx(best, abs=1e-7)
    np.testing.assert_allclose(found.shares, marginals[found.rows], atol=1e-4)
    evidence, _, _ = tiny.exact()
    assert found.bounds[-1] <= evidence + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_where_classes_are_certain_reliabilities_are_exact(seed):
    rng = np.random.default_rng(20 + seed)
    scores, labels, pairs = random_problem(rng)
    z = rng.integers(2, size=4)
    scores = np.where(np.arange(2) == z[:, None], 0.0, -200.0)
    graph = statement_graph(side_of(4, labels, pairs))
    found = resolve(graph, scores, most_states=0)
    tiny = tiny_of(scores, labels, pairs, graph.prior(2), 2)
    evidence, exact, (confusion, rates) = tiny.exact()
    assert found.bounds[-1] == pytest.approx(evidence, abs=1e-8)
    np.testing.assert_allclose(found.shares, exact[found.rows], atol=1e-9)
    mean = found.reliability.rates / found.reliability.rates.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(mean, rates, atol=1e-9)
    own = found.reliability.confusion.reshape(2, 2, 2).swapaxes(0, 1)
    np.testing.assert_allclose(own / own.sum(axis=2, keepdims=True), confusion, atol=1e-9)


def answered_problem(rng, n, n_statements, table=0.8, right=0.85):
    """Return a tiny table that says something about two classes, with labels and pairs by annotators who err."""
    z = rng.integers(2, size=n)
    shares = np.where(np.arange(2) == z[:, None], table, 1 - table)
    labels = [(rng.integers(n), name, a) for a in range(2) for name in range(2)]
    pairs = []
    for _ in range(n_statements):
        row, (a, b) = rng.integers(n), rng.choice(n, 2, replace=False)
        labels.append((row, z[row] if rng.random() < right else 1 - z[row], rng.integers(2)))
        pairs.append((a, b, int((z[a] == z[b]) == (rng.random() < right)), rng.integers(2)))
    return log_softmax(np.log(shares) + rng.normal(scale=0.7, size=(n, 2)), axis=1), labels, pairs


def distance_from_exact(rng, n, n_statements):
    """Return by how much classes and reliabilities miss the exact posterior at most, and the bound the evidence."""
    scores, labels, pairs = answered_problem(rng, n, n_statements)
    graph = statement_graph(side_of(n, labels, pairs))
    found = resolve(graph, scores, max_iter=2000, tol=1e-12, most_states=0)
    evidence, exact, (confusion, rates) = tiny_of(scores, labels, pairs, graph.prior(2), 2).exact()
    own = found.reliability.confusion.reshape(2, 2, 2).swapaxes(0, 1)
    learned = [part / part.sum(axis=2, keepdims=True) for part in (own, found.reliability.rates)]
    reliability = max(np.abs(one - other).max() for one, other in zip(learned, (confusion, rates), strict=True))
    return np.abs(found.shares - exact[found.rows]).max(), reliability, evidence - found.bounds[-1]


# Labels and pairs each, and how far from exact classes, reliabilities and the bound are at most in ten problems.
@pytest.mark.parametrize(
    ("n_statements", "most"), [(5, (0.3, 0.05, 1.2)), (20, (0.03, 0.006, 0.06)), (60, (1e-3,) * 3)]
)
def test_the_more_is_said_the_nearer_it_is_to_enumeration_and_quadrature(n_statements, most):
    found = np.array([distance_from_exact(np.random.default_rng(seed), 8, n_statements) for seed in range(10)])
    assert (found.max(axis=0) < most).all()
    assert found[:, 2].min() > -1e-9


def test_rates_are_integrated_out_as_quadrature_does():
    prior, counts = np.array([4.5, 0.5]), np.array([3.0, 2.0])
    tiny = Tiny(np.zeros((1, 1)), [], [], np.ones((1, 1, 1)), np.tile(prior, (1, 2, 1)))
    by_quadrature = quad(lambda p: beta.pdf(p, *prior) * p ** counts[0] * (1 - p) ** counts[1], 0, 1, epsabs=1e-13)[0]
    said = np.concatenate([np.zeros(1), counts, np.zeros(2)])
    assert tiny.log_marginal(said) == pytest.approx(np.log(by_quadrature), abs=1e-8)


def test_where_reliabilities_are_known_classes_are_exact():
    rng = np.random.default_rng(3)
    scores, labels, pairs = random_problem(rng)
    graph = statement_graph(side_of(4, labels, pairs))
    prior = graph.prior(2, statements=2e7, pair_statements=1e7)
    found = resolve(graph, scores, prior=prior, most_states=0)
    evidence, exact, _ = tiny_of(scores, labels, pairs, prior, 2).exact()
    np.testing.assert_allclose(found.shares, exact[found.rows], atol=1e-6)
    assert found.bounds[-1] == pytest.approx(evidence, abs=1e-5)


@pytest.mark.parametrize("most_states", [0, MOST_STATES])
@pytest.mark.parametrize("seed", range(4))
def test_annotators_who_are_known_never_to_err_are_certain(seed, most_states):
    rng = np.random.default_rng(30 + seed)
    scores, labels, pairs = answered_problem(rng, 8, 4, right=1.0)
    labels = labels[4:] if seed % 2 else []
    graph = statement_graph(side_of(8, labels, pairs))
    prior = graph.prior(2, expected=1 - 1e-13, statements=1e14, pair_statements=1e14)
    found = resolve(graph, scores, prior=prior, most_states=most_states)
    z = assignments(8, 2)
    allowed = np.ones(len(z), dtype=bool)
    for row, name, _ in labels:
        allowed &= z[:, row] == name
    for a, b, same, _ in pairs:
        allowed &= (z[:, a] == z[:, b]) == same
    weights = allowed * np.exp(scores[np.arange(8), z].sum(axis=1))
    expected = np.stack([weights @ (z == c) for c in range(2)], axis=1) / weights.sum()
    np.testing.assert_allclose(found.shares, expected[found.rows], atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(1, 3), st.integers(0, 4))
def test_the_bound_never_falls(seed, n_classes, n_annotators, n_pairs):
    rng = np.random.default_rng(seed)
    scores, labels, pairs = random_problem(rng, 6, n_classes, n_annotators, 6, n_pairs)
    found = resolve(statement_graph(side_of(6, labels, pairs)), scores, tol=1e-12, most_states=0)
    assert np.diff(found.bounds).min(initial=0.0) > -1e-9


def test_unsure_says_nothing_and_a_confidence_of_a_half_next_to_nothing():
    links = {"a": [0, 0], "b": [1, 1], "relation": ["same", "unsure"], "annotator": ["Ann", "Ben"]}
    scores = np.zeros((2, 2))
    sure = resolve(statement_graph(SideInformation.from_annotations(2, links=links)), scores)
    links["confidence"] = [0.5 + 1e-9, 1.0]
    half = resolve(statement_graph(SideInformation.from_annotations(2, links=links)), scores)
    assert sure.same[0] > 0.7
    assert half.same[0] == pytest.approx(0.5, abs=1e-6)


def simulated(rng, n, matrices, per_row):
    """Return true classes and labels by annotators with these confusion matrices, several for each row."""
    n_classes = len(matrices[0])
    z = rng.integers(n_classes, size=n)
    rows, said, authors = [], [], []
    for row in range(n):
        for a in rng.choice(len(matrices), per_row, replace=False):
            rows.append(row)
            said.append(NAMES[rng.choice(n_classes, p=matrices[a][z[row]])])
            authors.append(f"a{a}")
    return z, SideInformation.from_annotations(n, labels={"row": rows, "label": said, "annotator": authors})


def report_of(side, log_shares):
    graph = statement_graph(side)
    found = resolve(graph, log_shares)
    beliefs = Beliefs(found.shares, found.same, found.reliability, found.mixtures, graph.prior(log_shares.shape[1]))
    return annotator_report(graph, beliefs, side, side.label_names)


def good(accuracy, n_classes=3):
    return np.where(np.eye(n_classes, dtype=bool), accuracy, (1 - accuracy) / (n_classes - 1))


def test_a_spammer_and_a_swapper_stand_out():
    swapped = good(0.9)[[1, 0, 2]]
    recognised = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        z, side = simulated(rng, 150, [good(0.85), good(0.85), np.full((3, 3), 1 / 3), swapped], 3)
        remarks = {
            row.annotator: row.remark for row in report_of(side, np.log(0.6 * np.eye(3)[z] + 0.4 / 3)).annotators
        }
        expected = {"a0": "", "a1": "", "a2": "answers at random", "a3": "swaps x and y"}
        recognised += remarks == expected
    assert recognised >= 19


def test_the_report_has_what_was_asked_for():
    rng = np.random.default_rng(1)
    z, side = simulated(rng, 200, [good(0.85), good(0.7), good(0.95)], 2)
    report = report_of(side, np.log(0.6 * np.eye(3)[z] + 0.4 / 3))
    assert [row.annotator for row in report.annotators] == ["a0", "a1", "a2"]
    for row in report.annotators:
        assert row.low < row.reliability < row.high
    assert sum(row.n_statements for row in report.annotators) == 400
    for doubt in report.doubtful:
        assert doubt.odds > 1
        assert doubt.likely != doubt.said
    wrong = [NAMES[z[doubt.rows[0]]] != doubt.said for doubt in report.doubtful]
    assert np.mean(wrong) > 0.7
    answered = set(
        zip(
            side.annotations.label_rows.tolist(),
            side.annotations.annotators[side.annotations.label_annotators].tolist(),
            strict=True,
        )
    )
    assert report.questions
    for question in report.questions:
        assert (question.rows[0], question.annotator) not in answered
    assert report.questions[0].gain >= report.questions[-1].gain > 0
    assert {(one.first, one.second) for one in report.agreement} == {("a0", "a1"), ("a0", "a2"), ("a1", "a2")}


def test_agreement_is_cohens_and_krippendorffs():
    labels = {"row": [0, 0, 1, 1, 2, 2, 3], "label": list("xxxyyyx"), "annotator": ["A", "B", "A", "B", "A", "B", "A"]}
    report = report_of(SideInformation.from_annotations(4, labels=labels), np.zeros((4, 2)))
    (pair,) = report.agreement
    # On three common rows A says x x y and B x y y: 2/3 observed, (2·1 + 1·2)/9 by chance.
    assert (pair.n_common, pair.observed, pair.expected) == (3, pytest.approx(2 / 3), pytest.approx(4 / 9))
    assert pair.kappa == pytest.approx((2 / 3 - 4 / 9) / (5 / 9))
    # Six values, three of each name: observed disagreement 2/6, expected 2·3·3/(6·5).
    assert report.label_alpha == pytest.approx(1 - (2 / 6) / (18 / 30))


def test_the_interval_is_that_of_a_beta_distribution():
    labels = {"row": list(range(40)), "label": ["x", "y"] * 20, "annotator": ["A"] * 40}
    z = np.tile([0, 1], 20)
    z[:4] = 1 - z[:4]
    side = SideInformation.from_annotations(40, labels=labels)
    (row,) = report_of(side, np.where(np.arange(2) == z[:, None], 0.0, -200.0)).annotators
    # Of each class 18 of 20 are right, and the prior is worth 5 statements of which 4.5 are right.
    mean, size = 22.5 / 25, 2 * 25 + 1
    assert row.reliability == pytest.approx(mean)
    np.testing.assert_allclose((row.low, row.high), beta.interval(0.95, mean * size, (1 - mean) * size), atol=1e-6)


def judged_side(rng, z, n_pairs, errors, confidence=1.0):
    """Return judgements of random pairs, two for each, by annotators with these error rates, and who was right."""
    found = {name: [] for name in ("a", "b", "relation", "annotator", "confidence")}
    right = {f"a{author}": [] for author in range(len(errors))}
    for _ in range(n_pairs):
        a, b = rng.choice(len(z), 2, replace=False)
        for author in rng.choice(len(errors), 2, replace=False):
            wrong = rng.random() < errors[author]
            said = "same" if (z[a] == z[b]) != wrong else "different"
            for name, value in zip(found, (a, b, said, f"a{author}", confidence), strict=True):
                found[name].append(value)
            right[f"a{author}"].append(not wrong)
    return SideInformation.from_annotations(len(z), links=found), right


@pytest.mark.parametrize("seed", range(3))
def test_a_judged_pair_by_itself_is_two_assignments_with_rates_by_quadrature(seed):
    rng = np.random.default_rng(seed)
    side, _ = judged_side(rng, rng.integers(2, size=4), 3, (0.2, 0.4), 0.8)
    graph = statement_graph(side)
    rates = graph.prior(2).rates + rng.gamma(2.0, size=(2, 2, 2))
    logs = np.array([[expected_log_by_quadrature(*rates[a, t]) for t in range(2)] for a in range(2)])
    pairs, same = judged_pairs(graph, rates)
    for pair, found in zip(pairs.tolist(), same, strict=True):
        joint = np.zeros(2)
        for ends, said, author in zip(
            graph.judgements.pairs.tolist(), graph.judgements.same, graph.judgements.annotators, strict=True
        ):
            # A judgement of confidence 0.8 counts as 0.6 of a sure one.
            joint += 0.6 * logs[author, :, said] * (ends == pair)
        assert found == pytest.approx(np.exp(joint[1] - logsumexp(joint)), abs=1e-9)


def test_what_annotators_agree_on_is_dawid_and_skene_on_pairs_as_tasks():
    rng = np.random.default_rng(5)
    side, _ = judged_side(rng, rng.integers(3, size=60), 80, (0.1, 0.2, 0.4))
    graph = statement_graph(side)
    prior = graph.prior(1)
    pairs, same = agreed_pairs(graph, prior)
    judged, answers = graph.judgements, np.full((len(pairs), 3), -1)
    answers[
        [pairs.tolist().index(pair) for pair in judged.pairs.tolist()],
        judged.annotators,
    ] = judged.same
    np.testing.assert_allclose(same, expit(dawid_and_skene(answers, prior.rates, 300)), atol=1e-3)


def test_reliabilities_of_a_hundred_statements_each_are_within_a_twentieth():
    near = []
    for seed in range(5):
        rng = np.random.default_rng(40 + seed)
        z = rng.integers(3, size=150)
        opinions = np.log(0.9 * np.eye(3)[z] + 0.1 / 3)
        side, right = judged_side(rng, z, 150, (0.15, 0.15, 0.15))
        near += [abs(row.reliability - np.mean(right[row.annotator])) for row in report_of(side, opinions).annotators]
        classes, side = simulated(rng, 150, [good(0.85)] * 3, 2)
        named = side.annotations
        is_right = classes[named.label_rows] == named.label_codes
        for number, row in enumerate(report_of(side, np.log(0.9 * np.eye(3)[classes] + 0.1 / 3)).annotators):
            near.append(abs(row.reliability - is_right[named.label_annotators == number].mean()))
    assert max(near) < 0.05
