"""Estimators with annotators who err: certain ones are certain statements, bounds rise, names are aligned."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import adjusted_rand_score

import sidelight
from oracles.mixtures import assigned, family_for, mixture_of, random_state
from sidelight import BayesianMixture, COPKMeans, EquivalenceMixture, GuidedMixture, LabelledMixture, SideInformation
from sidelight.couplings.annotators import annotated_rows, statement_graph
from sidelight.estimators.base.annotated import consensus
from sidelight.inference.loop import ascend

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])
MIXTURES = [EquivalenceMixture(3, random_state=0), BayesianMixture(random_state=0)]
ALL = [*MIXTURES, GuidedMixture(3, random_state=0)]


def said_of_rows(rng, n_rows=60, per_row=2, errors=(0.15, 0.15, 0.15), names=NAMES):
    """Return labels of some rows, each by some annotators who err."""
    rows, labels, authors = [], [], []
    for row in rng.permutation(len(Y))[:n_rows]:
        for author in rng.choice(len(errors), per_row, replace=False):
            wrong = rng.random() < errors[author]
            rows.append(int(row))
            labels.append(str(names[(Y[row] + wrong * rng.integers(1, 3)) % 3]))
            authors.append(f"a{author}")
    return {"row": rows, "label": labels, "annotator": authors}


def said_of_pairs(rng, n_pairs=60, per_pair=2, errors=(0.15, 0.15, 0.15)):
    """Return judgements of some pairs."""
    found = {"a": [], "b": [], "relation": [], "annotator": []}
    for _ in range(n_pairs):
        a, b = rng.choice(len(Y), 2, replace=False)
        for author in rng.choice(len(errors), per_pair, replace=False):
            same = (Y[a] == Y[b]) != (rng.random() < errors[author])
            for name, value in zip(found, (a, b, "same" if same else "different", f"a{author}"), strict=True):
                found[name].append(value)
    return found


def sides(seed=0):
    rng = np.random.default_rng(seed)
    labels, links = said_of_rows(rng), said_of_pairs(rng)
    return {
        "labels": SideInformation.from_annotations(150, labels=labels),
        "links": SideInformation.from_annotations(150, links=links),
        "both": SideInformation.from_annotations(150, labels=labels, links=links),
    }


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("kind", ["labels", "links"])
def test_a_certain_annotator_is_what_certain_statements_are(model, kind):
    rng = np.random.default_rng(1)
    if kind == "labels":
        said = said_of_rows(rng, 20, 1, (0.0,))
        y = np.full(150, None, dtype=object)
        y[said["row"]] = said["label"]
        plain = {"y": y}
    else:
        said = said_of_pairs(rng, 20, 1, (0.0,))
        pairs = list(zip(said["a"], said["b"], said["relation"], strict=True))
        plain = {
            name: [pair[:2] for pair in pairs if pair[2] == relation]
            for name, relation in (("must_link", "same"), ("cannot_link", "different"))
        }
    side = SideInformation.from_annotations(150, **{kind: said}, certain="a0")
    mine, theirs = model.fit(X, side=side).posterior_, model.fit(X, **plain).posterior_
    np.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_the_coupling_with_a_certain_annotator_is_the_e_step_with_labels():
    rng = np.random.default_rng(2)
    rows = rng.permutation(150)[:30]
    labels = {"row": rows, "label": NAMES[Y[rows]], "annotator": ["a"] * 30}
    side = SideInformation.from_annotations(150, labels=labels)
    graph = replace(statement_graph(side), n_authors=0)
    family = family_for(X, "full", rows=2.0, fraction=0.1)
    codes = np.full(150, -1)
    codes[rows] = Y[rows]
    state = random_state(rng, X, family, "full", 3)
    plain = mixture_of(X, family, 3, codes=codes)
    for classes in (np.arange(3), None):
        coupling = annotated_rows(graph, np.ones(150), classes=classes, allocation=np.eye(3))
        mixture = mixture_of(X, family, 3, couplings=(coupling,))
        ours, theirs = (ascend(one.step, state, max_iter=20, tol=0.0) for one in (mixture, plain))
        # Which class each component is of is learned, and costs ln 3 nats each to say.
        said = 3 * np.log(3) if classes is None else 0.0
        np.testing.assert_allclose(np.array(ours.objectives) + said, theirs.objectives, rtol=1e-9)
        posterior = assigned(mixture, ours.state)[0]
        np.testing.assert_allclose(posterior, assigned(plain, theirs.state)[0], atol=1e-6)


@pytest.mark.parametrize("model", MIXTURES, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("kind", ["labels", "links", "both"])
def test_bounds_never_fall_and_reliabilities_are_near(model, kind):
    side = sides()[kind]
    model.fit(X, side=side)
    assert np.diff(model.lower_bounds_).min() > -1e-9
    assert adjusted_rand_score(Y, model.labels_) > 0.85
    assert [row.annotator for row in model.annotators_] == ["a0", "a1", "a2"]
    for row in model.annotators_:
        assert abs(row.reliability - 0.85) < 0.12
        assert row.low < row.reliability < row.high
    if kind != "links":
        assert model.cluster_names_.tolist() == NAMES.tolist()


def test_guided_mixture_hears_annotators_and_goes_on(tmp_path):
    side = sides()["both"]
    model = GuidedMixture(3, random_state=0).fit(X, side=side)
    sidelight.save(model, tmp_path / "model")
    again = sidelight.load(tmp_path / "model")
    assert again.annotators_ == model.annotators_
    assert again.annotation_report_.questions == model.annotation_report_.questions
    assert adjusted_rand_score(Y, model.labels_) > 0.85
    assert model.cluster_names_.tolist() == NAMES.tolist()
    assert pd.DataFrame(model.annotators_).columns[:5].tolist() == [
        "annotator", "reliability", "low", "high", "n_statements"
    ]  # fmt: skip
    more = SideInformation.from_annotations(150, labels=said_of_rows(np.random.default_rng(9), 30))
    model.refine(X, side | more)
    assert sum(row.n_statements for row in model.annotators_) == 120 + 120 + 60
    assert adjusted_rand_score(Y, model.labels_) > 0.85


@pytest.mark.parametrize("model", MIXTURES, ids=lambda model: type(model).__name__)
def test_further_answers_refine_a_fit(model):
    side = sides()["labels"]
    model.fit(X, side=side)
    before = model.means_.copy()
    more = SideInformation.from_annotations(150, labels=said_of_rows(np.random.default_rng(9), 40))
    steps = model.n_iter_
    model.refine(X, side | more)
    assert np.diff(model.lower_bounds_).min() > -1e-9
    assert model.n_iter_ <= steps + 20
    assert model.means_.shape == before.shape
    assert sum(row.n_statements for row in model.annotators_) == 200
    again = pickle.loads(pickle.dumps(model)).refine(X, side | more)
    assert adjusted_rand_score(model.labels_, again.labels_) > 0.95
    other = SideInformation.from_annotations(
        150, labels={"row": [0, 1], "label": ["setosa", "new"], "annotator": [1, 1]}
    )
    with pytest.raises(ValueError, match="a class more or less is a matter for fit"):
        model.refine(X, side | other)
    with pytest.raises(ValueError, match="fitted without annotators"):
        type(model)(random_state=0).fit(X, np.where(np.arange(150) % 5, -1, Y)).refine(X, side)


@pytest.mark.parametrize("model", ALL, ids=lambda model: type(model).__name__)
def test_names_of_their_own_are_aligned_with_the_clusters(model):
    rng = np.random.default_rng(4)
    first = said_of_rows(rng, 45, 1, (0.1,))
    second = said_of_rows(rng, 40, 1, (0.1,), np.array(["weiß", "blau", "rot"]))
    second["annotator"] = ["b"] * 40
    both = {name: first[name] + second[name] for name in first}
    model.fit(X, side=SideInformation.from_annotations(150, labels=both))
    assert model.cluster_names_.tolist() == NAMES.tolist()
    assert model.annotation_report_.names == {"b": dict(zip(["blau", "rot", "weiß"], NAMES[[1, 2, 0]], strict=True))}
    assert model.annotators_[1].reliability > 0.75


@pytest.mark.parametrize("model", MIXTURES, ids=lambda model: type(model).__name__)
def test_a_saved_model_knows_its_annotators(model, tmp_path):
    model.fit(X, side=sides()["labels"])
    sidelight.save(model, tmp_path / "model")
    again = sidelight.load(tmp_path / "model")
    assert again.annotators_ == model.annotators_
    assert again.annotation_report_.doubtful == model.annotation_report_.doubtful
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_certain_labels_and_annotators_go_together():
    rng = np.random.default_rng(5)
    y = np.full(150, None, dtype=object)
    y[[0, 60, 120, 130]] = NAMES[Y[[0, 60, 120, 130]]]
    side = SideInformation.from_annotations(
        150, labels=said_of_rows(rng, 40, 1, (0.2, 0.2)), links=said_of_pairs(rng, 20)
    )
    for model in MIXTURES:
        model.fit(X, y, must_link=[(0, 1), (100, 101)], cannot_link=[(2, 77)], side=side)
        names = model.cluster_names_[model.labels_]
        assert names[[0, 60, 120, 130]].tolist() == y[[0, 60, 120, 130]].tolist()
        assert np.diff(model.lower_bounds_).min() > -1e-9
        assert not len(model.violations_.labels)


def test_weights_ids_and_frames():
    rng = np.random.default_rng(6)
    ids = [f"p{row}" for row in range(150)]
    labels = said_of_rows(rng)
    labels["row"] = [ids[row] for row in labels["row"]]
    frames = [make(labels) for make in (pd.DataFrame, pl.DataFrame)]
    first, second = (SideInformation.from_annotations(150, labels=frame, sample_id=ids) for frame in frames)
    assert first == second
    model = EquivalenceMixture(random_state=0)
    model.fit(X, side=first, sample_id=ids, sample_weight=np.where(np.arange(150) % 10, 1.0, 0.0))
    assert model.annotation_report_.doubtful[0].rows[0] in ids
    assert adjusted_rand_score(Y, model.labels_) > 0.85


def test_noise_is_no_place_for_rows_with_statements():
    outliers = np.vstack([X, np.full((3, 4), 60.0) * np.arange(1, 4)[:, None]])
    labels = said_of_rows(np.random.default_rng(7))
    side = SideInformation.from_annotations(153, labels=labels)
    model = BayesianMixture(noise=True, random_state=0).fit(outliers, side=side)
    assert (model.labels_[labels["row"]] >= 0).all()
    assert np.diff(model.lower_bounds_).min() > -1e-9


@pytest.mark.parametrize("model", [LabelledMixture(), COPKMeans(3)], ids=lambda model: type(model).__name__)
def test_other_estimators_refuse_annotators(model):
    with pytest.raises(ValueError, match="cannot use statements of annotators who may err"):
        model.fit(X, side=sides()["labels"])


def test_a_fit_without_annotators_forgets_those_of_the_fit_before():
    model = EquivalenceMixture(3, random_state=0).fit(X, side=sides()["labels"])
    model.fit(X, np.where(np.arange(150) % 5, -1, Y))
    assert (model.annotators_, model.annotation_report_) == ([], None)


def judged_by_a_spammer(rng, truth):
    """Return labels of 150 rows, two of each, by three who err one time in seven and one who answers at random."""
    found = {"row": [], "label": [], "annotator": []}
    for row in rng.permutation(len(truth))[:150]:
        for author in rng.choice(4, 2, replace=False):
            wrong = rng.random() < (0.5 if author == 3 else 0.15)
            for name, value in zip(found, (int(row), int(truth[row]) ^ int(wrong), f"a{author}"), strict=True):
                found[name].append(value)
    return SideInformation.from_annotations(len(truth), labels=found)


def test_of_many_columns_covariances_are_tied_and_the_spammer_is_known():
    table, truth = load_breast_cancer(return_X_y=True)
    for seed in (14, 15):
        side = judged_by_a_spammer(np.random.default_rng(seed), truth)
        model = EquivalenceMixture(2, random_state=0).fit((table - table.mean(axis=0)) / table.std(axis=0), side=side)
        assert [row.remark for row in model.annotators_] == ["", "", "", "answers at random"]
        assert model.covariance_type_ in ("tied", "full")
        assert model.covariances_.shape == ((30, 30) if model.covariance_type_ == "tied" else (2, 30, 30))


def test_classes_that_differ_by_their_spread_keep_full_covariances():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=300)
    table = rng.normal(size=(300, 3)) * np.where(truth == 1, 5.0, 0.5)[:, None]
    side = judged_by_a_spammer(rng, truth)
    model = EquivalenceMixture(2, random_state=0).fit(table, side=side)
    assert model.covariance_type_ == "full"
    assert adjusted_rand_score(truth, model.labels_) > 0.7
    assert (
        EquivalenceMixture(2, covariance_type="tied", random_state=0).fit(table, side=side).covariance_type_ == "tied"
    )


def test_annotators_may_agree_on_no_row_of_a_class():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(60, 2)) + 9.0 * np.repeat([[0, 0], [1, 0], [0, 1]], 20, axis=0)
    said = {"row": [0, 1, 2, 20, 21, 2, 2], "label": list("aaabbac"), "annotator": [*["Ann"] * 5, "Cy", "Ben"]}
    side = SideInformation.from_annotations(60, labels=said)
    assert 2 not in consensus(side).labels
    labels = BayesianMixture(random_state=0).fit(table, side=side).labels_
    assert adjusted_rand_score(np.repeat([0, 1, 2], 20), labels) == 1.0
