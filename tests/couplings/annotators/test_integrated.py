"""With few statements classes and reliabilities equal enumeration × quadrature, and EM never lowers the evidence."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import digamma, gammaln, log_softmax, logsumexp
from scipy.stats import beta, multivariate_normal

from oracles.annotators import assignments, integrated_by_quadrature
from sidelight import BayesianMixture, EquivalenceMixture, SideInformation
from sidelight.couplings.annotators import Beliefs, IntegratedRows, annotator_report, resolve, statement_graph
from sidelight.couplings.annotators.accuracy import Accuracy, interval, own_counts, quantile
from sidelight.couplings.annotators.coupling import annotated_rows
from sidelight.couplings.annotators.integrated import integrated, log_rising
from sidelight.couplings.annotators.trellis import MOST_STATES

NAMES = ("x", "y", "z")


def drawn_statements(rng, n, n_classes, n_annotators, n_labels, n_pairs):
    """Return labels and pairs, some of them unsure, and judgements with confidences."""
    labels = [(rng.integers(n), name, 0) for name in range(n_classes)]
    labels += [tuple(rng.integers((n, n_classes, n_annotators))) for _ in range(n_labels)]
    pairs = []
    for _ in range(n_pairs):
        a, b = rng.choice(n, 2, replace=False)
        pairs.append((a, b, rng.integers(2), rng.integers(n_annotators), rng.choice([1.0, 0.6])))
    return labels, pairs


def side_of(n, labels, pairs, unsure=(0, 1)):
    """Return the statements, and one unsure label and pair by the first annotator beside them."""
    return SideInformation.from_annotations(
        n,
        labels={
            "row": [*(row for row, _, _ in labels), unsure[0]],
            "label": [*(NAMES[name] for _, name, _ in labels), None],
            "annotator": [*(f"a{author}" for _, _, author in labels), "a0"],
        },
        links={
            "a": [*(one[0] for one in pairs), unsure[0]],
            "b": [*(one[1] for one in pairs), unsure[1]],
            "relation": [*(("different", "same")[one[2]] for one in pairs), "unsure"],
            "annotator": [*(f"a{one[3]}" for one in pairs), "a0"],
            "confidence": [*((1 + one[4]) / 2 for one in pairs), 1.0],
        },
    )


def by_annotator(graph, prior, n_names):
    """Return the prior (A, classes, names) of all annotators; those without labels have an even one."""
    found = np.ones((len(prior.rates), len(prior.confusion), n_names))
    for number in np.unique(graph.answers.annotators):
        found[number] = prior.confusion[:, graph.answers.annotators == number]
    return found


def mean_rates(graph, prior, mixtures, number):
    """Return means and mean logs of the confusion matrix and of the two rates of an annotator."""
    columns = np.flatnonzero(graph.answers.annotators == number)
    counts = own_counts(mixtures, columns, number, len(prior.confusion))
    found = []
    for alpha, own in ((prior.confusion[:, columns], counts.labels), (prior.rates[number], counts.pairs)):
        total = (alpha + own).sum(axis=2, keepdims=True)
        found.append(np.tensordot(counts.weights, (alpha + own) / total, 1))
        found.append(np.tensordot(counts.weights, digamma(alpha + own) - digamma(total), 1))
    return found


@pytest.mark.parametrize(
    ("n", "n_classes", "n_annotators", "n_labels", "n_pairs"),
    [(5, 2, 2, 5, 4), (4, 3, 2, 6, 4), (6, 2, 3, 7, 0), (6, 2, 1, 0, 8), (5, 3, 3, 3, 5), (4, 2, 4, 6, 6)],
)
@pytest.mark.parametrize("seed", range(2))
def test_it_equals_enumeration_and_quadrature(seed, n, n_classes, n_annotators, n_labels, n_pairs):
    rng = np.random.default_rng(seed)
    labels, pairs = drawn_statements(rng, n, n_classes, n_annotators, n_labels, n_pairs)
    graph = statement_graph(side_of(n, labels, pairs))
    scores = log_softmax(rng.normal(size=(n, n_classes)), axis=1)
    found, prior = resolve(graph, scores), graph.prior(n_classes)
    # Annotators who gave no statement at all have no number.
    number = {int(name[1:]): place for place, name in enumerate(graph.annotations.annotators.tolist())}
    labels = [(row, name, number[author]) for row, name, author in labels]
    pairs = [(a, b, same, number[author], weight) for a, b, same, author, weight in pairs]
    exact = integrated_by_quadrature(scores, labels, pairs, by_annotator(graph, prior, n_classes), prior.rates)
    assert found.bounds[-1] + scores_without_statements(graph, scores) == pytest.approx(exact.evidence, abs=1e-8)
    np.testing.assert_allclose(found.shares, exact.marginals[found.rows], atol=1e-8)
    same = {tuple(sorted(one[:2])): value for one, value in zip(pairs, exact.same, strict=True)}
    expected = [same[tuple(sorted(pair))] for pair in graph.judgements.pairs.tolist()]
    np.testing.assert_allclose(found.same, expected, atol=1e-8)
    for place in number.values():
        confusion, log_confusion, rates, log_rates = mean_rates(graph, prior, found.mixtures, place)
        np.testing.assert_allclose(rates, exact.rates[place], atol=1e-8)
        np.testing.assert_allclose(log_rates, exact.log_rates[place], atol=1e-8)
        if confusion.size:
            np.testing.assert_allclose(confusion, exact.confusion[place], atol=1e-8)
            np.testing.assert_allclose(log_confusion, exact.log_confusion[place], atol=1e-8)


def scores_without_statements(graph, scores):
    """Return the log evidence of the rows that are not in the graph."""
    return float(logsumexp(np.delete(scores, graph.linked.rows, axis=0), axis=1).sum())


@pytest.mark.parametrize("seed", range(4))
def test_links_blocks_and_labels_without_an_author_have_their_part(seed):
    rng = np.random.default_rng(10 + seed)
    labels, pairs = drawn_statements(rng, 8, 2, 2, 4, 4)
    authored = side_of(8, labels, pairs)
    y = np.full(8, -1, dtype=object)
    y[:] = None
    y[7] = "y"
    sure = SideInformation.build(
        8, y=y, must_link=[(0, 1), (4, 5)], cannot_link=[(2, 6), (3, 7)], confidence=[1.0, 0.8, 1.0, 0.7]
    )
    side = sure | authored
    scores = rng.normal(size=(8, 2))
    graph = statement_graph(side)
    names = side.label_names.tolist()

    def log_links(z):
        allowed = z[0] == z[1] and z[2] != z[6] and z[7] == names.index("y")
        chances = [0.8 if z[4] == z[5] else 0.2, 0.7 if z[3] != z[7] else 0.3]
        return np.log(chances).sum() if allowed else -np.inf

    prior = graph.prior(2)
    exact = integrated_by_quadrature(
        scores,
        [(row, names.index(NAMES[name]), author) for row, name, author in labels],
        pairs,
        by_annotator(graph, prior, 2),
        prior.rates,
        log_links,
    )
    found = resolve(graph, scores)
    np.testing.assert_allclose(found.shares, exact.marginals[found.rows], atol=1e-8)
    assert found.bounds[-1] + scores_without_statements(graph, scores) == pytest.approx(exact.evidence, abs=1e-8)


@pytest.mark.parametrize("seed", range(2))
def test_twenty_rows_are_a_million_assignments(seed):
    rng = np.random.default_rng(seed)
    n = 20
    z = rng.integers(2, size=n)
    labels = [(row, z[row] if rng.random() < 0.8 else 1 - z[row], a) for row in range(n) for a in range(2)]
    graph = statement_graph(side_of(n, labels, []))
    scores = rng.normal(size=(n, 2)) + 0.5 * np.eye(2)[z]
    found, prior = resolve(graph, scores), graph.prior(2)
    every = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    log_joint = scores[:, 0].sum() + every @ (scores[:, 1] - scores[:, 0])
    for a in range(2):
        said = np.array([name for _, name, author in labels if author == a])
        alpha = by_annotator(graph, prior, 2)[a]
        for c in range(2):
            counts = np.stack([((every == c) & (said == name)).sum(axis=1) for name in range(2)], axis=1)
            log_joint += (gammaln(alpha[c] + counts) - gammaln(alpha[c])).sum(axis=1)
            log_joint += gammaln(alpha[c].sum()) - gammaln(alpha[c].sum() + counts.sum(axis=1))
    weights = np.exp(log_joint - logsumexp(log_joint))
    assert found.bounds[-1] == pytest.approx(logsumexp(log_joint), abs=1e-8)
    np.testing.assert_allclose(found.shares[:, 1], (weights @ every)[found.rows], atol=1e-8)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_annotators_who_share_no_row_are_summed_over_by_themselves(seed, n_classes):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(8, n_classes))
    labels, pairs, alone = [], [], []
    for author, first in enumerate((0, 4)):
        said, judged = drawn_statements(rng, 4, n_classes, 1, 4, 3)
        alone.append(evidence(side_of(4, said, judged), scores[first : first + 4]))
        labels += [(first + row, name, author) for row, name, _ in said]
        pairs += [(first + a, first + b, same, author, weight) for a, b, same, _, weight in judged]
    assert evidence(side_of(8, labels, pairs), scores) == pytest.approx(sum(alone), abs=1e-9)


def evidence(side, scores):
    """Return the log evidence of all rows."""
    graph = statement_graph(side)
    return resolve(graph, scores).bounds[-1] + scores_without_statements(graph, scores)


def test_the_interval_is_that_of_the_mixture():
    links = {"a": [0] * 6, "b": [1] * 6, "relation": ["same"] * 5 + ["different"], "annotator": ["Ann"] * 6}
    side = SideInformation.from_annotations(2, links=links)
    graph, scores = statement_graph(side), np.log([[0.5, 0.5], [0.9, 0.1]])
    found, prior = resolve(graph, scores), statement_graph(side).prior(2)
    beliefs = Beliefs(found.shares, found.same, found.reliability, found.mixtures, prior)
    (row,) = annotator_report(graph, beliefs, side, np.array(["x", "y"], dtype=object)).annotators

    # The pair is the same, and five of six judgements are right, or it is not, and one is.
    def density(rate, right, wrong):
        return quad(lambda p: p**right * (1 - p) ** wrong * beta.pdf(p, 4.5, 0.5), 0, rate, epsrel=1e-12, epsabs=0)[0]

    def below(rate):
        return sum(0.5 * density(rate, *counts) for counts in ((5, 1), (1, 5)))

    whole = below(1.0)
    for share, end in ((0.025, row.low), (0.975, row.high)):
        expected = brentq(lambda rate, share=share: below(rate) / whole - share, 1e-6, 1 - 1e-9, xtol=1e-12)
        assert end == pytest.approx(expected, abs=1e-6)
    same = density(1.0, 5, 1) / (density(1.0, 5, 1) + density(1.0, 1, 5))
    assert found.same[0] == pytest.approx(same, abs=1e-8)
    assert row.reliability == pytest.approx(same * 9.5 / 11 + (1 - same) * 5.5 / 11, abs=1e-8)


def test_quantiles_of_a_mixture():
    weights, right, wrong = np.array([0.3, 0.7]), np.array([2.0, 30.0]), np.array([9.0, 2.0])
    for share in (0.025, 0.5, 0.975):
        rate = quantile(weights, right, wrong, share)
        assert weights @ beta.cdf(rate, right, wrong) == pytest.approx(share, abs=1e-9)
    assert quantile(np.ones(1), right[:1], wrong[:1], 0.5) == pytest.approx(beta.ppf(0.5, 2, 9))


def test_an_interval_holds_its_mean_even_where_a_rate_is_certain():
    one = Accuracy(np.full(2, 3.0), np.array([1 / 3, 1.0]), np.zeros(2))
    mean, low, high = interval(np.array([0.999, 0.001]), [one])
    assert mean == pytest.approx(0.999 / 3 + 0.001)
    assert low == pytest.approx(1 / 3, abs=1e-3)
    assert low <= mean <= high < 0.34
    for certain in (0.0, 1.0):
        found = interval(np.ones(1), [Accuracy(np.ones(1), np.full(1, certain), np.zeros(1))])
        np.testing.assert_allclose(found, certain, atol=1e-6)


def rows_of(graph, n, n_classes):
    return annotated_rows(graph, np.ones(n), classes=np.arange(n_classes), allocation=np.eye(n_classes))


def test_where_statements_are_many_it_is_variational():
    rng = np.random.default_rng(0)
    labels = [(row, rng.integers(3), a) for row in range(60) for a in range(3)]
    coupling = rows_of(statement_graph(side_of(60, labels, [])), 60, 3)
    assert integrated(coupling) is coupling
    few = rows_of(statement_graph(side_of(60, labels[:24], [])), 60, 3)
    assert isinstance(integrated(few), IntegratedRows)
    assert integrated(few, most_states=0) is few


@pytest.mark.parametrize("seed", range(3))
def test_forty_rows_with_two_labels_each_show_what_the_variational_form_misses(seed):
    rng = np.random.default_rng(seed)
    z = rng.integers(2, size=40)
    opinions = np.log(np.where(np.arange(2) == z[:, None], 0.8, 0.2)) + rng.normal(scale=0.7, size=(40, 2))
    labels = [(row, z[row] if rng.random() < 0.85 else 1 - z[row], a) for row in range(40) for a in range(2)]
    graph, scores = statement_graph(side_of(40, labels, [])), log_softmax(opinions, axis=1)
    exact, variational = (resolve(graph, scores, most_states=most, max_iter=2000) for most in (2**21, 0))
    prior = graph.prior(2)
    rates = [
        np.array([mean_rates(graph, prior, one.mixtures, number)[0] for number in range(2)])
        for one in (exact, variational)
    ]
    assert np.abs(exact.shares - variational.shares).max() < 0.2
    assert np.abs(exact.shares - variational.shares).mean() < 0.02
    assert np.abs(rates[0] - rates[1]).max() < 0.04
    assert variational.bounds[-1] < exact.bounds[-1] < variational.bounds[-1] + 1.5


def test_many_annotators_and_rows_are_refused_before_memory_is_taken():
    rng = np.random.default_rng(0)
    labels = [(rng.integers(3000), rng.integers(3), rng.integers(300)) for _ in range(20_000)]
    coupling = rows_of(statement_graph(side_of(3000, labels, [])), 3000, 3)
    assert integrated(coupling) is coupling


def test_links_without_annotators_are_left_to_the_link_graph():
    labels = [(0, 0, 0), (1, 1, 0)]
    rng = np.random.default_rng(0)
    grid = [(row, row + step) for row in range(10, 60) for step in (1, 2)]
    side = side_of(62, labels, []) | SideInformation.build(62, must_link=grid, confidence=0.8)
    scores = rng.normal(size=(62, 2))
    graph = statement_graph(side)
    assert isinstance(integrated(rows_of(graph, 62, 2)), IntegratedRows)
    found, apart = resolve(graph, scores), resolve(statement_graph(side_of(62, labels, [])), scores)
    np.testing.assert_allclose(found.shares[:2], apart.shares[:2], atol=1e-12)
    variational = resolve(graph, scores, most_states=0)
    np.testing.assert_allclose(found.shares[2:], variational.shares[2:], atol=1e-9)


def test_certain_links_of_rows_apart_from_judged_pairs():
    """Judged pairs make edges of their own, so that edges are more than the links without an author."""
    links = {"a": [0, 2, 4, 5], "b": [1, 3, 5, 6], "relation": ["same", "different"] * 2, "annotator": list("AABB")}
    side = SideInformation.from_annotations(8, links=links, certain="B")
    graph = statement_graph(side)
    scores = np.random.default_rng(0).normal(size=(8, 2))
    assert isinstance(integrated(rows_of(graph, 8, 2)), IntegratedRows)
    found, variational = resolve(graph, scores), resolve(graph, scores, most_states=0)
    apart = np.isin(found.rows, [4, 5, 6])
    assert apart.any()
    np.testing.assert_allclose(found.shares[apart], variational.shares[apart], atol=1e-12)


def small_fit(seed, n_pairs=4, **parameters):
    """Return a table of two classes, statements about some of its rows, and a fit."""
    rng = np.random.default_rng(seed)
    z = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 2)) + 2.0 * z[:, None]
    rows = rng.choice(60, 7, replace=False)
    labels = [(row, z[row] if rng.random() < 0.75 else 1 - z[row], a) for row in rows for a in range(2)]
    labels += [(rows[0], 0, 0), (rows[1], 1, 0)]
    pairs = []
    for _ in range(n_pairs):
        a, b = rng.choice(rows, 2, replace=False)
        pairs.append((a, b, int((z[a] == z[b]) == (rng.random() < 0.75)), rng.integers(2), 1.0))
    side = side_of(60, labels, pairs, unsure=rows[:2])
    return X, labels, pairs, side, EquivalenceMixture(2, random_state=0, tol=1e-9, **parameters).fit(X, side=side)


@pytest.mark.parametrize("seed", range(6))
def test_the_evidence_never_falls(seed):
    for n_pairs in (0, 4):
        *_, model = small_fit(seed, n_pairs)
        bounds = np.array(model.lower_bounds_)
        assert len(bounds) > 1
        assert (np.diff(bounds) > -1e-9 * np.abs(bounds[1:])).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_fitted_mixture_has_the_exact_posterior_of_its_rows(seed):
    X, labels, pairs, side, model = small_fit(seed)
    rows = np.flatnonzero(side.mentioned)
    scores = np.stack(
        [
            np.log(model.weights_[c]) + multivariate_normal(model.means_[c], model.covariances_[c]).logpdf(X[rows])
            for c in range(2)
        ],
        axis=1,
    )
    graph = statement_graph(side)
    prior, place = graph.prior(2), partial(np.searchsorted, rows)
    exact = integrated_by_quadrature(
        scores,
        [(place(row), name, author) for row, name, author in labels],
        [(place(a), place(b), *rest) for a, b, *rest in pairs],
        by_annotator(graph, prior, 2),
        prior.rates,
    )
    np.testing.assert_allclose(model.posterior_[rows], exact.marginals, atol=1e-8)
    for number, name in enumerate(("a0", "a1")):
        np.testing.assert_allclose(model.annotation_report_.confusion[name], exact.confusion[number], atol=1e-8)


def test_no_assignment_is_counted_twice():
    """All assignments of four rows have weight one where rates are known to be even."""
    graph = statement_graph(side_of(4, [(row, row % 2, row % 2) for row in range(4)], []))
    prior = graph.prior(2, expected=0.5, statements=1e12)
    found = resolve(graph, np.zeros((4, 2)), prior=prior)
    assert found.bounds[-1] == pytest.approx(np.log(len(assignments(4, 2)) * 0.5**4), abs=1e-6)


@pytest.mark.parametrize("first", [0.5, 999.0, 1001.0, 1e6, 1e14])
def test_rising_factorials_of_large_numbers_do_not_cancel(first):
    n = np.array([0.0, 1.0, 2.0, 7.0])
    expected = [sum(np.log(first + step) for step in range(int(one))) for one in n]
    np.testing.assert_allclose(log_rising(np.full(4, first), n), expected, rtol=1e-12)


@pytest.mark.parametrize("most_states", [0, MOST_STATES])
def test_what_statements_add_to_the_table_is_their_probability(most_states):
    rng = np.random.default_rng(0)
    labels, pairs = drawn_statements(rng, 6, 2, 2, 6, 4)
    graph = statement_graph(side_of(6, labels, pairs))
    coupling = integrated(rows_of(graph, 6, 2), most_states)
    scores = rng.normal(size=(len(coupling.rows), 2))
    found = coupling.step(scores, np.zeros(2), coupling.start, None)
    # Densities that sum to one over the classes leave nothing but the statements.
    alone = coupling.step(log_softmax(scores, axis=1), np.zeros(2), coupling.start, None)
    assert found.counts.stated == pytest.approx(alone.evidence, abs=1e-9)
    assert alone.counts.stated == pytest.approx(alone.evidence, abs=1e-9)
    assert found.evidence - found.counts.stated == pytest.approx(logsumexp(scores, axis=1).sum(), abs=1e-9)


@pytest.mark.parametrize(("n_components", "n_classes", "noise"), [(2, 2, False), (3, 2, False), (2, 3, True)])
@pytest.mark.parametrize("seed", range(2))
def test_components_that_choose_their_classes_are_summed_over_too(seed, n_components, n_classes, noise):
    rng = np.random.default_rng(seed)
    n = 5
    labels, pairs = drawn_statements(rng, n, n_classes, 2, 6, 3)
    labels.append((0, 0, 1))
    side = side_of(n, labels, pairs) | SideInformation.build(n, y=["x", *[None] * (n - 1)])
    graph = statement_graph(side, labels_as_statements=True)
    scores = rng.normal(size=(n, n_components + noise))
    even = np.full((n_components + noise, n_classes), 1 / n_classes)
    coupling = integrated(annotated_rows(graph, np.ones(n), classes=None, allocation=even, noise=noise))
    assert isinstance(coupling, IntegratedRows)
    found = coupling.step(scores[coupling.rows], np.zeros(n_components + noise), coupling.start, None)
    columns = graph.answers.annotators < 2
    prior = coupling.prior
    confusion = prior.confusion[:, columns].reshape(n_classes, 2, n_classes).swapaxes(0, 1)
    evidence, parts = [], []
    for class_of in assignments(n_components, n_classes):
        exact = integrated_by_quadrature(
            scores[:, :n_components],
            labels,
            pairs,
            confusion,
            prior.rates[:2],
            # The first row is an x for certain.
            lambda z, class_of=class_of: 0.0 if class_of[z[0]] == 0 else -1000.0,
            class_of,
        )
        evidence.append(exact.evidence)
        parts.append((exact, np.eye(n_classes)[class_of]))
    total = logsumexp(evidence)
    weights = np.exp(np.array(evidence) - total)
    rows = coupling.rows
    apart = logsumexp(scores[np.setdiff1d(np.arange(n), rows), :n_components], axis=1).sum()
    assert found.evidence + apart == pytest.approx(total - np.log(len(evidence)), abs=1e-8)
    mean = sum(w * one.marginals for w, (one, _) in zip(weights, parts, strict=True))
    np.testing.assert_allclose(found.posterior[:, :n_components], mean[rows], atol=1e-8)
    shares = sum(w * one.marginals @ own for w, (one, own) in zip(weights, parts, strict=True))
    np.testing.assert_allclose(found.counts.shares, shares[rows], atol=1e-8)
    allocation = sum(w * own for w, (_, own) in zip(weights, parts, strict=True))
    np.testing.assert_allclose(found.counts.used.allocation[:n_components], allocation, atol=1e-8)
    for number in range(2):
        means = mean_rates(graph, prior, coupling.mixtures(found.counts), number)
        for place, name in enumerate(("confusion", "log_confusion", "rates", "log_rates")):
            expected = sum(w * getattr(one, name)[number] for w, (one, _) in zip(weights, parts, strict=True))
            np.testing.assert_allclose(means[place], expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_of_a_bayesian_mixture_never_falls(seed):
    X, *_, side, _ = small_fit(seed, 3)
    coupled = BayesianMixture(n_components=2, covariance_type="full", random_state=0, tol=1e-9, max_iter=500)
    bounds = np.array(coupled.fit(X, side=side).lower_bounds_)
    assert (np.diff(bounds) > -1e-9 * np.abs(bounds[1:])).all()
