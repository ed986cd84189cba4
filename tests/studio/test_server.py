"""A real server: questions, answers that count once, clusters, exports, and what is refused."""

import csv
import io
import json
import os
import secrets
import signal
import sqlite3
import subprocess
import sys
import urllib.request
import zipfile
from contextlib import closing

import pytest
from serving import SOURCE, Client, Refused, Server, write_table

from systems import needs_posix


def key():
    return secrets.token_hex(8)


def refused(client, path, body=None, **more):
    with pytest.raises(Refused) as caught:
        client.ask(path, body, **more)
    return caught.value


def rows_of(client, file):
    return list(csv.DictReader(io.StringIO(client.ask(f"/api/export/{file}", raw=True).decode())))


def test_an_answer_counts_once_however_often_it_is_sent(ada):
    question, same = ada.question(), key()
    first = ada.answer(question, "same", same)["receipt"]
    again = ada.answer(question, "same", same)["receipt"]
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert first["event"] == again["event"]
    following = ada.question()
    assert (following["first"], following["second"]) != (question["first"], question["second"])
    assert refused(Client(ada, "Ben"), "/api/undo", {"key": same}).status == 409


def test_undo_goes_back_without_limit_and_asks_again(server):
    client = Client(server, "Zoe")
    asked = []
    for _ in range(4):
        question = client.question()
        asked.append((question["first"], question["second"]))
        client.answer(question, "unsure")
    for pair in reversed(asked):
        undone = client.ask("/api/undo", {"key": key()})
        assert (undone["question"]["first"], undone["question"]["second"]) == pair
    assert refused(client, "/api/undo", {"key": key()}).status == 409
    assert [one["name"] for one in client.ask("/api/people")["people"] if one["n_undone"] == 4] == ["Zoe"]


def test_two_people_are_not_asked_the_same_at_once(server):
    ben, eve = Client(server, "Ben"), Client(server, "Eve")
    asked = [who.ask("/api/questions?number=4")["questions"] for who in (ben, eve)]
    pairs = [{(one["first"], one["second"]) for one in questions} for questions in asked]
    assert len(pairs[0]) == len(pairs[1]) == 4
    assert not pairs[0] & pairs[1]


def test_names_numbers_and_locks_stay_through_refits(ada):
    ada.answer_truly(25)
    ada.wait(lambda state: state["fit"] >= 1 and state["worker"]["state"] == "idle")
    before = ada.ask("/api/clusters")["clusters"]
    assert sum(one["size"] for one in before) == 90
    cluster = before[0]["key"]
    ada.ask(f"/api/clusters/{cluster}/name", {"key": key(), "name": "<b>first</b>"})
    ada.ask(f"/api/clusters/{cluster}/lock", {"key": key(), "locked": True})
    fit = ada.ask("/api/state")["fit"]
    ada.answer_truly(6)
    ada.wait(lambda state: state["fit"] > fit and state["worker"]["state"] == "idle")
    after = {one["key"]: one for one in ada.ask("/api/clusters")["clusters"]}
    assert after[cluster]["name"] == "<b>first</b>"
    assert after[cluster]["locked"]
    assert after[cluster]["colour"] == before[0]["colour"]
    assert after[cluster]["size"] >= before[0]["size"]
    ada.ask(f"/api/clusters/{cluster}/lock", {"key": key(), "locked": False})
    assert refused(ada, f"/api/clusters/{cluster}/lock", {"key": key(), "locked": False}).status == 409


def test_clusters_are_merged_at_once_and_undo_parts_them(ada):
    names = {one["key"]: one["name"] for one in ada.ask("/api/clusters")["clusters"]}
    clusters = list(names)
    assert len(clusters) > 1
    for into, cluster in (clusters[:2], clusters[1::-1]):
        ada.ask("/api/merges", {"key": key(), "into": into, "cluster": cluster})
        merged = ada.ask("/api/clusters")["clusters"]
        assert {one["key"]: one["name"] for one in merged} == {one: names[one] for one in clusters if one != cluster}
        assert sum(one["size"] for one in merged) == 90
        assert ada.ask("/api/undo", {"key": key()})["undone"] == f"merged {names[cluster]} into {names[into]}"
    assert [one["key"] for one in ada.ask("/api/clusters")["clusters"]] == clusters
    assert refused(ada, "/api/merges", {"key": key(), "into": 1, "cluster": 1}).status == 409
    assert refused(ada, "/api/merges", {"key": key(), "into": 1, "cluster": 99}).status == 404


def test_split_and_selection_ask_about_these_rows_next(server):
    client = Client(server, "Sue")
    # Within a cluster that the last fit held together by its lock, there is nothing to ask.
    client.wait(lambda state: state["fit"] >= 1 and state["learnt"] >= state["event"])
    cluster = client.ask("/api/clusters")["clusters"][0]["key"]
    assert client.ask(f"/api/clusters/{cluster}/split", {})["n_questions"] > 0
    assert client.question()["purpose"] == "split"
    chosen = client.ask("/api/selection", {"rows": [1, 2, 4, 5], "ask": True})
    assert sum(chosen["sizes"].values()) == 4
    question = client.question()
    assert question["purpose"] == "selection"
    assert {question["first"], question["second"]} <= {1, 2, 4, 5}


def test_what_leaves_the_studio_says_what_was_said(server, ada):
    ada.ask("/api/labels", {"key": key(), "rows": [3], "label": "of kind a"})
    statements = {(row["id_a"], row["id_b"]): row for row in rows_of(ada, "statements.csv")}
    answers = rows_of(ada, "answers.csv")
    decided = {}
    for row in answers:
        if row["answer"] != "unsure":
            decided.setdefault((row["id_a"], row["id_b"]), set()).add(row["answer"])
    agreed = {pair: words.pop() for pair, words in decided.items() if len(words) == 1}
    assert len(agreed) > 10
    for pair, word in agreed.items():
        assert statements[pair]["relation"] == {"same": "must", "different": "cannot"}[word]
    assert {"id": "r003", "label": "of kind a", "annotator": "Ada"} in rows_of(ada, "labels.csv")
    assert len(answers) == ada.ask("/api/state")["n_answers"]
    tasks = json.loads(ada.ask("/api/export/label-studio.json", raw=True))
    assert sum(len(task["annotations"]) for task in tasks) == len(answers)
    lines = ada.ask("/api/export/prodigy.jsonl", raw=True).decode().splitlines()
    assert {json.loads(line)["answer"] for line in lines} <= {"accept", "ignore"}
    assert len(lines) == len(answers)
    ada.ask("/api/notes", {"key": key(), "rows": [4, 5], "text": "a, note"})
    assert rows_of(ada, "notes.csv") == [{"id_a": "r004", "id_b": "r005", "note": "a, note", "annotator": "Ada"}]
    assert len(rows_of(ada, "clusters.csv")) == 90


def test_the_result_is_a_folder_of_sidelight_fit(server, ada, tmp_path):
    ada.wait(lambda state: state["fit"] >= 1)
    with zipfile.ZipFile(io.BytesIO(ada.ask("/api/export/result.zip", raw=True))) as archive:
        archive.extractall(tmp_path / "result")
    assert "<!DOCTYPE html>" in (tmp_path / "result" / "report.html").read_text(encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "sidelight", "predict", "result", str(server.table), "-o", "placed.csv"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "placed.csv").read_text().splitlines()) == 91


def test_a_copy_of_the_project_opens_with_everything_and_other_addresses_need_a_token(ada, tmp_path):
    copy = tmp_path / "copy.studio"
    copy.write_bytes(ada.ask("/api/export/project.studio", raw=True))
    number = ada.ask("/api/state")["n_answers"]
    with Server(copy, "--resume", "--host", "0.0.0.0", "--annotator", "Ann", folder=tmp_path) as other:
        other.address = other.address.replace("0.0.0.0", "127.0.0.1")
        client = Client(other, "Ada", other.token)
        assert client.ask("/api/state")["n_answers"] == number
        assert client.ask("/api/clusters")["clusters"]
        assert refused(Client(other, "Ada"), "/api/state").status == 401
        assert refused(Client(other, "Ada", "wrong"), "/api/state").status == 401
        assert refused(Client(other, "Ada"), "/api/session", {"annotator": "Ada", "token": "wrong"}).status == 401
        personal = other.personal["Ann"]
        assert Client(other, "Ann", personal).ask("/api/project")["annotator"] == "Ann"
        assert refused(Client(other, "Ada", personal), "/api/project").status == 401
        assert "open in another studio" in started_twice(copy, tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*copy.studio*")) == ["copy.studio"]
    with closing(sqlite3.connect(copy)) as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)


def test_what_annotators_said_in_files_is_part_of_the_project(tmp_path):
    """Labels of crowd-kit and pairs of Splink: three people, one of whom contradicts the two others."""
    table = write_table(tmp_path / "things.csv", n=30)
    labels = [f"r{row:03d},{who},{'abc'[row % 3]}" for row in range(6) for who in ("Ann", "Ben")]
    said = "\n".join(["task,worker,label", *labels, "r000,Eve,b"])
    (tmp_path / "labels.csv").write_text(said)
    pairs = "unique_id_l,unique_id_r,clerical_match_score\nr007,r010,1\nr007,r011,0.2\n"
    (tmp_path / "pairs.csv").write_text(pairs)
    options = ("--id-column", "id", "--labels", tmp_path / "labels.csv", "--links", tmp_path / "pairs.csv")
    with Server(table, *options, folder=tmp_path) as running:
        ada = Client(running, "Ada")
        people = {one["name"]: one for one in ada.ask("/api/people")["people"]}
        assert {name: one["n_labels"] for name, one in people.items()} == {"Ann": 6, "Ben": 6, "Eve": 1, "pairs": 0}
        assert {(row["id"], row["label"], row["annotator"]) for row in rows_of(ada, "labels.csv")} == {
            tuple(line.split(",")[at] for at in (0, 2, 1)) for line in said.splitlines()[1:]
        }
        statements = {(row["id_a"], row["id_b"]): row for row in rows_of(ada, "statements.csv")}
        assert statements["r007", "r010"]["relation"] == "must"
        assert (statements["r007", "r011"]["relation"], statements["r007", "r011"]["confidence"]) == ("cannot", "0.8")
        ada.wait(lambda state: state["fit"] >= 1)
        # What two people say of r000 counts, not what the third says.
        cluster = {one["key"]: one["name"] for one in ada.ask("/api/clusters")["clusters"]}
        assert cluster[ada.ask("/api/rows/0")["cluster"]] == "a"


def test_reliabilities_of_people_come_with_the_next_fit(server, ada):
    ada.answer_truly(5)
    state = ada.ask("/api/state")
    ada.wait(lambda now: now["learnt"] >= state["event"])
    found = {one["name"]: one for one in ada.ask("/api/people")["people"]}["Ada"]
    assert found["low"] < found["reliability"] < found["high"]
    assert found["reliability"] > 0.8


def started_twice(project, folder):
    with pytest.raises(RuntimeError) as caught:
        Server(project, "--resume", folder=folder)
    return str(caught.value)


@needs_posix
def test_a_killed_refit_process_is_reported_and_replaced(server):
    client = Client(server, "Kim")
    client.wait(lambda state: state["worker"]["process"] is not None and state["worker"]["state"] != "restarting")
    state = client.ask("/api/state")["worker"]
    os.kill(state["process"], signal.SIGKILL)
    told = client.wait(lambda now: now["worker"]["restarts"] > state["restarts"])
    assert "signal 9" in told["worker"]["trouble"]
    fit = told["fit"]
    client.answer_truly(5)
    client.wait(lambda now: now["fit"] > fit)
    assert client.ask("/api/state")["worker"]["process"] != state["process"]


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"first": 0, "second": 0, "relation": "same"}, 409),
        ({"first": 0, "second": 90, "relation": "same"}, 404),
        ({"first": 0, "second": -1, "relation": "same"}, 422),
        ({"first": 0, "second": 2**70, "relation": "same"}, 422),
        ({"first": 0, "second": "1", "relation": "same"}, 422),
        ({"first": 0, "second": 1, "relation": "maybe"}, 422),
        ({"first": 0, "second": 1}, 422),
        ({"first": 0, "second": 1, "relation": "same", "more": 1}, 422),
        ({"first": 0, "second": 1, "relation": "same", "key": "'; drop table events; --"}, 422),
        ({"first": 0, "second": 1, "relation": "same", "key": "x" * 65}, 422),
    ],
)
def test_malformed_answers_are_refused(ada, body, status):
    error = refused(ada, "/api/answers", {"key": key(), **body})
    assert error.status == status
    assert "detail" in json.loads(error.body)


@pytest.mark.parametrize(
    ("path", "body", "headers", "status"),
    [
        ("/api/answers", b"{", {}, 422),
        ("/api/answers", b"[" * 5000, {}, 400),
        ("/api/notes", json.dumps({"key": "k" * 8, "rows": [1], "text": "x" * 1_000_000}).encode(), {}, 413),
        ("/api/notes", json.dumps({"key": "k" * 8, "rows": [1], "text": "x" * 5000}).encode(), {}, 422),
        ("/api/notes", json.dumps({"key": "k" * 8, "rows": [1], "text": "\x00"}).encode(), {}, 422),
        ("/api/labels", json.dumps({"key": "k" * 8, "rows": [1], "label": "\ud800"}).encode(), {}, 422),
        ("/api/labels", json.dumps({"key": "k" * 8, "rows": [1], "label": "  "}).encode(), {}, 422),
        ("/api/undo", json.dumps({"key": "k" * 8}).encode(), {"Content-Type": "text/plain"}, 415),
        ("/api/undo", json.dumps({"key": "k" * 8}).encode(), {"Origin": "http://evil.invalid"}, 403),
        ("/api/undo", json.dumps({"key": "k" * 8}).encode(), {"Origin": "null"}, 403),
        ("/api/undo", json.dumps({"key": "k" * 8}).encode(), {"Sec-Fetch-Site": "cross-site"}, 403),
        ("/api/undo", json.dumps({"key": "k" * 8}).encode(), {"Host": "evil.invalid"}, 421),
        ("/api/state", None, {"Host": "evil.invalid:80"}, 421),
        ("/api/state", None, {"X-Annotator": "x" * 81}, 401),
        ("/api/state", None, {"X-Annotator": "%00"}, 401),
        ("/static/../app.py", None, {}, 404),
        ("/static/%2e%2e/%2e%2e/server.py", None, {}, 404),
        ("/api/rows/90", None, {}, 404),
        ("/api/rows/0/image?column=words", None, {}, 404),
        ("/api/nothing", None, {}, 404),
    ],
)
def test_what_is_too_large_malformed_or_from_elsewhere_is_refused(ada, path, body, headers, status):
    assert refused(ada, path, body, headers=headers).status == status


def test_a_session_needs_its_second_token_for_changes(server):
    client = Client(server, "Ivy")
    del client.headers["X-Annotator"]
    assert refused(client, "/api/state").status == 401
    request = urllib.request.Request(
        f"{server.address}/api/session", json.dumps({"annotator": "Ivy"}).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        cookie = response.headers["Set-Cookie"]
        csrf = json.loads(response.read())["csrf"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    session = {"Cookie": cookie.partition(";")[0]}
    assert client.ask("/api/project", headers=session)["annotator"] == "Ivy"
    body = {"key": key(), "rows": [0], "text": "hello"}
    assert refused(client, "/api/notes", body, headers=session).status == 403
    assert refused(client, "/api/notes", body, headers={**session, "X-CSRF-Token": "x"}).status == 403
    assert client.ask("/api/notes", body, headers={**session, "X-CSRF-Token": csrf})["event"]
    forged = {"Cookie": session["Cookie"][:-3] + "abc", "X-CSRF-Token": csrf}
    assert refused(client, "/api/state", headers=forged).status == 401
