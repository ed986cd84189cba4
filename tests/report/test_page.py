"""The content of the report, and that the same input gives the same bytes."""

import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_blobs
from threadpoolctl import threadpool_info, threadpool_limits

from sidelight import BayesianMixture, COPKMeans, LabelledMixture, SideInformation, all_estimators
from sidelight.exceptions import IgnoredColumnWarning
from sidelight.report import html_report
from sidelight.side import draw_labels

IRIS = load_iris(as_frame=True)
VOID = {"meta", "link", "img"}


class Page(HTMLParser):
    """The words of a page by section, its tables, and whether its tags close."""

    def __init__(self, html):
        super().__init__()
        self.open, self.words, self.section, self.tables = [], {"": ""}, "", []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag == "section":
            self.section = dict(attrs)["id"]
            self.words[self.section] = ""
        if tag == "table":
            self.tables.append((self.section, []))
        if tag == "tr":
            self.tables[-1][1].append([])
        if tag in ("td", "th"):
            self.tables[-1][1][-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" in self.open:
            return
        self.words[self.section] += data + " "
        if "td" in self.open or "th" in self.open:
            self.tables[-1][1][-1][-1] += data

    def rows(self, section, heading):
        """Return the rows of the table in a section whose first heading this is."""
        return next(table[1:] for place, table in self.tables if place == section and table[0][0] == heading)


def customers(n=200):
    random = np.random.default_rng(0)
    group = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "income": np.array([20.0, 60])[group] + random.normal(0, 4, n),
            "region": np.array(["north", "south"])[group],
            "member": group == 1,
            "visits": random.poisson(np.array([1, 9])[group]),
        }
    )
    frame.loc[:19, "income"] = np.nan
    return frame, np.array(["<low>", "high"], dtype=object)[group]


@pytest.fixture(scope="module")
def reported():
    """A report on a model with statements that contradict the data."""
    frame, names = customers()
    ids = np.array([f"id&{row:03d}" for row in range(200)])
    side = SideInformation.build(
        200,
        y=np.where(np.arange(200) % 20 < 2, names, None),
        must_link=[(ids[0], ids[2]), (ids[4], ids[5])],
        cannot_link=[(ids[6], ids[7]), (ids[8], ids[10])],
        confidence=0.75,
        sample_id=ids,
    )
    model = BayesianMixture(2, random_state=0).fit(frame, side=side, sample_id=ids)
    html = html_report(model, frame, side=side, title="A & B", notes=["column comment left out: free text"])
    return model, frame, side, html, Page(html)


def test_what_was_given_is_reported(reported):
    *_, page = reported
    words = page.words["given"]
    assert "200 rows and 4 columns" in words
    assert "20 labels: <low> (10) and high (10)" in words
    assert "2 must-links, 2 with a confidence below 1" in words
    assert "column comment left out: free text" in words
    columns = {row[0]: row[1:] for row in page.rows("given", "column")}
    assert columns["income"][0] == "number"
    assert columns["income"][2] == "10 %"
    assert columns["region"] == ["category", "north 50 %, south 50 %", "none"]
    assert columns["member"] == ["yes or no", "50 % yes", "none"]
    assert columns["visits"][0] == "count"
    assert columns["visits"][1].startswith("0 to ")


def test_column_figures_are_those_of_the_table(reported):
    _, frame, _, _, page = reported
    income = frame["income"]
    columns = {row[0]: row[2] for row in page.rows("given", "column")}
    assert columns["income"] == (
        f"{income.min():.1f} to {income.max():.1f}, mean {income.mean():.1f}, sd {income.std(ddof=0):.1f}"
    )


def test_what_was_found_is_reported(reported):
    model, *_, page = reported
    rows = page.rows("found", "cluster")
    assert [row[0] for row in rows] == ["<low>", "high"]
    assert [int(row[1]) for row in rows] == np.bincount(model.labels_).tolist()
    posterior = model.posterior_[np.arange(200), model.labels_]
    for cluster, row in enumerate(rows):
        assert row[6] == f"{posterior[model.labels_ == cluster].mean():.3f}"
    assert f"converged after {model.n_iter_} iteration" in page.words["found"]
    assert "200 rows fall into 2 clusters: <low> and high." in page.words[""]


def test_what_makes_clusters_is_reported(reported):
    *_, page = reported
    assert "income lower (−2.0 sd: 19.8 against 60.5)" in page.words["profiles"]
    assert "region = north more often (100 % against 0 %)" in page.words["profiles"]
    values = {row[0]: row[1:] for row in page.rows("profiles", "mean or share")}
    assert values["visits"] == ["0.86", "9.43"]


def test_broken_statements_are_listed_with_ids(reported):
    model, *_, page = reported
    assert model.violations_.total == 2
    rows = [row for place, table in page.tables if place == "statements" for row in table[1:]]
    assert rows == [
        ["id&004 and id&005", "belong together (confidence 0.75)", "in <low> and high"],
        ["id&008 and id&010", "do not belong together (confidence 0.75)", "both in <low>"],
    ]
    assert "1 of 2 must-links" in page.words["statements"]


def test_the_least_certain_rows_come_first_with_their_ids():
    table, _ = make_blobs(300, centers=[[0, 0], [3, 0]], random_state=0)
    model = LabelledMixture(2, random_state=0).fit(table)
    ids = [f"r{row}" for row in range(300)]
    page = Page(html_report(model, table, ids=ids))
    certainty = model.posterior_.max(axis=1)
    rows = page.rows("certainty", "row")
    assert [row[0] for row in rows] == [f"r{row}" for row in np.argsort(certainty)[:15]]
    assert float(rows[0][2]) + float(rows[0][4]) == pytest.approx(1, abs=0.002)
    assert f"{100 * np.mean(certainty >= 0.9):.0f} %" in page.words["certainty"]


def test_everything_from_outside_is_escaped(reported):
    *_, html, _ = reported
    assert "<low>" not in html
    assert "id&0" not in html
    assert "<title>A &amp; B</title>" in html


def test_the_page_refers_to_nothing_outside(reported):
    *_, html, _ = reported
    without_pictures = "".join(part.split('"', 1)[1] for part in f'"{html}'.split("data:image/svg+xml;base64,"))
    assert "http:" not in without_pictures
    assert "https:" not in without_pictures
    assert "url(" not in without_pictures
    assert "@import" not in without_pictures
    assert "<script" not in without_pictures


def test_the_same_input_gives_the_same_bytes(reported):
    import matplotlib as mpl

    model, frame, side, html, _ = reported
    with mpl.rc_context({"axes.facecolor": "black", "font.size": 30}):
        again = html_report(model, frame, side=side, title="A & B", notes=["column comment left out: free text"])
    assert again == html


def test_respected_statements_and_their_absence_are_reported():
    model = LabelledMixture(3, random_state=0).fit(IRIS.data)
    page = Page(html_report(model, IRIS.data))
    assert "None: there are no statements about the rows." in page.words["statements"]
    assert "None: the clusters come from the table alone." in page.words["given"]
    partial = draw_labels(IRIS.target.to_numpy(), number=9, random_state=0)
    model = LabelledMixture(random_state=0).fit(IRIS.data, partial)
    page = Page(html_report(model, IRIS.data))
    assert "None: the result respects all 9 statements." in page.words["statements"]
    assert "9 labels" in page.words["given"]


def test_long_lists_are_cut_and_the_rest_is_counted():
    table, group = make_blobs(400, centers=[[0, 0], [9, 0]], random_state=0)
    pairs = [(int(a), int(b)) for a, b in zip(np.flatnonzero(group == 0), np.flatnonzero(group == 1), strict=True)]
    side = SideInformation.build(400, must_link=pairs, confidence=0.6)
    page = Page(html_report(LabelledMixture(2, random_state=0).fit(table), table, side=side))
    assert len(page.rows("statements", "rows")) == 40
    assert "200 of 200 must-links" in page.words["statements"]
    assert "160 more not listed" in page.words["statements"]


def test_wide_tables_are_cut_too():
    table = np.random.default_rng(0).normal(size=(60, 100))
    table[::2] += 3
    page = Page(html_report(COPKMeans(2, random_state=0).fit(table), table))
    assert len(page.rows("given", "column")) == 60
    assert "40 further columns not listed" in page.words["given"]


def test_broken_labels_and_blocks_are_listed_with_and_without_the_side_information():
    model = COPKMeans(3, random_state=0).fit(IRIS.data)
    y = np.where(np.arange(150) % 10 == 0, model.labels_, -1)
    wrong = int(np.flatnonzero(y == 0)[0])
    y[wrong] = 1
    same = np.flatnonzero(model.labels_ == 2)[:3].tolist()
    stray = int(np.flatnonzero(model.labels_ == 1)[-1])
    side = SideInformation.build(150, y=y, blocks={"B": [*same, stray]})
    page = Page(html_report(model, IRIS.data, side=side))
    (label,), (block,) = (table[1:] for place, table in page.tables if place == "statements")
    assert label == [str(wrong), "label 1", "in cluster 0"]
    assert block == [str(stray), "belongs with block B", "in cluster 1, most of the block is not"]
    assert "4 rows in blocks that share a class" in page.words["given"]
    from sidelight.metrics import violations

    model.violations_ = violations(side, model.labels_)
    page = Page(html_report(model, IRIS.data))
    rows = [row for place, table in page.tables if place == "statements" for row in table[1:]]
    assert rows[0] == [str(wrong), "a label", "in cluster 0"]


def test_side_information_is_found_by_id(reported):
    model, frame, side, html, _ = reported
    shuffled = side.align(side.ids[::-1])
    notes = ["column comment left out: free text"]
    assert html_report(model, frame, side=shuffled, ids=side.ids, title="A & B", notes=notes) == html


def test_one_cluster_and_usage_lines_of_ones_own():
    page = Page(html_report(LabelledMixture(1, random_state=0).fit(IRIS.data), IRIS.data, usage=["run <this>", "then"]))
    assert "There is one cluster only" in page.words["profiles"]
    assert "run <this>\nthen" in page.words["usage"]


def test_usual_values_and_columns_left_out_are_reported_as_such():
    frame, _ = customers()
    random = np.random.default_rng(1)
    frame = frame.assign(
        paid=np.where(np.arange(200) % 4 == 0, random.gamma(2.0, 9.0, 200), 0.0), stays=2.5, fax=np.nan
    )
    with pytest.warns(IgnoredColumnWarning, match="column 'stays', column 'fax'"):
        model = BayesianMixture(2, random_state=0).fit(frame)
    page = Page(html_report(model, frame))
    columns = {row[0]: row[1:] for row in page.rows("given", "column")}
    assert columns["paid"][0] == "number with a usual value"
    assert columns["paid"][1].startswith("0 in 75 % of rows, otherwise ")
    assert columns["stays"] == ["left out", "always 2.5", "none"]
    assert columns["fax"] == ["left out", "nothing", "100 %"]


def test_sparse_counts_have_a_report():
    counts = csr_array(np.random.default_rng(0).poisson(0.3, (80, 30)).astype(float))
    page = Page(html_report(BayesianMixture(2, family="multinomial", random_state=0).fit(counts), counts))
    assert page.rows("given", "column")[0][1] == "count"


@pytest.mark.parametrize("name", [name for name, _ in all_estimators()])
def test_every_estimator_has_a_report(name):
    partial = draw_labels(IRIS.target.to_numpy(), fraction=0.2, random_state=0)
    model = dict(all_estimators())[name]().fit(IRIS.data, partial)
    page = Page(html_report(model, IRIS.data, side=SideInformation.build(150, y=partial)))
    assert [int(row[1]) for row in page.rows("found", "cluster")] == np.bincount(model.labels_).tolist()
    assert ("gives no probabilities" in page.words["certainty"]) != hasattr(model, "predict_proba")
    assert ("predict_proba" in page.words["usage"]) == hasattr(model, "predict_proba")


def test_arguments_that_do_not_fit_are_refused(monkeypatch):
    model = LabelledMixture(2, random_state=0).fit(IRIS.data)
    with pytest.raises(ValueError, match="side has 3 rows, but X has 150; pass ids"):
        html_report(model, IRIS.data, side=SideInformation.build(3))
    with pytest.raises(TypeError, match="side must be a SideInformation, not list"):
        html_report(model, IRIS.data, side=[1])
    with pytest.raises(ValueError, match="ids has 2 values, but there are 150 rows"):
        html_report(model, IRIS.data, ids=["a", "b"])
    with pytest.raises(ValueError, match="X has 10 rows, but LabelledMixture was fitted to 150"):
        html_report(model, IRIS.data.head(10))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'sidelight\[plot\]'"):
        html_report(model, IRIS.data)


def test_rows_as_examples_labels_by_cluster_and_the_next_step():
    random = np.random.default_rng(0)
    group = np.arange(90) % 2
    frame = pd.DataFrame(
        {"size": 4 * group + random.normal(size=90), "town": np.where(random.random(90) < 0.5, "Oslo", "Rome")}
    )
    side = SideInformation.build(90, y=np.where(np.arange(90) < 3, np.array(["low", "high"])[group], None))
    model = LabelledMixture(2, random_state=0, family="auto", power=False).fit(frame, side=side)
    page = html_report(model, frame, side=side, notes=["said once", "said once"], ids=[f"r{n}" for n in range(90)])
    assert page.count("said once") == 1
    assert "A typical row of each cluster" in page
    assert "share of labels" in page
    assert page.count('<svg class="bars"') == 4
    least = page[page.index("The least certain rows") :]
    row = least[least.index("<td>r") + 4 :].partition("<")[0]
    assert frame["town"][int(row[1:])] in least.partition("</tr>")[2].partition("</tr>")[0]
    assert "informative_pairs(model, X)" in page
    assert "sidelight ask result" in html_report(model, frame, next_steps=["sidelight ask result"])


class Watched(LabelledMixture):
    """A model that remembers how many threads BLAS had when its labels were asked for."""

    def __getattribute__(self, name):
        if name == "labels_":
            used = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
            super().__getattribute__("__dict__").setdefault("seen", []).extend(used)
        return super().__getattribute__(name)


def test_the_report_keeps_blas_to_one_thread():
    frame = customers(60)[0]
    model = Watched(2, random_state=0).fit(frame[["visits"]])
    with threadpool_limits(2, user_api="blas"):
        html_report(model, frame[["visits"]])
    assert model.seen[-1] == 1
